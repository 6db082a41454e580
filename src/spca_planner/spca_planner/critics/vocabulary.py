"""What an environment's observations can say about PDDL predicates, and which objects a task text names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from spca_core.observation import Observation
from spca_core.task import Task


@dataclass(frozen=True)
class Extension:
    """All true atoms of one predicate, complete for arguments of the given kinds (a set per argument).

    `unsaid` are atoms about which the observation has nothing to say all the same.
    """

    kinds: tuple[frozenset[str], ...]
    atoms: frozenset[tuple[str, ...]]
    unsaid: frozenset[tuple[str, ...]] = frozenset()

    def truth(self, args: tuple[str, ...], objects: Mapping[str, str]) -> bool | None:
        """Whether the atom with these arguments holds; None where the observation has nothing to say."""
        if args in self.atoms:
            return True
        if args in self.unsaid:
            return None
        known = len(args) == len(self.kinds) and all(
            objects.get(a) in kinds for a, kinds in zip(args, self.kinds, strict=True)
        )
        return False if known else None


class Vocabulary(Protocol):
    """The link between an environment's words and PDDL's."""

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """What the observation says, by the names that a PDDL predicate may have."""
        ...

    def after(self, observation: Observation) -> dict[str, Extension]:
        """The same for an observation made when something has been done: only what it shows for certain."""
        ...

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """The objects without which a goal cannot be what the task asks for."""
        ...


class FactVocabulary:
    """For any environment: predicates are named like the observed facts, and complete for the kinds seen in them.

    Objects are named in a text by the words of their symbols: `door_red_1` by "red door" or "door red".
    """

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for fact in observation.facts:
            found.setdefault(fact.predicate, set()).add(fact.args)
        return {name: _extension(atoms, observation.objects) for name, atoms in found.items()}

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`. Nothing is certain of an environment that does not say what its facts mean."""
        return {}

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """See `Vocabulary`. Nothing is required where a phrase fits several objects."""
        text = f" {' '.join(re.findall(r'[a-z]+', required_part(task.text)))} "
        named: dict[str, list[str]] = {}
        for symbol in observation.objects:
            words = re.findall(r"[a-z]+", symbol.lower())
            for phrase in (words, words[::-1]):
                if len(phrase) > 1 and f" {' '.join(phrase)} " in text:
                    named.setdefault(" ".join(sorted(phrase)), []).append(symbol)
                    break
        return tuple(symbols[0] for symbols in named.values() if len(symbols) == 1)


_SOURCES = r"\b(?:from|off|out of|of|than|near|by|behind|before|after|between)\s+"
_NEGATED = r"\b(?:not|don't|never|without|except|avoid|ignore|leave|leaving)\b[^.;,]*"


def required_part(text: str) -> str:
    """The text without negated clauses, and without things named only to say where another one is or comes from.

    >>> required_part("Take the red key from the blue box. Do not touch the ball.")
    'take the red key'
    """
    text = text.lower().replace("on top of", "on")
    text = re.sub(_NEGATED, " ", text)
    text = re.sub(_SOURCES + r"(?:(?:the|a|an|its|your)\s+)?(?:\w+\s+){0,1}\w+", " ", text)
    return " ".join(text.replace(".", " ").split())


def _extension(atoms: set[tuple[str, ...]], objects: Mapping[str, str]) -> Extension:
    arity = max(len(a) for a in atoms)
    kinds = tuple(frozenset(objects.get(a[i], "") for a in atoms if len(a) == arity) for i in range(arity))
    return Extension(kinds, frozenset(atoms))
