"""Port: the mapping between an environment's observations and PDDL predicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spca_core.model import Record
from spca_core.names import words_of
from spca_core.plan import Task
from spca_core.scene import Observation


@dataclass(frozen=True)
class Extension:
    """All true atoms of one predicate, complete for arguments of the given kinds (a set per argument).

    `unsaid` are atoms of these kinds whose truth the observation leaves open nevertheless.
    """

    kinds: tuple[frozenset[str], ...]
    atoms: frozenset[tuple[str, ...]]
    unsaid: frozenset[tuple[str, ...]] = frozenset()

    def truth(self, args: tuple[str, ...], objects: Mapping[str, str]) -> bool | None:
        """Return whether the atom with these arguments holds; None where the observation leaves it open."""
        if args in self.atoms:
            return True
        if args in self.unsaid:
            return None
        known = len(args) == len(self.kinds) and all(
            objects.get(a) in kinds for a, kinds in zip(args, self.kinds, strict=True)
        )
        return False if known else None


class ObservableWord(Record):
    """A predicate that occurs in observations: its form, its meaning and its synonyms.

    `like` is a regular expression for whole names that mean the same. What is only worth explaining where it
    is seen is `aside`. It never holds of a first thing of the kinds `never`, and of a last one only of kinds
    `of`. Tasks with a word like the first of a pair of `more` have to know the second, too.
    """

    name: str
    args: tuple[str, ...]
    meaning: str
    synonyms: tuple[str, ...] = ()
    like: str = ""
    aside: bool = False
    never: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    more: tuple[tuple[str, str], ...] = ()

    @property
    def form(self) -> str:
        """The predicate as PDDL writes it: `(on ?a ?b)`."""
        return f"({' '.join((self.name, *self.args))})"


class Vocabulary:
    """Maps an environment's observations to PDDL predicates.

    As it is, predicates are named like the observed facts, and complete for the kinds seen in them.
    """

    def words(self) -> tuple[ObservableWord, ...]:
        """Return all predicates that an observation may contain, as far as their meaning is known."""
        return ()

    def shown(self, observation: Observation) -> Observation:
        """Return the observation as a model is shown it: without second names of the same things."""
        return observation

    def with_places(self, observation: Observation, names: Iterable[str]) -> Observation:
        """Return the observation with those of the names that are places added, and what stands at them."""
        return observation

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """Return the facts of the observation, by the names that a PDDL predicate may have."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for fact in observation.facts:
            found.setdefault(fact.predicate, set()).add(fact.args)
        return {name: _extension(atoms, observation.objects) for name, atoms in found.items()}

    def after(self, observation: Observation) -> dict[str, Extension]:
        """Return the extensions that are certain in an observation made after an action: here none."""
        return {}

    def asked(self, task: Task, observation: Observation) -> Sequence[frozenset[tuple[str, ...]]]:
        """The goals any of which the task asks for, without what holds; none where nobody reads the task."""
        return ()

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """The objects that every goal of this task must mention, but for one called like its kind."""
        about = [{thing for atom in goal for thing in atom[1:]} for goal in self.asked(task, observation)]
        named = set.intersection(*about) if about else ()
        return tuple(sorted(n for n in named if observation.objects.get(n, n) != n))

    def say(self, goals: Sequence[frozenset[tuple[str, ...]]]) -> str:
        """Say goals any of which will do, each a set of ground atoms, as one phrase; here spelt out."""
        told = [", ".join(f"{a[0]}({', '.join(map(words_of, a[1:]))})" for a in sorted(way)) for way in goals]
        return "; or ".join(told)


def _extension(atoms: set[tuple[str, ...]], objects: Mapping[str, str]) -> Extension:
    arity = max(len(a) for a in atoms)
    kinds = tuple(frozenset(objects.get(a[i], "") for a in atoms if len(a) == arity) for i in range(arity))
    return Extension(kinds, frozenset(atoms))
