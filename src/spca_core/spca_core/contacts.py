"""Contacts between models, the only thing a referee sees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from spca_core.geometry import Vec3

SAMPLE_PERIOD = 0.02
"""Simulated seconds between two contact samples."""

Pair = tuple[str, str]


def pair(a: str, b: str) -> Pair:
    """Return the pair of two model names in its one canonical order, in whatever order they are given."""
    return (a, b) if a <= b else (b, a)


WAYS = ("rests_on", "beside", "inside", "held", "between", "touched_by")
"""A model rests on another, lies beside or inside it, is held by it, has two on opposite sides, or is touched
by a link of the robot."""

Way = tuple[str, ...]
"""Way of touching as a tuple: one of `WAYS`, the model that touches in this way, and what it touches."""

UPRIGHT, LEVEL = 0.866, 0.5
"""Least vertical part of a unit normal within 30° of up, and largest of one within 30° of level."""
BELOW_RIM = 0.003
"""Depth below a container's rim, in metres, from which a contact counts as inside the container."""


@dataclass(frozen=True)
class ContactSample:
    """Contacts during the interval that ended at `stamp` (simulated seconds).

    `pairs` are the models that touched. `ways` says how they did, as far as the normals and the places of the
    contacts tell: empty where the simulator has no normals.
    """

    stamp: float
    pairs: frozenset[Pair]
    ways: frozenset[Way] = frozenset()


@dataclass(frozen=True)
class Touch:
    """One point where two models touch.

    `b` is the upper one; the unit `normal` points to it. `point` is in `world`, metres; `links` are the
    parts of the two that touch.
    """

    a: str
    b: str
    normal: Vec3
    point: Vec3
    links: Pair = ("", "")


def ways_of_touching(
    touches: Iterable[Touch], rims: Mapping[str, float], robot: str, weightless: frozenset[Pair] = frozenset()
) -> frozenset[Way]:
    """Tell from normals and places how models touch.

    Args:
        touches: all contacts between different models.
        rims: height of the rim of each container, in `world`, metres.
        robot: model that holds a thing where two of its links touch it.
        weightless: (upper, lower) of models that touch without weight.
    """
    found: set[Way] = set()
    fingers: dict[str, set[str]] = {}
    sides: dict[str, dict[str, Touch]] = {}
    for touch in touches:
        if robot in (touch.a, touch.b):
            thing, link = (touch.b, touch.links[0]) if touch.a == robot else (touch.a, touch.links[1])
            fingers.setdefault(thing, set()).add(link.rpartition("/")[2])
            continue
        up = touch.normal[2]
        if up <= LEVEL:
            found.add(("beside", *pair(touch.a, touch.b)))
            sides.setdefault(touch.a, {})[touch.b] = sides.setdefault(touch.b, {})[touch.a] = touch
        if up >= UPRIGHT and (touch.b, touch.a) not in weightless:
            found.add(("rests_on", touch.b, touch.a))
        if up > LEVEL and touch.point[2] < rims.get(touch.a, float("-inf")) - BELOW_RIM:
            found.add(("inside", touch.b, touch.a))
    found |= {("held", thing, robot) for thing, links in fingers.items() if len(links) > 1}
    found |= {("touched_by", thing, link) for thing, links in fingers.items() for link in links}
    return frozenset(found | {("between", *row) for row in _rows(sides)})


def _rows(sides: Mapping[str, Mapping[str, Touch]]) -> Iterator[tuple[str, str, str]]:
    """Yield each model that is touched by two others on opposite sides, and these."""
    for middle, others in sides.items():
        for (a, left), (b, right) in combinations(sorted(others.items()), 2):
            between = [p - q for p, q in zip(right.point, left.point, strict=True)]
            across = abs(np.dot(left.normal, between)) >= LEVEL * math.hypot(*between)
            if across and abs(np.dot(left.normal, right.normal)) >= UPRIGHT:
                yield middle, a, b
