"""When an episode ends and what a step pays: conditions on the result, exact sums over what it changes.

Conditions: ("held", pattern) the mover holds such a thing, ("here", pattern) it shares its cell with one,
("some", pattern) there is one, ("all_on", class, other) every one of a class
lies on one of another, ("none", class), ("act", action). A pattern is (class, ((name, value), …)); `ANY`
stands for every class, `MENTIONED` for every class or value that is a word of the mission.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spca_induction.view import Frame
from spca_programs.experience import Transition
from spca_programs.state import Entity, State, difference

ANY = "*"
MENTIONED = "?"
Pattern = tuple[str, tuple[tuple[str, Any], ...]]
Condition = tuple[Any, ...]
Goal = tuple[Condition, ...]
Feature = tuple[Any, ...]
"""What is counted around a step: ("on", class, other), ("count", class), ("with", class, name, value)."""

_PLACES = ("held", "here", "some")
"""Of conditions that have a pattern."""
_COST = {"held": 1.0, "here": 1.0, "some": 1.3, "all_on": 1.5, "none": 1.8, "act": 1.2}


@dataclass(frozen=True)
class Ending:
    """A goal (or a failure), the missions it is known or believed for, and its pay beyond the step's."""

    goal: Goal
    missions: tuple[str, ...]
    bonus: float
    guess: bool = False
    """Whether nothing like it was ever seen to end an episode of these missions."""


@dataclass(frozen=True)
class RewardRules:
    """Reward of a step (`constant` and `weights` on changes of counts), and endings of an episode."""

    constant: float = 0.0
    weights: tuple[tuple[Feature, float], ...] = ()
    wins: tuple[Ending, ...] = ()
    losses: tuple[Ending, ...] = ()

    def ending(self, mission: str) -> Ending | None:
        """The goal of a mission."""
        return next((e for e in self.wins if mission in e.missions), None)


def matches(pattern: Pattern, one: Entity, words: Sequence[str]) -> bool:
    """Return whether an entity is such a thing."""
    kind, attributes = pattern
    if kind == MENTIONED:
        if one.kind not in words:
            return False
    elif kind not in (ANY, one.kind):
        return False
    for name, wanted in attributes:
        value = one.get(name)
        if (value not in words) if wanted == MENTIONED else (value != wanted):
            return False
    return True


def reached(goal: Goal, action: str, after: State, words: Sequence[str], frame: Frame) -> bool:
    """Return whether all conditions hold after an action."""
    return all(_met(one, action, after, words, frame) for one in goal)


def _met(condition: Condition, action: str, after: State, words: Sequence[str], frame: Frame) -> bool:
    match condition:
        case ("act", wanted):
            return bool(action == wanted)
        case ("all_on", kind, other):
            cells = {e.cell for e in after if e.kind == other}
            mine = [e for e in after if e.kind == kind]
            return bool(mine) and all(e.cell in cells for e in mine)
        case ("none", kind):
            return all(e.kind != kind for e in after)
        case (place, pattern):
            return any(matches(pattern, e, words) for e in _at(place, after, frame))
    raise ValueError(f"not a condition: {condition}")


def _at(place: str, state: State, frame: Frame) -> list[Entity]:
    """The entities that a condition is about."""
    me = next((e for e in state if e.kind == frame.mover), None)
    if place == "some":
        return [e for e in state if e is not me]
    if me is None:
        return []
    if place == "held":
        held = me.get(frame.holding) if frame.holding else None
        return [held] if isinstance(held, Entity) else []
    return [e for e in state if e is not me and e.cell == me.cell and me.cell is not None]


def cost(goal: Goal) -> float:
    """Compute the description length of a goal; what the mission mentions is cheap, constants are dear."""
    total = sum(_COST[condition[0]] for condition in goal)
    for kind, attributes in _patterns_in(goal):
        total += {MENTIONED: -0.2, ANY: 0.6}.get(kind, 0.5)
        total += sum(-0.25 if value == MENTIONED else 0.8 for _, value in attributes)
    return total


def speaks(goal: Goal) -> bool:
    """Return whether a goal is about a class that the mission names."""
    return any(kind == MENTIONED for kind, _ in _patterns_in(goal))


def thinkable(goal: Goal, start: State, words: Sequence[str]) -> bool:
    """Return whether there are entities that could come to match a goal's patterns."""

    def suits(one: Entity, pattern: Pattern) -> bool:
        kind, attributes = pattern
        named = kind in (ANY, one.kind) or (kind == MENTIONED and one.kind in words)
        return named and {name for name, _ in attributes} <= {name for name, _ in one.attributes}

    return all(any(suits(one, pattern) for one in start) for pattern in _patterns_in(goal))


def _patterns_in(goal: Goal) -> list[Pattern]:
    return [condition[1] for condition in goal if condition[0] in _PLACES]


def goals_of(seen: Transition, frame: Frame) -> Iterator[Goal]:
    """All goals that this end of an episode speaks for."""
    words = seen.mission.split()
    _, new = difference(seen.before, seen.after)
    found: list[Condition] = []
    for place in ("held", "here"):
        for one in _at(place, seen.after, frame):
            found += [(place, pattern) for pattern in patterns(one, words)]
    for one in new:
        if one.kind != frame.mover:
            found += [("some", pattern) for pattern in patterns(one, words) if pattern[1]]
    kinds = sorted({e.kind for e in seen.after if e.cell is not None and e.kind != frame.mover})
    for kind, other in itertools.permutations(kinds, 2):
        condition = ("all_on", kind, other)
        if _met(condition, "", seen.after, words, frame) and not _met(
            condition, "", seen.before, words, frame
        ):
            found.append(condition)
    found += [("none", kind) for kind in sorted({e.kind for e in seen.before} - {e.kind for e in seen.after})]
    for one_condition in found:
        yield (one_condition,)
        yield (one_condition, ("act", seen.action))
    yield (("act", seen.action),)


def patterns(one: Entity, words: Sequence[str]) -> Iterator[Pattern]:
    """All patterns that an entity matches."""
    kinds = [one.kind, ANY, *([MENTIONED] if one.kind in words else [])]
    options: list[list[tuple[tuple[str, Any], ...]]] = []
    for name, value in one.attributes:
        if isinstance(value, tuple):  # entities too
            continue
        values: list[Any] = [value, *([MENTIONED] if value in words else [])]
        options.append([(), *(((name, v),) for v in values)])
    for kind in kinds:
        for chosen in itertools.product(*options):
            yield kind, tuple(itertools.chain.from_iterable(chosen))


def imagined(
    start: State,
    mission: str,
    rules: RewardRules,
    frame: Frame,
    values: Collection[tuple[str, str, Any]] = (),
) -> list[Goal]:
    """Goals that nothing speaks for but what was paid so far and the words of the mission, likeliest first.

    `values` are the (class, attribute, value) that were ever seen to come about.
    """
    words = mission.split()
    found: list[Goal] = []
    for feature, weight in rules.weights:
        if weight > 0 and feature[0] == "on":
            found.append((("all_on", feature[1], feature[2]),))
        if weight < 0 and feature[0] == "count":
            found.append((("none", feature[1]),))
    for kind, name, value in sorted(values, key=repr):
        if kind in words and value in words and kind != frame.mover:
            found.append((("some", (MENTIONED, ((name, value),))),))
    named = [e for e in start if e.kind in words and e.kind != frame.mover]
    for place in ("held", "here"):
        if place == "held" and not frame.holding:
            continue
        for one in named:
            mentioned = tuple((n, MENTIONED) for n, v in one.attributes if v in words)
            found.append(((place, (MENTIONED, mentioned)),))
    return list(dict.fromkeys(found))


def counts(state: State) -> Counter[Feature]:
    """Count how often each feature occurs in a state."""
    found: Counter[Feature] = Counter()
    cells: dict[tuple[int, int], list[Entity]] = {}
    for one in state:
        found["count", one.kind] += 1
        for name, value in one.attributes:
            if isinstance(value, (str, bool, int)):
                found["with", one.kind, name, value] += 1
        if one.cell is not None:
            cells.setdefault(one.cell, []).append(one)
    for here in cells.values():
        for one, other in itertools.permutations(here, 2):
            if one.kind != other.kind:
                found["on", one.kind, other.kind] += 1
    return found


def changes(seen: Transition) -> dict[Feature, int]:
    """By how much each feature changes."""
    if seen.before == seen.after:
        return {}
    before, after = counts(seen.before), counts(seen.after)
    return {f: after[f] - before[f] for f in {*before, *after} if after[f] != before[f]}
