"""Baselines that ask a language model what to do instead of programs: ReAct, chain of thought, Reflexion."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from spca_copic.episode import Choice, run_episode
from spca_copic.pool import DEADLINE_S, LONGEST, ProgramPool
from spca_core.errors import BudgetExhausted, SpcaError
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.plan_world import (
    ActionSequence,
    Briefing,
    Candidate,
    Case,
    Episode,
    PlanningProgram,
    Situation,
)
from spca_programs.ports.plan_world import PlanWorld

SYSTEM = "You decide what to do next in a world, step by step."
EXAMPLES = 2
"""Solved episodes, or programs that solved a case, that a model is shown."""
REFINEMENTS = 3
"""Drafts in a row, after the first one, until one of them has a plan."""
_ACTIONS = re.compile(r"^ACTIONS:(.*)$", re.MULTILINE)
_NUMBERS = re.compile(r"\d+")
_WHOLE_PLAN = 50


class NoPlan(SpcaError):
    """Nothing can be done next; the message says why."""


class ModelPlans(ProgramPool):
    """Asks a model for plans. One object plays all cases of a task type, one after the other."""

    name: ClassVar[str]
    tries: ClassVar[int] = 1
    """Episodes of a case; the last one counts. What is learned from those before it: see `learn`."""

    def __init__(
        self,
        model: ChatModel,
        briefing: Briefing,
        examples: Sequence[Episode] = (),
        deadline_s: float = DEADLINE_S,
    ) -> None:
        super().__init__((), deadline_s)
        self._model, self._briefing = model, briefing
        self._examples = [episode for episode in examples if episode.success][-EXAMPLES:]
        self._lessons: list[str] = []
        self.usage: list[Usage] = []
        self._solved_at: list[int] = []
        self.programs = (PlanningProgram(source="", proposer="model"),)

    @abstractmethod
    def plan(self, situation: Situation, memory: Sequence[Mapping[str, Any]]) -> ActionSequence:
        """The next actions, at least one. Raises NoPlan, ModelError, BudgetExhausted."""

    def begin(self) -> None:
        """Forget the last case."""

    def keep(self) -> None:
        """Remember what has solved a case."""

    def learn(self, episode: Episode) -> None:
        """Have the model say in words why an episode failed, for the next try."""
        self._lessons.append(self._ask("reflect", episode=episode, lessons=self._lessons))

    def play(self, world: PlanWorld, case: Case, choice: Choice) -> Episode:
        """An episode, the last of so many `tries`."""
        self._lessons = []
        for left in reversed(range(self.tries)):
            self.begin()
            episode = run_episode(world, case, self, choice)
            if episode.success or not left:
                break
            with suppress(ModelError, BudgetExhausted):
                self.learn(episode)
        self._solved_at.append(self.tries - left if episode.success else self.tries + 1)
        if episode.success:
            self.keep()
        return episode

    @property
    def by_try(self) -> tuple[float, ...]:
        """Share of the cases solved by each try, where there are several."""
        several = range(1, self.tries + 1) if self.tries > 1 else ()
        return tuple(sum(at <= k for at in self._solved_at) / len(self._solved_at) for k in several)

    def propose(
        self, situation: Situation, memory: Sequence[Mapping[str, Any]]
    ) -> tuple[tuple[Candidate, ...], dict[str, str]]:
        """See `ProgramPool.propose`: one candidate, or none with the reason."""
        try:
            return (Candidate(plan=self.plan(situation, memory), programs=("model",)),), {}
        except (NoPlan, ModelError, BudgetExhausted) as error:
            return (), {"model": str(error)}

    def _ask(self, template: str, **values: Any) -> str:
        """The answer to a prompt. Raises ModelError, BudgetExhausted."""
        dialogue = Dialogue(self._model, SYSTEM)
        try:
            return dialogue.ask(render("spca_copic", template, briefing=self._briefing, **values))
        finally:
            self.usage.append(dialogue.usage)


def trouble(memory: Sequence[Mapping[str, Any]]) -> str:
    """Describe what went wrong in the last plan; return an empty string if nothing did."""
    return "; ".join(remark["text"] for remark in memory[-1]["remarks"]) if memory else ""


class React(ModelPlans):
    """Asks for the next actions, again and again (Yao et al. 2023)."""

    name = "model at every step"
    thinking: ClassVar[str] = "Think briefly about what to do next. Then give"
    once: ClassVar[bool] = False
    """Asked for the whole plan, at the beginning of a case."""
    few_shots: ClassVar[bool] = False
    _rest: ActionSequence = ()

    def plan(self, situation: Situation, memory: Sequence[Mapping[str, Any]]) -> ActionSequence:
        """See `ModelPlans.plan`."""
        if not (self.once and memory):
            answer = self._ask(
                "step",
                situation=situation,
                observation=json.dumps(situation.observation),
                memory=memory,
                longest=_WHOLE_PLAN if self.once else LONGEST,
                whole=self.once,
                thinking=self.thinking,
                examples=self._examples if self.few_shots else (),
                lessons=self._lessons,
            )
            named = (_ACTIONS.findall(answer) or [""])[-1].split(";")
            self._rest = tuple(" ".join(a.split()) for a in named if a.strip())[:_WHOLE_PLAN]
            if not self._rest:
                raise NoPlan("the answer holds no actions")
        now, self._rest = self._rest[:LONGEST], self._rest[LONGEST:]
        if not now:
            raise NoPlan("its plan has ended")
        return now


class Vanilla(React):
    """Asks for the next actions alone."""

    name = "vanilla model"
    thinking = "Give"


class Prospector(React):
    """Has a model ask itself before it acts, and judge which of its attempts to follow (Kim et al. 2024)."""

    name = "Prospector"
    thinking = "Ask yourself what you most need to know to go on, and answer it from what is above. Then give"
    attempts: ClassVar[int] = 3

    def play(self, world: PlanWorld, case: Case, choice: Choice) -> Episode:
        """The episode that is worth most by the model's own judgement, which is not told the outcome."""
        played = []
        for _ in range(self.attempts):
            self.begin()
            episode, worth = run_episode(world, case, self, choice), 0
            with suppress(ModelError, BudgetExhausted):
                worth = int((_NUMBERS.findall(self._ask("worth", episode=episode)) or ["0"])[0])
            played.append((worth, episode))
        return max(played, key=lambda one: one[0])[1]


class ChainOfThought(React):
    """Asks once, for the whole plan (Wei et al. 2022)."""

    name = "chain of thought"
    once = True


class FewShots(ChainOfThought):
    """Shows solved episodes of the training, too."""

    name = "chain of thought, with examples"
    few_shots = True


class Reflexion(React):
    """Tries a case up to three times, with what it says of its failures (Shinn et al. 2023)."""

    name = "Reflexion"
    tries = 3
