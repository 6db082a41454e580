"""A language model in the selector's place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from spca_copic.baselines.base import SYSTEM
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.plan_world import Briefing, Candidate, ChoiceContext, Experience

_NUMBER = re.compile(r"\d+")


class ModelJudge:
    """A `Selector`: the model names the candidate to follow; one that cannot be read counts as the first.

    It learns nothing, and there is nothing of it to keep.
    """

    name = "model as judge"

    def __init__(self, model: ChatModel | None = None, briefing: Briefing | None = None) -> None:
        self.model, self.briefing = model, briefing
        self.usage: list[Usage] = []

    def score(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[np.ndarray, float]:
        """See `Selector.score`. Raises BudgetExhausted."""
        chosen, count = 0, len(candidates)
        if count > 1:
            assert self.model is not None
            dialogue, plans = Dialogue(self.model, SYSTEM), [c.plan for c in candidates]
            question = render("spca_copic", "judge", briefing=self.briefing, context=context, plans=plans)
            try:
                numbers = [int(n) for n in _NUMBER.findall(dialogue.ask(question))]
            except ModelError:
                numbers = []
            self.usage.append(dialogue.usage)
            chosen = next((n - 1 for n in numbers if 1 <= n <= count), 0)
        return np.eye(count)[chosen], 0.0

    def learn(self, batch: Sequence[Experience]) -> float:
        """See `Selector.learn`."""
        return 0.0

    def save(self, path: Path) -> None:
        """See `Selector.save`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def load(self, path: Path) -> None:
        """See `Selector.load`."""
