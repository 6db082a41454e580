"""Vocabulary for environments whose predicates are named like their observed facts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spca_core.observation import Observation
from spca_core.ports.vocabulary import Extension, ObservableWord
from spca_core.task import Task


class FactVocabulary:
    """A vocabulary for any environment.

    Predicates are named like the observed facts, and complete for the kinds seen in them.

    Objects are named in a text by the words of their symbols: `door_red_1` by "red door" or "door red".
    """

    def words(self) -> tuple[ObservableWord, ...]:
        """See `Vocabulary`. Nothing is known of an environment that does not say it."""
        return ()

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
_NEGATED = (
    r"(?:[^.;,]*\b(?:must|may|should)\s+not\s+be|\b(?:(?:do|does|must|may|should)\s+)?"
    r"(?:not|no|none|don't|never|without|except|avoid|ignore|leave|leaving))\b[^.;,]*"
)


def required_part(text: str) -> str:
    """The text without negated clauses, and without things that only say where another one is or comes from.

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
