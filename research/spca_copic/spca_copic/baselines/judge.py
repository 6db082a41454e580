"""A language model in the selector's place."""

from __future__ import annotations

import re

import numpy as np

from spca_copic.baselines.base import SYSTEM
from spca_copic.episode import Moment
from spca_core.ports.chat import ChatModel, ChatUsage
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.plan_world import Briefing

_NUMBER = re.compile(r"\d+")


class ModelJudge:
    """A `Choice`: the model names the candidate to follow; one that cannot be read counts as the first."""

    name = "model as judge"

    def __init__(self, model: ChatModel, briefing: Briefing) -> None:
        self._model, self._briefing = model, briefing
        self.usage: list[ChatUsage] = []

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`. Raises BudgetExhausted."""
        chosen, count = 0, len(moment.candidates)
        if count > 1:
            dialogue = Dialogue(self._model, SYSTEM)
            question = render(
                "spca_copic",
                "judge",
                briefing=self._briefing,
                context=moment.context,
                plans=[c.plan for c in moment.candidates],
            )
            try:
                numbers = [int(n) for n in _NUMBER.findall(dialogue.ask(question))]
            except ModelError:
                numbers = []
            self.usage.append(dialogue.usage)
            chosen = next((n - 1 for n in numbers if 1 <= n <= count), 0)
        return chosen, np.eye(count)[chosen], 0.0
