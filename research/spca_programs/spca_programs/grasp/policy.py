"""The policies that come with GRASP, by name; its two baselines know nothing of costs and carry limits."""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from spca_core.errors import InputError, one_of
from spca_programs.grasp.dataset import Environment
from spca_programs.grasp.grid import Cell, Grid
from spca_programs.grasp.rules import DROP, MOVES, OPPOSITE, TAKE, Rules
from spca_programs.grasp.search import solve
from spca_programs.ipp.domain import Answer

Planner = Callable[[Environment, np.random.Generator], Sequence[str]]

BUILTIN: dict[str, Planner] = {
    "random": lambda e, rng: random_walk(e.grid, e.rules, rng),
    "greedy": lambda e, rng: greedy(e.grid, e.rules, rng),
    "exact": lambda e, rng: solve(e.grid, e.rules).plan,
}
_RANDOM_STEPS = 6


def planner_of(name: str) -> Planner:
    """Return the policy of a name. Raises InputError."""
    if name not in BUILTIN:
        raise InputError(f"unknown policy {name!r}", hint=one_of(name, [*BUILTIN, "or a Python file"]))
    return BUILTIN[name]


def answers_of(name: str, environments: Sequence[Environment], seed: int = 0) -> list[Answer]:
    """Plan for environments by one of `BUILTIN`.

    Random numbers are drawn for each environment by its name, so that a batch's other members do not matter.
    """
    planner, answers = planner_of(name), []
    for environment in environments:
        rng = np.random.default_rng([seed, zlib.crc32(environment.name.encode())])
        began = time.perf_counter()
        plan = planner(environment, rng)
        answers.append(Answer(plan=tuple(plan), seconds=time.perf_counter() - began))
    return answers


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
