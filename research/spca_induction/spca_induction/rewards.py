"""From transitions to reward rules: exact sums for steps, and the cheapest goals that separate the data."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from spca_induction.goals import (
    Ending,
    Feature,
    Goal,
    RewardRules,
    changes,
    cost,
    goals_of,
    imagined,
    reached,
    speaks,
    thinkable,
)
from spca_induction.view import Frame
from spca_programs.experience import Contradiction, NotLearnable, Transition, words_apart
from spca_programs.state import State

_MOST_FEATURES = 3
_DIGITS = 6


class RewardLearner:
    """Learns reward rules. Keeps what it worked out about transitions for the next time."""

    def __init__(self) -> None:
        self._frame = Frame("")
        self._changes: dict[int, dict[Feature, int]] = {}
        self._truth: dict[tuple[Goal, int], bool] = {}
        self._goals: dict[int, list[Goal]] = {}

    def learn(
        self, data: Sequence[Transition], frame: Frame, start: tuple[State, str] | None = None, guess: int = 0
    ) -> RewardRules:
        """Rules that explain every reward and every end.

        For the mission of `start` there is a goal even if no episode of it was ever won: that of the likest
        mission, or one of words and payments; `guess` says which of those that the data do not refute. Raises
        Contradiction, NotLearnable.
        """
        if frame != self._frame:
            self._frame, self._truth, self._goals = frame, {}, {}
        constant, weights = self._sum(data, [i for i, seen in enumerate(data) if not seen.done])
        rules = RewardRules(constant, weights)
        rest = {i: self._rest(data, i, rules) for i, seen in enumerate(data) if seen.done}
        won = {i for i in rest if data[i].reward > 0}
        wins = self._endings(data, won, rest, set(), start, rules, guess)
        explained = {
            i for ending in wins for i, seen in enumerate(data)
            if seen.mission in ending.missions and self._is(ending.goal, data, i)
        }  # fmt: skip
        losses = self._endings(data, set(rest) - won, rest, explained, None, rules, 0)
        return RewardRules(constant, weights, wins, losses)

    def _sum(
        self, data: Sequence[Transition], rows: Sequence[int]
    ) -> tuple[float, tuple[tuple[Feature, float], ...]]:
        """The exact sum with the fewest features for the rewards of some rows."""
        if not rows:
            return 0.0, ()
        for i in rows:
            if i not in self._changes:
                self._changes[i] = changes(data[i])
        distinct = {(tuple(sorted(self._changes[i].items(), key=repr)), data[i].reward): i for i in rows}
        rewards = np.array([data[i].reward for i in distinct.values()])
        if np.ptp(rewards) == 0:
            return float(rewards[0]), ()
        features = sorted(
            {f for i in distinct.values() for f in self._changes[i]}, key=lambda f: (f[0] != "on", repr(f))
        )
        table = np.array(
            [[self._changes[i].get(f, 0) for f in features] for i in distinct.values()], dtype=float
        )
        # Equal columns say the same; the first of them stands for all.
        columns = sorted(np.unique(table, axis=1, return_index=True)[1])
        ones = np.ones((len(rewards), 1))
        for size in range(1, _MOST_FEATURES + 1):
            for chosen in itertools.combinations(columns, size):
                matrix = np.hstack([ones, table[:, chosen]])
                solution, *_ = np.linalg.lstsq(matrix, rewards, rcond=None)
                if np.allclose(matrix @ solution, rewards, atol=1e-9):
                    values = [round(float(v), _DIGITS) for v in solution]
                    pairs = ((features[k], v) for k, v in zip(chosen, values[1:], strict=True) if v)
                    return values[0], tuple(pairs)
        odd = next(i for i in distinct.values() if data[i].reward != rewards[0])
        raise NotLearnable(
            f"no sum over what changes explains the reward {data[odd].reward:g} of transition {odd}"
        )

    def _rest(self, data: Sequence[Transition], i: int, rules: RewardRules) -> float:
        """Return the reward of a last step beyond the sum of constant and weights."""
        change = self._changes.setdefault(i, changes(data[i]))
        step = rules.constant + sum(weight * change.get(feature, 0) for feature, weight in rules.weights)
        return round(data[i].reward - step, _DIGITS)

    def _endings(
        self, data: Sequence[Transition], positives: set[int], rest: dict[int, float], ignored: set[int],
        start: tuple[State, str] | None, rules: RewardRules, guess: int,
    ) -> tuple[Ending, ...]:  # fmt: skip
        """Goals by mission, grouped; each mission has the goal that also suits the missions most like it."""
        rows: dict[str, list[int]] = defaultdict(list)
        for i, seen in enumerate(data):
            if i not in ignored:
                rows[seen.mission].append(i)
        pool: dict[Goal, None] = {}
        for i in sorted(positives):
            if i not in self._goals:
                self._goals[i] = list(dict.fromkeys(goals_of(data[i], self._frame)))
            pool.update(dict.fromkeys(self._goals[i]))
        suits: dict[str, set[Goal]] = {}
        chosen: dict[str, tuple[Goal, bool]] = {}
        missions = [m for m in rows if any(i in positives for i in rows[m])]
        for mission in missions:
            suits[mission] = {
                g for g in pool if all(self._is(g, data, i) == (i in positives) for i in rows[mission])
            }
            if not suits[mission]:
                one = next(i for i in rows[mission] if i in positives)
                raise NotLearnable(
                    f"no condition explains why transition {one} ended the episode of '{mission}'"
                )
        for mission in missions:
            misses = Counter[Goal]()
            for other in (other for other in rows if likeness(mission, other) >= 0.5):
                refuted = {g for g in suits[mission] if any(self._is(g, data, i) for i in rows[other])}
                misses.update(suits[mission] - suits[other] if other in suits else refuted)
            chosen[mission] = (min(suits[mission], key=lambda g: (misses[g], cost(g), repr(g))), False)
        if start is not None and start[1] not in chosen:
            goal = self._guess(data, rows[start[1]], start, chosen, suits, rules, guess)
            if goal is not None:
                chosen[start[1]] = (goal, True)
        grouped: dict[tuple[Goal, float, bool], list[str]] = defaultdict(list)
        bonus: dict[Goal, float] = {}
        for mission, (goal, guessed) in chosen.items():
            paid = {rest[i] for i in rows[mission] if i in positives}
            if len(paid) > 1:
                first = [next(i for i in rows[mission] if rest.get(i) == p) for p in sorted(paid)[:2]]
                raise Contradiction(
                    f"contradictory transitions {first[0]} and {first[1]}: the same end pays differently",
                    tuple(first),
                )
            value = next(iter(paid), bonus.get(goal, 1.0))
            bonus[goal] = value
            grouped[
                goal, value, guessed and goal not in {g for m, (g, sure) in chosen.items() if not sure}
            ].append(mission)
        return tuple(Ending(g, tuple(ms), value, guessed) for (g, value, guessed), ms in grouped.items())

    def _guess(
        self, data: Sequence[Transition], rows: Sequence[int], start: tuple[State, str],
        chosen: dict[str, tuple[Goal, bool]], suits: dict[str, set[Goal]], rules: RewardRules, guess: int,
    ) -> Goal | None:  # fmt: skip
        """A goal for a mission that was never won, not refuted by what was seen of it."""
        near = sorted(chosen, key=lambda other: (-likeness(start[1], other), other))
        alike = [other for other in near if likeness(start[1], other) >= 0.5]
        ranked = [chosen[other][0] for other in alike]
        ranked += [chosen[other][0] for other in near if speaks(chosen[other][0])]
        for other in alike:
            ranked += sorted(suits[other], key=lambda g: (cost(g), repr(g)))[:12]
        values = {f[1:] for change in self._changes.values() for f in change if f[0] == "with"}
        ranked += imagined(start[0], start[1], rules, self._frame, values)
        ranked += [chosen[other][0] for other in near]
        words = start[1].split()
        open_goals = [
            goal
            for goal in dict.fromkeys(ranked)
            if thinkable(goal, start[0], words)
            and not any(self._is(goal, data, i) for i in rows)
            and not reached(goal, "", start[0], words, self._frame)
        ]
        return open_goals[guess] if guess < len(open_goals) else None

    def _is(self, goal: Goal, data: Sequence[Transition], i: int) -> bool:
        key = (goal, i)
        if key not in self._truth:
            seen = data[i]
            self._truth[key] = reached(goal, seen.action, seen.after, seen.mission.split(), self._frame)
        return self._truth[key]


class RewardGuesser(RewardLearner):
    """Guesses one goal for each mission, when it is first asked about it, and never looks at a reward."""

    def __init__(self) -> None:
        super().__init__()
        self._guessed: dict[str, Goal | None] = {}

    def learn(
        self, data: Sequence[Transition], frame: Frame, start: tuple[State, str] | None = None, guess: int = 0
    ) -> RewardRules:
        """Rules with a goal for every mission asked about so far."""
        self._frame = frame
        if start is not None and self._guessed.get(start[1]) is None:
            self._changes = {i: changes(seen) for i, seen in enumerate(data)}
            self._guessed[start[1]] = self._guess(data, (), start, {}, {}, RewardRules(), 0)
        known = [(goal, mission) for mission, goal in self._guessed.items() if goal is not None]
        return RewardRules(wins=tuple(Ending(goal, (mission,), 1.0, True) for goal, mission in known))


def likeness(one: str, other: str) -> float:
    """1 for equal missions, 0 for missions without a word in common: by edit distance over words."""
    return 1.0 - words_apart(one, other) / max(len(one.split()), len(other.split()), 1)
