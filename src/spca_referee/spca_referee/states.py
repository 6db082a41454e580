"""Conditions on where things are, which contacts cannot tell. Judged from ground truth, by the referee alone.

The words for directions are those of the camera: left is +y, in front (nearer to the robot) is -x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pydantic import PositiveFloat, model_validator

from spca_core.contacts import Pair, Way, pair
from spca_core.geometry import Pose, wrap_angle
from spca_core.kinds import KINDS
from spca_core.model import Part
from spca_core.relation import relations
from spca_core.world import Interval

STILL_S = 0.3
"""Simulated seconds without motion after which a thing counts as at rest."""

STILL_WITHIN = 0.001
"""Distance in metres within which a thing at rest stays."""

SIDES = {row.name: row.ahead for row in relations() if row.ahead is not None}
_BY_CONTACT: dict[str, Callable[[str, str, Situation], bool]] = {
    "touches": lambda thing, other, now: pair(thing, other) in now.touching,
    "rests_on": lambda thing, other, now: ("rests_on", thing, other) in now.ways,
    "beside": lambda thing, other, now: ("beside", *pair(thing, other)) in now.ways,
    "inside": lambda thing, other, now: now.inside(thing, other),
    "between": lambda thing, others, now: ("between", thing, *sorted(others)) in now.ways,
    "held": lambda thing, _, now: ("held", thing, now.robot) in now.ways,
    "lifted": lambda thing, _, now: {two for two in now.touching if thing in two} == {pair(thing, now.robot)},
    "touched_by_gripper": lambda thing, _, now: (
        not {way[2] for way in now.ways if way[:2] == ("touched_by", thing)} <= now.arm
    ),
}
"""Relations that contacts tell: whether each holds between a thing and another one, or others, now."""
_PLACES = ("region", "at", *SIDES, "near", "far_from")
_RELATIONS = (*_BY_CONTACT, *_PLACES, "yaw", "at_rest")
_WITHIN, _BY = {"at": 0.03, "near": 0.1}, 0.01
"""Default metres of `within`, by relation, and of `by`: how far a thing lies to one side."""


class Region(Part):
    """A rectangle of the table, in metres; where `x` or `y` is absent, it has no bounds there."""

    x: Interval | None = None
    y: Interval | None = None

    def contains(self, position: tuple[float, ...]) -> bool:
        """Return whether a point is in the region."""
        ranges = zip((self.x, self.y), position, strict=False)
        return all(limits is None or limits[0] <= value <= limits[1] for limits, value in ranges)


class JudgedState(Part):
    """One condition on a `thing`, or on all of a `group`; names are those of models or roles.

    Of a `thing` exactly one relation is said; levels/README.md tells when each holds. Contacts must last.
    """

    thing: str = ""
    group: tuple[str, ...] = ()
    touches: str | None = None
    rests_on: str | None = None
    beside: str | None = None
    inside: str | None = None
    between: tuple[str, str] | None = None
    held: Literal[True] | None = None
    lifted: Literal[True] | None = None
    touched_by_gripper: Literal[True] | None = None
    region: Region | None = None
    at: tuple[float, float] | None = None
    left_of: str | None = None
    right_of: str | None = None
    in_front_of: str | None = None
    behind: str | None = None
    near: str | None = None
    far_from: str | None = None
    yaw: float | None = None
    at_rest: bool | None = None
    within: PositiveFloat | None = None
    by: PositiveFloat | None = None
    turn: PositiveFloat = 0.1

    @model_validator(mode="after")
    def _says_one_thing(self) -> JudgedState:
        said = [key for key in _RELATIONS if getattr(self, key, None) is not None]
        if bool(self.thing) == bool(self.group):
            raise ValueError("name one `thing`, or a `group` of several")
        if self.group and (len(self.group) < 2 or self.within is None or said):
            raise ValueError("a `group` has two or more things and `within`, and nothing else")
        if self.thing and len(said) != 1:
            raise ValueError(f"say exactly one of {', '.join(_RELATIONS)} of the thing")
        if self.far_from is not None and self.by is None:
            raise ValueError("`far_from` needs `by`")
        return self

    @property
    def relation(self) -> str:
        """Name of the relation that the state asks for."""
        return "group" if self.group else next(k for k in _RELATIONS if getattr(self, k, None) is not None)

    @property
    def by_contact(self) -> bool:
        """Contacts tell whether the state holds; otherwise, poses do."""
        return self.relation in _BY_CONTACT

    @property
    def of_place(self) -> bool:
        """The state says where on the table one thing is."""
        return self.relation in _PLACES

    @property
    def _within(self) -> float:
        return self.within or _WITHIN.get(self.relation, 0)

    @property
    def other(self) -> str | None:
        """Name of the other thing, where the relation has one; None where it has none."""
        value = None if self.group else getattr(self, self.relation)
        return value if isinstance(value, str) else None

    @property
    def names(self) -> tuple[str, ...]:
        """Every model or role that the state names."""
        return (*self.group, *filter(None, (self.thing, self.other)), *(self.between or ()))

    def bound(self, models: Mapping[str, str]) -> JudgedState:
        """Return the same state of models, in place of roles."""
        changes: dict[str, object] = {"thing": models.get(self.thing, self.thing)}
        changes["group"] = tuple(models.get(name, name) for name in self.group)
        if self.other is not None:
            changes[self.relation] = models.get(self.other, self.other)
        if self.between is not None:
            changes["between"] = tuple(models.get(name, name) for name in self.between)
        return self.model_copy(update=changes)

    def words(self, name: Mapping[str, str]) -> str:
        """Return the state in plain words; `name` has a word for every model."""
        if self.group:
            return f"{', '.join(name[m] for m in self.group)} within {self.within:g} m of each other"
        thing, relation = name[self.thing], self.relation
        if self.other is not None:
            relation = relation if relation in ("touches", "rests_on") else f"is {relation}"
            return f"{thing} {relation.replace('_', ' ')} {name[self.other]}"
        if self.between is not None:
            return f"{thing} is between {name[self.between[0]]} and {name[self.between[1]]}"
        if self.held or self.lifted:
            return f"{thing} is held by both fingers" if self.held else f"{thing} touches only the gripper"
        if self.touched_by_gripper:
            return f"the gripper touches {thing}"
        if self.at is not None:
            return f"{thing} is at ({self.at[0]:g}, {self.at[1]:g}) m to {self._within:g} m"
        if self.region is not None:
            sides = zip("xy", (self.region.x, self.region.y), strict=True)
            limits = [f"{low[0]:g} ≤ {axis} ≤ {low[1]:g}" for axis, low in sides if low is not None]
            return f"{thing} is in {' and '.join(limits) or 'any place'} m"
        if self.yaw is not None:
            return f"{thing} is turned to {self.yaw:g} rad"
        return f"{thing} is {'at rest' if self.at_rest else 'moving'}"

    def holds(self, now: Situation) -> bool:
        """Return whether the state holds now. What is not there fulfils nothing."""
        if (so := _BY_CONTACT.get(self.relation)) is not None:
            return so(self.thing, getattr(self, self.relation), now)
        if not all(name in now.poses for name in self.names):
            return False
        here = [now.poses[name].position for name in (*self.group, *filter(None, [self.thing]))]
        if self.group:
            return all(math.dist(a, b) <= self._within for a, b in combinations(here, 2))
        (position,) = here
        if self.region is not None:
            return self.region.contains(position)
        if self.at is not None:
            return math.dist(position[:2], self.at) <= self._within
        if self.yaw is not None:
            period = KINDS[now.kinds.get(self.thing, "unknown")].yaw_period
            off = now.poses[self.thing].yaw - self.yaw
            return not period or abs(wrap_angle(off, period)) <= self.turn
        if self.at_rest is not None:
            return (self.thing in now.still) == self.at_rest
        there = now.poses[str(self.other)].position
        if self.relation in SIDES:
            return SIDES[self.relation](position, there) >= (self.by or _BY)
        apart = math.dist(position, there)
        return apart <= self._within if self.near is not None else apart >= (self.by or 0)


@dataclass
class Situation:
    """Poses, pairs in contact, how they touch, what is at rest, and kinds; the robot, and its arm's links."""

    poses: Mapping[str, Pose]
    touching: Set[Pair]
    ways: Set[Way]
    still: Set[str]
    kinds: Mapping[str, str]
    robot: str
    arm: Set[str]

    def inside(self, thing: str, container: str) -> bool:
        """Return whether a thing lies in a container, by itself or on what lies there."""
        waiting, known = [thing], {thing}
        while waiting:
            at = waiting.pop()
            if ("inside", at, container) in self.ways:
                return True
            below = {way[2] for way in self.ways if way[:2] == ("rests_on", at)} - known
            known |= below
            waiting += below
        return False


class Stillness:
    """Remembers since when each thing has not moved."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[tuple[float, float, float], float]] = {}

    def record(self, stamp: float, poses: Mapping[str, Pose]) -> frozenset[str]:
        """Take in the poses at `stamp` (simulated seconds, ascending), and return what is at rest."""
        for model, pose in poses.items():
            anchor = self._since.get(model)
            if anchor is None or math.dist(anchor[0], pose.position) > STILL_WITHIN:
                self._since[model] = (pose.position, stamp)
        return frozenset(
            m for m, (_, since) in self._since.items() if stamp - since >= STILL_S and m in poses
        )
