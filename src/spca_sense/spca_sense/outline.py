"""The outline of a mask as points between pixels.

Points where a nearer object cuts the mask off are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spca_core.geometry import Array
from spca_sense.view import NO_HEIGHT, FloatImage, Mask

_LOOK = (1, 2, 3, 4)  # pixels outside the border; the first two of them with depth tell whose border it is
_ENOUGH = 2


@dataclass(frozen=True)
class Outline:
    """Border points of a mask.

    `points` (N, 2: column, row) lie half way between a pixel inside and its neighbour outside; `own` (N,)
    tells which of them are the thing's own border, not an occluder's.
    """

    points: Array
    own: Mask

    @property
    def share_seen(self) -> float:
        """Share of the outline that is the thing's own."""
        return float(self.own.mean()) if len(self.own) else 0.0


def trace(mask: Mask, heights: FloatImage, limit: float, foreign: Mask | None = None) -> Outline:
    """The outline of `mask` (H, W).

    A point is an occluder's where just outside it the heights exceed `limit` (metres), where there is no
    depth at all, or where the outside lies in `foreign`. Borders of the image are not part of an outline.
    """
    height, width = mask.shape
    points, own = [], []
    for axis in (0, 1):
        step = np.diff(mask.astype(np.int8), axis=axis)
        rows, columns = np.nonzero(step)
        sign = -step[rows, columns].astype(int)  # +1: the outside lies towards greater indices
        points.append(np.column_stack((columns + (0.5 if axis else 0.0), rows + (0.0 if axis else 0.5))))
        known = np.zeros(len(rows), int)
        free = np.ones(len(rows), bool)
        for distance in _LOOK:
            # From the pixel before the border (index i) the first one outside is i + 1 or i itself.
            offset = np.where(sign > 0, distance, 1 - distance)
            r = np.clip(rows + (offset if axis == 0 else 0), 0, height - 1)
            c = np.clip(columns + (offset if axis == 1 else 0), 0, width - 1)
            outside = heights[r, c]
            telling = (outside > NO_HEIGHT / 2) & (known < _ENOUGH)
            known += telling
            free &= ~telling | (outside <= limit)
            if foreign is not None and distance == _LOOK[0]:
                free &= ~foreign[r, c]
        own.append((known > 0) & free)
    return Outline(points=np.vstack(points), own=np.concatenate(own))
