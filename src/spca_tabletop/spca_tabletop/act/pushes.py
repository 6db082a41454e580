"""Pushes: where closed fingers push a thing out of what it stands among, so that it can be grasped.

Between things that touch there is no room for a finger. The last of those that stand in line is pushed, and
all before it with it, until a grasp of the wanted one is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from spca_core.geometry import Array, Pose, top_down
from spca_core.kinds import KINDS
from spca_core.names import TABLE_SYMBOL
from spca_core.scene import Scene, SceneObject
from spca_motion.manipulator import Manipulator
from spca_robot.gripper_2f85 import PAD_WIDTH
from spca_sense.hypotheses import LOW
from spca_sense.outline import convex_hull, footprint, outline_of, overlap, polygon_area, shared_area
from spca_tabletop.act.grasps import HIGHER, PLAY, finger_turns, grasp_height, grasps
from spca_tabletop.act.placements import SIDE_GAP, PlaceCandidate
from spca_tabletop.act.skill_context import touching

DISTANCES = (0.04, 0.055, 0.07, 0.085, 0.1)
"""Lengths in metres by which things are pushed."""
_SHORT = 0.01
"""Length in metres by which things may be pushed less far than wanted, and yet be free."""
ASIDE = (0.0, PLAY, -PLAY)
"""Distances in metres off a thing's middle at which it is pushed: beside its face the fingers need room."""
_BEHIND = PAD_WIDTH + 2 * SIDE_GAP
"""Length in metres of the gap between two things in line that takes the closed fingers."""
_LINE = 0.8
"""Length in metres of the line through a thing on which others may stand."""
_BRUSHED = 0.05
"""Share of a thing's outline by which others may be off the way that it is pushed: they touch its sides."""


@dataclass(frozen=True)
class PushCandidate(PlaceCandidate):
    """A push: closed fingers come down at `pose`, and go on to `contact` with the `things` before them."""

    things: tuple[str, ...]


def pushes(scene: Scene, name: str, arm: Manipulator, tip_reach: float) -> Iterator[PushCandidate]:
    """Yield pushes after which a grasp of the thing is free, the shortest one in each direction."""
    thing = scene.get(name)
    if thing is None:
        return
    for turn in finger_turns(thing.pose.yaw, arm):
        along = np.array([np.cos(turn), np.sin(turn)])
        line, end = _in_line(scene, thing, along)
        lowest = grasp_height(line[-1][0], 0.0, tip_reach)
        starts = list[Pose | None]()
        for distance in DISTANCES:
            if name not in (moved := _moved(line, along, distance)):
                continue
            if not _is_free(scene, moved):
                break
            if not starts:
                with touching(arm, line[-1][0].id, TABLE_SYMBOL), arm.supposing():
                    at = _behind(end - along * SIDE_GAP, along, lowest)
                    starts = [pose if arm.reachable(pose, 0.0) else None for pose in at]
            if not any(starts):
                break
            with touching(arm, *moved, TABLE_SYMBOL), arm.supposing(scene=scene.replacing(moved)):
                ways = zip(starts, _behind(end + along * distance, along, lowest), strict=True)
                way = next(((a, b) for a, b in ways if a and arm.reachable(b, 0.0)), None)
            surely = scene.replacing(_moved(line, along, distance - _SHORT))
            with touching(arm, name), arm.supposing(scene=surely):
                free = way and any(True for _ in grasps(surely, name, arm, tip_reach))
            if way and free:
                yield PushCandidate(*way, tuple(moved))
                break


def _behind(end: Array, along: Array, lowest: float) -> list[Pose]:
    """Return poses of the closed fingers behind the end of a line."""
    (x, y), (c, s) = end - along * PAD_WIDTH / 2, along
    return [
        top_down(x - aside * s, y + aside * c, lowest + more, math.atan2(s, c))
        for more, aside in product(HIGHER[:3], ASIDE)
    ]


def _in_line(scene: Scene, thing: SceneObject, along: Array) -> tuple[list[tuple[SceneObject, float]], Array]:
    """Return what stands in line with a thing, the last where fingers fit behind it, and where that ends.

    Each with the length in metres of the gaps behind it, which a push closes first.
    """
    middle = np.array(thing.pose.position[:2])
    centre = Pose.from_xyz_yaw(*thing.pose.position, math.atan2(along[1], along[0]))
    strip = outline_of("cuboid", centre, (_LINE, PAD_WIDTH, 0.0))
    extents = []
    for o in scene.objects:
        beside = o.bottom < thing.top and o.top > thing.bottom + LOW
        if beside and len(part := overlap(footprint(o), strip)):
            on_line = (part - middle) @ along
            extents.append((float(on_line.max()), float(on_line.min()), o))
    line: list[tuple[SceneObject, float]] = []
    end = _LINE
    for high, low, o in sorted(extents, key=lambda extent: extent[0], reverse=True):
        gap = max(0.0, end - high)
        if gap > _BEHIND and any(other is thing for other, _ in line):
            break
        line = [*((other, behind + gap) for other, behind in line), (o, 0.0)]
        end = min(end, low)
    return line, middle + along * end


def _moved(
    line: Sequence[tuple[SceneObject, float]], along: Array, distance: float
) -> dict[str, SceneObject]:
    """Return the things of a line that move when its end is pushed by a distance, where they are then."""
    moved = {}
    for thing, gaps in line:
        if gaps < distance:
            at = thing.pose.position + np.append(along * (distance - gaps), 0.0)
            pose = thing.pose.model_copy(update={"position": tuple(at.tolist())})
            moved[thing.id] = thing.model_copy(update={"pose": pose})
    return moved


def _is_free(scene: Scene, moved: Mapping[str, SceneObject]) -> bool:
    """Return whether things slide over the table to where they are moved, and meet no others."""
    around = [(o.top, footprint(o)) for o in scene.objects if o.id not in moved]
    for name, there in moved.items():
        here, kind = footprint(scene.get(name) or there), KINDS[there.kind]
        slides = kind.solid and not kind.domed and scene.holds("on", name, TABLE_SYMBOL)
        way, most = convex_hull(np.vstack((here, footprint(there)))), _BRUSHED * polygon_area(here)
        meets = any(top > there.bottom + LOW and shared_area(way, other) > most for top, other in around)
        if meets or not (slides and scene.holds("clear", name)):
            return False
    return True
