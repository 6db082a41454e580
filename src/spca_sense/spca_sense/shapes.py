"""Appearance of boxes and discs to the camera: their silhouettes, drawn on the plane of their upper face.

Off the optical axis the sides of a thing are visible too, so its silhouette is larger than its upper face and
lopsided. A fit that knows this is not drawn towards the image's centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_sense.fitting import Fit, Prior, fit_shape
from spca_sense.outline import Outline
from spca_sense.view import HeightView

_CORNERS = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
_BOX = np.column_stack((np.tile(_CORNERS, (2, 1)), np.repeat([0.0, -1.0], 4)))
_START_YAWS = np.radians([0.0, 30.0, 60.0])  # a square's yaw has a period of 90°
_SECTORS = 36  # directions that are told apart
_GOOD = 0.9  # share of outline points that must agree with a fit for no other start to be tried


@dataclass(frozen=True)
class BoxShape:
    """The upper `depth` metres of a cube with side `edge` and its top face at `height` (m).

    With five parameters (x, y, yaw, and the two edges of the upper face) it is any cuboid.

    `tilt` (3, 3) turns the vertical into the cube's own axis; identity for an upright one.
    """

    edge: float
    height: float
    depth: float
    tilt: Array

    @classmethod
    def upright(cls, edge: float, height: float, depth: float) -> BoxShape:
        """A box whose upper face is level."""
        return cls(edge=edge, height=height, depth=depth, tilt=np.eye(3))

    def corners(self, parameters: Array) -> Array:
        """The eight corners (8, 3: x, y, height), upper face first, of the box at (x, y, yaw)."""
        x, y, yaw, *edges = parameters
        c, s = np.cos(yaw), np.sin(yaw)
        a, b = edges or (self.edge, self.edge)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        own = _BOX * (a / 2, b / 2, self.depth)
        return own @ turn @ self.tilt.T + (x, y, self.height)

    def silhouette(self, view: HeightView, parameters: Array) -> Array:
        """The outline (N, 2), in order, projected onto the plane at `height`."""
        return convex_hull(view.shift_to_plane(self.corners(parameters), self.height))


def convex_hull(points: Array) -> Array:
    """The convex hull (M, 2) of points (N, 2), counter-clockwise (x right, y up)."""
    return cv2.convexHull(points.astype(np.float32), clockwise=False)[:, 0].astype(float)


def distance_to_polygon(points: Array, polygon: Array) -> Array:
    """Signed distance (N,) of points to a convex counter-clockwise polygon: negative inside.

    Outside near a corner it is the distance to the nearer edge's line, which is smooth and never too large.
    """
    edges = np.vstack((polygon[1:], polygon[:1])) - polygon
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    proper = lengths > 1e-6
    normals = np.stack((edges[proper, 1], -edges[proper, 0])) / lengths[proper]
    return (points @ normals - np.einsum("ij,ji->i", polygon[proper], normals)).max(axis=1)


def starts_around(region: Array) -> Array:
    """Initial guesses (4, 3: x, y, yaw) for fitting a square.

    The first is the smallest rectangle around `region`, the rest have other yaws.
    """
    (x, y), _, degrees = cv2.minAreaRect(region.astype(np.float32))
    return np.array([(x, y, yaw) for yaw in (np.radians(degrees), *_START_YAWS)])


def fit_box(
    view: HeightView, shape: BoxShape, outline: Outline, starts: Array, prior: Prior | None = None
) -> Fit:
    """Fit (x, y, yaw) of a box to an outline in pixels of the image.

    Where a neighbour hides the box's side, the border is that of its upper face, else of its silhouette. The
    `starts` (K, 3) are tried in turn until one explains the outline; else the best of them is the answer.
    """
    points = view.to_plane(outline.points, shape.height)
    beside = outline.beside

    def residuals(parameters: Array) -> Array:
        distance = distance_to_polygon(points, shape.silhouette(view, parameters))
        if beside.any():
            face = convex_hull(shape.corners(parameters)[:4, :2])
            distance[beside] = distance_to_polygon(points[beside], face)
        return distance

    fits: list[Fit] = []
    for start in starts:
        fits.append(fit_shape(residuals, start, prior))
        if fits[-1].inliers >= _GOOD:
            break
    return max(fits, key=lambda f: (round(f.inliers, 2), -f.spread))


@dataclass(frozen=True)
class DiscShape:
    """A flat cylinder: `radius`, `thickness`, upper face at `height` above the table."""

    radius: float
    thickness: float
    height: float

    def distance(self, view: HeightView, points: Array, parameters: Array) -> Array:
        """Signed distance (N,) of `points` (on the plane at `height`) from the disc's outline."""
        # The lower rim, seen on the plane of the upper one, is a smaller circle nearer to the camera's foot.
        # Where it sticks out it is the border; the union of the two circles is the silhouette to within 0.02
        # mm.
        foot = np.array([[*parameters, self.height - self.thickness]])
        lower = view.shift_to_plane(foot, self.height)[0]
        clearance = view.centre[2] - view.table_top
        scale = (clearance - self.height) / (clearance - self.height + self.thickness)
        return np.minimum(
            np.hypot(*(points - parameters).T) - self.radius,
            np.hypot(*(points - lower).T) - self.radius * scale,
        )


def fit_disc(view: HeightView, shape: DiscShape, pixels: Array, start: Array) -> Fit:
    """Fit (x, y) of a disc to outline `pixels` (N, 2)."""
    points = view.to_plane(pixels, shape.height)
    return fit_shape(lambda p: shape.distance(view, points, p), start)


def share_of_turn(offsets: Array) -> float:
    """The share of all directions in which there is one of the offsets (N, 2) from a centre."""
    sectors = np.floor((np.arctan2(offsets[:, 1], offsets[:, 0]) + np.pi) / (2 * np.pi) * _SECTORS)
    return len(np.unique(sectors)) / _SECTORS
