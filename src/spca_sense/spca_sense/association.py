"""Data association between detections and remembered objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from spca_core.geometry import Array
from spca_core.scene import SceneObject
from spca_sense.detection import UNKNOWN, Detection

_SAME_PLACE = 0.02  # metres, sideways, between an inferred cube and the remembered one that it must be
_SAME_LEVEL = 0.012  # metres, in height


def associate(detections: Sequence[Detection], memory: Sequence[SceneObject]) -> dict[int, str]:
    """Index of detection → id, for things of known colour: same kind and colour, least total distance.

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
    """Pairs (row, column) of the least total cost."""
    if 1 in cost.shape:  # by far the most frequent case, which need not wait for SciPy's import
        row, column = np.unravel_index(int(cost.argmin()), cost.shape)
        return [(int(row), int(column))]
    from scipy.optimize import linear_sum_assignment

    return [(int(row), int(column)) for row, column in zip(*linear_sum_assignment(cost), strict=True)]


def new_id(kind: str, colour: str, taken: Iterable[str]) -> str:
    """A free id: `cube_red`, then `cube_red_2` and so on; `unknown`, `unknown_2` for what has no colour.

    >>> new_id("cube", "red", ["cube_red"])
    'cube_red_2'
    """
    stem = UNKNOWN if colour == UNKNOWN else f"{kind}_{colour}"
    used = set(taken)
    if stem not in used:
        return stem
    return next(name for k in range(2, len(used) + 3) if (name := f"{stem}_{k}") not in used)


def remembered_there(detection: Detection, candidates: Sequence[SceneObject]) -> SceneObject | None:
    """The remembered thing in the place of an inferred one, if there is one."""
    near = [
        (distance, o)
        for o in candidates
        if o.kind == detection.kind
        and abs(o.pose.position[2] - detection.pose.position[2]) < _SAME_LEVEL
        and (distance := float(np.hypot(*(detection.xy - o.pose.position[:2])))) < _SAME_PLACE
    ]
    return min(near, key=lambda pair: pair[0])[1] if near else None
