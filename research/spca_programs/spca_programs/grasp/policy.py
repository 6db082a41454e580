"""The policies that come with GRASP, by name."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence

import numpy as np

from spca_core.errors import InputError
from spca_programs.grasp.baselines import greedy, random_walk
from spca_programs.grasp.dataset import Environment
from spca_programs.grasp.search import solve
from spca_programs.ipp.domain import Answer

Planner = Callable[[Environment, np.random.Generator], Sequence[str]]

BUILTIN: dict[str, Planner] = {
    "random": lambda e, rng: random_walk(e.grid, e.rules, rng),
    "greedy": lambda e, rng: greedy(e.grid, e.rules, rng),
    "exact": lambda e, rng: solve(e.grid, e.rules).plan,
}


def planner_of(name: str) -> Planner:
    """Return the policy of a name. Raises InputError."""
    if name not in BUILTIN:
        raise InputError(f"unknown policy {name!r}", hint=f"one of {', '.join(BUILTIN)}, or a Python file")
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
