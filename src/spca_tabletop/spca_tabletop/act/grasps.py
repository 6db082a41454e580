"""Grasp candidates: where the open fingers fit around an object.

A thing with edges is grasped across one of its two pairs of faces, a round one in any direction, from above.
Which of them can be used depends on its size and on what stands beside it; the arm's planning scene knows
the true shape of the fingers, so it is asked instead of approximated here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from spca_core.geometry import Pose, Vec3, top_down, top_down_yaw
from spca_core.kinds import KINDS, MESHES, is_round
from spca_core.scene import Scene, SceneObject
from spca_motion.manipulator import Manipulator
from spca_robot.gripper_2f85 import STROKE, tcp_offset
from spca_robot.kinematics import NOMINAL_GAP

# Wide first: the wider the fingers, the larger the error of a perceived position that still goes well.
GAPS = (0.085, 0.068, 0.056)
# The fingertips stay this far above what the object stands on, and above the rim of what it is put into.
TIP_CLEARANCE = 0.004
APPROACH = 0.09
CLEARLY_WIDER = 1.2
"""Ratio of two widths from which one is clearly wider."""
# Least free space between the open pads and the object, both sides together.
PLAY = 0.009
WIDEST = STROKE - PLAY
"""Width in metres of the widest thing that open fingers can take."""
# How much higher than in the middle a thing is grasped where a bowl's or tray's rim is in the way, or where
# the palm would meet its top.
HIGHER = (0.0, 0.009, 0.016, 0.032, 0.048)
# Least height of the thing's faces that the pads must then cover, about the widest circle of one that rolls.
COVERED = 0.012


Squeeze = tuple[Vec3, float, float, float]
"""Position of the tool centre point, its yaw, the width (m) that the pads then close on, and the widest gap
(m) with which the open fingers come down there.
"""


@dataclass(frozen=True)
class GraspCandidate:
    """A tool pose around an object and the gap (m) to open to on the way there."""

    pose: Pose
    gap: float


def grasp_height(thing: SceneObject, wanted: float, tip_reach: float) -> float:
    """Return the `wanted` height of the tool for grasping, or more if fingertips would touch what is below.

    `tip_reach` is how far the fingertips reach beyond the tool centre point, in metres.
    """
    return max(wanted, thing.bottom + TIP_CLEARANCE + tip_reach)


def grasps(scene: Scene, name: str, arm: Manipulator, tip_reach: float) -> Iterator[GraspCandidate]:
    """Yield grasps of the object that the arm can reach without touching anything else, best first."""
    thing = scene.get(name)
    if thing is None:
        return
    domed, only_there = KINDS[thing.kind].domed, thing.kind in MESHES
    highest = (thing.pose.position[2] + COVERED / 2 if domed else thing.top) + tip_reach - COVERED
    squeezes = (_sampled if thing.kind in MESHES else _across)(thing, arm, tip_reach)
    for more, gap in product(HIGHER, GAPS):
        for (x, y, lowest), turn, width, room in squeezes:
            z = lowest + more
            if width + PLAY > gap or gap > room or (more and (z > highest or only_there)):
                continue
            # Poses are given for the fingers closed to the nominal gap; wider ones end higher.
            z -= tcp_offset(NOMINAL_GAP) - tcp_offset(width) if abs(width - NOMINAL_GAP) > 0.002 else 0.0
            pose = top_down(x, y, z, turn)
            above = top_down(x, y, z + APPROACH, turn)
            # Closing fingers sink: what lies below must leave them room at the end, too.
            if arm.reachable(pose, gap) and arm.reachable(above, gap) and arm.reachable(pose, width):
                yield GraspCandidate(pose, gap)


def _sampled(thing: SceneObject, arm: Manipulator, tip_reach: float) -> list[Squeeze]:
    """Return the grasps that come with a mesh, in their order, the smaller turn of the tool first."""
    frame, found = thing.pose.matrix(), list[Squeeze]()
    for grasp in MESHES[thing.kind].grasps:
        x, y, z = (frame @ (*grasp.at, 1.0))[:3].tolist()
        at = x, y, grasp_height(thing, z, tip_reach)
        for _, turn in _turns(thing.pose.yaw + grasp.yaw, arm, 2):
            found.append((at, turn, grasp.width, grasp.room))
    return found


def _across(thing: SceneObject, arm: Manipulator, tip_reach: float) -> list[Squeeze]:
    """Return grasps around the middle of a thing, the smallest turn of the tool first.

    Of two clearly different widths, the narrower comes first: the fingers that let go need room for it.
    """
    (x, y, z), (a, b, _) = thing.pose.position, thing.size
    at, round_ = (x, y, grasp_height(thing, z, tip_reach)), is_round(thing.kind)
    turns = _turns(thing.pose.yaw, arm, 8 if round_ else 4)
    found = [(at, turn, a if round_ or k % 2 else b, STROKE) for k, turn in turns]
    narrow = found if round_ else [squeeze for squeeze in found if squeeze[2] <= WIDEST]
    return sorted(narrow, key=lambda squeeze: squeeze[2] > CLEARLY_WIDER * min(a, b))


def finger_turns(yaw: float, arm: Manipulator) -> list[float]:
    """Return the four tool yaws square to a cube's faces, the one that turns the present tool least first."""
    return [turn for _, turn in _turns(yaw, arm, 4)]


def _turns(yaw: float, arm: Manipulator, count: int) -> list[tuple[int, float]]:
    present = top_down_yaw(arm.tool_pose())
    turns = [(k, yaw + k * 2 * math.pi / count) for k in range(count)]
    return sorted(turns, key=lambda t: abs(math.remainder(t[1] - present, 2 * math.pi)))
