"""In the left or the right half of the table: to that side of the robot's middle line (y = 0 in `world`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from spca_core.relation import Relation, Spot, Values

if TYPE_CHECKING:
    from spca_core.scene import SceneObject
    from spca_core.world import WorkArea

_BEYOND = 0.02
"""Metres that a thing's middle is beyond the middle line."""
_STEP = 0.03


def _half(side: str, sign: int) -> Relation:
    def holds(thing: SceneObject, others: Sequence[SceneObject], _: Values) -> bool:
        return sign * thing.pose.position[1] >= _BEYOND

    def spots(thing: SceneObject, others: Sequence[SceneObject], _: Values, area: WorkArea) -> Iterator[Spot]:
        """Well within that half, near its middle first."""
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


ROWS = (_half("left", 1), _half("right", -1))
