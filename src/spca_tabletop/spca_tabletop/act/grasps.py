"""Where the open fingers fit around an object.

A cube is grasped across one of its two pairs of faces, from above. Which pairs can be used depends on what
stands beside it; the arm's planning scene knows the true shape of the fingers, so it is asked instead of
approximated here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from spca_core.geometry import Pose, top_down
from spca_core.ports.arm import Arm
from spca_core.scene import Scene, SceneObject

# Wide first: the wider the fingers, the larger the error of a perceived position that still goes well.
GAPS = (0.085, 0.068, 0.056)
# The fingertips stay this far above what the object stands on.
TIP_CLEARANCE = 0.004
APPROACH = 0.09


@dataclass(frozen=True)
class Grasp:
    """A tool pose around an object and the gap (m) to open to on the way there."""

    pose: Pose
    gap: float


def grasp_height(thing: SceneObject, tip_reach: float) -> float:
    """Height of the tool for grasping: the object's middle, unless the fingertips would touch what is below.

    `tip_reach` is how far the fingertips reach beyond the tool centre point, in metres.
    """
    bottom = thing.pose.position[2] - thing.size[2] / 2
    return max(thing.pose.position[2], bottom + TIP_CLEARANCE + tip_reach)


def grasps(scene: Scene, name: str, arm: Arm, tip_reach: float) -> Iterator[Grasp]:
    """Grasps of the object that the arm can reach without touching anything else, best first."""
    thing = scene.get(name)
    if thing is None:
        return
    x, y, _ = thing.pose.position
    z = grasp_height(thing, tip_reach)
    for gap in GAPS:
        for turn in finger_turns(thing.pose.yaw, arm):
            pose = top_down(x, y, z, turn)
            above = top_down(x, y, z + APPROACH, turn)
            if arm.reachable(pose, gap) and arm.reachable(above, gap):
                yield Grasp(pose, gap)


def finger_turns(yaw: float, arm: Arm) -> list[float]:
    """The four tool yaws square to a cube's faces, the one that turns the present tool least first."""
    m = arm.tool_pose().matrix()
    present = math.atan2(m[1, 0], m[0, 0])
    turns = [yaw + k * math.pi / 2 for k in range(4)]
    return sorted(turns, key=lambda t: abs(math.remainder(t - present, 2 * math.pi)))
