"""Notices that the camera has been moved, and by how much: everything seems to have shifted alike.

A table in view corrects the camera's tilt and height by itself (`spca_sense.view`). What remains is a shift
and a turn in the table's plane, which the things that stay where they were betray.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from spca_core.geometry import Array
from spca_core.rotations import about_z
from spca_core.scene import SceneObject
from spca_sense.association import associate
from spca_sense.detection import Detection

_WITNESSES = 3
"""Things that must agree, and be more than half of all."""
_AGREE = 0.0025  # metres between a thing and where a common motion would have put it
_NOTICED = 0.002  # metres of shift, at the things, below which it is the error of perception
_IN_PLACE = 0.001  # metres of shift, below which a thing has not moved in the image
_TURN = math.radians(4.0)  # a larger common turn is not that of a knocked camera
_SHIFT = 0.06  # metres, likewise


def camera_motion(detections: Sequence[Detection], known: Mapping[str, SceneObject]) -> Array | None:
    """The motion (4, 4) in `world` that takes detections back to where the things are known to be.

    None where most things are in their places, or too few agree. A thing that is still in its place
    contradicts a motion that would have displaced it: then the others were pushed together, like a row.
    """
    seen = [d for d in detections if d.seen]
    memory = [o for o in known.values() if o.visible and o.kind != "unknown"]
    pairs = [
        (seen[i].xy, np.array(known[name].pose.position[:2])) for i, name in associate(seen, memory).items()
    ]
    if len(pairs) < _WITNESSES:
        return None
    now, before = (np.array(side) for side in zip(*pairs, strict=True))
    best = np.zeros(len(pairs), bool)
    for i, j in combinations(range(len(pairs)), 2):
        turn, shift = _fit(now[[i, j]], before[[i, j]])
        if abs(turn) < _TURN:
            agree = np.linalg.norm(_moved(now, turn, shift) - before, axis=1) < _AGREE
            best = agree if agree.sum() > best.sum() else best
    if best.sum() < max(_WITNESSES, len(pairs) // 2 + 1):
        return None
    distance = np.linalg.norm(now - before, axis=1)
    if not _NOTICED < float(np.median(distance[best])) < _SHIFT or (distance[~best] < _IN_PLACE).any():
        return None
    turn, shift = _fit(now[best], before[best])
    motion = np.eye(4)
    motion[:3, :3] = about_z(turn)
    motion[:2, 3] = shift
    return motion


def _fit(points: Array, targets: Array) -> tuple[float, Array]:
    """The turn (rad) and the shift (2,) that take points (N, 2) to targets, least squares."""
    a, b = points - points.mean(axis=0), targets - targets.mean(axis=0)
    turn = math.atan2(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()), float((a * b).sum()))
    return turn, targets.mean(axis=0) - about_z(turn)[:2, :2] @ points.mean(axis=0)


def _moved(points: Array, turn: float, shift: Array) -> Array:
    return np.asarray(points @ about_z(turn)[:2, :2].T + shift)
