"""Diagonal to a thing: off to the left or right of it as far as behind or in front of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from spca_core.relation import Relation, Spot, Values
from spca_core.scene import SceneObject
from spca_core.world import World

NAME = "diagonal"
LEAST, MOST = 0.05, 0.15
"""Metres between the two along either axis."""
STRAIGHT = math.radians(12)
"""Angle by which the line between the two may be off the diagonal."""


def holds(thing: SceneObject, others: Sequence[SceneObject], values: Values) -> bool:
    """Return whether a thing stands so to the other one."""
    dx, dy, _ = (a - b for a, b in zip(thing.pose.position, others[0].pose.position, strict=True))
    apart = min(abs(dx), abs(dy)), max(abs(dx), abs(dy))
    return apart[0] >= LEAST and apart[1] <= MOST and abs(math.atan2(*apart) - math.pi / 4) <= STRAIGHT


def spots(thing: SceneObject, others: Sequence[SceneObject], values: Values, world: World) -> Iterator[Spot]:
    """Yield where it may be put, nearest first."""
    x, y, _ = others[0].pose.position
    for apart, right, far in product((0.07, 0.09, 0.11, 0.13), (1, -1), (1, -1)):
        yield x + far * apart, y + right * apart, None


ROW = Relation(
    name=NAME,
    example=f"{NAME}__X",
    holds=holds,
    spots=spots,
    things=range(1, 2),
    words={f"{NAME.upper()}_TO": (f"{NAME.replace('_', ' ')} to",)},
    forms=(f"{NAME.upper()}_TO Thing",),
    told=lambda things, values: f"{NAME.replace('_', ' ')} to {things[0]}",
)
