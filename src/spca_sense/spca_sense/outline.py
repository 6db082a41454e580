"""Outlines: of things as seen exactly from above, and of a mask as points between pixels.

Points where a nearer object cuts the mask off are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from spca_core.geometry import Array, Pose, Vec3
from spca_core.kinds import MESHES, Upright, is_round
from spca_sense.view import NO_HEIGHT, TALL, FloatImage, Mask, Patch

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
