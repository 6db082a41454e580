"""Shortest ways between the start of a GRASP grid and the energy within reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spca_programs.grasp.grid import Cell, Grid
from spca_programs.grasp.rules import MOVES, Rules

FAR = 99


@dataclass(frozen=True)
class Routes:
    """The stops that matter and the distances between them.

    `stops` are the start (number 0) and all energy that can be fetched in time, nearest to the start first.

    `distance[i][j]` is in moves; `passed[i][j]` has bit k set if stop k lies on a shortest way from i to j.
    `maps` (stops, rows, columns) are the distances of every cell to every stop, FAR where there is no way.
    """

    stops: tuple[Cell, ...]
    distance: list[list[int]]
    passed: list[list[int]]
    maps: NDArray[np.int8]
    rules: Rules

    def way(self, start: int, end: int) -> list[str]:
        """The moves of one shortest way."""
        cell, moves = self.stops[start], []
        to_go = self.maps[end]
        rows, columns = to_go.shape
        while to_go[cell]:
            for move in self.rules.moves:
                there = (cell[0] + MOVES[move][0], cell[1] + MOVES[move][1])
                inside = 0 <= there[0] < rows and 0 <= there[1] < columns
                if inside and to_go[there] == to_go[cell] - 1:
                    cell = there
                    moves.append(move)
                    break
        return moves


def routes(grid: Grid, rules: Rules) -> Routes:
    """All that a search needs to know of a grid."""
    home = _distance_maps(grid, rules, [grid.start])[0]
    within = grid.energy & (2 * home.astype(int) + 2 <= rules.max_actions)
    energy = sorted((int(home[r, c]), int(r), int(c)) for r, c in np.argwhere(within))
    stops = [grid.start, *((r, c) for _, r, c in energy)]
    maps = _distance_maps(grid, rules, stops)
    rows, columns = np.array(stops).T
    distance = maps[:, rows, columns].astype(np.int16)
    on_the_way = distance[:, None, :] + distance[None, :, :] == distance[:, :, None]
    number = np.arange(len(stops))
    on_the_way[number, :, number] = on_the_way[:, number, number] = False
    return Routes(
        stops=tuple(stops),
        distance=distance.tolist(),
        passed=[[_as_bits(flags) for flags in row] for row in on_the_way],
        maps=maps,
        rules=rules,
    )


def _as_bits(flags: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _distance_maps(grid: Grid, rules: Rules, sources: list[Cell]) -> NDArray[np.int8]:
    """Breadth-first search from many cells at once, one ring of all the searches at a time."""
    free = np.pad(~grid.obstacle, 1)
    reached = np.zeros((len(sources), *free.shape), bool)
    reached[np.arange(len(sources)), [r + 1 for r, _ in sources], [c + 1 for _, c in sources]] = True
    maps = np.where(reached, 0, FAR).astype(np.int8)
    ring, steps = reached.copy(), 0
    while ring.any():
        steps += 1
        spread = np.zeros_like(ring)
        for move in rules.moves:
            spread |= np.roll(ring, MOVES[move], axis=(1, 2))
        ring = spread & free & ~reached
        reached |= ring
        maps[ring] = steps
    return maps[:, 1:-1, 1:-1]
