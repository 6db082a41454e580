"""Piecewise cubic curves through points, with given or smoothest slopes.

As with `rotations`, SciPy's `CubicHermiteSpline` and `CubicSpline` do the same and the tests compare with
them; importing them would double the time that a run's processes take to start.
"""

from __future__ import annotations

import numpy as np

from spca_core.rotations import Array


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
        """The curve with continuous curvature through values (n ≥ 4, k) at equal knots from 0 to 1.

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
        """Values (m, k) at (m,), or derivatives of that order (0 to 3)."""
        at = np.asarray(at, float)
        index = np.clip(np.searchsorted(self._knots, at, side="right") - 1, 0, len(self._knots) - 2)
        t = (at - self._knots[index])[:, None]
        a, b, c, d = self._coefficients[:, index]
        if order == 0:
            return np.asarray(a + t * (b + t * (c + t * d)))
        if order == 1:
            return np.asarray(b + t * (2 * c + t * 3 * d))
        return np.asarray(2 * c + 6 * d * t if order == 2 else 6 * d)
