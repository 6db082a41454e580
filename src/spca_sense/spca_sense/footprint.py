"""Outlines of things on the table, seen exactly from above, and how they lie to each other."""

from __future__ import annotations

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_core.scene import SceneObject

_ROUND = 32  # corners of the polygon that stands for a disc
_SQUARE = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) / 2


def footprint(thing: SceneObject) -> Array:
    """The convex outline (N, 2) of a scene object, counter-clockwise, metres."""
    x, y, _ = thing.pose.position
    if thing.kind == "plate":
        angle = np.linspace(0, 2 * np.pi, _ROUND, endpoint=False)
        return np.column_stack((np.cos(angle), np.sin(angle))) * thing.size[0] / 2 + (x, y)
    c, s = np.cos(thing.pose.yaw), np.sin(thing.pose.yaw)
    return _SQUARE * thing.size[:2] @ np.array([[c, s], [-s, c]]) + (x, y)


def shared_area(a: Array, b: Array) -> float:
    """Area that two convex polygons (N, 2), (M, 2) have in common, square metres."""
    area, _ = cv2.intersectConvexConvex(a.astype(np.float32), b.astype(np.float32))
    return max(float(area), 0.0)


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
