"""Poses and rotations. SI units, right-handed frames (REP-103); quaternions are x, y, z, w."""

from __future__ import annotations

import math

import numpy as np

from spca_core.model import Record
from spca_core.rotations import Array, matrix_of_quaternion, quaternion_of_matrix

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]


class Pose(Record):
    """A rigid transform of a body in a named frame.

    `position` is in metres, `quaternion` is (x, y, z, w) of length 1.
    """

    position: Vec3
    quaternion: Quat = (0.0, 0.0, 0.0, 1.0)

    @classmethod
    def from_xyz_yaw(cls, x: float, y: float, z: float, yaw: float = 0.0) -> Pose:
        """Return the pose of an upright body at (x, y, z) metres, turned by `yaw` radians about +z."""
        return cls(position=(x, y, z), quaternion=(0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))

    @classmethod
    def from_matrix(cls, matrix: Array) -> Pose:
        """Return the pose that a homogeneous matrix (4, 4) describes."""
        q = quaternion_of_matrix(matrix[:3, :3])
        x, y, z = (float(v) for v in matrix[:3, 3])
        return cls(position=(x, y, z), quaternion=(float(q[0]), float(q[1]), float(q[2]), float(q[3])))

    def matrix(self) -> Array:
        """Return the pose as a homogeneous matrix (4, 4)."""
        m = np.eye(4)
        m[:3, :3] = matrix_of_quaternion(self.quaternion)
        m[:3, 3] = self.position
        return m

    @property
    def yaw(self) -> float:
        """Rotation about +z in radians, in (-π, π]."""
        x, y, z, w = self.quaternion
        angle = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        return angle if angle > -math.pi else math.pi


def wrap_angle(angle: float, period: float = 2 * math.pi) -> float:
    """Return `angle` (rad) brought into [-period/2, period/2); a cube's yaw has period π/2.

    >>> round(wrap_angle(math.pi / 2 + 0.1, math.pi / 2), 3)
    0.1
    """
    wrapped = (angle + period / 2) % period - period / 2
    # `%` rounds tiny negative angles up to the period itself.
    return wrapped if wrapped < period / 2 else -period / 2


def top_down(x: float, y: float, z: float, yaw: float) -> Pose:
    """Return the tool pose at (x, y, z), in metres, with the fingers pointing down.

    Tool z is world -z, tool x points along `yaw`, and the pads close across it.
    """
    c, s = math.cos(yaw), math.sin(yaw)
    return Pose.from_matrix(
        np.array([[c, s, 0.0, x], [s, -c, 0.0, y], [0.0, 0.0, -1.0, z], [0.0, 0.0, 0.0, 1.0]])
    )


def top_down_yaw(pose: Pose) -> float:
    """Return the yaw that `top_down` made a tool pose of: the heading of the pose's x axis, in radians."""
    m = pose.matrix()
    return math.atan2(m[1, 0], m[0, 0])
