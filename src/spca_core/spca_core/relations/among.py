"""In relation to other things: to a side of them, between two, near one, in a bowl or a tray.

Left is +y, as the camera sees it; in front is nearer the robot. Between is near the middle of the line from
one to the other; in is on the floor of a container, between its walls. Near a thing is on the table within a
few centimetres of it, on any side, without touching it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from spca_core.geometry import Array, Vec3, about_z
from spca_core.kinds import CONTAINERS, KINDS
from spca_core.relation import Relation, Spot, Values
from spca_core.scene import SceneObject
from spca_core.world import World

_APART = 0.03
"""Least distance in metres between the centres of a thing and the one that it is to a side of."""
_WITHIN, _IN_LINE = 0.008, 0.02
"""Tolerances in metres where a distance is said: of that distance, and of the middles off a line."""
_GAPS = (0.04, 0.05, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2)
_ASIDE = (0.0, 0.02, -0.02, 0.04, -0.04, 0.07, -0.07, 0.1, -0.1)


def _extent(thing: SceneObject, axis: int) -> float:
    """Return the width of a thing along an axis of `world`, as it is turned."""
    if KINDS[thing.kind].outline == "disc":
        return thing.size[0]
    turned = (math.cos(thing.pose.yaw), math.sin(thing.pose.yaw))
    a, b = turned if axis == 0 else turned[::-1]
    return abs(a) * thing.size[0] + abs(b) * thing.size[1]


def _side(name: str, axis: int, sign: int, *words: str) -> Relation:
    def ahead(one: Vec3, other: Vec3) -> float:
        return sign * (one[axis] - other[axis])

    def holds(thing: SceneObject, others: Sequence[SceneObject], values: Values) -> bool:
        """Return whether a thing is farther to that side of all others than off to another side.

        What stands far behind is not left. With a distance, it must be so far from side to side, and in line.
        """
        here = thing.pose.position
        there = [other.pose.position for other in others]
        aside = [p[1 - axis] for p in there]
        off = max(min(aside) - here[1 - axis], here[1 - axis] - max(aside))
        if values:
            apart = ahead(here, there[0]) - (_extent(thing, axis) + _extent(others[0], axis)) / 2
            return abs(apart - values[0] / 1000) <= _WITHIN and off <= _IN_LINE
        return all(ahead(here, p) >= max(off, _APART) for p in there)

    def spots(
        thing: SceneObject, others: Sequence[SceneObject], values: Values, world: World
    ) -> Iterator[Spot]:
        """Yield spots beside the outermost of the others, near it and little off their middle."""
        outermost = max(others, key=lambda other: sign * other.pose.position[axis])
        aside = [other.pose.position[1 - axis] for other in others]
        half = (_extent(thing, axis) + _extent(outermost, axis)) / 2
        gaps = (values[0] / 1000,) if values else _GAPS
        for gap, off in sorted(product(gaps, _ASIDE), key=lambda way: way[0] + 1.5 * abs(way[1])):
            along = outermost.pose.position[axis] + sign * (half + gap)
            across = (min(aside) + max(aside)) / 2 + off
            yaw = thing.pose.yaw if values else None
            yield (along, across, yaw) if axis == 0 else (across, along, yaw)

    def told(things: Sequence[str], values: Values) -> str:
        distance = "".join(f"{value / 10:g} cm " for value in values)
        return f"{distance}{name.replace('_', ' ')} {' and '.join(things)}"

    token = name.upper()
    return Relation(
        name=name,
        example=f"{name}__X",
        things=range(1, 100),
        numbers=range(2),
        holds=holds,
        spots=spots,
        words={token: words},
        forms=(f"{token} Things", f"SPACING {token} Thing", f"{token} Thing SPACING"),
        told=told,
        ahead=ahead,
    )


_OFF = 0.03
"""Distance in metres that a thing may be off the line between the two."""
_MIDDLE = 0.25
"""Share of the line that a thing keeps to either end."""


def _is_between(thing: SceneObject, others: Sequence[SceneObject], _: Values) -> bool:
    (ax, ay, _az), (bx, by, _bz) = (other.pose.position for other in others)
    length = math.dist((ax, ay), (bx, by))
    if not length:
        return False
    x, y, _z = thing.pose.position
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length
    off = abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length
    return _MIDDLE <= along / length <= 1 - _MIDDLE and off <= _OFF


def _between(thing: SceneObject, others: Sequence[SceneObject], _: Values, world: World) -> Iterator[Spot]:
    (ax, ay, _az), (bx, by, _bz) = (other.pose.position for other in others)
    length = math.dist((ax, ay), (bx, by)) or 1.0
    row = math.atan2(by - ay, bx - ax)
    for off, along in product((0.0, 0.01, -0.01, 0.02, -0.02), (0.0, 0.05, -0.05, 0.1, -0.1, 0.2, -0.2)):
        share = 0.5 + along
        x, y = ax + share * (bx - ax), ay + share * (by - ay)
        yield x - off * (by - ay) / length, y + off * (bx - ax) / length, row
    yield (ax + bx) / 2, (ay + by) / 2, None


_MOST_NEAR = 0.08
"""Greatest distance in metres of a near thing's middle from the other's outline, beyond half of its width."""
_NEAR_GAPS = (0.02, 0.03, 0.04, 0.06)
_DIRECTIONS = 16


def _beyond(thing: SceneObject, x: float, y: float) -> float:
    """Return the distance in metres of a point of the table outside a thing's outline, 0 within."""
    (cx, cy, _), turned = thing.pose.position, about_z(-thing.pose.yaw)[:2, :2]
    across: Array = turned @ (x - cx, y - cy)
    if KINDS[thing.kind].outline == "disc":
        return max(math.hypot(*across) - thing.size[0] / 2, 0.0)
    return math.hypot(*(max(abs(off) - size / 2, 0.0) for off, size in zip(across, thing.size, strict=False)))


def _is_near(thing: SceneObject, others: Sequence[SceneObject], _: Values) -> bool:
    half = min(thing.size[:2]) / 2
    return all(half < _beyond(other, *thing.pose.position[:2]) <= half + _MOST_NEAR for other in others)


def _near(thing: SceneObject, others: Sequence[SceneObject], _: Values, world: World) -> Iterator[Spot]:
    """Yield spots around the other, the closest first, with the thing's yaw left free."""
    (x, y, _z), half = others[0].pose.position, math.hypot(*thing.size[:2]) / 2
    for gap, k in product(_NEAR_GAPS, range(_DIRECTIONS)):
        c, s = math.cos(angle := 2 * math.pi * k / _DIRECTIONS), math.sin(angle)
        reach = half + gap
        while _beyond(others[0], x + reach * c, y + reach * s) < half + gap:
            reach += gap / 2
        yield x + reach * c, y + reach * s, None


ROWS = (
    Relation(
        name="between",
        example="between__X__Y (to 3 cm)",
        things=range(2, 3),
        holds=_is_between,
        spots=_between,
        words={
            "BETWEEN": ("(?:half-?way |in the middle |midway )?between(?: of)?|in the middle of(?= .*two)",)
        },
        forms=("BETWEEN Thing AND Thing", "BETWEEN Things"),
    ),
    Relation(
        name="in",
        meaning="?a is in bowl or tray ?b; then also (on ?a ?b)",
        names=("inside", "within", "contained_in"),
        put="on",
        of=CONTAINERS,
        things=range(1, 2),
        forms=("IN Things",),
    ),
    Relation(
        name="near",
        example="near__X",
        things=range(1, 2),
        of=("plate", "mat"),
        holds=_is_near,
        spots=_near,
        forms=("BESIDE Thing",),
        gives_way=True,
    ),
    _side("left_of", 1, 1, "(?:to |on |at )?(?:the )?left (?:hand )?(?:side )?(?:of|from)"),
    _side("right_of", 1, -1, "(?:to |on |at )?(?:the )?right (?:hand )?(?:side )?(?:of|from)"),
    _side("behind", 0, 1, "behind(?: of)?|farther away than|in back of"),
    _side("in_front_of", 0, -1, "in front of|nearer than|closer than"),
)
