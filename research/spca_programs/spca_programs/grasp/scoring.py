"""Scores of many plans in many environments at once, by the rules of `spca_programs.grasp.rules`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from spca_programs.grasp.grid import SIZE, Grid
from spca_programs.grasp.rules import ACTIONS, DROP, MAX_ACTIONS, MOVES, TAKE, Rules

_WIDTH = SIZE + 2  # a rim of obstacles around the grid saves every edge test
_CODE = {name: code for code, name in enumerate(ACTIONS)}
_OFFSET = np.array([row * _WIDTH + column for row, column in MOVES.values()])
_NO_LIMIT = 127
NONE, UNKNOWN = -1, len(ACTIONS)

Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Environments:
    """N environments as arrays, grids with a rim and flattened: energy, blocked (N, 169); the others (N,)."""

    energy: NDArray[np.int8]
    blocked: NDArray[np.bool_]
    start: NDArray[np.int64]
    diagonals: NDArray[np.bool_]
    carry_limit: NDArray[np.int8]
    cost: NDArray[np.float64]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Grid, Rules]]) -> Environments:
        """Pack grids with their rules; all must allow the usual number of actions."""
        blocked = np.ones((len(pairs), _WIDTH, _WIDTH), bool)
        energy = np.zeros((len(pairs), _WIDTH, _WIDTH), np.int8)
        for i, (grid, _) in enumerate(pairs):
            blocked[i, 1:-1, 1:-1] = grid.obstacle
            energy[i, 1:-1, 1:-1] = grid.energy
        return cls(
            energy=energy.reshape(len(pairs), -1),
            blocked=blocked.reshape(len(pairs), -1),
            start=np.array([(g.start[0] + 1) * _WIDTH + g.start[1] + 1 for g, _ in pairs], np.int64),
            diagonals=np.array([r.diagonals for _, r in pairs], bool),
            carry_limit=np.array(
                [_NO_LIMIT if r.carry_limit is None else r.carry_limit for _, r in pairs], np.int8
            ),
            cost=np.array([r.cost for _, r in pairs], float),
        )

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: NDArray[np.integer]) -> Environments:
        """The environments with the given numbers, in that order.

        Numbers may repeat (several plans for one).
        """
        return Environments(**{f.name: getattr(self, f.name)[which] for f in fields(self)})


def encode(plans: Sequence[Sequence[str]]) -> Codes:
    """Plans of action names as codes (N, 20), short ones filled up with NONE, long ones cut."""
    codes = np.full((len(plans), MAX_ACTIONS), NONE, np.int8)
    for row, plan in zip(codes, plans, strict=True):
        names = plan[:MAX_ACTIONS]
        row[: len(names)] = [_CODE.get(name, UNKNOWN) for name in names]
    return codes


def score(environments: Environments, codes: Codes) -> NDArray[np.float64]:
    """The score (N,) of plan i in environment i."""
    energy = environments.energy.copy()
    position = environments.start.copy()
    carried = np.zeros(len(environments), np.int8)
    everyone = np.arange(len(environments))
    for action in codes.T:
        moves = (action >= 0) & (action < len(MOVES)) & (environments.diagonals | (action < 4))
        there = position + np.where(moves, _OFFSET[np.where(moves, action, 0)], 0)
        position = np.where(environments.blocked[everyone, there], position, there)
        here = energy[everyone, position]
        takes = (action == _CODE[TAKE]) & (here > 0) & (carried < environments.carry_limit)
        drops = action == _CODE[DROP]
        energy[everyone, position] = here - takes + np.where(drops, carried, 0)
        carried = np.where(drops, 0, carried + takes).astype(np.int8)
    submitted = (codes != NONE).sum(axis=1)
    result: NDArray[np.float64] = energy[everyone, environments.start] - environments.cost * submitted
    return result
