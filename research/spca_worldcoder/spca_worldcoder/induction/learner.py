"""From all that was seen to a rulebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spca_worldcoder.induction.rewards import RewardGuesser, RewardLearner
from spca_worldcoder.induction.rulebook import Rulebook
from spca_worldcoder.induction.rules import RuleLearner
from spca_worldcoder.induction.view import FrameFinder
from spca_worldcoder.records import Contradiction, Experience, NotLearnable, Transition
from spca_worldcoder.state import State, in_words


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
            refuse_without_cells(data)
            return Rulebook()
        groups = self._rules.learn(data, frame, experience.actions, doubt)
        return Rulebook(frame, groups, self._rewards.learn(data, frame, start, guess))


def refuse_without_cells(data: Sequence[Transition]) -> None:
    """Raises NotLearnable where nothing lies in a cell: these rules are about a mover on a grid."""
    for index, one in enumerate(data):
        if one.before != one.after and not any(e.cell for e in one.before):
            raise NotLearnable(f"transition {index} ({one.action}) is of a world without a grid")


def refuse_contradictions(experience: Experience) -> None:
    """Raises Contradiction when one step in one state had two outcomes, or two rewards for one mission."""
    seen: dict[object, int] = {}
    paid: dict[object, int] = {}
    for index, one in enumerate(experience.transitions):
        first = seen.setdefault((one.before, one.action), index)
        same = paid.setdefault((one.before, one.action, one.mission), index)
        other, payer = experience.transitions[first], experience.transitions[same]
        if other.after != one.after:
            outcomes = [in_words(it.before, it.after) for it in (other, one)]
        elif (payer.reward, payer.done) != (one.reward, one.done):
            first = same
            outcomes = [f"reward {it.reward:g}, end: {it.done}" for it in (payer, one)]
        else:
            continue
        raise Contradiction(
            f"contradictory transitions {first} and {index}: the same '{one.action}' in the same state gives "
            f'"{outcomes[0]}" once and "{outcomes[1]}" another time',
            (first, index),
        )
