"""Kinematics of the tool centre point (TCP), in `world` and metres.

The pads swing about 11 mm forward while they close from wide open to a 4 cm cube, so the TCP depends on the
gap. The convention for every pose that an arm is asked for, and that it reports:

* something attached: the TCP at the present gap;
* otherwise: the TCP at the present gap or at `NOMINAL_GAP`, whichever is smaller. A tool pose around a cube,
  commanded with open fingers, is therefore where the pads will be once they have closed on it, and a pose
  commanded with closed fingers (to touch something) is where they are.

Collisions are always checked with the fingers as they are.
"""

from __future__ import annotations

import math

import numpy as np

from spca_core.geometry import Array, Pose, top_down
from spca_core.world import World
from spca_robot.gripper_2f85 import tcp_offset
from spca_robot.kinematics import ArmKinematics
from spca_robot.workspace_model import tool0

NOMINAL_GAP = 0.040


class ToolKinematics:
    """Forward and inverse kinematics of the tool centre point, for a robot mounted as the world says."""

    def __init__(self, world: World) -> None:
        base = world.robot.base
        self.arm = ArmKinematics(world.robot.arm)
        self._mount = Pose.from_xyz_yaw(*base.position, base.yaw).matrix()
        self._unmount = np.linalg.inv(self._mount)
        self._tool0 = tool0(world.robot.wrist_sensor)
        self._flange = np.linalg.inv(self._tool0)

    def flange(self, joints: Array) -> Array:
        """Return `tool0` in `world`, (…, 4, 4), for joints (…, n)."""
        return self._mount @ self.arm.forward(joints) @ self._tool0

    def tool(self, joints: Array, gap: float) -> Array:
        """Return the TCP in `world` at a gap between the pads, (…, 4, 4), for joints (…, n)."""
        flange = self.flange(joints)
        flange[..., :3, 3] += tcp_offset(gap) * flange[..., :3, 2]
        return flange

    def branches(self, tools: Array, gap: float, last: Array | None = None) -> Array:
        """Return every joint solution (…, b, n) for TCP poses (…, 4, 4), NaN where there is none.

        `last` (…, k) are angles of the last joint where the pose leaves it free; see `spca_robot.kinematics`.
        """
        flange = np.array(tools)
        flange[..., :3, 3] -= tcp_offset(gap) * flange[..., :3, 2]
        return self.arm.inverse_branches(self._unmount @ flange @ self._flange, last)

    def reached(self, tools: Array, gap: float) -> Array:
        """Return for TCP poses (…, 4, 4) whether a configuration within the joints' ranges has each: (…)."""
        within = self.arm.nearest_turns(self.branches(tools, gap), self.arm.range.mean(axis=1))
        return np.asarray(np.isfinite(within[..., 0]).any(axis=-1))

    def reaches(self, x: float, y: float, z: float) -> bool:
        """Return whether some configuration has the tool at that point (m, in `world`), pointing down."""
        return bool(self.reached(top_down(x, y, z, 0.0).matrix(), NOMINAL_GAP))

    def farthest(self, tool: Array, gap: float = NOMINAL_GAP) -> float:
        """Return how far (m) from the base's axis the TCP gets in this pose's direction, turned as in it."""
        out = tool[:2, 3] - self._mount[:2, 3]
        away = 0.01 * np.arange(200)
        poses = np.repeat(tool[None], len(away), axis=0)
        poses[:, :2, 3] = self._mount[:2, 3] + away[:, None] * out / max(float(np.hypot(*out)), 1e-9)
        return float(away[self.reached(poses, gap)].max(initial=0.0))

    def excess(self, tool: Array, gap: float) -> float:
        """Return how far (m) this TCP pose is beyond the arm's reach in that direction; ≤ 0 if within it."""
        return math.dist(tool[:2, 3], self._mount[:2, 3]) - self.farthest(tool, gap)
