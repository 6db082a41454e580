"""Several frames as one, seen from so far above that nothing hides what stands beside it.

So one search, by one measure, explains all views together. What no view shows has no depth in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Array, Pose
from spca_sense.view import NO_HEIGHT, HeightView, make_view

_FARTHER = 20  # times the first camera's distance: what is 0.2 m high leans outwards by a few millimetres
_DOWN = Pose(position=(0.0, 0.0, 0.0), quaternion=(0.5**0.5, -(0.5**0.5), 0.0, 0.0))
_BEHIND = 0.01  # metres that what the first camera shows is higher than what it hides


def fused(frames: Sequence[RgbdFrame], table_top: float) -> RgbdFrame:
    """Return one frame, looking straight down, of the first one and what others add to it.

    They add what is hidden from the first one; so the arm that carries a camera is not taken for a thing. The
    calibration of each is corrected from the table's depth. On the table, pixels are as large as the first's.
    """
    first, *others = (make_view(frame, table_top) for frame in frames)
    points, colours = _measured(first)
    for view in others:
        its, shown = _measured(view)
        hidden = first.heights_at(its, np.inf) > its[:, 2] + _BEHIND
        points, colours = np.vstack((points, its[hidden])), np.vstack((colours, shown[hidden]))
    k, (x, y, z) = first.frame.intrinsics, first.centre
    high = _DOWN.model_copy(update={"position": (x, y, table_top + (z - table_top) * _FARTHER)})
    far = k.model_copy(update={"fx": k.fx * _FARTHER, "fy": k.fy * _FARTHER})
    points[:, 2] += table_top
    return drawn(points, colours, far, high, first.frame.stamp)


def drawn(
    points: Array, colours: NDArray[np.uint8], intrinsics: CameraIntrinsics, pose: Pose, stamp: float
) -> RgbdFrame:
    """Return what a camera would see of points (N, 3) in `world` with their colours (N, 3)."""
    matrix, k = pose.matrix(), intrinsics
    seen = (points - matrix[:3, 3]) @ matrix[:3, :3]
    columns, rows = np.rint(k.pixels(seen)).astype(int).T
    inside = (rows >= 0) & (rows < k.height) & (columns >= 0) & (columns < k.width)
    at, away, colours = (rows[inside], columns[inside]), seen[inside, 2], colours[inside]
    depth, colour = np.full((k.height, k.width), np.inf), np.zeros((k.height, k.width, 3), np.uint8)
    np.minimum.at(depth, at, away)
    nearest = away == depth[at]
    colour[rows[inside][nearest], columns[inside][nearest]] = colours[nearest]
    depth[np.isinf(depth)] = 0.0
    return RgbdFrame(colour, depth.astype(np.float32), k, pose, stamp)


def _measured(view: HeightView) -> tuple[Array, NDArray[np.uint8]]:
    """Return the points (N, 3: x, y, height) of all pixels with a depth, and their colours (N, 3)."""
    there = view.heights > NO_HEIGHT / 2
    heights = view.heights[there].astype(float)
    xy = view.to_plane(np.argwhere(there)[:, ::-1].astype(float), heights)
    return np.column_stack((xy, heights)), view.frame.colour[there]
