"""One episode: programs propose, somebody chooses, the world carries it out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from spca_copic.context import context_of
from spca_copic.pool import ProgramPool
from spca_programs.plan_world import Candidate, Case, ChoiceContext, Decision, Episode, Situation, Transition
from spca_programs.ports.plan_world import PlanWorld
from spca_programs.ports.selector import Experience

MOST_DECISIONS = 200
"""A world ends its episodes itself; this is for one that does not."""
Memory = list[dict[str, Any]]
"""Past steps as programs see them: `observation`, `plan`, `remarks`."""


class Moment:
    """An episode at one of its decisions."""

    def __init__(self, world: PlanWorld, pool: ProgramPool, situation: Situation) -> None:
        self.world, self.pool, self.situation = world, pool, situation
        self.memory: Memory = []
        self.decisions: list[Decision] = []

    def note(self, plan: Sequence[str], transition: Transition) -> None:
        """What programs will remember of a step."""
        remarks = [remark.model_dump(mode="json") for remark in transition.remarks]
        self.memory.append(
            {"observation": self.situation.observation, "plan": list(plan), "remarks": remarks}
        )
        self.situation = transition.situation


class Choice(Protocol):
    """Chooses one of several candidates."""

    name: str

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """Its index, the probabilities of all (shape (candidates,)), and the value that is expected."""
        ...


def run_episode(
    world: PlanWorld,
    case: Case,
    pool: ProgramPool,
    choice: Choice,
) -> Episode:
    """Run a case to its end; ends it, too, when no program has a plan any more."""
    moment = Moment(world, pool, world.reset(case))
    ended = "no end"
    while len(moment.decisions) < MOST_DECISIONS:
        candidates, problems = pool.propose(moment.situation, moment.memory)
        if not candidates:
            ended = "no program had a plan: " + "; ".join(dict.fromkeys(problems.values()))
            break
        context = context_of(moment.situation, moment.decisions)
        began = time.monotonic()
        chosen, probabilities, value = choice.choose(moment, context, candidates)
        seconds = time.monotonic() - began
        transition = world.step(candidates[chosen].plan)
        decision = Decision(
            context=context,
            candidates=candidates,
            chosen=chosen,
            probabilities=tuple(float(p) for p in probabilities),
            value=value,
            reward=transition.reward,
            remarks=transition.remarks,
            problems=problems,
            seconds=seconds,
        )
        moment.decisions.append(decision)
        moment.note(candidates[chosen].plan, transition)
        if transition.done:
            ended = (
                ""
                if transition.success
                else (transition.remarks[-1].text if transition.remarks else "not solved")
            )
            return Episode(
                case=case, decisions=tuple(moment.decisions), success=transition.success, ended=ended
            )
    return Episode(case=case, decisions=tuple(moment.decisions), success=False, ended=ended)


def experience_of(episode: Episode, outcomes: Sequence[tuple[float, ...]] = ()) -> list[Experience]:
    """An episode's choices to learn from, with what trying the candidates out told, by decision."""
    return [
        Experience(
            context=decision.context,
            candidates=decision.candidates,
            chosen=decision.chosen,
            probability=max(decision.probabilities[decision.chosen], 1e-6),
            value=decision.value,
            reward=decision.reward,
            last=index == len(episode.decisions) - 1,
            outcomes=outcomes[index] if outcomes else (),
        )
        for index, decision in enumerate(episode.decisions)
    ]
