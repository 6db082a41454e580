"""Following one program from some moment of an episode to its end, and which programs stay for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from spca_copic.episode import MOST_DECISIONS, Choice, Moment
from spca_copic.pool import ProgramPool
from spca_copic.recipe import Outcome
from spca_programs.plan_world import ActionSequence, Candidate, Case, PlanningProgram
from spca_programs.ports.plan_world import PlanWorld


class _Step(NamedTuple):
    plan: ActionSequence
    reward: float


def follow(moment: Moment, program: str) -> tuple[bool, list[_Step]]:
    """Carry out what one program (an id) proposes until the episode ends, or it has no plan any more.

    The world stays where that leads; `moment` goes along. Returns the success and the plans with their
    rewards.
    """
    steps: list[_Step] = []
    while len(steps) < MOST_DECISIONS:
        plan, _problem = moment.pool.plan_of(program, moment.situation, moment.memory)
        if not plan:
            break
        transition = moment.world.step(plan)
        steps.append(_Step(plan, transition.reward))
        if transition.done:
            return transition.success, steps
        moment.note(plan, transition)
    return False, steps


class Rollouts:
    """Tries programs out within one episode, and puts the world back afterwards.

    Needs the world's `checkpoint`, so it is for training and measuring only. Worlds are deterministic: as
    long as a program is followed, the outcome of its first rollout holds.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[ActionSequence, ...], str], Outcome] = {}

    def outcome(self, moment: Moment, program: str) -> Outcome:
        """Return the outcome of following a program (an id) alone from this moment on."""
        path = tuple(tuple(step["plan"]) for step in moment.memory)
        if (path, program) not in self._known:
            saved = moment.world.checkpoint()
            there = Moment(moment.world, moment.pool, moment.situation)
            there.memory = list(moment.memory)
            try:
                self._keep(path, program, *follow(there, program))
            finally:
                moment.world.restore(saved)
        return self._known[path, program]

    def _keep(
        self, path: tuple[ActionSequence, ...], program: str, success: bool, steps: Sequence[_Step]
    ) -> None:
        left = sum(step.reward for step in steps)
        self._known[path, program] = Outcome(success, left)
        for step in steps:
            path, left = (*path, step.plan), left - step.reward
            self._known.setdefault((path, program), Outcome(success, left))


class TryingChoice:
    """Chooses as another one does, and tries out every candidate at a share of the decisions.

    J. Schulman et al., Trust Region Policy Optimization, 2015, call rollouts of all actions from some states
    of an episode a vine: what they tell of the candidates does not depend on what was chosen later.
    """

    def __init__(self, choice: Choice, share: float, rng: np.random.Generator) -> None:
        self.name, self._choice, self._share, self._rng = choice.name, choice, share, rng
        self._rollouts = Rollouts()
        self.outcomes: list[tuple[float, ...]] = []
        """Of each decision of the episode: each candidate's rewards to come; empty where none was tried."""

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        if not moment.decisions:
            self._rollouts, self.outcomes = Rollouts(), []
        tried = len(moment.candidates) > 1 and self._rng.random() < self._share
        self.outcomes.append(tuple(self._worth(moment, c) for c in moment.candidates) if tried else ())
        return self._choice.choose(moment)

    def _worth(self, moment: Moment, candidate: Candidate) -> float:
        """The mean over the programs that propose it."""
        return float(np.mean([self._rollouts.outcome(moment, id_).score for id_ in candidate.programs]))


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
