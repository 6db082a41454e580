"""Selection of the programs that stay: those that add most to the others on held-out cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from spca_copic.episode import Moment
from spca_copic.pool import ProgramPool
from spca_copic.recipe import Outcome
from spca_copic.rollouts import follow
from spca_programs.plan_world import Case, PlanningProgram
from spca_programs.ports.plan_world import PlanWorld

_ALONE = 0.05
"""How much a program's own rewards count beside what it adds to the others."""


def alone(
    world: PlanWorld, pool: ProgramPool, program: PlanningProgram, cases: Sequence[Case]
) -> tuple[Outcome, ...]:
    """Return the outcome of each case when this program alone is asked."""
    pool.use([program])
    followed = [follow(Moment(world, pool, world.reset(case)), program.id) for case in cases]
    return tuple(Outcome(success, sum(step.reward for step in steps)) for success, steps in followed)


def keep_best(
    programs: Sequence[PlanningProgram], outcomes: Mapping[str, Sequence[Outcome]], count: int
) -> tuple[PlanningProgram, ...]:
    """The `count` programs with the greatest marginal gain, chosen greedily (gains diminish).

    A set is worth, on each case, the most rewards that one of its programs gets alone (`outcomes`, by program
    id): what a selector gets that knows whom to follow. What a program gets alone counts a little, too: it
    makes wrong choices cheap, and is more certain than a gain on a case or two. Of programs that did the same
    on every case one is enough.
    """
    rewards = {p.id: tuple(outcome.score for outcome in outcomes[p.id]) for p in programs}
    left = list({rewards[program.id]: program for program in reversed(programs)}.values())[::-1]
    worth = {p.id: np.array(rewards[p.id]) for p in left}
    chosen: list[PlanningProgram] = []
    best_so_far: np.ndarray | float = -np.inf
    while left and len(chosen) < count:
        gains = [(np.maximum(best_so_far, worth[p.id]) + _ALONE * worth[p.id]).mean() for p in left]
        best = left.pop(max(range(len(left)), key=gains.__getitem__))
        best_so_far = np.maximum(best_so_far, worth[best.id])
        chosen.append(best)
    return tuple(chosen)


def diversity(programs: Sequence[PlanningProgram]) -> float:
    """Compute 1 less two programs' mean Jaccard index of their words, which MinHash estimates (Eq. 10)."""
    words = [set(re.findall(r"\w+", program.source)) for program in programs]
    distances = [1 - len(a & b) / len(a | b) for a, b in combinations(words, 2)]
    return sum(distances) / len(distances) if distances else 0.0
