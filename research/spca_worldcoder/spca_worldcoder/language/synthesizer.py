"""The synthesizer that asks a language model (role `coder`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.prompting import PYTHON, fenced
from spca_programs.experience import Experience, Program, Transition, Usage, Verdict, words_apart
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.state import State, described, in_words
from spca_worldcoder.sandbox import SIGNATURES

_PACKAGE = "spca_worldcoder.language"
_FIRST, _FITTING, _GOALS = 7, 3, 3
"""Experiences in the first prompt, and explained ones beside a failing one, and
missions beside a new one (published values)."""


class LanguageSynthesizer:
    """A `ModelSynthesizer` over a chat model.

    Examples are drawn by a seed, so that equal runs ask equal questions. With `guess_rewards` the reward of
    every mission is asked for once, from its words, before anything has paid (prompt4reward).
    """

    name = "language"
    enumerates = False

    def __init__(self, chat: ChatModel, seed: int = 0, guess_rewards: bool = False) -> None:
        self._chat, self._guess = chat, guess_rewards
        self._guessed: set[str] = set()
        self._rng = np.random.default_rng([seed, 7])
        self.usage = Usage()

    def first(self, experience: Experience) -> Program:
        """Both functions from some experiences."""
        chosen = self._spread(experience.transitions, range(len(experience.transitions)), _FIRST)
        examples = [_shown(experience.transitions[i]) for i in chosen]
        return self._ask("first", "first", actions=experience.actions, examples=examples)

    def refine(self, program: Program, experience: Experience, verdict: Verdict) -> Program:
        """One failing experience, with what the program says of it, beside some that are explained."""
        data = experience.transitions
        (index,) = self._spread(data, verdict.failing, 1)
        said = dict(zip(verdict.failing, verdict.said, strict=False))
        fitting = sorted(set(range(len(data))) - set(verdict.failing))
        return self._ask(
            "refine",
            "refine",
            code=program.source,
            wrong=_shown(data[index]),
            said=said.get(index, verdict.problem),
            right=[_shown(data[i]) for i in self._spread(data, fitting, _FITTING)],
            actions=experience.actions,
        )

    def for_goal(self, program: Program, experience: Experience, start: State, mission: str) -> Program:
        """A reward for a new mission, with the nearest ones that were accomplished."""
        won = {seen.mission: seen for seen in experience.transitions if seen.done and seen.reward > 0}
        if mission in self._guessed if self._guess else not won or mission in won:
            return program
        self._guessed.add(mission)
        nearest = sorted(won, key=lambda known: (words_apart(known, mission), known))[:_GOALS]
        return self._ask(
            "goal", "goal", code=program.source, mission=mission, known=[_shown(won[one]) for one in nearest]
        )

    def for_plan(
        self, program: Program, experience: Experience, start: State, mission: str, attempt: int
    ) -> Program:
        """Ask what is impossible on the way to a reward."""
        told = {"start": described(start), "actions": experience.actions}
        return self._ask("plan", "plan", code=program.source, mission=mission, **told)

    def _ask(self, template: str, why: str, **values: Any) -> Program:
        dialogue = Dialogue(self._chat, render(_PACKAGE, "system"))
        try:
            text = dialogue.ask(render(_PACKAGE, template, **values))
        finally:
            self.usage = self.usage.and_of(dialogue)
        return Program(source=code_in(text), origin=f"{why} by {dialogue.model_name or 'a model'}")

    def _spread(self, data: Sequence[Transition], indices: Sequence[int], count: int) -> list[int]:
        """Indices of some transitions, one of each action and kind of change before a second of one."""
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
        return chosen


def code_in(text: str) -> str:
    """The program in a model's answer. Raises ModelError where there is none."""
    blocks = [b for b in fenced(text, PYTHON) if any(f"def {name}" in b for name in SIGNATURES)]
    if blocks:
        return "\n\n".join(blocks) if len(blocks) > 1 and "def transition" not in blocks[-1] else blocks[-1]
    if all(f"def {name}" in text for name in SIGNATURES) and "```" not in text:
        return text
    raise ModelError("the answer holds no program with `transition` and `reward`", kind="invalid")


def _shown(seen: Transition) -> dict[str, Any]:
    return {
        "before": described(seen.before),
        "action": seen.action,
        "change": in_words(seen.before, seen.after),
        "reward": seen.reward,
        "done": seen.done,
        "mission": seen.mission,
    }
