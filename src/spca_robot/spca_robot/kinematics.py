"""Kinematics of an arm in closed form: flange (`tool0`) in `base_link`, metres and radians.

The inverse follows from the geometry that the arms of Universal Robots share (see e.g. Hawkins, "Analytic
inverse kinematics for the Universal Robots UR-5/UR-10 arms", 2013): the axes of joints 2, 3 and 4 are
parallel, so that the wrist's position leaves two choices of the shoulder, the flange's direction two of the
wrist, and a planar two-link arm two of the elbow; eight branches at most. Everything is vectorised over
leading dimensions, and written with `atan2` where `acos` would lose digits near a singularity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spca_core.arms import ArmDescription
from spca_core.geometry import Array

BASE_TO_DH: Array = np.diag([-1.0, -1.0, 1.0, 1.0])
"""Rotation by pi about z, from the mount (ROS `base_link`) to the DH base frame."""

BRANCHES = 8
"""Shoulder left/right × wrist up/down × elbow up/down: the branches of `inverse_branches`.

They are ordered along the last axis but one.
"""

_SHOULDER = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
_WRIST = np.array([1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
_ELBOW = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
_TURN = 2 * np.pi
# Relative tolerance of limits against rounding, for a target at full stretch or a joint at ±2π.
_ROUNDING = 1e-7
# Below this sine of wrist 2 the axes of wrist 1 and wrist 3 count as parallel, and the split between them is
# free.
_PARALLEL = 1e-8


class ArmKinematics:
    """Forward and inverse kinematics of one arm, between its base and its flange."""

    def __init__(self, arm: ArmDescription) -> None:
        self.a, self.d, alpha = (arm.column(name) for name in ("a", "d", "alpha"))
        self._cos_alpha, self._sin_alpha = np.cos(alpha), np.sin(alpha)
        self.range = arm.column("range")
        """Lowest and highest position of each joint, (6, 2)."""

    def link_frames(self, joints: ArrayLike) -> Array:
        """The DH frames 1 … 6 of each link in `base_link`: shape (…, 6, 4, 4) for joints of shape (…, 6)."""
        q = np.asarray(joints, dtype=float)
        a, cos_alpha, sin_alpha = self.a, self._cos_alpha, self._sin_alpha
        c, s = np.cos(q), np.sin(q)
        step = np.zeros((*q.shape, 4, 4))
        step[..., 0, 0], step[..., 0, 1], step[..., 0, 2], step[..., 0, 3] = (
            c,
            -s * cos_alpha,
            s * sin_alpha,
            a * c,
        )
        step[..., 1, 0], step[..., 1, 1], step[..., 1, 2], step[..., 1, 3] = (
            s,
            c * cos_alpha,
            -c * sin_alpha,
            a * s,
        )
        step[..., 2, 1], step[..., 2, 2], step[..., 2, 3] = sin_alpha, cos_alpha, self.d
        step[..., 3, 3] = 1.0
        step[..., 0, :2, :] *= -1.0  # `base_link` is the DH base turned by π about z
        for link in range(1, 6):
            step[..., link, :, :] = step[..., link - 1, :, :] @ step[..., link, :, :]
        return step

    def forward(self, joints: ArrayLike) -> Array:
        """The flange in `base_link`: (…, 4, 4) for joints of shape (…, 6)."""
        return self.link_frames(joints)[..., 5, :, :]

    def inverse_branches(self, flange: ArrayLike, wrist_3_if_free: float = 0.0) -> Array:
        """All inverse-kinematics branches for flange poses (…, 4, 4) in `base_link`.

        Joints have shape (…, 8, 6) and lie in (-π, π], NaN where a branch has no solution.

        A branch keeps its place as the pose varies. Where the axes of wrist 1 and 3 are parallel their split
        is free; then wrist 3 is put at `wrist_3_if_free`.
        """
        a, d = self.a, self.d
        target = np.asarray(flange, dtype=float)[..., None, :, :]
        x6, y6, z6 = _dh_base(target[..., 0]), _dh_base(target[..., 1]), _dh_base(target[..., 2])
        frame5 = _dh_base(target[..., 3]) - d[5] * z6

        # Shoulder: the centre of frame 5 lies at the distance d4 from the vertical plane in which upper and
        # forearm move.
        radius_sq = frame5[..., 0] ** 2 + frame5[..., 1] ** 2
        slack = _root(radius_sq - d[3] ** 2, scale=d[3] ** 2)
        q1 = np.arctan2(frame5[..., 1], frame5[..., 0]) + _SHOULDER * np.arctan2(slack, d[3]) + np.pi / 2
        c1, s1 = np.cos(q1), np.sin(q1)

        # Wrist 2 and 3: the direction z1 of the parallel axes, as seen from the flange.
        along_x, along_y, along_z = (s1 * v[..., 0] - c1 * v[..., 1] for v in (x6, y6, z6))
        sine5 = np.hypot(along_x, along_y)
        q5 = np.arctan2(_WRIST * sine5, along_z)
        q6 = np.where(sine5 > _PARALLEL, np.arctan2(-_WRIST * along_y, _WRIST * along_x), wrist_3_if_free)
        c6, s6 = np.cos(q6)[..., None], np.sin(q6)[..., None]
        z4 = -(s6 * x6 + c6 * y6)  # the axis of wrist 2

        # Elbow: a two-link arm from the shoulder to frame 3, in the plane of (c1, s1) and the vertical.
        frame4 = frame5 - d[4] * z4
        out = c1 * frame4[..., 0] + s1 * frame4[..., 1]
        up = frame4[..., 2] - d[0]
        twice = 2 * a[1] * a[2]
        cosine3 = (out**2 + up**2 - a[1] ** 2 - a[2] ** 2) / twice
        q3 = np.arctan2(_ELBOW * _root(1.0 - cosine3**2, scale=1.0), cosine3)
        q2 = np.arctan2(up, out) - np.arctan2(a[2] * np.sin(q3), a[1] + a[2] * np.cos(q3))
        q234 = np.arctan2(c1 * z4[..., 0] + s1 * z4[..., 1], -z4[..., 2])

        joints = np.stack([q1, q2, q3, q234 - q2 - q3, q5, q6], axis=-1)
        joints[np.isnan(joints).any(axis=-1)] = np.nan
        return np.pi - (np.pi - joints) % _TURN

    def inverse(self, flange: ArrayLike, wrist_3_if_free: float = 0.0) -> Array:
        """The distinct joint solutions (k, 6), k ≤ 8, for one flange pose (4, 4).

        They lie in (-π, π]; empty if the pose is out of reach.
        """
        branches = self.inverse_branches(flange, wrist_3_if_free)
        found = branches[~np.isnan(branches[:, 0])]
        apart = np.abs(wrap(found[:, None] - found[None])).max(axis=-1) > 1e-9
        return found[[bool(apart[i, :i].all()) for i in range(len(found))]]

    def nearest_turns(self, solutions: ArrayLike, reference: ArrayLike) -> Array:
        """The solutions (…, 6), each joint unwrapped to be as near to `reference` (6,) as limits allow.

        A joint that no number of turns brings within its limits makes its solution NaN.
        """
        low, high = self.range.T
        near = np.asarray(reference, dtype=float) + wrap(np.asarray(solutions, dtype=float) - reference)
        near = near - _TURN * np.ceil((near - high) / _TURN - _ROUNDING).clip(min=0)
        near = near + _TURN * np.ceil((low - near) / _TURN - _ROUNDING).clip(min=0)
        reached = np.clip(near, low, high)
        reached[(np.abs(reached - near) > 2 * _ROUNDING * _TURN).any(axis=-1)] = np.nan
        return reached


def wrap(angles: ArrayLike) -> Array:
    """Angles brought into [-π, π)."""
    return (np.asarray(angles, dtype=float) + np.pi) % _TURN - np.pi


def _dh_base(vector: Array) -> Array:
    """A vector (…, ≥3) from `base_link` to the DH base frame."""
    return vector[..., :3] * np.array([-1.0, -1.0, 1.0])


def _root(value: Array, scale: float) -> Array:
    """Square root; 0 for what is negative by rounding only, NaN for what is truly negative."""
    return np.sqrt(np.where(value >= 0, value, np.where(value > -_ROUNDING * scale, 0.0, np.nan)))
