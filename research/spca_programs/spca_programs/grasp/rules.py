"""GRASP's rules, said once and plainly: what each action does, and what a plan is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spca_core.model import Record
from spca_programs.grasp.grid import Cell, Grid

MOVES: dict[str, Cell] = {
    "UP": (-1, 0),
    "DOWN": (1, 0),
    "LEFT": (0, -1),
    "RIGHT": (0, 1),
    "UPLEFT": (-1, -1),
    "UPRIGHT": (-1, 1),
    "DOWNLEFT": (1, -1),
    "DOWNRIGHT": (1, 1),
}
TAKE, DROP = "TAKE", "DROP"
ACTIONS = (*MOVES, TAKE, DROP)
MAX_ACTIONS = 20
OPPOSITE = {
    name: next(n for n, (r, c) in MOVES.items() if (r, c) == (-dr, -dc)) for name, (dr, dc) in MOVES.items()
}


class Rules(Record):
    """Rules that vary from setting to setting.

    `carry_limit` None is no limit; `cost` is paid for every action.
    """

    diagonals: bool = False
    carry_limit: int | None = None
    cost: float = 0.0
    max_actions: int = MAX_ACTIONS

    @property
    def moves(self) -> tuple[str, ...]:
        """The names of the moves there are: four, or eight with diagonals."""
        return tuple(MOVES)[: 8 if self.diagonals else 4]

    def __str__(self) -> str:
        return f"{len(self.moves)},{self.carry_limit or '∞'},{self.cost:g}"


class Effect(Record):
    """Effect of one action; `problem` says why it did nothing, empty if it did something."""

    action: str
    position: Cell
    carried: int
    problem: str = ""


class Play(NamedTuple):
    """A plan carried out: its effects, what lies in each cell in the end, what of it at home, the score."""

    effects: tuple[Effect, ...]
    counts: NDArray[np.int_]
    delivered: int
    score: float


def play(grid: Grid, rules: Rules, plan: Sequence[str]) -> Play:
    """Carry out a plan's first `max_actions` actions; one that is invalid changes nothing but is paid for."""
    counts = grid.energy.astype(int)
    position, carried = grid.start, 0
    effects = []
    for action in plan[: rules.max_actions]:
        problem = ""
        if action in rules.moves:
            there = (position[0] + MOVES[action][0], position[1] + MOVES[action][1])
            problem = _obstruction(grid, there)
            position = position if problem else there
        elif action == TAKE:
            if not counts[position]:
                problem = "no energy here"
            elif rules.carry_limit is not None and carried >= rules.carry_limit:
                problem = f"already carrying {carried}, the limit"
            else:
                counts[position] -= 1
                carried += 1
        elif action == DROP:
            if not carried:
                problem = "nothing to drop"
            counts[position] += carried
            carried = 0
        else:
            problem = "diagonal moves are not allowed" if action in MOVES else f"no such action: {action!r}"
        effects.append(Effect(action=str(action), position=position, carried=carried, problem=problem))
    delivered = int(counts[grid.start])
    return Play(tuple(effects), counts, delivered, delivered - rules.cost * len(effects))


def _obstruction(grid: Grid, there: Cell) -> str:
    rows, columns = grid.obstacle.shape
    if not (0 <= there[0] < rows and 0 <= there[1] < columns):
        return "the edge of the grid"
    return f"an obstacle at {there}" if grid.obstacle[there] else ""
