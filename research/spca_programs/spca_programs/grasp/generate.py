"""Random GRASP grids, by the benchmark's published distributions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spca_programs.grasp.grid import SIZE, Cell, Grid
from spca_programs.options import Energy, Start

_OBSTACLE_SHARE = 0.1
_INNER = range(3, 8)
_SKEW_BORDER = 6  # rows (columns) 0-5 have one density, 6-10 its complement

Map = NDArray[np.bool_]


def generate(energy: Energy, obstacles: bool, start: Start, rng: np.random.Generator) -> Grid:
    """One grid. Obstacles replace energy, and the agent whatever lies in its cell."""
    energies = _ENERGY_MAPS[energy](rng)
    blocked = rng.random((SIZE, SIZE)) < _OBSTACLE_SHARE if obstacles else np.zeros((SIZE, SIZE), bool)
    home = _start(start, rng)
    blocked[home] = False
    energies &= ~blocked
    energies[home] = False
    return Grid(energy=energies, obstacle=blocked, start=home)


def _start(start: Start, rng: np.random.Generator) -> Cell:
    cells = [
        (row, column)
        for row in range(SIZE)
        for column in range(SIZE)
        if (row in _INNER and column in _INNER) == (start == "inner")
    ]
    return cells[int(rng.integers(len(cells)))]


def _random(rng: np.random.Generator) -> Map:
    return rng.random((SIZE, SIZE)) < rng.uniform(0.3, 0.7)


def _vertical(rng: np.random.Generator) -> Map:
    density = rng.uniform(0.3, 0.4) if rng.random() < 0.5 else rng.uniform(0.6, 0.7)
    rows = np.where(np.arange(SIZE) < _SKEW_BORDER, density, 1 - density)
    return rng.random((SIZE, SIZE)) < rows[:, None]


def _cluster(rng: np.random.Generator) -> Map:
    energies = np.zeros((SIZE, SIZE), bool)
    # The description says centres anywhere, clipped at the rim; the released grids have none on the rim
    # (border energy: 4.9 and 4.1 a grid, against 7.1 and 6.4 by the description; p < 1e-7).
    for row, column in rng.integers(1, SIZE - 1, size=(int(rng.integers(3, 6)), 2)):
        energies[row - 1 : row + 2, column - 1 : column + 2] = True
    return energies


def _spiral(rng: np.random.Generator) -> Map:
    energies = np.zeros((SIZE, SIZE), bool)
    for i in range(SIZE * SIZE):
        angle = i / 10 + rng.uniform(-0.2, 0.2)
        radius = i / (110 / (2 * math.pi)) + rng.uniform(-0.2, 0.2)
        row, column = int(5 + radius * math.cos(angle)), int(5 + radius * math.sin(angle))
        if 0 <= row < SIZE and 0 <= column < SIZE:
            energies[row, column] = True
    return energies


_ENERGY_MAPS: dict[Energy, Callable[[np.random.Generator], Map]] = {
    "random": _random,
    "vertical": _vertical,
    "horizontal": lambda rng: _vertical(rng).T.copy(),
    "cluster": _cluster,
    "spiral": _spiral,
}
