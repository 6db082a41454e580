"""Joint-space states and trajectories. Radians, rad/s, seconds; joints in the order of the arm's file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spca_core.geometry import Array


@dataclass(frozen=True)
class JointState:
    """State of arm and gripper at `stamp` (simulated s).

    `position` and `velocity` have shape (n,); `gripper_gap` is the distance between the pads in m.
    """

    stamp: float
    position: Array
    velocity: Array
    gripper_gap: float
    gripper_force: float = 0.0


@dataclass(frozen=True)
class JointTrajectory:
    """A time-stamped path in joint space.

    `times` (N,) are seconds from its start, ascending from 0; `positions` and `velocities` are (N, n).
    """

    times: Array
    positions: Array
    velocities: Array

    @property
    def duration(self) -> float:
        """Seconds from the first to the last point."""
        return float(self.times[-1])


class PiecewiseCubic:
    """The cubic Hermite curve through values (n, k) at ascending knots (n ≥ 2,) with slopes (n, k)."""

    def __init__(self, knots: Array, values: Array, slopes: Array) -> None:
        self._knots = np.asarray(knots, float)
        step = np.diff(self._knots)[:, None]
        chord = np.diff(values, axis=0) / step
        before, after = slopes[:-1], slopes[1:]
        # Coefficients (4, n - 1, k) of the powers 0 to 3 of the distance from an interval's first knot.
        self._coefficients = np.stack(
            [
                values[:-1],
                before,
                (3 * chord - 2 * before - after) / step,
                (before + after - 2 * chord) / step**2,
            ]
        )

    @classmethod
    def smooth(cls, values: Array) -> PiecewiseCubic:
        """Return the curve with continuous curvature through values (n ≥ 4, k) at equal knots from 0 to 1.

        The first two and the last two intervals share one cubic each ("not a knot"; de Boor, A Practical
        Guide to Splines, chapter IV).
        """
        n = len(values)
        step = 1.0 / (n - 1)
        system = 4 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
        right = np.empty_like(values)
        right[1:-1] = 3 * (values[2:] - values[:-2]) / step
        for end, (a, b, c) in ((0, (0, 1, 2)), (n - 1, (n - 3, n - 2, n - 1))):
            system[end] = 0
            system[end, a], system[end, c] = 1, -1
            right[end] = 2 * (2 * values[b] - values[a] - values[c]) / step
        return cls(np.linspace(0.0, 1.0, n), values, np.asarray(np.linalg.solve(system, right)))

    def __call__(self, at: Array, order: int = 0) -> Array:
        """Return the values (m, k) at (m,), or the derivatives of that order (0 to 3)."""
        at = np.asarray(at, float)
        index = np.clip(np.searchsorted(self._knots, at, side="right") - 1, 0, len(self._knots) - 2)
        t = (at - self._knots[index])[:, None]
        a, b, c, d = self._coefficients[:, index]
        if order == 0:
            return np.asarray(a + t * (b + t * (c + t * d)))
        if order == 1:
            return np.asarray(b + t * (2 * c + t * 3 * d))
        return np.asarray(2 * c + 6 * d * t if order == 2 else 6 * d)
