"""The built-in synthesizer: from all that was seen, and nothing else, to a rulebook and its program."""

from __future__ import annotations

from collections.abc import Callable

from spca_induction.emit import emit
from spca_induction.rewards import RewardGuesser, RewardLearner
from spca_induction.rulebook import Rulebook
from spca_induction.rules import RuleLearner
from spca_induction.view import FrameFinder
from spca_programs.experience import Contradiction, Experience, NotLearnable, Program, Usage, Verdict
from spca_programs.state import State, in_words

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


class Learner:
    """Learns rulebooks from one experience that only grows, keeping what it worked out before."""

    def __init__(self, guess_rewards: bool = False, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._guess_rewards, self._cancelled = guess_rewards, cancelled
        self._begin(Experience())

    def _begin(self, experience: Experience) -> None:
        """Forget what was worked out about another experience."""
        self._experience = experience
        self._finder, self._framed = FrameFinder(), 0
        self._rules = RuleLearner(self._cancelled)
        self._rewards = RewardGuesser() if self._guess_rewards else RewardLearner()

    def learn(
        self, experience: Experience, start: tuple[State, str] | None = None, doubt: int = 0, guess: int = 0
    ) -> Rulebook:
        """A rulebook that explains every transition. Raises Contradiction, NotLearnable, Cancelled.

        `doubt` and `guess` ask for bolder rules: see `RuleLearner.learn` and `RewardLearner.learn`.
        """
        data = experience.transitions
        refuse_contradictions(experience)
        if experience is not self._experience:
            self._begin(experience)
        for seen in data[self._framed :]:
            self._finder.add(seen)
        self._framed = len(data)
        frame = self._finder.frame()
        if frame is None:
            for index, one in enumerate(data):
                if one.before != one.after and not any(e.cell for e in one.before):
                    raise NotLearnable(f"transition {index} ({one.action}) is of a world without a grid")
            return Rulebook()
        groups = self._rules.learn(data, frame, experience.actions, doubt)
        return Rulebook(frame, groups, self._rewards.learn(data, frame, start, guess))


def refuse_contradictions(experience: Experience) -> None:
    """Raises Contradiction when one step in one state had two outcomes, or two rewards for one mission."""
    data, seen = experience.transitions, dict[object, int]()
    for index, one in enumerate(data):
        first = seen.setdefault((one.before, one.action), index)
        same = seen.setdefault((one.before, one.action, one.mission), index)
        if data[first].after != one.after:
            outcomes = [in_words(it.before, it.after) for it in (data[first], one)]
        elif (data[same].reward, data[same].done) != (one.reward, one.done):
            first = same
            outcomes = [f"reward {it.reward:g}, end: {it.done}" for it in (data[same], one)]
        else:
            continue
        raise Contradiction(
            f"contradictory transitions {first} and {index}: the same '{one.action}' in the same state gives "
            f'"{outcomes[0]}" once and "{outcomes[1]}" another time',
            (first, index),
        )
