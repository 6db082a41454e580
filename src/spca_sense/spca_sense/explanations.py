"""The one measure by which explanations of an image region compete: how well things explain it.

The best are the fewest things that show where the region is and nowhere else; known sizes are cheaper than
others, and an obstacle, which could be anything, is dearest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_core.kinds import KINDS, MESHES, WALL, is_round
from spca_core.scene import SceneObject
from spca_sense.detection import Detection
from spca_sense.outline import SQUARE, convex_hull, distance_to_polygon, footprint
from spca_sense.view import (
    JOINT,
    LEVEL,
    NO_HEIGHT,
    NOISE,
    TALL,
    TOLERANCE,
    HeightView,
    Mask,
    Patch,
    Window,
    morphed,
)

KNOWN, FREE, ANYTHING = 0.01, 0.08, 0.35
"""Shares of a region that a thing of a known size, one of any size, and an obstacle must explain at least."""
GOOD = 0.03
"""Share of a region left unexplained below which no other explanation is looked for."""

_KEPT = 64  # silhouettes, each of which is asked for several times within a look
_MIXED = 5  # pixels: along what hides a part of it, pixels show a mixture of both
# The upper corners first.
_BOX = np.column_stack((np.tile(SQUARE, (2, 1)), np.repeat([0.5, -0.5], len(SQUARE))))


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


@lru_cache(_KEPT)
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


@dataclass(frozen=True)
class Plateau:
    """A level region in a view: its pixels, `level` metres above the table, and what may hide the rest of it.

    That is what `claims` (H, W) says to be clearly higher, and what is `taken` by another thing.
    """

    view: HeightView
    patch: Patch
    level: float
    claims: Array
    taken: Patch | None = None

    @cached_property
    def area(self) -> int:
        """Number of pixels in the region, at least 1."""
        return max(int(np.count_nonzero(self.patch.mask)), 1)

    def hidden(self, window: Window) -> Mask:
        """Return what another thing hides in a window, as far as things are known."""
        hidden: Mask = self.claims[window] > self.level + JOINT
        return hidden if self.taken is None else hidden | self.taken.within(window)

    def _absent(self, face: Patch) -> Mask:
        """Return the pixels of an upper face that should show the region and do not."""
        absent = face.mask & ~self.patch.within(face.window)
        heights = self.view.heights[face.window]
        higher = morphed(heights > self.level + LEVEL, cv2.MORPH_DILATE, _MIXED)
        return absent & ~(higher | (heights < NO_HEIGHT / 2) | self.hidden(face.window))

    def shown(self, face: Patch) -> tuple[int, int]:
        """Return how many pixels of an upper face show the region, and how many should and do not."""
        shown = np.count_nonzero(face.mask & self.patch.within(face.window))
        return int(shown), int(np.count_nonzero(self._absent(face)))

    def unexplained(self, things: Iterable[Silhouette]) -> float:
        """Return how much shows none of the things, or should show them and does not: 0 is perfect.

        The unit is a share of the region. Borders as thin as a pixel are nobody's.
        """
        rest, missing = self.patch.mask.copy(), 0
        for thing in things:
            rest &= ~thing.whole.within(self.patch.window)
            inner = morphed(thing.face.mask, cv2.MORPH_ERODE, 3)
            missing += _thick(self._absent(replace(thing.face, mask=inner)))
        return (missing + _thick(rest)) / self.area


def _thick(mask: Mask) -> int:
    return int(np.count_nonzero(morphed(mask, cv2.MORPH_OPEN, 3)))


@lru_cache(_KEPT)
def covered(view: HeightView, thing: Detection) -> tuple[Patch, Mask]:
    """Return the pixels that show something in a thing's hull or beside it, and those half as near.

    The hull reaches to the ground.
    What is in line with a thing is not always hidden by it, or a part of it: the point that is seen tells.
    """
    hull = np.vstack(corners(thing))
    outline, top = convex_hull(hull[:, :2]), float(hull[:, 2].max()) - view.table_top
    upper = np.column_stack((outline, np.full(len(outline), top)))
    its = view.patch(np.vstack((upper, upper * (1, 1, 0))), grow=2)
    heights = view.heights[its.window]
    inside = its.mask & (heights < top + NOISE)
    lower = Patch(its.window, inside & ~(view.patch(upper).within(its.window) & (heights > top - NOISE)))
    seen = lower.of(view.heights).astype(np.float64)
    points = view.to_plane(lower.pixels, seen)
    if is_round(thing.kind):
        off = np.hypot(*(points - thing.xy).T) - thing.size[0] / 2
    else:
        off = distance_to_polygon(points, outline)
    if KINDS[thing.kind].walled:  # what stands in it is another thing
        off[(off < -WALL - TOLERANCE) & (seen > thing.deck - view.table_top + TALL)] = np.inf
    near, off = inside.copy(), np.where(seen < NO_HEIGHT / 2, -np.inf, off)
    inside[lower.mask], near[lower.mask] = off < TOLERANCE, off < TOLERANCE / 2
    return Patch(its.window, inside), near
