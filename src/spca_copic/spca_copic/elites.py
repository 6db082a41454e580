"""Which programs stay: those that add most to the others on held-out cases under a perfect choice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from spca_copic.choices import ProgramChoice
from spca_copic.episode import run_episode
from spca_copic.oracle import OracleChoice
from spca_copic.pool import ProgramPool
from spca_core.plan_world import Case, Episode, PlanningProgram
from spca_core.ports.plan_world import PlanWorld

_SUCCESS = 2.0
"""What a solved case counts beside its rewards, so that solving comes first."""
_DIVERSITY = 1e-3
"""Weight of diversity: it decides between sets that are worth the same."""


def worth(episodes: Sequence[Episode]) -> float:
    """Mean of what episodes are worth."""
    return sum(_SUCCESS * e.success + e.score for e in episodes) / max(1, len(episodes))


def keep_best(
    world: PlanWorld,
    pool: ProgramPool,
    programs: Sequence[PlanningProgram],
    cases: Sequence[Case],
    count: int,
    oracle: OracleChoice,
) -> tuple[PlanningProgram, ...]:
    """The `count` programs with the greatest marginal gain, chosen greedily (gains diminish)."""
    left = list({program.id: program for program in programs}.values())
    alone = {program.id: _alone(world, pool, program, cases) for program in left}
    chosen: list[PlanningProgram] = []
    while left and len(chosen) < count:
        gains = []
        for program in left:
            together = [*chosen, program]
            gains.append(
                sum(
                    _together(world, pool, together, case, [alone[p.id][k] for p in together], oracle)
                    for k, case in enumerate(cases)
                )
                / len(cases)
            )
        best = left[max(range(len(left)), key=gains.__getitem__)]
        chosen.append(best)
        left.remove(best)
    pool.use(chosen)
    return tuple(chosen)


def _alone(
    world: PlanWorld, pool: ProgramPool, program: PlanningProgram, cases: Sequence[Case]
) -> list[Episode]:
    pool.use([program])
    return [run_episode(world, case, pool, ProgramChoice(program.id)) for case in cases]


def _together(
    world: PlanWorld,
    pool: ProgramPool,
    programs: Sequence[PlanningProgram],
    case: Case,
    alone: Sequence[Episode],
    oracle: OracleChoice,
) -> float:
    """What a set is worth on a case: its best program if that solves it, else an oracle that switches.

    Among sets that are worth the same, those win whose programs went different ways.
    """
    value = max(worth([episode]) for episode in alone)
    if len(programs) > 1 and not any(episode.success for episode in alone):
        pool.use(programs)
        value = max(value, worth([run_episode(world, case, pool, oracle)]))
    different = len({_followed(episode) for episode in alone}) / len(alone)
    return value + _DIVERSITY * different


def _followed(episode: Episode) -> tuple[tuple[str, ...], ...]:
    return tuple(decision.candidates[decision.chosen].plan for decision in episode.decisions)


def best_single(
    world: PlanWorld, pool: ProgramPool, programs: Sequence[PlanningProgram], cases: Sequence[Case]
) -> tuple[str, float]:
    """The program (id) that is worth most alone, and its worth."""
    values = {}
    for program in programs:
        pool.use([program])
        values[program.id] = worth([run_episode(world, c, pool, ProgramChoice(program.id)) for c in cases])
    pool.use(programs)
    best = max(values, key=values.__getitem__)
    return best, values[best]


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
