"""Whatever answers GRASP environments with plans."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from spca_core.errors import InputError
from spca_programs.grasp.baselines import greedy, random_walk
from spca_programs.grasp.dataset import Environment
from spca_programs.grasp.search import solve
from spca_programs.ipp.domain import Answer


class Policy(Protocol):
    """Plans for environments, one by one or together."""

    name: str

    def answer(self, environments: Sequence[Environment]) -> list[Answer]:
        """One answer for each environment, in their order; never raises for a bad plan."""
        ...


Planner = Callable[[Environment, np.random.Generator], Sequence[str]]

BUILTIN: dict[str, Planner] = {
    "random": lambda e, rng: random_walk(e.grid, e.rules, rng),
    "greedy": lambda e, rng: greedy(e.grid, e.rules, rng),
    "exact": lambda e, rng: solve(e.grid, e.rules).plan,
}


class BuiltinPolicy:
    """One of `BUILTIN`.

    Random numbers are drawn for each environment by its name, so that a batch's other members do not matter.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        if name not in BUILTIN:
            hint = f"one of {', '.join(BUILTIN)}, or a Python file"
            raise InputError(f"unknown policy {name!r}", hint=hint)
        self.name, self._seed = name, seed

    def answer(self, environments: Sequence[Environment]) -> list[Answer]:
        """See `Policy.answer`."""
        return [self._one(environment) for environment in environments]

    def _one(self, environment: Environment) -> Answer:
        rng = np.random.default_rng([self._seed, zlib.crc32(environment.name.encode())])
        began = time.perf_counter()
        plan = BUILTIN[self.name](environment, rng)
        return Answer(plan=tuple(plan), seconds=time.perf_counter() - began)
