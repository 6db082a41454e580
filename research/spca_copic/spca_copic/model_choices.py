"""Baselines that ask a language model at every decision: to judge candidates, or for the plan itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spca_copic.episode import Moment
from spca_copic.pool import LONGEST, ProgramPool
from spca_core.errors import BudgetExhausted
from spca_core.ports.chat import ChatModel, ChatUsage
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.plan_world import Briefing, Candidate, ChoiceContext, PlanningProgram, Situation

_NUMBER = re.compile(r"\d+")
_ACTIONS = re.compile(r"^ACTIONS:(.*)$", re.MULTILINE)
_SYSTEM = "You decide what to do next in a world, step by step."


class ModelJudge:
    """A `Choice`: the model names the candidate to follow; one that cannot be read counts as the first."""

    name = "model as judge"

    def __init__(self, model: ChatModel, briefing: Briefing) -> None:
        self._model, self._briefing = model, briefing
        self.usage: list[ChatUsage] = []

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`. Raises BudgetExhausted."""
        chosen = 0
        if len(candidates) > 1:
            dialogue = Dialogue(self._model, _SYSTEM)
            question = render(
                "spca_copic",
                "judge",
                briefing=self._briefing,
                instruction=context.instruction,
                text=context.text,
                tried=context.tried,
                failure=context.last_failure,
                plans=[c.plan for c in candidates],
            )
            try:
                numbers = [int(n) for n in _NUMBER.findall(dialogue.ask(question))]
            except ModelError:
                numbers = []
            self.usage.append(dialogue.usage)
            chosen = next((n - 1 for n in numbers if 1 <= n <= len(candidates)), 0)
        return chosen, np.eye(len(candidates))[chosen], 0.0


class ModelPlans(ProgramPool):
    """In place of programs: the model itself is asked for every plan."""

    name = "model at every step"

    def __init__(self, model: ChatModel, briefing: Briefing) -> None:
        super().__init__(())
        self._model, self._briefing = model, briefing
        self.programs = (PlanningProgram(source="", proposer="model"),)
        self.usage: list[ChatUsage] = []

    def propose(
        self, situation: Situation, memory: Sequence[Mapping[str, Any]], only: Sequence[str] | None = None
    ) -> tuple[tuple[Candidate, ...], dict[str, str]]:
        """See `ProgramPool.propose`: one candidate, or none where the answer holds no actions."""
        dialogue = Dialogue(self._model, _SYSTEM)
        question = render(
            "spca_copic",
            "step",
            briefing=self._briefing,
            instruction=situation.instruction,
            text=situation.text,
            observation=json.dumps(situation.observation),
            memory=memory,
            longest=LONGEST,
            actions=situation.actions,
        )
        try:
            found = _ACTIONS.findall(dialogue.ask(question))
        except (ModelError, BudgetExhausted) as error:
            return (), {"model": str(error)}
        finally:
            self.usage.append(dialogue.usage)
        plan = tuple(" ".join(a.split()) for a in (found[-1] if found else "").split(";") if a.strip())[
            :LONGEST
        ]
        if not plan:
            return (), {"model": "the answer holds no actions"}
        return (Candidate(plan=plan, programs=("model",)),), {}
