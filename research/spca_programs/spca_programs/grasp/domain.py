"""GRASP as a task for programs: prompts' texts, training and test cases, judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from spca_core.errors import InputError
from spca_programs.grasp.dataset import FAMILIES, RULES, Environment, generated, released
from spca_programs.grasp.policy import BUILTIN, answers_of
from spca_programs.grasp.rules import ACTIONS, MAX_ACTIONS, Effect, play
from spca_programs.grasp.search import solve
from spca_programs.ipp.domain import Answer, Judgement

_BRIEFING = """\
An agent stands on a grid of 11 by 11 cells, row 0 on top. Some cells hold one unit of energy, some may be \
obstacles. Within a limited number of actions the agent should bring energy to the cell where it started.

Actions: UP, DOWN, LEFT, RIGHT move one cell; where diagonals are allowed, so do UPLEFT, UPRIGHT, DOWNLEFT, \
DOWNRIGHT (only the destination has to be free). TAKE picks up one unit from the cell the agent is in, DROP \
puts down all that it carries. An action that is not possible (off the grid, into an obstacle, nothing to \
take, carry limit reached) changes nothing but is counted.

Score: the energy that lies in the start cell at the end, minus the cost of an action times the number of \
actions returned, whatever they are. What is still carried is worth nothing. An empty plan scores 0.

Parameters of the program:
- grid: list of 11 rows of 11 one-character strings: " " empty, "E" energy, "O" obstacle, "A" the start \
(empty)
- start_pos: [row, column] of the start
- carry_limit: how many units can be carried at once, an integer, or None for no limit
- cost_per_step: cost of every action, for example 0 or 0.3
- is_diagonals_allowed: True or False
- max_actions: only so many actions count (20)"""

_SKETCH = """\
position = start; way = []
repeat:
    find the nearest energy by breadth-first search from position
    if the way there, the way back along everything walked so far, one TAKE and one DROP no longer fit: stop
    go there, TAKE, remember the energy as gone, append the moves to way
walk way backwards, DROP"""

_STAGES = (
    "no obstacles, no diagonal moves, no carry limit and no cost of actions: bring home as "
    "much as possible in time.",
    "diagonal moves may be allowed.",
    "there may be a carry limit, so that several round trips are needed.",
    "every action may have a cost, so that some energy is not worth fetching, perhaps none is.",
    "there may be obstacles, and energy that cannot be reached.",
)


class GraspDomain:
    """See `spca_programs.ipp.domain.Domain`.

    Grids come from the released files in `data`, or are generated.
    """

    name = "grasp"
    signature = "solve(grid, start_pos, carry_limit, cost_per_step, is_diagonals_allowed, max_actions)"
    actions = ACTIONS
    briefing = _BRIEFING
    sketch = _SKETCH
    has_goal = False
    midpoint = "the first ten actions"
    baselines = tuple(BUILTIN)
    stages: tuple[str, ...] = _STAGES

    def __init__(self, data: Path | None = None) -> None:
        self._data = data
        self._references: dict[str, float] = {}

    def split(self, train: int, test: int, seed: int) -> tuple[list[Environment], list[Environment]]:
        """Training: a grid each, the rules in turn. Test: other grids, each with all rules."""
        needed = train + -(-test // len(RULES))
        each = -(-needed // len(FAMILIES))
        drawn = list(released(self._data) if self._data else generated(seed, each))
        if len(drawn) < needed:
            raise InputError(
                f"{len(drawn)} grids are too few for {train} training and {test} test cases", str(self._data)
            )
        rng = np.random.default_rng(seed)
        order = [drawn[i] for i in rng.permutation(len(drawn))]
        turns = cycle(RULES)
        training = [
            Environment(grid=grid, rules=next(turns), family=family, index=index)
            for family, index, grid in order[:train]
        ]
        testing = [
            Environment(grid=grid, rules=rules, family=family, index=index)
            for family, index, grid in order[train:needed]
            for rules in RULES
        ]
        return training, testing[:test]

    def name_of(self, case: Environment) -> str:
        """See `Domain.name_of`."""
        return case.name

    def arguments(self, case: Environment) -> list[Any]:
        """See `Domain.arguments`."""
        rules = case.rules
        return [
            case.grid.rows(),
            list(case.grid.start),
            rules.carry_limit,
            rules.cost,
            rules.diagonals,
            rules.max_actions,
        ]

    def show(self, case: Environment) -> str:
        """See `Domain.show`."""
        rules = case.rules
        return (
            f"{case.grid.to_text()}\nA is the start, at row {case.grid.start[0]}, column "
            f"{case.grid.start[1]}. carry_limit {rules.carry_limit}, cost_per_step {rules.cost:g}, "
            f"is_diagonals_allowed {rules.diagonals}, max_actions {rules.max_actions}."
        )

    def judge(self, case: Environment, plan: Sequence[str]) -> Judgement:
        """Completed means that the score is the best possible."""
        played = play(case.grid, case.rules, plan)
        trace = [
            f"{number}. {e.action}: " + (e.problem or f"at {e.position}, carrying {e.carried}")
            for number, e in enumerate(played.effects, start=1)
        ]
        ignored = len(plan) - MAX_ACTIONS
        if ignored > 0:
            trace.append(f"{ignored} further actions did not count")
        trace.append(f"energy at home: {played.delivered}")
        completed = played.score >= self.reference(case) - 1e-9
        return Judgement(score=played.score, completed=completed, trace=tuple(trace))

    def after(self, case: Environment, plan: Sequence[str]) -> str:
        """See `Domain.after`."""
        played = play(case.grid, case.rules, plan)
        left = replace(case.grid, energy=played.counts > 0)
        last = (
            played.effects[-1] if played.effects else Effect(action="", position=case.grid.start, carried=0)
        )
        return (
            f"{left.to_text()}\nThe agent is at row {last.position[0]}, column {last.position[1]}, "
            f"carrying {last.carried}; at home (A) "
            f"lies {played.delivered}. {case.rules.max_actions - len(played.effects)} actions are left."
        )

    def baseline(self, name: str, cases: Sequence[Environment], seed: int) -> list[Answer]:
        """See `Domain.baseline`."""
        return answers_of(name, cases, seed)

    def reference(self, case: Environment) -> float:
        """The best possible score."""
        if case.name not in self._references:
            self._references[case.name] = solve(case.grid, case.rules).score
        return self._references[case.name]
