"""A frame as heights above the table, with the camera calibration corrected from the table's depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Array, Pose, aligning, top_down

FloatImage = NDArray[np.float32]
Mask = NDArray[np.bool_]

NO_HEIGHT = -9.0
"""Mark of pixels without depth in a height image: far below anything."""

# What Sense cannot tell apart, in metres; limits elsewhere follow from these.
TOLERANCE = 0.0025
"""Distance, about two pixels, from which a point is not on an outline, or a thing not where it was."""
NOISE = 2 * TOLERANCE
"""Error by which single pixels of a face, and what it rests on, may be too high or too low."""
LEVEL = 0.006
"""Distance off the level of an upper face that still belongs to it (noise, a slight lean).

What is higher hides the face.
"""
JOINT = 2 * NOISE
"""Largest distance between a lower face and the one that carries it, and from a rim into it."""
TALL = 2 * LEVEL
"""Height above the floor below which a thing is flat, a plate or a mat, and edge of the smallest thing."""

SUBPIXEL = 4
"""Number of binary digits of a part of a pixel, in which outlines are drawn."""
EVERY = 8
"""Pixels in each direction of which one is looked at for the table: 4,800 of 307,200 are more than enough."""
MIN_SAMPLES = 400
"""Number of those that must show the table, for what it tells of the camera and of the light."""
_CAPTURE = 0.025  # calibration errors up to this many metres at a pixel are corrected
_FARTHER = 20  # times a camera's distance: what is 0.2 m high then leans outwards by a few millimetres
_MAX_CHROMA = 0.25  # (max - min) / max of RGB: below it a pixel may be the table, above it is coloured


@dataclass(frozen=True)
class TableFit:
    """Correction of the calibration from the table's own depth: `offset` (m) and `tilt` (rad)."""

    offset: float
    tilt: float
    trusted: bool
    """Enough of the table was seen to correct the calibration."""


Window = tuple[slice, slice]
"""Rows and columns of a part of an image."""


def bounding_window(mask: Mask, margin: int) -> Window:
    """Return the bounding window of a mask, widened by `margin` pixels on each side within the image."""
    left, upper, width, height = cv2.boundingRect(mask.view(np.uint8))
    return widened((slice(upper, upper + height), slice(left, left + width)), margin, mask.shape)


def widened(window: Window, margin: int, shape: tuple[int, ...]) -> Window:
    """Return a window with `margin` more pixels on each side, within an image of that shape."""
    rows, columns = (
        slice(min(max(w.start - margin, 0), size), max(min(w.stop + margin, size), 0))
        for w, size in zip(window, shape, strict=True)
    )
    return rows, columns


def morphed(mask: Mask, how: int, width: int) -> Mask:
    """Return a mask after an operation of OpenCV's (`cv2.MORPH_OPEN`) with a square of `width` pixels."""
    return cv2.morphologyEx(mask.view(np.uint8), how, np.ones((width, width), np.uint8)).view(bool)


@dataclass(frozen=True)
class Patch:
    """A part of an image: `window` cuts it out, `mask` tells which of its pixels belong."""

    window: Window
    mask: Mask

    @property
    def origin(self) -> Array:
        """Pixel of the image (2: column, row) at which the window begins."""
        return np.array([self.window[1].start, self.window[0].start], float)

    @property
    def pixels(self) -> Array:
        """The patch's pixels (N, 2: column, row) in the image."""
        rows, columns = np.unravel_index(np.flatnonzero(self.mask), self.mask.shape)
        return np.column_stack((columns, rows)) + self.origin

    def within(self, window: Window) -> Mask:
        """Return the patch's pixels as a mask of another window."""
        (rows, columns), (down, across) = self.window, window
        top, left = max(rows.start, down.start), max(columns.start, across.start)
        bottom, right = max(min(rows.stop, down.stop), top), max(min(columns.stop, across.stop), left)
        own = self.mask[top - rows.start : bottom - rows.start, left - columns.start : right - columns.start]
        mask = np.zeros((down.stop - down.start, across.stop - across.start), bool)
        mask[top - down.start : bottom - down.start, left - across.start : right - across.start] = own
        return mask

    def of(self, image: NDArray[Any]) -> NDArray[Any]:
        """Return the image's values at the patch's pixels (N,)."""
        return image[self.window][self.mask]


@dataclass(frozen=True, eq=False)
class HeightView:
    """A frame with its heights.

    `heights` (H, W): metres above the table, smoothed by a 3×3 median, NO_HEIGHT where there is no depth.
    `centre` (3,) is the optical centre and `rotation` (3, 3) takes optical axes to `world` ones; both are
    corrected by `table`. Heights count from the table's surface: in this module a point is (x, y, height),
    and world z = table_top + height.
    """

    frame: RgbdFrame
    table_top: float
    centre: Array
    rotation: Array
    heights: FloatImage
    table: TableFit

    def to_plane(self, pixels: Array, height: float | Array) -> Array:
        """Return intersections (N, 2), in metres, of the rays of `pixels` with the plane(s) at `height`.

        `pixels` has shape (N, 2): column, row.
        """
        k = self.frame.intrinsics
        rays = (pixels - (k.cx, k.cy)) / (k.fx, k.fy) @ self.rotation[:, :2].T + self.rotation[:, 2]
        reach = (self.table_top + height - self.centre[2]) / rays[:, 2]
        return self.centre[:2] + rays[:, :2] * reach[:, None]

    def to_pixels(self, points: Array) -> Array:
        """Return the pixels (N, 2: column, row) of `points` (N, 3: x, y, height)."""
        world = points + np.array([0.0, 0.0, self.table_top])
        return self.frame.intrinsics.pixels((world - self.centre) @ self.rotation)

    def heights_at(self, points: Array, outside: float = NO_HEIGHT) -> Array:
        """Return the heights (N) of what is seen in line with points (N, 3), `outside` of the image."""
        pixels, size = np.rint(self.to_pixels(points)).astype(int)[:, ::-1], self.heights.shape
        rows, columns = pixels.clip(0, np.subtract(size, 1)).T
        inside = ((pixels >= 0) & (pixels < size)).all(axis=1)
        return np.where(inside, self.heights[rows, columns], outside)

    def measured(self) -> tuple[Array, NDArray[np.uint8]]:
        """Return the points (N, 3: x, y, height) of all pixels with a depth, and their colours (N, 3)."""
        there = self.heights > NO_HEIGHT / 2
        heights = self.heights[there].astype(float)
        xy = self.to_plane(np.argwhere(there)[:, ::-1].astype(float), heights)
        return np.column_stack((xy, heights)), self.frame.colour[there]

    def shift_to_plane(self, points: Array, height: float) -> Array:
        """Project `points` (N, 3) along their view rays onto the plane at `height`: (N, 2) metres."""
        clearance = self.centre[2] - self.table_top
        scale = (clearance - height) / (clearance - points[:, 2])
        return self.centre[:2] + (points[:, :2] - self.centre[:2]) * scale[:, None]

    def metres_per_pixel(self, height: Any) -> Any:
        """Return the width (m) of a pixel on the plane(s) at `height`, near the optical axis."""
        k = self.frame.intrinsics
        return (self.centre[2] - self.table_top - height) / (0.5 * (k.fx + k.fy))

    def patch(self, corners: Array, grow: int = 0) -> Patch:
        """Return the pixels in the convex hull of `corners` (N, 3: x, y, height), grown by `grow` pixels."""
        hull = cv2.convexHull(self.to_pixels(corners).astype(np.float32))
        left, upper, width, height = cv2.boundingRect(hull)
        around = slice(upper, upper + height), slice(left, left + width)
        window = widened(around, grow + 1, self.heights.shape)
        canvas = np.zeros([max(w.stop - w.start, 0) for w in window], np.uint8)
        if canvas.size:
            # Sixteenths of a pixel, so that thin outlines keep their place.
            own = (hull - (window[1].start, window[0].start)) * (1 << SUBPIXEL)
            cv2.fillConvexPoly(canvas, own.round().astype(np.int32), 1, shift=SUBPIXEL)
            if grow:
                canvas = np.asarray(cv2.dilate(canvas, np.ones((2 * grow + 1, 2 * grow + 1))), np.uint8)
        return Patch(window, canvas.view(bool))


def enlarged(frame: RgbdFrame) -> RgbdFrame:
    """Return a frame with twice the pixels each way: of a strip of two, some are not mixed with others."""
    colour = frame.colour.repeat(2, axis=0).repeat(2, axis=1)
    depth = frame.depth.repeat(2, axis=0).repeat(2, axis=1)
    k = {name: 2 * value for name, value in frame.intrinsics}
    k |= {name: k[name] + 0.5 for name in ("cx", "cy")}
    return replace(frame, colour=colour, depth=depth, intrinsics=CameraIntrinsics(**k))


def make_view(frame: RgbdFrame, table_top: float) -> HeightView:
    """Return heights above a table at world z = `table_top`, the calibration corrected if possible.

    A plane fitted to the table's depth tells tilt and distance of the camera; position along the table and
    the turn about the vertical cannot be seen in it and are taken from the calibration.
    """
    smooth, matrix = _smooth(frame), frame.pose.matrix()
    seen = partial(_seen, frame, smooth, table_top)
    view = seen(matrix[:3, 3], matrix[:3, :3], TableFit(0.0, 0.0, False))
    fit, slope = _fit_table(view)
    if not fit.trusted:
        return view
    normal = np.array([-slope[0], -slope[1], 1.0])
    normal /= np.linalg.norm(normal)
    # Distance of the optical centre from the fitted plane; the plane's offset holds at the camera's foot.
    distance = (view.centre[2] - table_top - fit.offset) * normal[2]
    centre = np.array([*view.centre[:2], table_top + distance])
    return seen(centre, aligning(normal, np.array([0.0, 0.0, 1.0])) @ view.rotation, fit)


def fused(frames: Sequence[RgbdFrame], table_top: float) -> RgbdFrame:
    """Return one frame of the first one and of what is hidden from it and others show: it has no arm in it.

    It looks straight down, +x up, from so far away that nothing hides what is beside it, with pixels on the
    table as large as the first one's. So one search explains all views. What none shows has no depth.
    """
    first, *others = (make_view(frame, table_top) for frame in frames)
    clouds = [first.measured()]
    for points, colours in (view.measured() for view in others):
        hidden = first.heights_at(points, np.inf) > points[:, 2] + JOINT
        clouds.append((points[hidden], colours[hidden]))
    k = first.frame.intrinsics
    x, y = first.to_plane(np.array([[k.cx, k.cy]]), 0.0)[0]  # what is in the middle stays there
    far = k.model_copy(update={"fx": k.fx * _FARTHER, "fy": k.fy * _FARTHER})
    high = table_top + (first.centre[2] - table_top) * _FARTHER
    lifted = [(points + np.array([0.0, 0.0, table_top]), colours) for points, colours in clouds]
    return of_clouds(lifted, far, top_down(x, y, high, -np.pi / 2), first.frame.stamp)


def of_clouds(
    clouds: Sequence[tuple[Array, NDArray[np.uint8]]], intrinsics: CameraIntrinsics, pose: Pose, stamp: float
) -> RgbdFrame:
    """Return what a camera would see of several looks' points in `world` (N, 3) and their colours (N, 3)."""
    points, colours = (np.concatenate(rows) for rows in zip(*clouds, strict=True))
    return RgbdFrame.of_points(points, colours, intrinsics, pose, stamp)


def _smooth(frame: RgbdFrame) -> FloatImage:
    """Return the depth (H, W) smoothed by a 3×3 median.

    Holes are as deep as what looks like them: zeros would widen what is high, means at its edge narrow it.
    """
    depth = np.array(frame.depth, np.float32, order="C")
    depth[depth <= 0] = most_alike(depth, depth <= 0, frame.colour, 1)
    return np.asarray(cv2.medianBlur(depth, 3), np.float32)


def most_alike(values: NDArray[Any], pixels: Mask, colour: NDArray[np.uint8], reach: int) -> NDArray[Any]:
    """Return for each of the pixels the value, above 0 if any is, near it where the colour is most alike."""
    at = np.array(np.unravel_index(np.flatnonzero(pixels), pixels.shape))[:, None]
    offsets = np.indices((2 * reach + 1, 2 * reach + 1)).reshape(2, -1, 1) - reach
    near = np.ravel_multi_index(at + offsets, values.shape, mode="clip")
    own, its = colour.reshape(-1, 3).take(np.flatnonzero(pixels), axis=0), values.take(near)
    unlike = np.abs(colour.reshape(-1, 3).take(near, axis=0) - own.astype(np.int16)) @ np.ones(3, np.int16)
    unlike[its <= 0] = np.iinfo(unlike.dtype).max
    return np.take_along_axis(its, unlike.argmin(axis=0)[None], axis=0)[0]


def _seen(
    frame: RgbdFrame, depth: FloatImage, table_top: float, centre: Array, rotation: Array, table: TableFit
) -> HeightView:
    k, down = frame.intrinsics, rotation[2].astype(np.float32)
    columns = ((np.arange(k.width) - k.cx) / k.fx).astype(np.float32)
    rows = ((np.arange(k.height) - k.cy) / k.fy).astype(np.float32)
    heights = (down[0] * columns[None, :] + (down[1] * rows[:, None] + down[2])) * depth
    heights += np.float32(centre[2] - table_top)
    heights[depth <= 0] = NO_HEIGHT
    return HeightView(frame, table_top, centre, rotation, heights, table)


def _fit_table(view: HeightView) -> tuple[TableFit, Array]:
    """Fit height = offset + slope·(x, y) to neutral-coloured pixels by robust least squares.

    (x, y) is measured from the point below the camera.
    """
    start = EVERY // 2
    heights = view.heights[start::EVERY, start::EVERY].astype(float)
    colour = view.frame.colour[start::EVERY, start::EVERY].transpose(2, 0, 1).astype(np.int16)
    brightest = colour.max(axis=0)
    neutral = (brightest - colour.min(axis=0)) < _MAX_CHROMA * brightest
    usable = neutral & (np.abs(heights) < _CAPTURE)
    height = heights[usable]
    xy = view.to_plane((np.argwhere(usable)[:, ::-1] * EVERY + start).astype(float), height) - view.centre[:2]
    design = np.column_stack((np.ones(len(xy)), xy))
    coefficients, keep = np.zeros(3), np.ones(len(xy), bool)
    if len(xy) >= MIN_SAMPLES:
        coefficients[0] = np.median(height)
        for _ in range(4):
            residual = height - design @ coefficients
            sigma = 1.4826 * float(np.median(np.abs(residual)))
            keep = np.abs(residual) < max(2.5 * sigma, 0.0005)
            kept = design[keep]
            coefficients = np.linalg.solve(kept.T @ kept, kept.T @ height[keep])
    slope = coefficients[1:]
    trusted = np.count_nonzero(keep) >= MIN_SAMPLES
    return TableFit(float(coefficients[0]), float(np.hypot(*slope)), bool(trusted)), slope
