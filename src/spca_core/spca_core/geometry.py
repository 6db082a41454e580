"""Poses and rotations. SI units, right-handed frames (REP-103); quaternions are x, y, z, w.

Rotations are matrices (3, 3), quaternions and rotation vectors (axis times angle, radians). SciPy's
`Rotation` does the same, and the tests compare with it. It is not used here because importing it takes half a
second, which every one of a run's processes would spend at its start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator

from spca_core.model import Record

Array = Annotated[NDArray[np.float64], PlainValidator(np.asarray)]

_TINY = 1e-12  # rad; below it a rotation vector has no axis


def matrix_of_quaternion(quaternion: Sequence[float] | Array) -> Array:
    """Return the rotation (3, 3) of a quaternion (x, y, z, w) of any length but 0."""
    x, y, z, w = (float(v) for v in quaternion)
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )


def quaternion_of_matrix(matrix: Array) -> Array:
    """Return the quaternion (x, y, z, w) of length 1 of a rotation (3, 3).

    It is computed from its largest component, which rounding cannot spoil (Shepperd, 1978).
    """
    m = matrix.tolist()
    trace = m[0][0] + m[1][1] + m[2][2]
    largest = max(range(4), key=lambda i: trace if i == 3 else m[i][i])
    q = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 1 + trace]
    if largest < 3:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q[3] = q[i]
        q[i], q[j], q[k] = 1 - trace + 2 * m[i][i], m[j][i] + m[i][j], m[k][i] + m[i][k]
    length = math.sqrt(sum(v * v for v in q))
    return np.array([v / length for v in q])


def wxyz_of_matrix(matrix: Array) -> Array:
    """Return the quaternion of a rotation (3, 3) in MuJoCo's order, w first."""
    return quaternion_of_matrix(matrix)[[3, 0, 1, 2]]


def matrix_of_vector(vector: Sequence[float] | Array) -> Array:
    """Return the rotations (..., 3, 3) of rotation vectors (..., 3), by Rodrigues' formula."""
    v = np.asarray(vector, float)
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(v, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*v.shape[:-1], 3, 3)
    safe = np.maximum(angle, _TINY)
    return np.asarray(
        np.eye(3) + np.sin(angle) / safe * cross + (1 - np.cos(angle)) / safe**2 * (cross @ cross)
    )


def vector_of_matrix(matrix: Array) -> Array:
    """Return the rotation vector (3,) of a rotation (3, 3); its angle is in [0, π]."""
    q = quaternion_of_matrix(matrix)
    q = -q if q[3] < 0 else q
    sine = float(np.linalg.norm(q[:3]))
    if sine < _TINY:
        return 2 * q[:3]
    return np.asarray(q[:3] * (2 * math.atan2(sine, q[3]) / sine))


def about_z(angle: float) -> Array:
    """Return the rotation (3, 3) by `angle` radians about +z."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def aligning(start: Array, goal: Array) -> Array:
    """Return the smallest rotation (3, 3) that turns the direction of `start` (3,) into that of `goal` (3,).

    Any half turn will do for opposite directions.
    """
    a, b = start / np.linalg.norm(start), goal / np.linalg.norm(goal)
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = float(np.linalg.norm(axis))
    if sine < _TINY and cosine < 0:
        axis, sine = np.cross(a, np.eye(3)[int(np.abs(a).argmin())]), 0.0
    length = float(np.linalg.norm(axis))
    return matrix_of_vector(axis * (math.atan2(sine, cosine) / length)) if length > 0 else np.eye(3)


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
