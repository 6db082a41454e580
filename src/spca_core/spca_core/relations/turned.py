"""Turned about the vertical by an angle, against where a thing stands when it is said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from spca_core.geometry import wrap_angle
from spca_core.kinds import KINDS
from spca_core.names import words_of
from spca_core.ports.proposer import Impossible
from spca_core.relation import Relation, Spot, Values

if TYPE_CHECKING:
    from spca_core.scene import SceneObject
    from spca_core.world import World

_WITHIN = math.radians(5)
"""Angle in radians that a thing may be off, up to its symmetry."""
_AROUND = (0.0, 0.02, -0.02, 0.04, -0.04)
"""Distances in metres, along x and y, that a thing may be put off where it stood."""


def _fixed(thing: SceneObject, values: Values) -> Values:
    """Return where a thing stands (mm) and its new angle (degrees). Impossible if it would look the same."""
    (x, y, _), period = thing.pose.position, KINDS[thing.kind].yaw_period
    if not period or abs(wrap_angle(math.radians(values[0]), period)) < _WITHIN:
        raise Impossible(f"The {words_of(thing.id)} would look the same, turned by {values[0]} degrees.")
    return round(x * 1000), round(y * 1000), round(math.degrees(thing.pose.yaw)) + values[0]


def _holds(thing: SceneObject, others: Sequence[SceneObject], values: Values) -> bool:
    period = KINDS[thing.kind].yaw_period
    return bool(period) and abs(wrap_angle(thing.pose.yaw - math.radians(values[2]), period)) <= _WITHIN


def _spots(thing: SceneObject, others: Sequence[SceneObject], values: Values, world: World) -> Iterator[Spot]:
    for dx, dy in product(_AROUND, _AROUND):
        yield values[0] / 1000 + dx, values[1] / 1000 + dy, math.radians(values[2])


def _read(words: str) -> Values:
    """Return the angle that words say, in whole degrees, counter-clockwise from above.

    >>> _read("by 45 degrees"), _read("30 degrees clockwise")
    ((45,), (-30,))
    """
    number = re.search(r"\d+", words)
    if number is None:  # sideways
        return (90,)
    return (int(number.group()) * (-1 if re.search(r"(?<!anti)(?<!counter)(?<!-)clockwise", words) else 1),)


ROWS = (
    Relation(
        name="turned",
        example="turned__450__m50__30 (and degrees)",
        numbers=range(3, 4),
        holds=_holds,
        spots=_spots,
        words={
            "TURN": ("turn|rotate|turn around|spin",),
            "TURNED": ("turned|rotated|twisted|spun",),
            "ANGLE": (
                r"(?:by |through )?\d+ ?(?:degrees?|deg|°)(?: ?,? ?(?:in (?:the )?direction )?"
                "(?:counter-?|anti-?)?clockwise)?",
                r"(?:sideways|crosswise|crossways|by a right angle)(?= ?(?:[.,;!]|$|and\b|then\b))",
            ),
        },
        orders=("TURN Things ANGLE", "TURN ANGLE Things", "Things MUST? IS? TURNED ANGLE"),
        reads={"ANGLE": _read},
        fixed=_fixed,
        told=lambda things, values: f"turned to {values[2]} degrees",
    ),
)
