"""Between two things: near the middle of the line from one to the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from spca_core.relation import Relation, Spot, Values
from spca_core.scene import SceneObject
from spca_core.world import World

_OFF = 0.03
"""Distance in metres that a thing may be off the line between the two."""
_MIDDLE = 0.25
"""Share of the line that a thing keeps to either end."""


def _holds(thing: SceneObject, others: Sequence[SceneObject], _: Values) -> bool:
    (ax, ay, _az), (bx, by, _bz) = (other.pose.position for other in others)
    length = math.dist((ax, ay), (bx, by))
    if not length:
        return False
    x, y, _z = thing.pose.position
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length
    off = abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length
    return _MIDDLE <= along / length <= 1 - _MIDDLE and off <= _OFF


def _spots(thing: SceneObject, others: Sequence[SceneObject], _: Values, world: World) -> Iterator[Spot]:
    (ax, ay, _az), (bx, by, _bz) = (other.pose.position for other in others)
    length = math.dist((ax, ay), (bx, by)) or 1.0
    row = math.atan2(by - ay, bx - ax)
    for off, along in product((0.0, 0.01, -0.01, 0.02, -0.02), (0.0, 0.05, -0.05, 0.1, -0.1, 0.2, -0.2)):
        share = 0.5 + along
        x, y = ax + share * (bx - ax), ay + share * (by - ay)
        yield x - off * (by - ay) / length, y + off * (bx - ax) / length, row
    yield (ax + bx) / 2, (ay + by) / 2, None


ROWS = (
    Relation(
        name="between",
        example="between__X__Y (to 3 cm)",
        things=range(2, 3),
        holds=_holds,
        spots=_spots,
        words={
            "BETWEEN": ("(?:half-?way |in the middle |midway )?between(?: of)?|in the middle of(?= .*two)",)
        },
        forms=("BETWEEN Thing AND Thing", "BETWEEN Things"),
    ),
)
