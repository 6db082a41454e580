"""The built-in synthesizer: learns from transitions only."""

from __future__ import annotations

from collections.abc import Callable

from spca_worldcoder.induction.emit import emit
from spca_worldcoder.induction.learner import Learner
from spca_worldcoder.records import Experience, Program, Usage, Verdict
from spca_worldcoder.state import State

_BOLDER = ((1, 0), (4, 0), (0, 1), (2, 1), (2, 2))
"""(doubt, guess): up to how many transitions an exception is doubted, and which goal is believed."""


class InductiveSynthesizer:
    """A `ModelSynthesizer` without a language model.

    With `guess_rewards` every mission gets one guess at its goal, from its words alone, for good.
    """

    name = "inductive"
    enumerates = True
    usage = Usage()
    """Nothing: no model is asked."""

    def __init__(self, guess_rewards: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._learner = Learner(guess_rewards, cancelled)

    def first(self, experience: Experience) -> Program:
        """The simplest rules that explain everything."""
        return self._write(experience, None, 0, 0, "induction")

    def refine(self, program: Program, experience: Experience, verdict: Verdict) -> Program:
        """The same as from scratch: nothing is lost, since all data are kept."""
        start = experience.starts[-1] if experience.starts else None
        return self._write(experience, start, 0, 0, "induction")

    def for_goal(self, program: Program, experience: Experience, start: State, mission: str) -> Program:
        """With a goal for the mission."""
        return self._write(experience, (start, mission), 0, 0, "goal")

    def for_plan(
        self, program: Program, experience: Experience, start: State, mission: str, attempt: int
    ) -> Program | None:
        """Doubt what rests on few transitions, and guess other goals."""
        if attempt >= len(_BOLDER):
            return None
        doubt, guess = _BOLDER[attempt]
        return self._write(experience, (start, mission), doubt, guess, f"doubt {doubt}, guess {guess}")

    def _write(
        self, experience: Experience, start: tuple[State, str] | None, doubt: int, guess: int, why: str
    ) -> Program:
        rules = self._learner.learn(experience, start, doubt, guess)
        return Program(source=emit(rules), rules=rules.dump(), origin=why)
