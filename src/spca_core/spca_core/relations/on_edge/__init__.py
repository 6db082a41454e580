"""On the edge of a plate: leaning on its rim, and standing on the table as well."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from spca_core.names import TABLE_SYMBOL
from spca_core.relation import Relation, Spot
from spca_core.relations import EDGE
from spca_core.skill_package import SkillPackage

_OVER_RIM = 0.010
"""Distance in metres outside a plate's rim at which a thing tips onto it: its weight is off the plate."""
_ONTO = "(?:on|onto|over|upon)"


def _over_rim(radius: float, x: float, y: float, _z: float) -> Iterator[Spot]:
    for k, turn in product(range(-8, 8), (math.pi / 2, -math.pi / 2, 0.0, math.pi)):
        angle, out = k * math.pi / 8, radius + _OVER_RIM
        yield x + out * math.cos(angle), y + out * math.sin(angle), angle + turn


ROWS = (
    Relation(
        name="on_edge",
        example="on_edge__X",
        meaning="?a leans on the rim of plate ?b",
        of=("plate",),
        rests=TABLE_SYMBOL,
        spots=lambda _, of, *__: _over_rim(of[0].size[0] / 2, *of[0].pose.position),
        skill=SkillPackage.read("on_edge", Path(__file__).parent),
        things=range(1, 2),
        words={
            "HALF_ON": (f"(?:only )?(?:half(?:way)?|part(?:ial)?ly) {_ONTO}|leaning (?:on|against)",),
            "EDGE_OF": (f"(?:right )?(?:on|onto|at|to|against) (?:the|an?) {EDGE} of",),
            "EDGE": (f"'s {EDGE}",),
        },
        forms=("HALF_ON|EDGE_OF Things", "ON|AT|IN|TO Things EDGE"),
        told=lambda things, values: f"on the edge of {things[0]}",
    ),
)
