"""The benchmark's two baselines, which know nothing of costs and carry limits."""

from __future__ import annotations

from collections import deque

import numpy as np

from spca_programs.grasp.grid import Cell, Grid
from spca_programs.grasp.rules import DROP, MOVES, OPPOSITE, TAKE, Rules

_RANDOM_STEPS = 6


def random_walk(grid: Grid, rules: Rules, rng: np.random.Generator) -> list[str]:
    """Six times a random move and TAKE, then the moves back, and DROP."""
    moves = [str(m) for m in rng.choice(rules.moves, size=_RANDOM_STEPS)]
    return [action for move in moves for action in (move, TAKE)] + _retrace(moves) + [DROP]


def greedy(grid: Grid, rules: Rules, rng: np.random.Generator) -> list[str]:
    """Always go to the nearest energy (ties by chance) while the way back along its own track still fits.

    Then go back.
    """
    energy = grid.energy.copy()
    position = grid.start
    track: list[str] = []
    plan: list[str] = []
    while found := _nearest(grid, rules, energy, position, rng):
        target, path = found
        if len(plan) + len(path) + 1 + len(track) + len(path) + 1 > rules.max_actions:
            break
        energy[target] = False
        position = target
        track += path
        plan += [*path, TAKE]
    return [*plan, *_retrace(track), DROP]


def _retrace(moves: list[str]) -> list[str]:
    return [OPPOSITE[move] for move in reversed(moves)]


def _nearest(
    grid: Grid, rules: Rules, energy: np.ndarray, start: Cell, rng: np.random.Generator
) -> tuple[Cell, list[str]] | None:
    """Breadth-first search with shuffled neighbours for an energy, and the moves to it."""
    size = grid.energy.shape[0]
    paths: dict[Cell, list[str]] = {start: []}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if energy[cell]:
            return cell, paths[cell]
        for move in rng.permutation(rules.moves):
            there = (cell[0] + MOVES[move][0], cell[1] + MOVES[move][1])
            inside = 0 <= there[0] < size and 0 <= there[1] < size
            if inside and not grid.obstacle[there] and there not in paths:
                paths[there] = [*paths[cell], str(move)]
                queue.append(there)
    return None
