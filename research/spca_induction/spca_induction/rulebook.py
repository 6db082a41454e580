"""Learned rules: per action an ordered list of clauses, the first that fires tells what happens."""

from __future__ import annotations

import ast
import itertools
from dataclasses import astuple, dataclass, field

from spca_induction.effects import Template, apply, touched
from spca_induction.goals import Ending, RewardRules
from spca_induction.literals import Conjunction, holds
from spca_induction.view import Frame, View, look
from spca_programs.state import State


@dataclass(frozen=True)
class Clause:
    """Effects that happen together, unless one of the conjunctions is true."""

    effects: Template
    unless: tuple[Conjunction, ...] = ()

    @property
    def cells(self) -> set[int]:
        """How many cells ahead the cells lie that it asks about, names or changes."""
        literals = itertools.chain.from_iterable(self.unless)
        asked = [one[1] if one[0] == "not" else one for one in literals]
        return touched(self.effects) | {
            one[1] for one in asked if one[0] in ("kind", "empty", "value", "same")
        }

    @property
    def reach(self) -> int:
        """The farthest of these cells."""
        return max(self.cells, default=0)

    def fires(self, view: View, frame: Frame) -> State | None:
        """The state it leads to; None where it does not fire."""
        if any(all(holds(one, view) for one in conjunction) for conjunction in self.unless):
            return None
        return apply(self.effects, view, frame)


@dataclass(frozen=True)
class Group:
    """Actions that share their clauses (each along its own direction)."""

    actions: tuple[str, ...]
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class Rulebook:
    """A world model as rules. Actions that no group names change nothing."""

    frame: Frame | None = None
    groups: tuple[Group, ...] = ()
    rewards: RewardRules = field(default_factory=RewardRules)

    def clauses(self, action: str) -> tuple[Clause, ...]:
        """The clauses of an action."""
        return next((g.clauses for g in self.groups if action in g.actions), ())

    def predict(self, state: State, action: str) -> State:
        """The state after an action."""
        view = look(state, action, self.frame) if self.frame is not None else None
        if self.frame is None or view is None:
            return state
        outcomes = (clause.fires(view, self.frame) for clause in self.clauses(action))
        return next((after for after in outcomes if after is not None), state)

    def dump(self) -> str:
        """The rules as a Python literal."""
        return repr(astuple(self))

    @classmethod
    def read(cls, text: str) -> Rulebook:
        """Read what `dump` wrote. ValueError for anything else."""
        frame, groups, (constant, weights, *ends) = ast.literal_eval(text)
        wins, losses = (tuple(Ending(*ending) for ending in endings) for endings in ends)
        return cls(
            None if frame is None else Frame(*frame),
            tuple(Group(a, tuple(Clause(*c) for c in clauses)) for a, clauses in groups),
            RewardRules(constant, weights, wins, losses),
        )
