"""Near a thing: on the table within a few centimetres of it, on any side, without touching it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from spca_core.geometry import Array, about_z
from spca_core.kinds import KINDS
from spca_core.relation import Relation, Spot, Values
from spca_core.scene import SceneObject
from spca_core.world import World

_MOST = 0.08
"""Greatest distance in metres of a near thing's middle from the other's outline, beyond half of its width."""
_GAPS = (0.02, 0.03, 0.04, 0.06)
_DIRECTIONS = 16


def _beyond(thing: SceneObject, x: float, y: float) -> float:
    """Return the distance in metres of a point of the table outside a thing's outline, 0 within."""
    (cx, cy, _), turned = thing.pose.position, about_z(-thing.pose.yaw)[:2, :2]
    across: Array = turned @ (x - cx, y - cy)
    if KINDS[thing.kind].outline == "disc":
        return max(math.hypot(*across) - thing.size[0] / 2, 0.0)
    return math.hypot(*(max(abs(off) - size / 2, 0.0) for off, size in zip(across, thing.size, strict=False)))


def _holds(thing: SceneObject, others: Sequence[SceneObject], _: Values) -> bool:
    half = min(thing.size[:2]) / 2
    return all(half < _beyond(other, *thing.pose.position[:2]) <= half + _MOST for other in others)


def _spots(thing: SceneObject, others: Sequence[SceneObject], _: Values, world: World) -> Iterator[Spot]:
    """Yield spots around the other, the closest first, with the thing's yaw left free."""
    (x, y, _z), half = others[0].pose.position, math.hypot(*thing.size[:2]) / 2
    for gap, k in product(_GAPS, range(_DIRECTIONS)):
        c, s = math.cos(angle := 2 * math.pi * k / _DIRECTIONS), math.sin(angle)
        reach = half + gap
        while _beyond(others[0], x + reach * c, y + reach * s) < half + gap:
            reach += gap / 2
        yield x + reach * c, y + reach * s, None


ROWS = (
    Relation(
        name="near",
        example="near__X",
        things=range(1, 2),
        of=("plate", "mat"),
        holds=_holds,
        spots=_spots,
        forms=("BESIDE Thing",),
        gives_way=True,
    ),
)
