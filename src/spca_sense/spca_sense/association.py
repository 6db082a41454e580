"""How a look meets what is remembered: what is what, where the camera is, and what is not there any more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from spca_core.geometry import Array
from spca_core.rotations import about_z
from spca_core.scene import SceneObject
from spca_sense.detection import UNKNOWN, Detection, Look
from spca_sense.outline import OCCLUDER, footprint
from spca_sense.view import NO_HEIGHT, HeightView

_SAME_PLACE = 0.02  # metres, sideways, between an inferred cube and the remembered one that it must be
_SAME_LEVEL = 0.012  # metres, in height


def associate(detections: Sequence[Detection], memory: Sequence[SceneObject]) -> dict[int, str]:
    """Return ids by detection index, for things of known colour: same kind and colour, least total distance.

    The distance is not limited: if only one red cube exists, any red cube seen is that one, wherever it was
    moved.
    """
    found: dict[int, str] = {}
    classes = {(d.kind, d.colour) for d in detections if d.colour != UNKNOWN}
    for kind, colour in sorted(classes):
        seen = [i for i, d in enumerate(detections) if (d.kind, d.colour) == (kind, colour)]
        known = [o for o in memory if (o.kind, o.colour) == (kind, colour)]
        if not known:
            continue
        cost = np.array(
            [
                [np.linalg.norm(np.subtract(detections[i].pose.position, o.pose.position)) for o in known]
                for i in seen
            ]
        )
        found |= {seen[r]: known[c].id for r, c in _nearest_pairs(cost)}
    return found


def _nearest_pairs(cost: Array) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of the least total cost."""
    if 1 in cost.shape:  # by far the most frequent case, which need not wait for SciPy's import
        row, column = np.unravel_index(int(cost.argmin()), cost.shape)
        return [(int(row), int(column))]
    from scipy.optimize import linear_sum_assignment

    return [(int(row), int(column)) for row, column in zip(*linear_sum_assignment(cost), strict=True)]


def new_id(kind: str, colour: str, taken: Iterable[str]) -> str:
    """Return a free id: `cube_red`, then `cube_red_2` and so on; `unknown`, `unknown_2` without a colour.

    >>> new_id("cube", "red", ["cube_red"])
    'cube_red_2'
    """
    stem = UNKNOWN if colour == UNKNOWN else f"{kind}_{colour}"
    used = set(taken)
    if stem not in used:
        return stem
    return next(name for k in range(2, len(used) + 3) if (name := f"{stem}_{k}") not in used)


def remembered_there(detection: Detection, candidates: Sequence[SceneObject]) -> SceneObject | None:
    """Return the remembered thing in the place of an inferred one, or None."""
    near = [
        (distance, o)
        for o in candidates
        if o.kind == detection.kind
        and abs(o.pose.position[2] - detection.pose.position[2]) < _SAME_LEVEL
        and (distance := float(np.hypot(*(detection.xy - o.pose.position[:2])))) < _SAME_PLACE
    ]
    return min(near, key=lambda pair: pair[0])[1] if near else None


Presence = Literal["hidden", "gone"]

_LOWER = 0.010  # metres below its upper face: the place is empty (thicker things only)
_EMPTY_SHARE = 0.4  # of the place that must be seen to be empty

_OVERHEAD = 0.18  # metres above the table
_OVERHEAD_SHARE = 0.01  # of the image


def obstructed(view: HeightView) -> bool:
    """Return whether something hangs over the table: higher than all that stands on it, and not small."""
    return float((view.heights > _OVERHEAD).mean()) > _OVERHEAD_SHARE


def presence(look: Look, thing: SceneObject) -> Presence:
    """Return `hidden` when something covers a thing's place or the place is out of the image.

    Return `gone` when the place is seen to be empty.
    """
    view = look.view
    top = thing.top - view.table_top
    corners = np.column_stack((_shrunk(footprint(thing)), np.full(len(footprint(thing)), top)))
    pixels = view.to_pixels(corners)
    height, width = view.heights.shape
    outside = (pixels < 0).any(axis=1) | (pixels[:, 0] > width - 1) | (pixels[:, 1] > height - 1)
    if outside.mean() > 1 - _EMPTY_SHARE:
        return "hidden"
    patch = view.patch(corners)
    heights = patch.of(view.heights)
    if not len(heights):
        return "hidden"
    known = heights > NO_HEIGHT / 2
    covered = heights > top + OCCLUDER
    coloured = np.zeros(len(heights), bool)
    if thing.colour in look.colours.names:
        coloured = patch.of(look.colours.labels) == look.colours.label_of(thing.colour)
    empty = known & ~covered & (~coloured | (heights < top - _LOWER))
    return "gone" if empty.mean() > _EMPTY_SHARE else "hidden"


def _shrunk(outline: Array) -> Array:
    middle = outline.mean(axis=0)
    return middle + 0.85 * (outline - middle)


_WITNESSES = 3
"""Number of things that must agree, and be more than half of all."""
_AGREE = 0.0025  # metres between a thing and where a common motion would have put it
_NOTICED = 0.002  # metres of shift, at the things, below which it is the error of perception
_IN_PLACE = 0.001  # metres of shift, below which a thing has not moved in the image
_TURN = math.radians(4.0)  # a larger common turn is not that of a knocked camera
_SHIFT = 0.06  # metres, likewise


def camera_motion(detections: Sequence[Detection], known: Mapping[str, SceneObject]) -> Array | None:
    """Return the motion (4, 4) in `world` that takes detections back to where the things are known to be.

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
    """Return the turn (rad) and the shift (2,) that take points (N, 2) to targets, by least squares."""
    a, b = points - points.mean(axis=0), targets - targets.mean(axis=0)
    turn = math.atan2(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()), float((a * b).sum()))
    return turn, targets.mean(axis=0) - about_z(turn)[:2, :2] @ points.mean(axis=0)


def _moved(points: Array, turn: float, shift: Array) -> Array:
    return np.asarray(points @ about_z(turn)[:2, :2].T + shift)
