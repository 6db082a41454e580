"""The one measure by which explanations of an image region compete: how well things explain it.

The best are the fewest things that show where the region is and nowhere else; known sizes are cheaper than
others, and an obstacle, which could be anything, is dearest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_core.kinds import KINDS, MESHES, WALL, is_round
from spca_core.scene import SceneObject
from spca_sense.detection import Detection
from spca_sense.outline import SQUARE, footprint
from spca_sense.shapes import convex_hull, distance_to_polygon
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Patch, Window, morphed, widened

KNOWN, FREE, ANYTHING = 0.01, 0.08, 0.35
"""Shares of a region that a thing of a known size, one of any size, and an obstacle must explain at least."""
GOOD = 0.03
"""Share of a region left unexplained below which no other explanation is looked for."""
NOISE = 0.005
"""Error in metres by which single pixels of a face may be too high or too low."""
LEVEL = 0.006
"""Distance in metres off the level of an upper face that still belongs to it (noise, a slight lean).

What is higher hides the face.
"""

_AROUND = 60  # pixels around a region in which a thing may show that does not
_MIXED = 5  # pixels: along what hides a part of it, pixels show a mixture of both
_BESIDE = 0.002  # metres outside of an outline that still are the thing: errors of its fit, and of pixels
_BOX = np.column_stack((np.tile(SQUARE, (2, 1)), np.repeat([0.5, -0.5], 4)))  # the upper corners first


@dataclass(frozen=True)
class Silhouette:
    """Patches in which a thing must show its upper face, and in which it may show itself."""

    face: Patch
    whole: Patch


def corners(thing: Detection | SceneObject) -> tuple[Array, Array]:
    """Return the outlines (N, 3 each) of a thing's upper and lower face, in `world`; a box may lean."""
    if is_round(thing.kind) or thing.kind in MESHES:
        outline = footprint(thing)
        upper = np.column_stack((outline, np.full(len(outline), thing.top)))
        return upper, upper - (0.0, 0.0, thing.size[2])
    box = _BOX * thing.size @ thing.pose.matrix()[:3, :3].T + thing.pose.position
    return box[:4], box[4:]


def silhouette(view: HeightView, thing: Detection) -> Silhouette:
    """Return the silhouette of a thing, its sides grown by a pixel."""
    upper, lower = (side - (0.0, 0.0, view.table_top) for side in corners(thing))
    face = upper
    if KINDS[thing.kind].domed and thing.size[2] > LEVEL:  # what is level of it is a cap
        middle = upper.mean(axis=0)
        face = middle + (upper - middle) * 2 * np.sqrt(LEVEL * (thing.size[2] - LEVEL)) / thing.size[2]
        upper = lower = (upper + lower) / 2
    shown = view.patch(face)
    if KINDS[thing.kind].walled:  # what is level of it is a rim
        a, b, c = thing.size
        inner = corners(replace(thing, size=(a - 2 * WALL, b - 2 * WALL, c)))[0] - (0.0, 0.0, view.table_top)
        shown = replace(shown, mask=shown.mask & ~view.patch(inner).within(shown.window))
    return Silhouette(shown, view.patch(np.vstack((upper, lower)), grow=1))


class Plateau:
    """A level region: its pixels, and those around it where something hides what is as high."""

    def __init__(
        self, view: HeightView, window: Window, mask: Mask, level: float, hidden: Mask | None = None
    ) -> None:
        """Take a `mask` of the `window`, `level` metres high; `hidden` (H, W) is hidden in any case."""
        self.window = widened(window, _AROUND, view.heights.shape)
        self._mask = Patch(window, mask).within(self.window)
        self._view, self.level, self._foreign = view, level, hidden

    @cached_property
    def _hidden(self) -> Mask:
        heights = self._view.heights[self.window]
        hidden = morphed(heights > self.level + LEVEL, cv2.MORPH_DILATE, _MIXED) | (heights < NO_HEIGHT / 2)
        return hidden if self._foreign is None else hidden | self._foreign[self.window]

    @cached_property
    def area(self) -> int:
        """Number of pixels in the region, at least 1."""
        return max(int(self._mask.sum()), 1)

    def shown(self, face: Patch) -> tuple[int, int]:
        """Return how many pixels of an upper face show the region, and how many should and do not."""
        mask = face.within(self.window)
        absent = mask & ~self._mask
        return int(np.count_nonzero(mask & self._mask)), int(np.count_nonzero(absent & ~self._hidden))

    def unexplained(self, things: Iterable[Silhouette]) -> float:
        """Return how much shows none of the things, or should show them and does not: 0 is perfect.

        The unit is a share of the region. Borders as thin as a pixel are nobody's.
        """
        explained, missing = np.zeros_like(self._mask), 0
        for thing in things:
            explained |= thing.whole.within(self.window)
            absent = morphed(thing.face.within(self.window), cv2.MORPH_ERODE, 3) & ~self._mask
            missing += _thick(absent & ~self._hidden) if absent.any() else 0
        return (missing + _thick(self._mask & ~explained)) / self.area


def _thick(mask: Mask) -> int:
    return int(np.count_nonzero(morphed(mask, cv2.MORPH_OPEN, 3)))


def outside(view: HeightView, things: Sequence[Detection], mask: Mask, window: Window | None = None) -> Mask:
    """Return the pixels of a mask that show something outside of things' hulls, which reach to the ground.

    What is in line with a thing is not always hidden by it, or a part of it: the point that is seen tells.
    """
    window = window or (slice(0, mask.shape[0]), slice(0, mask.shape[1]))
    rest = mask.copy()
    for thing in things:
        hull = np.vstack(corners(thing))
        outline, top = convex_hull(hull[:, :2]), float(hull[:, 2].max()) - view.table_top
        upper = np.column_stack((outline, np.full(len(outline), top)))
        face, its = view.patch(upper), view.patch(np.vstack((upper, upper * (1, 1, 0))), grow=2)
        heights = view.heights[its.window]
        inside = its.mask & (heights < top + NOISE) & Patch(window, rest).within(its.window)
        lower = Patch(its.window, inside & ~(face.within(its.window) & (heights > top - NOISE)))
        seen = lower.of(view.heights).astype(np.float64)
        off = distance_to_polygon(view.to_plane(lower.pixels, seen), outline)
        inside[lower.mask] = (seen < NO_HEIGHT / 2) | (off < _BESIDE)
        rest &= ~Patch(its.window, inside).within(window)
    return rest
