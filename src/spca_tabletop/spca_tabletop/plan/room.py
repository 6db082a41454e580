"""Room at the places of a plan, by what is seen before anything moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from spca_core.geometry import Pose
from spca_core.options import RunOptions
from spca_core.plan import Plan
from spca_core.relation import Spot, place_of
from spca_core.scene import Observation, SceneObject
from spca_core.world import World
from spca_sense.outline import footprint
from spca_tabletop.act.placements import CLEARANCE, GRID, barred, least_gap
from spca_tabletop.presets import load_table


def room(options: RunOptions) -> str:
    """See `Kit.room`."""
    return f"things can be put {load_table(options)[0].work_area}"


def no_room(options: RunOptions, plan: Plan, seen: Observation) -> str:
    """Say at which place of a plan there is no room, what is in the way, and where the nearest room is.

    What earlier steps take away is not in the way; a place that is told by it is left to be seen.
    """
    if (scene := seen.scene) is None:
        return ""
    world, moved = load_table(options)[0], set[str]()
    for step in (s for s in plan.steps if s.args):
        thing, place = scene.get(step.args[0]), place_of(step.args[-1])
        moved.add(step.args[0])
        known = place and all(map(scene.get, place.things)) and moved.isdisjoint(place.things)
        if thing is None or place is None or not known or place.relation.skill:
            continue
        others = [o for o in scene.objects if o.id not in moved]
        if not (spots := [*place.spots(thing, scene.objects, world)]):
            return f"no place {place.words}: things lie {world.work_area}"
        ways = [there for spot in spots for there in _standing(thing, spot)]
        if not any(least_gap(footprint(there), others) > CLEARANCE / 4 for there in ways):
            return barred(place, ways[0], others) + _nearest_room(ways[0], others, world)
    return ""


def _standing(thing: SceneObject, spot: Spot) -> Iterator[SceneObject]:
    """Yield a thing as it would stand at a spot, turned in some ways if any will do."""
    x, y, yaw = spot
    for turn in [thing.pose.yaw + k * math.pi / 8 for k in range(4)] if yaw is None else [yaw]:
        yield thing.model_copy(update={"pose": Pose.from_xyz_yaw(x, y, thing.pose.position[2], turn)})


def _nearest_room(there: SceneObject, others: Sequence[SceneObject], world: World) -> str:
    area, at = world.work_area, there.pose.position
    grid = product(*(np.arange(low, high, GRID).tolist() for low, high in (area.x, area.y)))
    for x, y in sorted(grid, key=lambda p: math.dist(p, at[:2])):
        if least_gap(footprint(next(_standing(there, (x, y, there.pose.yaw)))), others) > CLEARANCE:
            return f"; the nearest room is at x {1000 * x:.0f}, y {1000 * y:.0f} mm"
    return ""
