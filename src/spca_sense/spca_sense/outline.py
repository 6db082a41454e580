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
_LEVEL = 0.020  # metres below the limit for an occluder: what is higher than that is as high as the mask
OCCLUDER = 0.012
"""Metres above an upper face: what is there hides a part of it."""


@dataclass(frozen=True)
class Outline:
    """Border points of a mask.

    `points` (N, 2: column, row) lie half way between a pixel inside and its neighbour outside; `own` (N,)
    tells which of them are the thing's own border, not an occluder's; `beside` (N,), where a neighbour of the
    same height begins, which hides the thing's side.
    """

    points: Array
    own: Mask
    beside: Mask

    @property
    def share_seen(self) -> float:
        """Share of the outline that is the thing's own."""
        return float(self.own.mean()) if len(self.own) else 0.0

    def part(self, mask: Mask, origin: Array | float = 0.0) -> Outline:
        """Some of its points, moved by `origin` (column, row)."""
        return Outline(self.points[mask] + origin, self.own[mask], self.beside[mask])


def trace(mask: Mask, heights: FloatImage, level: float, foreign: Mask | None = None) -> Outline:
    """The outline of `mask` (H, W), which reaches up to `level` (metres).

    A point is an occluder's where just outside it the heights exceed that by `OCCLUDER`, where there is no
    depth at all, or where the outside lies in `foreign`. Borders of the image are not part of an outline.
    """
    height, width = mask.shape
    limit = level + OCCLUDER
    points, own, beside = [], [], []
    for axis in (0, 1):
        step = np.diff(mask.astype(np.int8), axis=axis)
        rows, columns = np.nonzero(step)
        sign = -step[rows, columns].astype(int)  # +1: the outside lies towards greater indices
        points.append(np.column_stack((columns + (0.5 if axis else 0.0), rows + (0.0 if axis else 0.5))))
        known = np.zeros(len(rows), int)
        free = np.ones(len(rows), bool)
        as_high = np.zeros(len(rows), bool)
        for distance in _LOOK:
            # From the pixel before the border (index i) the first one outside is i + 1 or i itself.
            offset = np.where(sign > 0, distance, 1 - distance)
            r = np.clip(rows + (offset if axis == 0 else 0), 0, height - 1)
            c = np.clip(columns + (offset if axis == 1 else 0), 0, width - 1)
            outside = heights[r, c]
            telling = (outside > NO_HEIGHT / 2) & (known < _ENOUGH)
            as_high |= telling & (known == 0) & (outside > limit - _LEVEL)
            known += telling
            free &= ~telling | (outside <= limit)
            if foreign is not None and distance == _LOOK[0]:
                free &= ~foreign[r, c]
        own.append((known > 0) & free)
        beside.append(as_high)
    return Outline(np.vstack(points), np.concatenate(own), np.concatenate(beside))
