"""Kinds of mistakes in a plan: those that the paper shows in Figs 2 to 9, and plain breaches of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from spca_programs.grasp.grid import Cell, Grid
from spca_programs.grasp.rules import DROP, TAKE, Rules, play

_BY_PROBLEM = {
    "no energy": "takes where there is nothing (Fig. 2)",
    "the edge": "goes beyond the edge (Fig. 4)",
    "an obstacle": "runs into an obstacle (Fig. 5)",
    "already carrying": "takes more than the carry limit",
    "nothing to drop": "drops nothing",
    "diagonal": "moves as it may not",
    "no such action": "names no action",
}
"""By how a problem of `play` begins."""
_TRIPS = 3
"""Times a cell has to be come back to at once for going back and forth."""


def mistakes(grid: Grid, rules: Rules, plan: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of mistakes in a plan, each once."""
    done = play(grid, rules, plan)
    effects = done.effects
    found = [kind for start, kind in _BY_PROBLEM.items() if any(e.problem.startswith(start) for e in effects)]
    way = [cell for cell, _ in groupby([grid.start, *(e.position for e in effects)])]
    if sum(there == before for before, there in zip(way, way[2:], strict=False)) >= _TRIPS:
        found.append("goes back and forth (Fig. 3)")
    taken = next((e.position for e in effects if e.action == TAKE and not e.problem), None)
    cells = [(int(row), int(column)) for row, column in np.argwhere(grid.energy)]
    if taken and min(_apart(grid.start, c, rules) for c in cells) < _apart(grid.start, taken, rules):
        found.append("takes far energy first (Figs 6, 7)")
    left = int(grid.energy.sum()) > done.delivered
    if left and len(plan) < rules.max_actions:
        found.append("leaves steps unused (Figs 8, 9)")
    if any(e.action == DROP and not e.problem and e.position != grid.start for e in effects):
        found.append("drops away from the start")
    if effects and effects[-1].carried:
        found.append("never brings it home")
    if len(plan) > rules.max_actions:
        found.append("plans too many actions")
    return tuple(found)


def _apart(one: Cell, other: Cell, rules: Rules) -> int:
    """Moves between two cells on a grid without obstacles."""
    rows, columns = abs(one[0] - other[0]), abs(one[1] - other[1])
    return max(rows, columns) if rules.diagonals else rows + columns
