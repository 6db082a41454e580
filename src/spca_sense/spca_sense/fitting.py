"""Robust least-squares fit of a shape's outline to border points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spca_core.geometry import Array

Residuals = Callable[[Array], tuple[Array, Array]]
"""Function of parameters (P,): signed distances (N,) of points from an outline (m), derivatives (N, P)."""

_STEPS = np.array([1e-5, 1e-5, 1e-4, 1e-5, 1e-5])  # smaller moves end a fit: 10 µm, 0.1 mrad
_LONGEST = np.array([0.01, 0.01, 0.3, 0.01, 0.01])  # one iteration moves no farther: 10 mm, 17°
_MAX_ITERATIONS = 15
TOLERANCE = 0.0025
"""Distance in metres, about two pixels, from which points off the outline count nothing in the end."""
_NOISE = 0.0005  # metres: the expected deviation of a point, which weighs points against the prior


@dataclass(frozen=True)
class Fit:
    """Parameters, robust spread of the residuals (m), and share of inliers."""

    parameters: Array
    spread: float
    inliers: float


@dataclass(frozen=True)
class Prior:
    """Prior distribution of the parameters: mean (P,) and standard deviation (P,)."""

    mean: Array
    sigma: Array


def fit_shape(residuals: Residuals, start: Array, prior: Prior | None = None) -> Fit:
    """Fit a shape by Gauss-Newton with Tukey's biweight.

    Parameters are x, y in metres, then a yaw in radians and two lengths in metres, as far as there are any.
    The tolerance begins at four times its value, so that a start which is off by that much still converges.
    """
    x = np.array(start, float)
    size = len(x)
    for iteration in range(_MAX_ITERATIONS):
        reach = TOLERANCE * max(1.0, 4.0 * 0.6**iteration)
        r, jacobian = residuals(x)
        weight = np.maximum(1 - (r / reach) ** 2, 0) ** 2
        normal = jacobian.T @ (jacobian * weight[:, None]) / _NOISE**2
        gradient = jacobian.T @ (weight * r) / _NOISE**2
        if prior is not None:
            normal += np.diag(prior.sigma**-2.0)
            gradient += (x - prior.mean) / prior.sigma**2
        # The faint ridge keeps directions that no point constrains where they are.
        move = -np.linalg.solve(normal + np.diag(1e-6 * np.diag(normal) + 1e-3), gradient)
        x = x + np.clip(move, -_LONGEST[:size], _LONGEST[:size])
        if reach == TOLERANCE and np.all(np.abs(move) < _STEPS[:size]):
            break
    r, _ = residuals(x)
    near = np.abs(r) < TOLERANCE
    spread = float(np.sqrt(np.mean(r[near] ** 2))) if near.any() else float("inf")
    return Fit(parameters=x, spread=spread, inliers=float(near.mean()) if len(r) else 0.0)


def numerical(distances: Callable[[Array], Array]) -> Residuals:
    """Return the residuals of a shape whose distances (N,) have no simple derivatives."""

    def residuals(parameters: Array) -> tuple[Array, Array]:
        here = distances(parameters)
        steps = _STEPS[: len(parameters)]
        moved = [distances(parameters + step) for step in np.diag(steps)]
        return here, (np.column_stack(moved) - here[:, None]) / steps

    return residuals
