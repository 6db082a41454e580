"""Moves objects as an unseen hand would: along the table, or through the air."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spca_robot.windowless import mujoco
from spca_robot.workspace_model import WorkspaceIndex

_FASTEST = 1.2  # m/s at which a lagging object catches up
_SPIN = 6.0  # rad/s, the same for its yaw
_LIMBO = (40.0, 0.0, 5.0)
"""Place of objects that are not in the workspace: behind every camera, above nothing."""

Waypoint = tuple[float, float, float, float]
"""Position x, y, z (m) and yaw (rad) in `world`."""


@dataclass
class Drag:
    """An object on its way through `waypoints` at `speed` (m/s, or rad/s where it only turns).

    Something `carried` keeps to the waypoints' heights; something pushed stays on what it stands on.
    """

    name: str
    waypoints: list[Waypoint]
    speed: float
    carried: bool
    at: Waypoint
    left: float = 4.0
    """Simulated seconds after which the drag is given up."""

    def advance(self, index: WorkspaceIndex, data: mujoco.MjData, dt: float) -> bool:
        """Set the object's velocity for the next physics step; return False when it has arrived."""
        self.left -= dt
        target = self.waypoints[0]
        rest = math.dist(self.at[:3], target[:3])
        turn = target[3] - self.at[3]
        share = min(1.0, self.speed * dt / max(rest, abs(turn) if rest < 1e-6 else 0.0, 1e-9))
        x, y, z, yaw = (a + share * (b - a) for a, b in zip(self.at, target, strict=True))
        self.at = (x, y, z, yaw)
        pose, v = index.item_qpos[self.name], index.item_qvel[self.name]
        if self.carried:  # the pads' friction would stop it within one step
            data.qpos[pose : pose + 7] = (x, y, z, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
            data.qvel[v : v + 6] = 0.0
        else:
            want = (np.array((x, y)) - data.qpos[pose : pose + 2]) / dt
            data.qvel[v : v + 2] = np.clip(want, -_FASTEST, _FASTEST)
            off = math.remainder(yaw - yaw_of(index, data, self.name), 2 * math.pi)
            data.qvel[v + 5] = float(np.clip(off / dt, -_SPIN, _SPIN))
        if share >= 1.0:
            self.waypoints.pop(0)
        if self.waypoints and self.left > 0:
            return True
        data.qvel[v : v + 6] = 0.0
        return False


def yaw_of(index: WorkspaceIndex, data: mujoco.MjData, name: str) -> float:
    """Return an object's yaw in `world`, radians."""
    return index.item_pose(data, name).yaw


def keep_away(index: WorkspaceIndex, data: mujoco.MjData, name: str, slot: int) -> None:
    """Hold an object outside the workspace for the next physics step."""
    at, v = index.item_qpos[name], index.item_qvel[name]
    data.qpos[at : at + 7] = (_LIMBO[0], _LIMBO[1] + slot, _LIMBO[2], 1.0, 0.0, 0.0, 0.0)
    data.qvel[v : v + 6] = 0.0
