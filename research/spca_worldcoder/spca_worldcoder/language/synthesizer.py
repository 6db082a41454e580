"""The synthesizer that asks a language model (role `coder`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import Dialogue, add_usage, render
from spca_worldcoder.records import Experience, Program, Transition, Usage
from spca_worldcoder.sandbox import SIGNATURES
from spca_worldcoder.state import State, in_words, name_of, to_json

_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)
_PACKAGE = "spca_worldcoder.language"
_FIRST, _FITTING = 7, 3
"""Experiences in the first prompt, and explained ones beside a failing one (published values)."""


class LanguageSynthesizer:
    """A `ModelSynthesizer` over a chat model.

    Examples are drawn by a seed, so that equal runs ask equal questions.
    """

    name = "language"

    def __init__(self, chat: ChatModel, seed: int = 0) -> None:
        self._chat = chat
        self._rng = np.random.default_rng([seed, 7])
        self.usage = Usage()

    def first(self, experience: Experience) -> Program:
        """Both functions from some experiences."""
        chosen = self._spread(experience.transitions, range(len(experience.transitions)), _FIRST)
        return self._ask("first", "first", actions=experience.actions, examples=_shown(chosen))

    def refine(
        self, program: Program, experience: Experience, failing: Sequence[int], fitting: Sequence[int]
    ) -> Program:
        """One failing experience beside some that are explained."""
        data = experience.transitions
        if not failing:
            return program
        wrong = self._spread(data, failing, 1)
        right = self._spread(data, fitting, _FITTING)
        return self._ask(
            "refine",
            "refine",
            code=program.source,
            wrong=_shown(wrong)[0],
            right=_shown(right),
            actions=experience.actions,
        )

    def for_goal(self, program: Program, experience: Experience, start: State, mission: str) -> Program:
        """A reward for a new mission, once there is a program that knows others."""
        known = sorted({m for _, m in experience.starts[:-1]})
        if not known or mission in known or not any(seen.done for seen in experience.transitions):
            return program
        return self._ask("goal", "goal", code=program.source, mission=mission, known=known[:10])

    def for_plan(
        self, program: Program, experience: Experience, start: State, mission: str, attempt: int
    ) -> Program | None:
        """Ask what is impossible on the way to a reward, three times at most."""
        if attempt >= 3:
            return None
        return self._ask(
            "plan",
            "plan",
            code=program.source,
            mission=mission,
            start=[name_of(e) for e in start],
            actions=experience.actions,
        )

    def _ask(self, template: str, why: str, **values: Any) -> Program:
        dialogue = Dialogue(self._chat, render(_PACKAGE, "system"))
        try:
            text = dialogue.ask(render(_PACKAGE, template, **values))
        finally:
            self.usage = Usage(
                questions=self.usage.questions + 1, chat=add_usage(self.usage.chat, dialogue.usage),
                seconds=self.usage.seconds + dialogue.usage.seconds,
            )  # fmt: skip
        return Program(source=code_in(text), origin=f"{why} by {dialogue.model_name or 'a model'}")

    def _spread(self, data: Sequence[Transition], indices: Sequence[int], count: int) -> list[Transition]:
        """Some transitions, one for each action and kind of change before a second one of the same."""
        clusters: dict[tuple[str, bool, bool], list[int]] = {}
        for i in indices:
            clusters.setdefault((data[i].action, data[i].before == data[i].after, data[i].done), []).append(i)
        chosen: list[int] = []
        queues = [list(self._rng.permutation(members)) for _, members in sorted(clusters.items())]
        while queues and len(chosen) < count:
            for queue in queues:
                if queue and len(chosen) < count:
                    chosen.append(int(queue.pop()))
            queues = [queue for queue in queues if queue]
        return [data[i] for i in chosen]


def code_in(text: str) -> str:
    """The program in a model's answer. Raises ModelError where there is none."""
    blocks = [b for b in _FENCE.findall(text) if any(f"def {name}" in b for name in SIGNATURES)]
    if blocks:
        return (
            "\n\n".join(blocks) if len(blocks) > 1 and "def transition" not in blocks[-1] else str(blocks[-1])
        )
    if all(f"def {name}" in text for name in SIGNATURES) and "```" not in text:
        return text
    raise ModelError("the answer holds no program with `transition` and `reward`", kind="invalid")


def _shown(chosen: Sequence[Transition]) -> list[dict[str, Any]]:
    return [
        {
            "before": to_json(seen.before),
            "action": seen.action,
            "change": in_words(seen.before, seen.after),
            "reward": seen.reward,
            "done": seen.done,
            "mission": seen.mission,
        }
        for seen in chosen
    ]
