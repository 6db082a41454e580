"""Off the table: let go beyond its edge, on the ground and out of reach."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from spca_core.names import GROUND_SYMBOL
from spca_core.relation import Relation, Spot
from spca_core.relations import EDGE
from spca_core.skill_package import SkillPackage
from spca_core.world import World

_BEYOND = 0.06
"""Distance in metres beyond the table's edge."""


def _beyond(world: World) -> Iterator[Spot]:
    """Yield spots beyond the table's left and right edges, as near to the robot's base as possible."""
    table, turns = world.table, (0.0, math.pi / 2, math.pi, -math.pi / 2)
    for side, ahead, turn in product((1, -1), (0.2, 0.1, 0.3, 0.0), turns):
        y = table.centre[1] + side * (table.size[1] / 2 + _BEYOND)
        yield world.robot.base.position[0] + ahead, y, turn


ROWS = (
    Relation(
        name="discarded",
        example="discarded",
        names=("off_table", "fallen", "on_ground", "on_floor", "thrown_away", "removed"),
        of=("table",),
        rests=GROUND_SYMBOL,
        spots=lambda thing, others, values, world: _beyond(world),
        skill=SkillPackage.read("discarded", Path(__file__).parent),
        words={
            "DISCARD": ("discard|throw away|throw out|toss away|dump|get rid of|dispose of|trash|bin",),
            "DISCARDED": ("discarded|thrown away|dumped|thrown|tossed|pushed|dropped",),
            "BEYOND": (f"(?:beyond|past|off|over) (?:the |an )?(?:{EDGE}|side|end) of|beyond|past",),
        },
        forms=("BEYOND Things",),
        orders=("DISCARD Things Source?", "TOSS Things AWAY", "TOSS AWAY Things",
                "Things MUST? IS? DISCARDED Source?"),
        bans=("WITHOUT|NOT THROW|TOSS|TOPPLE|DISCARD Things", "No MUST? IS? DISCARDED",
              "Things NOT IS? DISCARDED"),
        told=lambda things, values: "thrown off the table",
    ),
)  # fmt: skip
