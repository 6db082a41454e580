"""Appearance of boxes and discs to the camera: their silhouettes, drawn on the plane of their upper face.

Off the optical axis the sides of a thing are visible too, so its silhouette is larger than its upper face and
lopsided. A robust least-squares fit that knows this is not drawn towards the image's centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from spca_core.geometry import Array, about_z
from spca_core.kinds import is_round
from spca_sense.outline import SQUARE, Outline
from spca_sense.view import HeightView, Mask

Residuals = Callable[[Array], tuple[Array, Array]]
"""Function of parameters (P,): signed distances (N,) of points from an outline (m), derivatives (N, P)."""

_STEPS = np.array([1e-5, 1e-5, 1e-4, 1e-5, 1e-5])  # smaller moves end a fit: 10 µm, 0.1 mrad
_LONGEST = np.array([0.01, 0.01, 0.3, 0.01, 0.01])  # one iteration moves no farther: 10 mm, 17°
_MAX_ITERATIONS = 15
TOLERANCE = 0.0025
"""Distance in metres, about two pixels, from which points off the outline count nothing in the end."""
_NOISE = 0.0005  # metres: the expected deviation of a point, which weighs points against the prior
_EXACT = 1e-6  # metres by which a known size may be off
_SIDES = 72  # of the polygon that stands for a disc; it is off a circle of 15 cm by 0.04 mm
_TURN = np.arange(_SIDES) * 2 * np.pi / _SIDES
# A polygon as far outside of its circle at its corners as it is inside between them:
_DISC = np.column_stack((np.cos(_TURN), np.sin(_TURN))) * (1 + (np.pi / _SIDES) ** 2 / 4) / 2
_SECTORS = 36  # directions that are told apart
_SHORTEST = 1e-6  # metres: an edge that has a direction


@dataclass(frozen=True)
class Fit:
    """Parameters, robust spread of the residuals (m), and which points (N,) are inliers."""

    parameters: Array
    spread: float
    near: Mask

    @property
    def inliers(self) -> float:
        """Share of the points that are inliers."""
        return float(self.near.mean()) if len(self.near) else 0.0


def fit_shape(residuals: Residuals, start: Array, sigma: Array | None = None) -> Fit:
    """Fit a shape by Gauss-Newton with Tukey's biweight.

    Parameters are x, y in metres, then a yaw in radians and further lengths in metres. `sigma` (P,) says how
    well each is known before. The tolerance begins at four times its value, so that a start which is off by
    that much still converges.
    """
    x = np.array(start, float)
    size = len(x)
    for iteration in range(_MAX_ITERATIONS):
        reach = TOLERANCE * max(1.0, 4.0 * 0.6**iteration)
        r, jacobian = residuals(x)
        weight = np.maximum(1 - (r / reach) ** 2, 0) ** 2
        normal = jacobian.T @ (jacobian * weight[:, None]) / _NOISE**2
        gradient = jacobian.T @ (weight * r) / _NOISE**2
        if sigma is not None:
            normal += np.diag(sigma**-2.0)
            gradient += (x - start) / sigma**2
        # The faint ridge keeps directions that no point constrains where they are.
        move = -np.linalg.solve(normal + np.diag(1e-6 * np.diag(normal) + 1e-3), gradient)
        x = x + np.clip(move, -_LONGEST[:size], _LONGEST[:size])
        if reach == TOLERANCE and np.all(np.abs(move) < _STEPS[:size]):
            break
    r, _ = residuals(x)
    near = np.abs(r) < TOLERANCE
    spread = float(np.sqrt(np.mean(r[near] ** 2))) if near.any() else float("inf")
    return Fit(parameters=x, spread=spread, near=near)


def numerical(distances: Callable[[Array], Array]) -> Residuals:
    """Return the residuals of a shape whose distances (N,) have no simple derivatives."""

    def residuals(parameters: Array) -> tuple[Array, Array]:
        here = distances(parameters)
        steps = _STEPS[: len(parameters)]
        moved = [distances(parameters + step) for step in np.diag(steps)]
        return here, (np.column_stack(moved) - here[:, None]) / steps

    return residuals


@dataclass(frozen=True)
class Shape:
    """The upper `depth` metres of a thing whose upper face is at `height` (m).

    It is a disc if its `kind` is round, else a box. Its parameters are x, y, yaw and two edges, or diameters.
    `tilt` (3, 3) turns the vertical into the thing's own axis, if it leans.
    """

    kind: str
    height: float
    depth: float
    tilt: Array | None = None

    def corners(self, parameters: Array) -> Array:
        """Return the corners (N, 3: x, y, height) of both faces, the upper one first."""
        x, y, yaw, a, b = parameters
        face = (_DISC if is_round(self.kind) else SQUARE) * (a, b)
        own = np.column_stack((np.tile(face, (2, 1)), np.repeat([0.0, -self.depth], len(face))))
        turn = about_z(yaw) if self.tilt is None else self.tilt @ about_z(yaw)
        return own @ turn.T + (x, y, self.height)

    def residuals(
        self, view: HeightView, points: Array, beside: Array, parameters: Array
    ) -> tuple[Array, Array]:
        """Return the distances (N,) of points on the plane at `height` from the silhouette, and derivatives.

        Points `beside` a neighbour are nearer to the upper face by the share (N,) of the side that it hides.
        """
        corners = self.corners(parameters)
        distance, normals = offset_from_polygon(
            points, convex_hull(view.shift_to_plane(corners, self.height))
        )
        if beside.any():
            upper, its = offset_from_polygon(points, convex_hull(np.split(corners, 2)[0][:, :2]))
            distance += beside * (upper - distance)
            normals = np.where(beside[:, None] > 0.5, its, normals)
        x, y, yaw, *_ = parameters
        if is_round(self.kind):
            return distance, np.column_stack((-normals, np.tile((0.0, -0.25, -0.25), (len(points), 1))))
        away = points - (x, y)
        turned = normals[:, 0] * away[:, 1] - normals[:, 1] * away[:, 0]
        along = np.abs(normals @ about_z(yaw)[:2, :2])
        return distance, np.column_stack((-normals, turned, -along / 2))


def convex_hull(points: Array) -> Array:
    """Return the convex hull (M, 2) of points (N, 2), counter-clockwise (x right, y up)."""
    return cv2.convexHull(points.astype(np.float32), clockwise=False)[:, 0].astype(float)


def distance_to_polygon(points: Array, polygon: Array) -> Array:
    """Return the signed distance (N,) of points to a convex counter-clockwise polygon: negative inside.

    Outside near a corner it is the distance to the nearer edge's line, which is smooth and never too large.
    """
    return offset_from_polygon(points, polygon)[0]


def offset_from_polygon(points: Array, polygon: Array) -> tuple[Array, Array]:
    """Return the signed distance (N,) of points to a polygon, and the normal (N, 2) of the nearest edge."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    lengths = np.hypot(*edges.T)
    proper = lengths > _SHORTEST
    normals = np.stack((edges[proper, 1], -edges[proper, 0])) / lengths[proper]
    distances = points @ normals - np.einsum("ij,ji->i", polygon[proper], normals)
    nearest = distances.argmax(axis=1)
    return distances[np.arange(len(points)), nearest], normals.T[nearest]


def fit_outline(
    view: HeightView, shape: Shape, outline: Outline, start: Array, placed: Array | float | None = None
) -> Fit:
    """Fit a shape to an outline in pixels of the image.

    If the size is known, `placed` says how well the place (x, y, yaw) is: metres and radians, or infinity.
    """
    points = view.to_plane(outline.points, shape.height)
    sigma = None if placed is None else np.array([*np.broadcast_to(placed, 3), _EXACT, _EXACT])
    return fit_shape(lambda p: shape.residuals(view, points, outline.beside, p), start, sigma)


def share_of_turn(offsets: Array) -> float:
    """Return the share of all directions in which there is one of the offsets (N, 2) from a centre."""
    sectors = np.floor((np.arctan2(offsets[:, 1], offsets[:, 0]) + np.pi) / (2 * np.pi) * _SECTORS)
    return len(np.unique(sectors)) / _SECTORS
