"""At coordinates of the table, in the frame `world`: x away from the robot, y to the left."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spca_core.relation import Relation, Spot, Values

if TYPE_CHECKING:
    from spca_core.scene import SceneObject
    from spca_core.world import WorkArea

_WITHIN = 0.012
"""Metres that a thing's middle may be off."""
_NUMBER = r"-?\d*\.?\d+"
_UNIT = r"(?: ?(?:millimet(?:er|re)s?|centimet(?:er|re)s?|met(?:er|re)s?|mm|cm|m))?"
_WORD = "(?:(?:the )?(?:position|point|coordinates) )?"
_METRES = {"mm": 0.001, "millimet": 0.001, "cm": 0.01, "centimet": 0.01}


def _holds(thing: SceneObject, others: Sequence[SceneObject], values: Values) -> bool:
    return math.dist(thing.pose.position[:2], [value / 1000 for value in values]) <= _WITHIN


def _spots(
    thing: SceneObject, others: Sequence[SceneObject], values: Values, area: WorkArea
) -> Iterator[Spot]:
    x, y = (value / 1000 for value in values)
    yield x, y, None
    for turn in range(8):
        angle = turn * math.pi / 4
        yield x + _WITHIN / 2 * math.cos(angle), y + _WITHIN / 2 * math.sin(angle), None


def _read(words: str) -> Values:
    """Whole millimetres.

    >>> _read("x = 0.45 m, y = 5 cm"), _read("(0.4, -0.05)")
    ((450, 50), (400, -50))
    """
    found = re.findall(rf"({_NUMBER}) ?(mm|millimet|cm|centimet)?", words)
    return tuple(round(float(number) * _METRES.get(unit, 1.0) * 1000) for number, unit in found)


ROWS = (
    Relation(
        name="at",
        example="at__450__m50 (mm)",
        numbers=range(2, 3),
        holds=_holds,
        spots=_spots,
        words={
            "COORDINATES": (
                rf"{_WORD}[(]?x ?[=:]? ?{_NUMBER}{_UNIT} ?(?:,|and|, and)? ?y ?[=:]? ?{_NUMBER}{_UNIT} ?[)]?",
                rf"{_WORD}[(] ?{_NUMBER}{_UNIT} ?, ?{_NUMBER}{_UNIT} ?[)]",
            )
        },
        forms=("AT|TO|ON COORDINATES",),
        reads={"COORDINATES": _read},
        told=lambda things, values: "at x = {:g} m, y = {:g} m".format(*(value / 1000 for value in values)),
    ),
)
