"""Outlines of boxes and discs: exactly from above, as points between a mask's pixels, and fitted to these.

Points where a nearer object cuts a mask off are left out. Off the optical axis the sides of a thing are
visible too, so its silhouette is larger than its upper face and lopsided. A robust least-squares fit that
knows this is not drawn towards the image's centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from spca_core.geometry import Array, Pose, Vec3, about_z
from spca_core.kinds import MESHES, Upright, is_round
from spca_sense.view import NO_HEIGHT, TALL, TOLERANCE, FloatImage, HeightView, Mask, Patch

_ROUND = 32  # corners of the polygon that stands for a disc
SQUARE = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) / 2
"""Corners of a square with edges of 1, counter-clockwise."""


def footprint(thing: Upright) -> Array:
    """Return the convex outline (N, 2) of a thing, counter-clockwise, metres."""
    return outline_of(thing.kind, thing.pose, thing.size)


def outline_of(kind: str, pose: Pose, size: Vec3) -> Array:
    """Return the convex outline (N, 2) of a thing of that kind, counter-clockwise, metres."""
    x, y, _ = pose.position
    if is_round(kind):
        angle = np.linspace(0, 2 * np.pi, _ROUND, endpoint=False)
        return np.column_stack((np.cos(angle), np.sin(angle))) * size[0] / 2 + (x, y)
    c, s = np.cos(pose.yaw), np.sin(pose.yaw)
    own = MESHES[kind].outline if kind in MESHES else SQUARE * size[:2]
    return own @ np.array([[c, s], [-s, c]]) + (x, y)


def polygon_area(polygon: Array) -> float:
    """Return the area of a counter-clockwise polygon (N, 2), square metres."""
    x, y = polygon[:, 0], polygon[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def shared_area(a: Array, b: Array) -> float:
    """Return the area that two convex counter-clockwise polygons (N, 2), (M, 2) share, square metres."""
    return max(0.0, polygon_area(shared)) if len(shared := overlap(a, b)) else 0.0


def overlap(a: Array, b: Array) -> Array:
    """Return the polygon (K, 2), maybe empty, that two convex counter-clockwise ones (N, 2), (M, 2) share.

    Sutherland and Hodgman's clipping: `a` is cut off along every edge of `b`. (OpenCV's intersectConvexConvex
    finds nothing for polygons that lie almost exactly on each other.)
    """
    if (a.max(axis=0) < b.min(axis=0)).any() or (b.max(axis=0) < a.min(axis=0)).any():
        return a[:0]
    for start, (x, y) in zip(b, np.roll(b, -1, axis=0) - b, strict=True):
        side = (a - start) @ (-y, x)
        left = side >= 0
        if left.all():
            continue
        crosses = left != np.roll(left, -1)
        step = (np.roll(a, -1, axis=0) - a) * crosses[:, None]
        share = side / np.where(crosses, side - np.roll(side, -1), 1.0)
        a = np.stack((a, a + step * share[:, None]), axis=1)[np.column_stack((left, crosses))]
        if not len(a):
            break
    return a


def gap(a: Array, b: Array) -> float:
    """Return the least distance between two convex polygons, metres; 0 when they overlap.

    It is that of the origin from all differences between their points.
    """
    differences = cv2.convexHull((a[:, None] - b).reshape(-1, 2).astype(np.float32))
    return max(0.0, -cv2.pointPolygonTest(differences, (0.0, 0.0), True))


_LOOK = np.arange(1, 5)  # pixels outside the border; the first two of them with depth tell whose border it is
_ENOUGH = 2
_MOST = 800  # points of a border


@dataclass(frozen=True)
class Outline:
    """Border points of a mask.

    `points` (N, 2: column, row) lie half way between a pixel inside and its neighbour outside; `beside` (N,)
    tells what share of the thing's side a neighbour hides there.
    """

    points: Array
    beside: Array


def trace(patch: Patch, heights: FloatImage, level: float, depth: float, foreign: Mask | None) -> Outline:
    """Return the own border of what a patch shows, which reaches from `level` down by `depth` (metres).

    Of a long one it is every other point, or fewer.

    A border is an occluder's where just outside it the heights exceed that by `TALL`, where there is no
    depth at all, or where the outside lies in `foreign`. Borders of the image are not part of an outline.
    `heights` and `foreign` are those of the patch's window.
    """
    mask = patch.mask.view(np.int8)
    down, right = (np.nonzero(np.diff(mask, axis=axis)) for axis in (0, 1))
    first = np.concatenate((down, right), axis=1)  # pixels before the border, in rows and columns
    along = np.repeat(((1, 0), (0, 1)), (len(down[0]), len(right[0])), axis=1)
    some = slice(None, None, 1 + first.shape[1] // _MOST)
    first, along = first[:, some], along[:, some]
    inner = patch.mask[tuple(first)]
    # From the pixel before the border the first one outside is the next, or that pixel itself.
    steps = np.where(inner, _LOOK[:, None], 1 - _LOOK[:, None])
    size = np.array(mask.shape)[:, None, None]
    at = tuple(np.minimum(np.maximum(first[:, None] + along[:, None] * steps, 0), size - 1))
    outside = heights[at]
    known = outside > NO_HEIGHT / 2
    told = known & (known.cumsum(axis=0) <= _ENOUGH)
    own = known.any(axis=0) & ~(told & (outside > level + TALL)).any(axis=0)
    if foreign is not None:
        own &= ~foreign[at][0]
    nearest = outside[told.argmax(axis=0), np.arange(len(inner))]
    beside = 1 - np.minimum(np.maximum((level - nearest[own]) / depth, 0), 1)
    return Outline((first + along / 2).T[own][:, ::-1] + patch.origin, beside.astype(float))


Residuals = Callable[[Array], tuple[Array, Array]]
"""Function of parameters (P,): signed distances (N,) of points from an outline (m), derivatives (N, P)."""

_STEPS = np.array([3e-5, 3e-5, 3e-4, 3e-5, 3e-5])  # smaller moves end a fit: 10 µm, 0.1 mrad
_LONGEST = np.array([0.01, 0.01, 0.3, 0.01, 0.01])  # one iteration moves no farther: 10 mm, 17°
_MAX_ITERATIONS = 15
_NOISE = 0.0005  # metres: the expected deviation of a point, which weighs points against the prior
_EXACT = 1e-6  # metres by which a known size may be off; a shorter edge has no direction
_STEEPEST = 0.999  # sine of the sides of a cone that still has sides
_CORNERS = np.column_stack((np.tile(SQUARE, (2, 1)), np.repeat([0.0, -1.0], len(SQUARE))))


@dataclass(frozen=True)
class Fit:
    """Parameters, robust spread of the residuals (m), and which share of the points are inliers."""

    parameters: Array
    spread: float
    inliers: float


def fit_shape(residuals: Residuals, start: Array, sigma: Array | None = None) -> Fit:
    """Fit a shape by Gauss-Newton with Tukey's biweight.

    Parameters are x, y in metres, then a yaw in radians and further lengths in metres. `sigma` (P,) says how
    well each is known before. The tolerance begins at four times its value, so that a start which is off by
    that much still converges.
    """
    x = np.array(start, float)
    size = len(x)
    known = np.zeros(size) if sigma is None else sigma**-2.0
    for iteration in range(_MAX_ITERATIONS):
        reach = TOLERANCE * max(1.0, 4.0 * 0.4**iteration)
        r, jacobian = residuals(x)
        weight = np.maximum(1 - (r / reach) ** 2, 0) ** 2 / _NOISE**2
        weighted = jacobian.T * weight
        normal = weighted @ jacobian
        gradient = weighted @ r + known * (x - start)
        # The faint ridge keeps directions that no point constrains where they are.
        normal.flat[:: size + 1] += known + 1e-6 * normal.diagonal() + 1e-3
        move = np.linalg.solve(normal, -gradient)
        step = np.minimum(np.maximum(move, -_LONGEST[:size]), _LONGEST[:size])
        x = x + step
        if reach == TOLERANCE and (np.abs(move) < _STEPS[:size]).all():
            break
    r = r + jacobian @ step
    near = np.abs(r) < TOLERANCE
    spread = float(np.sqrt(np.mean(r[near] ** 2))) if near.any() else float("inf")
    return Fit(x, spread, float(near.mean()) if len(near) else 0.0)


def numerical(distances: Callable[[Array], Array]) -> Residuals:
    """Return the residuals of a shape whose distances (N,) have no simple derivatives."""

    def residuals(parameters: Array) -> tuple[Array, Array]:
        here = distances(parameters)
        steps = _STEPS[: len(parameters)]
        moved = [distances(parameters + step) for step in np.diag(steps)]
        return here, (np.column_stack(moved) - here[:, None]) / steps

    return residuals


@dataclass(frozen=True)
class Prism:
    """The upper `depth` metres of a thing whose upper face is at `height` (m).

    It is a disc if its `kind` is round, else a box. Its parameters are x, y, yaw and two edges, or diameters.
    `tilt` (3, 3) turns the vertical into the thing's own axis, if it leans.
    """

    kind: str
    height: float
    depth: float
    tilt: Array | None = None

    def corners(self, parameters: Array) -> Array:
        """Return the corners (8, 3: x, y, height) of both faces, the upper first; of squares around discs."""
        x, y, yaw, a, b = parameters
        own = _CORNERS * (a, b, self.depth)
        turn = about_z(yaw) if self.tilt is None else self.tilt @ about_z(yaw)
        return own @ turn.T + (x, y, self.height)

    def residuals(
        self, view: HeightView, points: Array, beside: Array, parameters: Array
    ) -> tuple[Array, Array]:
        """Return the distances (N,) of points on the plane at `height` from the silhouette, and derivatives.

        Points `beside` a neighbour are nearer to the upper face by the share (N,) of the side that it hides.
        """
        corners = self.corners(parameters)
        shown, round_one = view.shift_to_plane(corners, self.height), is_round(self.kind)
        offset = _offset_from_cone if round_one else offset_from_polygon
        distance, normals = offset(points, shown if round_one else convex_hull(shown))
        hidden = np.flatnonzero(beside)
        if len(hidden):
            upper, its = offset(points[hidden], shown[:4])
            share = beside[hidden]
            distance[hidden] += share * (upper - distance[hidden])
            normals[hidden] = np.where(share[:, None] > 0.5, its, normals[hidden])
        jacobian = np.empty((len(points), len(parameters)))
        jacobian[:, :2] = -normals
        if round_one:
            jacobian[:, 2:] = (0.0, -0.25, -0.25)
            return distance, jacobian
        away = points - parameters[:2]
        jacobian[:, 2] = normals[:, 0] * away[:, 1] - normals[:, 1] * away[:, 0]
        jacobian[:, 3:] = np.abs(normals @ about_z(parameters[2])[:2, :2]) / -2
        return distance, jacobian


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
    edges = np.concatenate((polygon[1:], polygon[:1])) - polygon
    lengths = np.sqrt((edges**2).sum(axis=1))
    proper = lengths > _EXACT
    normals = (edges[:, ::-1] * (1.0, -1.0))[proper] / lengths[proper, None]
    distances = points @ normals.T - (polygon[proper] * normals).sum(axis=1)
    return distances.max(axis=1), normals[distances.argmax(axis=1)]


def _offset_from_cone(points: Array, corners: Array) -> tuple[Array, Array]:
    """Return the distances (N,) of points from the hull of the discs in one or two squares, and the normals.

    Of the discs between both, one is nearest to a point: where its edge's normal meets the sides.
    """
    squares = corners.reshape(-1, 4, 2)
    middles = squares.mean(axis=1)
    radii = np.linalg.norm(squares[:, 0] - squares[:, 1], axis=1) / 2
    away, radius = points - middles[0], radii[0]
    apart = middles[-1] - middles[0]
    length = float(np.hypot(*apart))
    if length > _EXACT:
        axis, sine = apart / length, max((radii[-1] - radii[0]) / length, -_STEEPEST)
        across = np.abs(away @ (axis[::-1] * (1.0, -1.0)))
        along = away @ axis + across * sine / np.sqrt(1 - sine**2)
        along = np.minimum(np.maximum(along, 0.0), length)
        away, radius = away - along[:, None] * axis, radius + along * sine
    off = np.sqrt((away**2).sum(axis=1))
    return off - radius, away / np.maximum(off, _EXACT)[:, None]


def fit_outline(
    view: HeightView, shape: Prism, outline: Outline, start: Array, placed: Array | float | None = None
) -> Fit:
    """Fit a shape to an outline in pixels of the image.

    If the size is known, `placed` says how well the place (x, y, yaw) is: metres and radians, or infinity.
    """
    points = view.to_plane(outline.points, shape.height)
    sigma = None if placed is None else np.array([*np.broadcast_to(placed, 3), _EXACT, _EXACT])
    return fit_shape(lambda p: shape.residuals(view, points, outline.beside, p), start, sigma)
