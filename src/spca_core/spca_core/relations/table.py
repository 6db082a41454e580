"""Places of the table: at coordinates in the frame `world` (x away from the robot, y to the left), in a half.

The halves lie to either side of the robot's middle line, y = 0. And where a thing stands already, but turned
about the vertical by an angle, against how it stands when it is said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from spca_core.geometry import wrap_angle
from spca_core.kinds import KINDS
from spca_core.names import words_of
from spca_core.ports.proposer import Impossible
from spca_core.relation import Relation, Spot, Values
from spca_core.scene import SceneObject
from spca_core.world import World

_WITHIN = 0.012
"""Distance in metres that a thing's middle may be off its coordinates."""
_BEYOND = 0.02
"""Least distance in metres of a thing's middle beyond the robot's middle line."""
_STEP = 0.03
_NUMBER = r"-?\d*\.?\d+"
_UNIT = r"(?: ?(?:millimet(?:er|re)s?|centimet(?:er|re)s?|met(?:er|re)s?|mm|cm|m))?"
_WORD = "(?:(?:the )?(?:position|point|coordinates) )?"
_METRES = {"mm": 0.001, "millimet": 0.001, "cm": 0.01, "centimet": 0.01}
_ANGLE_OFF = math.radians(5)
"""Angle in radians that a thing may be off, up to its symmetry."""
_ASIDE = 0.03
"""Greatest distance in metres that a thing is put off where it stood to be turned."""


def _holds(thing: SceneObject, others: Sequence[SceneObject], values: Values) -> bool:
    return math.dist(thing.pose.position[:2], [value / 1000 for value in values]) <= _WITHIN


def _spots(thing: SceneObject, others: Sequence[SceneObject], values: Values, world: World) -> Iterator[Spot]:
    x, y = (value / 1000 for value in values)
    yield x, y, None
    for turn in range(8):
        angle = turn * math.pi / 4
        yield x + _WITHIN / 2 * math.cos(angle), y + _WITHIN / 2 * math.sin(angle), None


def _read(words: str) -> Values:
    """Return the coordinates that words say, in whole millimetres.

    >>> _read("x = 0.45 m, y = 5 cm"), _read("(0.4, -0.05)")
    ((450, 50), (400, -50))
    """
    found = re.findall(rf"({_NUMBER}) ?(mm|millimet|cm|centimet)?", words)
    return tuple(round(float(number) * _METRES.get(unit, 1.0) * 1000) for number, unit in found)


def _half(side: str, sign: int) -> Relation:
    def holds(thing: SceneObject, others: Sequence[SceneObject], _: Values) -> bool:
        return sign * thing.pose.position[1] >= _BEYOND

    def spots(thing: SceneObject, others: Sequence[SceneObject], _: Values, world: World) -> Iterator[Spot]:
        """Yield spots well within that half, those near its middle first."""
        area = world.work_area
        clear = sign * (_BEYOND + max(thing.size[:2]) / 2)
        outer = area.y[1] if sign > 0 else area.y[0]
        low, high = sorted((clear, outer))
        x0, y0 = sum(area.x) / 2, (low + high) / 2
        grid = product(np.arange(area.x[0], area.x[1] + 1e-9, _STEP), np.arange(low, high + 1e-9, _STEP))
        for x, y in sorted(grid, key=lambda p: (p[0] - x0) ** 2 + (p[1] - y0) ** 2):
            yield float(x), float(y), None

    token = f"{side.upper()}_HALF"
    return Relation(
        name=f"{side}_half",
        example=f"{side}_half",
        holds=holds,
        spots=spots,
        words={token: (f"(?:the )?{side}(?:-hand| hand)? half(?: of the (?:table|workspace|work area))?",)},
        forms=(f"IN|ON|TO|AT {token}",),
        told=lambda things, values: f"in the {side} half of the table",
    )


def _fixed(thing: SceneObject, values: Values) -> Values:
    """Return where a thing stands (mm) and its new angle (degrees). Impossible if it would look the same."""
    (x, y, _), period = thing.pose.position, KINDS[thing.kind].yaw_period
    if not period or abs(wrap_angle(math.radians(values[0]), period)) < _ANGLE_OFF:
        raise Impossible(f"The {words_of(thing.id)} would look the same, turned by {values[0]} degrees.")
    return round(x * 1000), round(y * 1000), round(math.degrees(thing.pose.yaw)) + values[0]


def _is_turned(thing: SceneObject, others: Sequence[SceneObject], values: Values) -> bool:
    period, (x, y, degrees) = KINDS[thing.kind].yaw_period, values
    there = math.dist(thing.pose.position[:2], (x / 1000, y / 1000)) <= _ASIDE + _WITHIN
    off = wrap_angle(thing.pose.yaw - math.radians(degrees), period) if period else math.inf
    return there and abs(off) <= _ANGLE_OFF


def _turned_spots(
    thing: SceneObject, others: Sequence[SceneObject], values: Values, world: World
) -> Iterator[Spot]:
    steps = np.linspace(-_ASIDE, _ASIDE, 5)
    for dx, dy in sorted(product(steps, steps), key=lambda off: math.hypot(*off)):
        if math.hypot(dx, dy) <= _ASIDE + 1e-9:
            yield values[0] / 1000 + float(dx), values[1] / 1000 + float(dy), math.radians(values[2])


def _read_angle(words: str) -> Values:
    """Return the angle that words say, in whole degrees, counter-clockwise from above.

    >>> _read_angle("by 45 degrees"), _read_angle("30 degrees clockwise")
    ((45,), (-30,))
    """
    number = re.search(r"\d+", words)
    if number is None:  # sideways
        return (90,)
    return (int(number.group()) * (-1 if re.search(r"(?<!anti)(?<!counter)(?<!-)clockwise", words) else 1),)


ROWS = (
    Relation(
        name="at",
        example="at__450__m50 (x 450, y -50 mm)",
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
    _half("left", 1),
    _half("right", -1),
    Relation(
        name="turned",
        example="turned__450__m50__30 (degrees, 0: along x)",
        numbers=range(3, 4),
        holds=_is_turned,
        spots=_turned_spots,
        words={
            "TURN": ("turn|rotate|turn around|spin",),
            "TURNED": ("turned|rotated|twisted|spun",),
            "ANGLE": (
                r"(?:by |through |for )?(?:about |around |roughly )?\d+ ?(?:degrees?|deg|°)"
                "(?: ?,? ?(?:in (?:the )?direction )?(?:counter-?|anti-?)?clockwise)?",
                r"(?:sideways|crosswise|crossways|by a right angle)(?= ?(?:[.,;!]|$|and\b|then\b))",
            ),
        },
        orders=("TURN? Things ANGLE COMMA? ALONE?", "TURN ANGLE Things", "Things MUST? IS? TURNED ANGLE"),
        reads={"ANGLE": _read_angle},
        fixed=_fixed,
        told=lambda things, values: f"turned to {values[2]} degrees",
    ),
)
