"""Outlines of things on the table, seen exactly from above, and how they lie to each other."""

from __future__ import annotations

import numpy as np

from spca_core.geometry import Array, Pose, Vec3
from spca_core.kinds import MESHES, is_round
from spca_core.scene import SceneObject

_ROUND = 32  # corners of the polygon that stands for a disc
_SQUARE = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) / 2


def footprint(thing: SceneObject) -> Array:
    """The convex outline (N, 2) of a scene object, counter-clockwise, metres."""
    return outline_of(thing.kind, thing.pose, thing.size)


def outline_of(kind: str, pose: Pose, size: Vec3) -> Array:
    """The convex outline (N, 2) of a thing of that kind, counter-clockwise, metres."""
    x, y, _ = pose.position
    if is_round(kind):
        angle = np.linspace(0, 2 * np.pi, _ROUND, endpoint=False)
        return np.column_stack((np.cos(angle), np.sin(angle))) * size[0] / 2 + (x, y)
    c, s = np.cos(pose.yaw), np.sin(pose.yaw)
    own = MESHES[kind].outline if kind in MESHES else _SQUARE * size[:2]
    return own @ np.array([[c, s], [-s, c]]) + (x, y)


def polygon_area(polygon: Array) -> float:
    """Area of a counter-clockwise polygon (N, 2), square metres."""
    x, y = polygon[:, 0], polygon[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def shared_area(a: Array, b: Array) -> float:
    """Area that two convex counter-clockwise polygons (N, 2), (M, 2) have in common, square metres."""
    return max(0.0, polygon_area(overlap(a, b)))


def overlap(a: Array, b: Array) -> Array:
    """The polygon (K, 2) that two convex counter-clockwise ones (N, 2), (M, 2) have in common; may be empty.

    Sutherland and Hodgman's clipping: `a` is cut off along every edge of `b`. (OpenCV's intersectConvexConvex
    finds nothing for polygons that lie almost exactly on each other.)
    """
    rest = a
    for start, end in zip(b, np.roll(b, -1, axis=0), strict=True):
        if len(rest) < 3:
            break
        rest = _left_of(rest, start, end)
    return rest


def _left_of(polygon: Array, start: Array, end: Array) -> Array:
    """The part of a polygon on the left of the line from `start` to `end`."""
    side = (end[0] - start[0]) * (polygon[:, 1] - start[1]) - (end[1] - start[1]) * (polygon[:, 0] - start[0])
    if (side >= 0).all():
        return polygon
    following, side_after = np.roll(polygon, -1, axis=0), np.roll(side, -1)
    kept = []
    for here, there, s, t in zip(polygon, following, side, side_after, strict=True):
        if s >= 0:
            kept.append(here)
        if (s >= 0) != (t >= 0):
            kept.append(here + (there - here) * (s / (s - t)))
    return np.array(kept).reshape(-1, 2)


def gap(a: Array, b: Array) -> float:
    """The least distance between two convex polygons, metres; 0 when they overlap."""
    if shared_area(a, b) > 0:
        return 0.0
    return min(_least_distance(a, b), _least_distance(b, a))


def _least_distance(points: Array, polygon: Array) -> float:
    """From any of `points` to the nearest edge of `polygon`."""
    start, along = polygon, np.roll(polygon, -1, axis=0) - polygon
    offset = points[:, None] - start[None]
    share = np.clip(np.sum(offset * along, axis=2) / np.sum(along * along, axis=1), 0, 1)
    return float(np.min(np.linalg.norm(offset - share[..., None] * along[None], axis=2)))
