"""Port: the link between the words of an environment's observations and those of PDDL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from spca_core.model import Record
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


class ObservableWord(Record):
    """A predicate that observations speak of: how it is written, what it means, and what else it is called.

    `like` is a regular expression for whole names that mean the same.
    """

    name: str
    args: tuple[str, ...]
    meaning: str
    synonyms: tuple[str, ...] = ()
    like: str = ""

    @property
    def form(self) -> str:
        """As it is written in PDDL: `(on ?a ?b)`."""
        return f"({' '.join((self.name, *self.args))})"


class Vocabulary(Protocol):
    """The link between an environment's words and PDDL's."""

    def words(self) -> tuple[ObservableWord, ...]:
        """Everything that an observation may say."""
        ...

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """What the observation says, by the names that a PDDL predicate may have."""
        ...

    def after(self, observation: Observation) -> dict[str, Extension]:
        """The same for an observation made when something has been done: only what it shows for certain."""
        ...

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """The objects without which a goal cannot be what the task asks for."""
        ...


SameFact = frozenset[tuple[str, ...]]
"""Ground atoms that say the same in different words, such as (on a table) and (on_table a)."""


@dataclass(frozen=True)
class SecondOpinion:
    """What a task asks for as its environment reads it, without a model.

    The facts of any one of `goals` shall hold in the end; `bystanders` are objects that none of them moves,
    each with the fact that says where it is. `words` say the goals in plain words.
    """

    goals: tuple[frozenset[SameFact], ...]
    bystanders: dict[str, SameFact]
    words: str


@runtime_checkable
class GivesSecondOpinion(Protocol):
    """A vocabulary whose environment can read some tasks itself."""

    def second_opinion(self, task: Task, observation: Observation) -> SecondOpinion | None:
        """How the environment reads a task; None where it cannot."""
        ...
