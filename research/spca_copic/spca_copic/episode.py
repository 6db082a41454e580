"""One episode: programs propose, somebody chooses, the world carries it out.

The choice is a selector's, chance's, or that of one program. What a selector is told of a situation are its
observation as words and what has been done so far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from spca_copic.pool import ProgramPool
from spca_copic.ports import Selector
from spca_programs.plan_world import (
    ActionSequence,
    Candidate,
    Case,
    ChoiceContext,
    Decision,
    Episode,
    Experience,
    Situation,
    Transition,
)
from spca_programs.ports.plan_world import PlanWorld

_SKIPPED = ("memory",)
_MOST_FACTS = 160
_MOST_TRIED = 12


def context_of(situation: Situation, decisions: Sequence[Decision]) -> ChoiceContext:
    """The context of the next choice of an episode."""
    last = decisions[-1] if decisions else None
    tried: ActionSequence = tuple(a for d in decisions for a in d.candidates[d.chosen].plan)
    return ChoiceContext(
        instruction=situation.instruction,
        facts=tuple(facts_of(situation.observation)),
        text=situation.text,
        decision=len(decisions),
        last_plan=last.candidates[last.chosen].plan if last else (),
        last_failure=last.remarks[0].kind if last and last.remarks else "",
        tried=tried[-_MOST_TRIED:],
    )


def facts_of(observation: dict[str, Any]) -> list[str]:
    """An observation as short words: `path=value`, numbers by their order of magnitude, lists item by item.

    >>> facts_of({"minerals": 130, "have": {"SCV": 12}, "facts": ["on cube_red table"], "held": False})
    ['minerals=~128', 'have.SCV=12', 'facts:on cube_red table', 'held=False']
    """
    found: list[str] = []
    for key, value in observation.items():
        if key not in _SKIPPED:
            _add(found, key, value)
    return found[:_MOST_FACTS]


def _add(found: list[str], path: str, value: Any) -> None:
    if len(found) >= _MOST_FACTS:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            _add(found, f"{path}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, (dict, list, tuple)):
                _add(found, path, item)
            else:
                found.append(f"{path}:{item}")
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        found.append(f"{path}={value}")
    else:
        found.append(f"{path}={_rounded(value)}")


def _rounded(number: float) -> str:
    """Small whole numbers as they are, others by the nearest power of two."""
    if number == int(number) and abs(number) <= 16:
        return str(int(number))
    power = round(math.log2(abs(number))) if number else 0
    return f"~{'-' if number < 0 else ''}{2**power if power >= 0 else f'1/{2**-power}'}"


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
        self.candidates: tuple[Candidate, ...] = ()
        self.context: ChoiceContext

    def of(self, program: str) -> tuple[int, np.ndarray]:
        """The index of the candidate that a program (an id) proposes, or the first one's; with certainty."""
        chosen = next((i for i, c in enumerate(self.candidates) if program in c.programs), 0)
        return chosen, np.eye(len(self.candidates))[chosen]

    def note(self, plan: Sequence[str], transition: Transition) -> None:
        """Record a step in the memory that programs are shown, and go on to its situation."""
        remarks = [remark.model_dump(mode="json") for remark in transition.remarks]
        self.memory.append(
            {"observation": self.situation.observation, "plan": list(plan), "remarks": remarks}
        )
        self.situation = transition.situation


class Choice(Protocol):
    """Chooses one of the candidates of a moment."""

    name: str

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """Its index, the probabilities of all (shape (candidates,)), and the value that is expected."""


def run_episode(
    world: PlanWorld,
    case: Case,
    pool: ProgramPool,
    choice: Choice,
) -> Episode:
    """Run a case to its end; ends it, too, when no program has a plan any more."""
    moment = Moment(world, pool, world.reset(case))
    success, ended = False, "no end"
    while len(moment.decisions) < MOST_DECISIONS:
        candidates, problems = pool.propose(moment.situation, moment.memory)
        moment.candidates = candidates
        if not candidates:
            ended = "no program had a plan: " + "; ".join(dict.fromkeys(problems.values()))
            break
        moment.context = context_of(moment.situation, moment.decisions)
        began = time.monotonic()
        chosen, probabilities, value = choice.choose(moment)
        seconds = time.monotonic() - began
        transition = world.step(candidates[chosen].plan)
        decision = Decision(
            context=moment.context,
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
            success = transition.success
            why = transition.remarks[-1].text if transition.remarks else "not solved"
            ended = "" if success else why
            break
    return Episode(case=case, decisions=tuple(moment.decisions), success=success, ended=ended)


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


class SelectorChoice:
    """Follows a selector: samples with a generator (training), takes the best without one (test).

    What has just failed is not repeated in a test; `plain`, as published, it may be.
    """

    def __init__(
        self, selector: Selector, rng: np.random.Generator | None = None, plain: bool = False
    ) -> None:
        self.name = f"selector ({selector.name})"
        self._selector, self._rng, self._plain = selector, rng, plain

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        probabilities, value = self._selector.score(moment.context, moment.candidates)
        if self._rng is not None:
            return int(self._rng.choice(len(probabilities), p=probabilities)), probabilities, value
        # Without chance, a selector that is wrong once would stay wrong to the end of the episode.
        order, last = np.argsort(-probabilities, kind="stable"), moment.context
        others = [i for i in order if moment.candidates[i].plan != last.last_plan]
        again = self._plain or not last.last_failure or not others
        return int((order if again else others)[0]), probabilities, value


class RandomChoice:
    """Any candidate, equally likely."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        count = len(moment.candidates)
        return int(self._rng.integers(count)), np.full(count, 1 / count), 0.0


class ProgramChoice:
    """Always what one program proposes; where it proposes nothing, the first that there is."""

    def __init__(self, program: str) -> None:
        self.name = f"program {program}"
        self._program = program

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        return *moment.of(self._program), 0.0
