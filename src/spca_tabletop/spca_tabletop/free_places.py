"""Free places on a drawn table: one on which a level's named side leaves a thing none is drawn again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from spca_core.geometry import Pose
from spca_core.kinds import SUPPORTS
from spca_core.layout import Layout
from spca_core.names import TABLE
from spca_core.world import World
from spca_referee.rules import Rules, at_start
from spca_referee.states import SIDES, JudgedState

_FOOT, _FINGER = 0.03, 0.01  # half a thing's footprint and a finger's thickness, in metres
_SPOTS = 24  # places along each side of the work area at which a thing is tried


def has_free_places(rules: Rules, layout: Layout, world: World) -> bool:
    """Return whether the table has a free place for each thing, as the level wants it.

    It is free where nothing lies that cannot be lifted. Things that are to be on others are left out.
    """
    elsewhere = {name for names in rules.contacts if TABLE not in names for name in names}
    about: dict[str, list[JudgedState]] = {}
    for state in rules.success.states:
        if state.of_place and state.thing in layout.poses and state.thing not in elsewhere:
            about.setdefault(state.thing, []).append(state)
    now, area = at_start(layout, world), world.work_area
    covered = [(layout.poses[o.model].position[:2], o.size) for o in world.objects if o.kind in SUPPORTS]

    def is_place(thing: str, spot: tuple[float, float]) -> bool:
        if any(math.dist(spot, xy) < max(size[:2]) / 2 + _FOOT for xy, size in covered):
            return False
        there = Pose(
            position=(*spot, layout.poses[thing].position[2]), quaternion=layout.poses[thing].quaternion
        )
        moved = replace(now, poses={**now.poses, thing: there})
        return all(state.holds(moved) and is_beside(state, moved.poses) for state in about[thing])

    def is_beside(state: JudgedState, poses: Mapping[str, Pose]) -> bool:
        """Return whether a finger fits between the two, and no side that is not said is the greater one."""
        if state.other is None:
            return True
        here, there = (poses[name].position for name in (state.thing, state.other))
        apart = math.dist(here[:2], there[:2])
        ahead = SIDES[state.relation](here, there) if state.relation in SIDES else apart
        widths = [min(world.object(name).size[:2]) for name in (state.thing, state.other)]
        return apart >= sum(widths) / 2 + _FINGER and ahead >= apart / math.sqrt(2)

    def spots(thing: str) -> Iterator[tuple[float, float]]:
        given = [state.at for state in about[thing] if state.at is not None]
        grid = product(*(np.linspace(*side, _SPOTS) for side in (area.x, area.y)))
        return iter(given or [(float(x), float(y)) for x, y in grid])

    return all(any(is_place(thing, spot) for spot in spots(thing)) for thing in about)
