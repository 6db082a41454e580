"""Appearance of boxes and discs to the camera: their silhouettes, drawn on the plane of their upper face.

Off the optical axis the sides of a thing are visible too, so its silhouette is larger than its upper face and
lopsided. A robust least-squares fit that knows this is not drawn towards the image's centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_sense.outline import SQUARE, Outline
from spca_sense.view import HeightView

Residuals = Callable[[Array], tuple[Array, Array]]
"""Function of parameters (P,): signed distances (N,) of points from an outline (m), derivatives (N, P)."""

_STEPS = np.array([1e-5, 1e-5, 1e-4, 1e-5, 1e-5])  # smaller moves end a fit: 10 µm, 0.1 mrad
_LONGEST = np.array([0.01, 0.01, 0.3, 0.01, 0.01])  # one iteration moves no farther: 10 mm, 17°
_MAX_ITERATIONS = 15
TOLERANCE = 0.0025
"""Distance in metres, about two pixels, from which points off the outline count nothing in the end."""
_NOISE = 0.0005  # metres: the expected deviation of a point, which weighs points against the prior
_BOX = np.column_stack((np.tile(SQUARE, (2, 1)), np.repeat([0.0, -1.0], 4)))
_SECTORS = 36  # directions that are told apart
_GOOD = 0.9  # share of outline points that must agree with a fit for no other start to be tried


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


@dataclass(frozen=True)
class BoxShape:
    """The upper `depth` metres of a box whose top face, at `height` (m), has sides `edge` and `other`.

    A cube's `other` is 0. With five parameters (x, y, yaw, and the two edges) it is any cuboid. `tilt` (3, 3)
    turns the vertical into the box's own axis; identity for an upright one.
    """

    edge: float
    height: float
    depth: float
    other: float = 0.0
    tilt: Array = field(default_factory=lambda: np.eye(3))

    def corners(self, parameters: Array) -> Array:
        """Return the eight corners (8, 3: x, y, height), upper face first, of the box at (x, y, yaw)."""
        x, y, yaw, *edges = parameters
        c, s = np.cos(yaw), np.sin(yaw)
        a, b = edges or (self.edge, self.other or self.edge)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        own = _BOX * (a, b, self.depth)
        return own @ turn @ self.tilt.T + (x, y, self.height)

    def silhouette(self, view: HeightView, parameters: Array) -> Array:
        """Return the outline (N, 2), in order, projected onto the plane at `height`."""
        return convex_hull(view.shift_to_plane(self.corners(parameters), self.height))

    def residuals(
        self, view: HeightView, points: Array, parameters: Array, beside: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the distances (N,) of points on the plane at `height` from the silhouette, and derivatives.

        Points `beside` a neighbour are nearer to the upper face by the share (N,) of the side that it hides.
        """
        distance, normals = offset_from_polygon(points, self.silhouette(view, parameters))
        if beside is not None and beside.any():
            upper, its = offset_from_polygon(points, convex_hull(self.corners(parameters)[:4, :2]))
            distance += beside * (upper - distance)
            normals = np.where(beside[:, None] > 0.5, its, normals)
        x, y, yaw, *edges = parameters
        away = points - (x, y)
        turned = normals[:, 0] * away[:, 1] - normals[:, 1] * away[:, 0]
        columns = [-normals[:, 0], -normals[:, 1], turned]
        if edges:
            along = np.abs(normals @ [(np.cos(yaw), -np.sin(yaw)), (np.sin(yaw), np.cos(yaw))])
            columns += [-along[:, 0] / 2, -along[:, 1] / 2]
        return distance, np.column_stack(columns)


def convex_hull(points: Array) -> Array:
    """Return the convex hull (M, 2) of points (N, 2), counter-clockwise (x right, y up)."""
    return cv2.convexHull(points.astype(np.float32), clockwise=False)[:, 0].astype(float)


def distance_to_polygon(points: Array, polygon: Array) -> Array:
    """Return the signed distance (N,) of points to a convex counter-clockwise polygon: negative inside.

    Outside near a corner it is the distance to the nearer edge's line, which is smooth and never too large.
    """
    return _from_edges(points, polygon)[0].max(axis=1)


def offset_from_polygon(points: Array, polygon: Array) -> tuple[Array, Array]:
    """Return the signed distance (N,) of points to a polygon, and the normal (N, 2) of the nearest edge."""
    distances, normals = _from_edges(points, polygon)
    nearest = distances.argmax(axis=1)
    return distances[np.arange(len(points)), nearest], normals.T[nearest]


def _from_edges(points: Array, polygon: Array) -> tuple[Array, Array]:
    """Return signed distances (N, E) of points to the lines of a polygon's edges, and normals (2, E)."""
    edges = np.vstack((polygon[1:], polygon[:1])) - polygon
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    proper = lengths > 1e-6
    normals = np.stack((edges[proper, 1], -edges[proper, 0])) / lengths[proper]
    return points @ normals - np.einsum("ij,ji->i", polygon[proper], normals), normals


def fit_box(
    view: HeightView, shape: BoxShape, outline: Outline, starts: Array, prior: Prior | None = None
) -> Fit:
    """Fit (x, y, yaw) of a box to an outline in pixels of the image.

    Where a neighbour hides the box's side, the border is nearer to the upper face, else the silhouette's. The
    `starts` (K, 3) are tried in turn until one explains the outline; else the best of them is the answer.
    """
    points = view.to_plane(outline.points, shape.height)
    fits: list[Fit] = []
    for start in starts:
        fits.append(fit_shape(lambda p: shape.residuals(view, points, p, outline.beside), start, prior))
        if fits[-1].inliers >= _GOOD:
            break
    return max(fits, key=lambda f: (round(f.inliers, 2), -f.spread))


@dataclass(frozen=True)
class DiscShape:
    """A flat cylinder: `radius`, `thickness`, upper face at `height` above the table."""

    radius: float
    thickness: float
    height: float

    def residuals(self, view: HeightView, points: Array, parameters: Array) -> tuple[Array, Array]:
        """Return distances (N,) of `points` on the plane at `height` from the outline, and derivatives.

        Parameters are x, y and, where it is free, ten times the radius: it moves in steps as small as theirs.
        """
        radius = parameters[2] / 10 if len(parameters) > 2 else self.radius
        # The lower rim, seen on the plane of the upper one, is a smaller circle nearer to the camera's foot.
        # Where it sticks out it is the border; the union of both circles is the silhouette within 0.02 mm.
        foot = np.array([[*parameters[:2], self.height - self.thickness]])
        lower = view.shift_to_plane(foot, self.height)[0]
        clearance = view.centre[2] - view.table_top
        scale = (clearance - self.height) / (clearance - self.height + self.thickness)
        from_upper, from_lower = points - parameters[:2], points - lower
        upper, below = np.hypot(*from_upper.T), np.hypot(*from_lower.T)
        nearer = (upper - radius <= below - radius * scale)[:, None]
        distance = np.maximum(np.where(nearer[:, 0], upper, below), 1e-9)[:, None]
        away = np.where(nearer, from_upper, from_lower) / distance
        columns = [-away] if len(parameters) == 2 else [-away, np.full((len(points), 1), -0.1)]
        return np.minimum(upper - radius, below - radius * scale), np.hstack(columns)


def share_of_turn(offsets: Array) -> float:
    """Return the share of all directions in which there is one of the offsets (N, 2) from a centre."""
    sectors = np.floor((np.arctan2(offsets[:, 1], offsets[:, 0]) + np.pi) / (2 * np.pi) * _SECTORS)
    return len(np.unique(sectors)) / _SECTORS
