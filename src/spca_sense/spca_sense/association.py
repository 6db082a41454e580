"""How a look meets what is remembered: what is what, where the camera is, and what is not there any more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, count
from typing import Literal

import numpy as np

from spca_core.geometry import Array, about_z
from spca_core.kinds import SOLIDS, UNKNOWN
from spca_core.scene import SceneObject
from spca_sense.detection import Detection, Look
from spca_sense.outline import footprint, polygon_area, shared_area
from spca_sense.view import JOINT, LEVEL, NO_HEIGHT, TALL, TOLERANCE, HeightView

Presence = Literal["shown", "hidden", "gone", "missing"]

_DOUBTFUL = 0.85  # confidence below which a colour may be mistaken
_LARGER = 1.6  # times its largest extent that a leaning thing may seem to measure
_SMALLER = 0.8  # times the footprint of a thing: what is larger is no piece of it
PIECE = 0.3
"""Share of a strip's footprint within that of the thing it belongs to."""
PARTLY_SEEN = 0.9
"""Confidence in a partly covered thing, at most."""
BY_ELIMINATION = 0.3
"""Confidence in an identity, or a kind, found by elimination."""

# What stands against it that something is so, in nats:
_MOVED, _FARTHER = 6.0, 10.0  # it has been moved, and each metre by which
_OTHER_COLOUR, _OTHER_KIND = 3.0, 8.0  # its colour, its kind is mistaken
_OTHER_SIZE = 26.0  # its size is another one
_STRIP = 2.0  # only a part of it is in sight
_NEW = 20.0  # nothing like it was known
_UNSEEN: Mapping[Presence | None, float] = {"missing": 3.0, "shown": 12.0, "gone": 12.0}  # not seen


def associate(
    detections: Sequence[Detection], known: Mapping[str, SceneObject], whereabouts: Mapping[str, Presence]
) -> dict[int, str]:
    """Return ids by detection index: the most likely of all ways to take what is seen for what is known.

    `whereabouts` says what is seen where each of the known things was, which tells what it means that it is
    none of those detected. What is no thing has no id, and what is inferred may be a thing of any colour.
    """
    rows = [i for i, d in enumerate(detections) if d.kind != UNKNOWN]
    names = [name for name, thing in known.items() if thing.kind != UNKNOWN]
    if not rows or not names:
        return {}
    cost = np.full((len(rows), len(names) + len(rows)), np.inf)
    for column, name in enumerate(names):
        there = whereabouts.get(name)
        against = [_against(detections[i], known[name], there == "hidden") for i in rows]
        cost[:, column] = np.array(against) - _UNSEEN.get(there, 0.0)
    np.fill_diagonal(cost[:, len(names) :], _NEW)
    best = cost.argmin(axis=1)
    if len(set(best)) < len(best):  # SciPy's import need not be waited for where each has its own
        from scipy.optimize import linear_sum_assignment

        best = linear_sum_assignment(cost)[1]
    return {rows[r]: names[c] for r, c in enumerate(best) if c < len(names)}


def _against(detection: Detection, thing: SceneObject, hidden: bool) -> float:
    """Return what stands against it that a detection is a known thing, which something may hide."""
    if hidden and detection.seen and is_piece(detection, thing):
        return _STRIP
    if not detection.seen or detection.colour != thing.colour:
        # Of a support's side so little may be seen that it seems to have a similar colour.
        doubtful = detection.confidence < _DOUBTFUL and remembered_there(detection, thing)
        return _OTHER_COLOUR if doubtful else np.inf
    away = math.dist(detection.pose.position, thing.pose.position)
    apart = min(0.5 * (away / TOLERANCE) ** 2, _MOVED + _FARTHER * away)
    if detection.kind == thing.kind:
        other = max(abs(a - b) for a, b in zip(sorted(detection.size), sorted(thing.size), strict=True))
        return apart + detection.known * min(0.5 * (other / TOLERANCE) ** 2, _OTHER_SIZE)
    # A solid that leans looks like another kind, unless the kind was mistaken before, as behind a hand.
    solid = detection.kind in SOLIDS and thing.kind in SOLIDS
    sure = detection.known and detection.confidence > _DOUBTFUL
    sure |= BY_ELIMINATION < thing.confidence < min(detection.confidence, PARTLY_SEEN)
    larger = max(detection.size) > _LARGER * max(thing.size)
    return _OTHER_KIND + apart if solid and not sure and not larger else np.inf


def is_piece(piece: Detection, whole: SceneObject) -> bool:
    """Return whether what is seen is the strip in sight of a thing of which something hides the rest."""
    if piece.colour not in (whole.colour, UNKNOWN) or abs(piece.top - whole.top) > LEVEL:
        return False
    own, other = footprint(piece), footprint(whole)
    smaller = polygon_area(own) < _SMALLER * polygon_area(other)
    return smaller and shared_area(own, other) > PIECE * polygon_area(own)


def new_id(kind: str, colour: str, taken: Iterable[str]) -> str:
    """Return a free id: `cube_red`, then `cube_red_2` and so on; `unknown`, `unknown_2` without a colour.

    >>> new_id("cube", "red", ["cube_red"])
    'cube_red_2'
    """
    stem = UNKNOWN if colour == UNKNOWN else f"{kind}_{colour}"
    used, more = set(taken), (f"{stem}_{k}" for k in count(2))
    return next(name for name in chain([stem], more) if name not in used)


def remembered_there(detection: Detection, thing: SceneObject) -> bool:
    """Return whether a thing is remembered in a detection's place; what is inferred may be of any kind."""
    apart = np.abs(np.subtract(detection.pose.position, thing.pose.position))
    near = np.hypot(*apart[:2]) < 2 * JOINT and apart[2] < TALL
    return bool(near and (detection.kind == thing.kind or not detection.seen))


_EMPTY_SHARE = 0.4  # of the place that must be seen to be empty
_CORE = 0.85  # of a thing's width that is looked at, as its border may be another's

_OVERHEAD = 0.18  # metres above the table
_OVERHEAD_SHARE = 0.01  # of the image


def obstructed(view: HeightView) -> bool:
    """Return whether something hangs over the table: higher than all that stands on it, and not small."""
    return float((view.heights > _OVERHEAD).mean()) > _OVERHEAD_SHARE


def presence(look: Look, thing: SceneObject) -> Presence:
    """Return what is seen where a thing was.

    `gone` says that the place is seen to be empty, `shown` that it is seen what is there, and `hidden` that
    something covers that, or that the place is out of the image.
    """
    view = look.view
    top = thing.top - view.table_top
    outline = footprint(thing)
    middle = outline.mean(axis=0)
    corners = np.column_stack((middle + _CORE * (outline - middle), np.full(len(outline), top)))
    if np.isnan(view.heights_at(corners, np.nan)).mean() > 1 - _EMPTY_SHARE:  # out of the image
        return "hidden"
    patch = view.patch(corners)
    heights = patch.of(view.heights)
    if not len(heights):
        return "hidden"
    known = heights > NO_HEIGHT / 2
    covered = heights > top + LEVEL
    coloured = np.zeros(len(heights), bool)
    if thing.colour in look.colours.names:
        coloured = patch.of(look.colours.labels) == look.colours.label_of(thing.colour)
    empty = known & ~covered & (~coloured | (heights < top - JOINT))
    if empty.mean() > _EMPTY_SHARE:
        return "gone"
    found = (d for d in look.detections if d.seen and d.kind != UNKNOWN)
    taken = any(fills(d, thing) and not is_piece(d, thing) for d in found)
    return "shown" if taken or np.mean(known & ~covered) > PARTLY_SEEN else "hidden"


def fills(seen: SceneObject | Detection, thing: SceneObject) -> bool:
    """Return whether something that is seen fills the space in which a thing is remembered."""
    near = math.dist(seen.pose.position[:2], thing.pose.position[:2]) < thing.size[0] + seen.size[0]
    high = (min(thing.top, seen.top) - max(thing.bottom, seen.bottom)) / min(thing.size[2], seen.size[2])
    own, its = footprint(thing), footprint(seen)
    return near and high >= 0.5 and shared_area(own, its) > PIECE * min(thing.size[0], seen.size[0]) ** 2


_WITNESSES = 3
"""Number of things that must agree, and be more than half of all."""
_TURN = math.radians(4.0)  # a larger common turn is not that of a knocked camera
_SHIFT = 0.06  # metres, likewise


def camera_motion(detections: Sequence[Detection], known: Mapping[str, SceneObject]) -> Array | None:
    """Return the motion (4, 4) in `world` that takes detections back to where the things are known to be.

    None where most things are in their places, or too few agree. A thing that is still in its place
    contradicts a motion that would have displaced it: then the others were pushed together, like a row.
    """
    seen = [d for d in detections if d.seen]
    memory = {name: thing for name, thing in known.items() if thing.visible}
    pairs = [
        (seen[i].xy, np.array(known[name].pose.position[:2]))
        for i, name in associate(seen, memory, {}).items()
    ]
    if len(pairs) < _WITNESSES:
        return None
    now, before = (np.array(side) for side in zip(*pairs, strict=True))
    best = np.zeros(len(pairs), bool)
    for i, j in combinations(range(len(pairs)), 2):
        turn, shift = _fit(now[[i, j]], before[[i, j]])
        if abs(turn) < _TURN:
            agree = np.linalg.norm(now @ about_z(turn)[:2, :2].T + shift - before, axis=1) < TOLERANCE
            best = agree if agree.sum() > best.sum() else best
    if best.sum() < max(_WITNESSES, len(pairs) // 2 + 1):
        return None
    distance = np.linalg.norm(now - before, axis=1)
    if not TOLERANCE < float(np.median(distance[best])) < _SHIFT or (distance[~best] < TOLERANCE / 2).any():
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
