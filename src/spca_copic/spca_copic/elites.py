"""Which programs stay: those that add most to the others on held-out cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from spca_copic.choices import ProgramChoice
from spca_copic.episode import run_episode
from spca_copic.pool import ProgramPool
from spca_core.plan_world import Case, Episode, PlanningProgram
from spca_core.ports.plan_world import PlanWorld

_SUCCESS = 2.0
"""What a solved case counts beside its rewards, so that solving comes first."""


def worth(episodes: Sequence[Episode]) -> float:
    """Mean of what episodes are worth."""
    return sum(_SUCCESS * e.success + e.score for e in episodes) / max(1, len(episodes))


def worth_alone(
    world: PlanWorld, pool: ProgramPool, program: PlanningProgram, cases: Sequence[Case]
) -> tuple[float, ...]:
    """What a program is worth on each case when nobody else is asked."""
    pool.use([program])
    return tuple(worth([run_episode(world, case, pool, ProgramChoice(program.id))]) for case in cases)


def keep_best(
    programs: Sequence[PlanningProgram], alone: Mapping[str, Sequence[float]], count: int
) -> tuple[PlanningProgram, ...]:
    """The `count` programs with the greatest marginal gain, chosen greedily (gains diminish).

    A set is worth, on each case, what its best program is worth alone (`alone`, by program id): what a
    selector gets that knows whom to follow. Among sets of equal worth those win whose programs are good
    alone, so that a wrong choice costs little; a bad program that adds nothing would have to be unlearned.
    """
    left = list({program.id: program for program in programs}.values())
    chosen: list[PlanningProgram] = []
    best_so_far: np.ndarray | float = -np.inf
    while left and len(chosen) < count:
        gains = [
            (float(np.maximum(best_so_far, alone[p.id]).mean()), float(np.mean(alone[p.id]))) for p in left
        ]
        best = left.pop(max(range(len(left)), key=gains.__getitem__))
        best_so_far = np.maximum(best_so_far, alone[best.id])
        chosen.append(best)
    return tuple(chosen)


def diversity(episodes: Sequence[Episode]) -> float:
    """How different the proposals are: 1 less the mean Jaccard index of the actions of two candidates, 0-1.

    A program's plan that equals another's counts as a pair without any difference.
    """
    distances = []
    for episode in episodes:
        for decision in episode.decisions:
            plans = [set(c.plan) for c in decision.candidates for _ in c.programs]
            distances += [1 - len(a & b) / len(a | b) for a, b in combinations(plans, 2)]
    return sum(distances) / len(distances) if distances else 0.0
