"""Pushes: where closed fingers push a thing out of what it stands among, so that it can be grasped.

Between things that touch there is no room for a finger. The last of those that stand in line is pushed, and
all before it with it, until a grasp of the wanted one is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from spca_core.geometry import Array, Pose, top_down
from spca_core.kinds import KINDS
from spca_core.names import TABLE_SYMBOL
from spca_core.ports.arm import Arm
from spca_core.scene import Scene, SceneObject
from spca_robot.gripper_2f85 import PAD_WIDTH
from spca_sense.outline import footprint, outline_of, overlap, polygon_area, shared_area
from spca_sense.shapes import convex_hull
from spca_tabletop.act.grasps import HIGHER, finger_turns, grasp_height, grasps
from spca_tabletop.act.placements import SIDE_GAP, PlaceCandidate
from spca_tabletop.act.skill_context import touching

DISTANCES = (0.03, 0.045, 0.06, 0.075, 0.09)
"""Lengths in metres by which things are pushed."""
ASIDE = (0.0, 0.009, -0.009)
"""Distances in metres off a thing's middle at which it is pushed: beside its face the fingers need room."""
_BEHIND = PAD_WIDTH + 2 * SIDE_GAP
"""Length in metres of the gap between two things in line that takes the closed fingers."""
_LINE = 0.6
"""Length in metres of the line behind a thing on which others may stand."""
_FLAT = 0.004
"""Height in metres over which things are pushed: a mat's."""
_BRUSHED = 0.05
"""Share of a thing's outline by which others may be off the way that it is pushed: they touch its sides."""


@dataclass(frozen=True)
class PushCandidate(PlaceCandidate):
    """A push: closed fingers come down at `pose`, and go on to `contact` with the `things` before them."""

    things: tuple[str, ...]


def pushes(scene: Scene, name: str, arm: Arm, tip_reach: float) -> Iterator[PushCandidate]:
    """Yield pushes after which a grasp of the thing is free, the shortest one in each direction."""
    thing = scene.get(name)
    if thing is None:
        return
    for turn in finger_turns(thing.pose.yaw, arm):
        along = np.array([np.cos(turn), np.sin(turn)])
        moved, end = _in_line(scene, thing, along)
        if not all(_can_be_pushed(scene, o) for o, _ in moved):
            continue
        things, lowest = tuple(o.id for o, _ in moved), grasp_height(moved[-1][0], 0.0, tip_reach)

        def fits(way: float) -> list[Pose | None]:
            ahead = end + along * (way - PAD_WIDTH / 2)
            at = (
                top_down(ahead[0] - aside * along[1], ahead[1] + aside * along[0], lowest + more, turn)
                for more, aside in product(HIGHER[:3], ASIDE)
            )
            with touching(arm, *things, TABLE_SYMBOL):
                return [pose if arm.reachable(pose, 0.0) else None for pose in at]

        starts = fits(-SIDE_GAP)
        for distance in DISTANCES if any(starts) else ():
            after = _pushed(scene, moved, along, distance)
            if after is None:
                break
            arm.set_scene(after)
            ways = [(a, b) for a, b in zip(starts, fits(distance), strict=True) if a and b]
            with touching(arm, name):
                free = bool(ways) and any(True for _ in grasps(after, name, arm, tip_reach))
            arm.set_scene(scene)
            if free:
                yield PushCandidate(*ways[0], things)
                break


def _in_line(
    scene: Scene, thing: SceneObject, along: Array
) -> tuple[list[tuple[SceneObject, float]], Array]:
    """Return a thing and those behind it that no finger fits between, and where the last of them ends.

    Each with the length in metres of the gaps behind it, which a push closes first.
    """
    middle = np.array(thing.pose.position[:2])
    line = Pose.from_xyz_yaw(*(middle - along * _LINE / 2), 0.0, float(np.arctan2(along[1], along[0])))
    strip = outline_of("cuboid", line, (_LINE, PAD_WIDTH, 0.0))
    extents = []
    for o in scene.objects:
        if o.bottom < thing.top and o.top > thing.bottom and len(part := overlap(footprint(o), strip)):
            on_line = (part - middle) @ along
            extents.append((o.id == thing.id, float(on_line.max()), float(on_line.min()), o))
    moved: list[tuple[SceneObject, float]] = []
    end = 0.0
    for _, high, low, o in sorted(extents, key=lambda extent: extent[:2], reverse=True):
        if moved and high < end - _BEHIND:
            break
        gap = max(0.0, end - high) if moved else 0.0
        moved = [*((other, behind + gap) for other, behind in moved), (o, 0.0)]
        end = min(end, low)
    return moved, middle + along * end


def _can_be_pushed(scene: Scene, thing: SceneObject) -> bool:
    """Return whether a thing slides over the table: it neither rolls nor carries anything."""
    slides = KINDS[thing.kind].solid and not KINDS[thing.kind].domed
    return slides and scene.holds("on", thing.id, TABLE_SYMBOL) and scene.holds("clear", thing.id)


def _pushed(
    scene: Scene, moved: Sequence[tuple[SceneObject, float]], along: Array, distance: float
) -> Scene | None:
    """Return the scene after a push; None if the way is not free."""
    there = {}
    for o, gaps in moved:
        x, y, z = o.pose.position + np.append(along, 0.0) * max(0.0, distance - gaps)
        pose = o.pose.model_copy(update={"position": (float(x), float(y), z)})
        there[o.id] = o.model_copy(update={"pose": pose})
    for o, _ in moved:
        way = convex_hull(np.vstack((footprint(o), footprint(there[o.id]))))
        others = (p for p in scene.objects if p.id not in there and p.top > o.bottom + _FLAT)
        if any(shared_area(way, footprint(p)) > _BRUSHED * polygon_area(footprint(o)) for p in others):
            return None
    return scene.model_copy(update={"objects": tuple(there.get(o.id, o) for o in scene.objects)})
