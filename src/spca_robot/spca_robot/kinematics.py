"""Kinematics of an arm from its description: flange (`tool0`) in `base_link`, metres and radians."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spca_core.arms import ArmDescription
from spca_core.geometry import Array
from spca_robot.inverse import ROUNDING, inverse_of

_TURN = 2 * np.pi


class ArmKinematics:
    """Forward and inverse kinematics of one arm, between its base and its flange."""

    def __init__(self, arm: ArmDescription) -> None:
        self._offsets, self._inverse = arm.offsets, inverse_of(arm)
        self.range = arm.column("range")
        """Lowest and highest position of each joint, (n, 2)."""
        self.redundant = len(arm.joints) > 6
        """Whether a pose leaves the last joint free."""
        self.elbow = (len(arm.joints) - 1) // 2
        """The joint that folds the arm, counted from 0."""

    def link_frames(self, joints: ArrayLike) -> Array:
        """Where each joint's successor sits, and the flange, in `base_link`: (…, n, 4, 4) for joints (…, n).

        These are the Denavit-Hartenberg frames 1 … n of the standard convention.
        """
        q = np.asarray(joints, dtype=float)[..., None]
        c, s, behind = np.cos(q), np.sin(q), self._offsets[1:]
        step = np.empty((*q.shape[:-1], 4, 4))
        step[..., 0, :] = c * behind[:, 0] - s * behind[:, 1]
        step[..., 1, :] = s * behind[:, 0] + c * behind[:, 1]
        step[..., 2:, :] = behind[:, 2:]
        step[..., 0, :, :] = self._offsets[0] @ step[..., 0, :, :]
        for link in range(1, len(behind)):
            step[..., link, :, :] = step[..., link - 1, :, :] @ step[..., link, :, :]
        return step

    def forward(self, joints: ArrayLike) -> Array:
        """The flange in `base_link`: (…, 4, 4) for joints of shape (…, n)."""
        return self.link_frames(joints)[..., -1, :, :]

    def inverse_branches(self, flange: ArrayLike, last: ArrayLike | None = None) -> Array:
        """All inverse-kinematics branches (…, 8·k, n) for flange poses (…, 4, 4) in `base_link`.

        Joints lie in (-π, π], NaN where a branch has no solution. `last` (…, k) are the angles of the last
        joint to try where the pose leaves it free; see `spca_robot.inverse`.
        """
        free = self._inverse.free if last is None else np.atleast_1d(np.asarray(last, dtype=float))
        joints = self._inverse(np.asarray(flange, dtype=float), free)
        joints[np.isnan(joints).any(axis=-1)] = np.nan
        return np.pi - (np.pi - joints) % _TURN

    def inverse(self, flange: ArrayLike, last: ArrayLike | None = None) -> Array:
        """The distinct joint solutions (m, n) for one flange pose (4, 4), with `last` as above.

        They lie in (-π, π]; empty if the pose is out of reach.
        """
        branches = self.inverse_branches(flange, last)
        found = branches[~np.isnan(branches[:, 0])]
        apart = np.abs(wrap(found[:, None] - found[None])).max(axis=-1) > 1e-9
        return found[[bool(apart[i, :i].all()) for i in range(len(found))]]

    def nearest_turns(self, solutions: ArrayLike, reference: ArrayLike) -> Array:
        """The solutions (…, n), each joint unwrapped to be as near to `reference` (n,) as limits allow.

        A joint that no number of turns brings within its limits makes its solution NaN.
        """
        low, high = self.range.T
        near = np.asarray(reference, dtype=float) + wrap(np.asarray(solutions, dtype=float) - reference)
        near = near - _TURN * np.ceil((near - high) / _TURN - ROUNDING).clip(min=0)
        near = near + _TURN * np.ceil((low - near) / _TURN - ROUNDING).clip(min=0)
        reached = np.clip(near, low, high)
        reached[(np.abs(reached - near) > 2 * ROUNDING * _TURN).any(axis=-1)] = np.nan
        return reached


def wrap(angles: ArrayLike) -> Array:
    """Angles brought into [-π, π)."""
    return (np.asarray(angles, dtype=float) + np.pi) % _TURN - np.pi
