"""The one measure by which explanations of an image region compete: how well things explain it.

The best are the fewest things that show where the region is and nowhere else; known sizes are cheaper than
others, and an obstacle, which could be anything, is dearest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from spca_sense.view import NO_HEIGHT, HeightView, Mask, Patch, Window, widened

KNOWN, FREE, ANYTHING = 0.01, 0.05, 0.35
"""Prices of a thing of a known size, of one of any size, and of all that is left to an obstacle: shares of a
region that it must explain to be worth it."""
HIGHER = 0.006
"""Metres above a face: what is there is another thing, which hides it."""
GOOD = 0.03
"""Share of a region that is not explained, below which no other explanation is looked for."""

_AROUND = 60  # pixels around a region in which a thing may show that does not
_SMALL = np.ones((3, 3), np.uint8)
_MIXED = np.ones((5, 5), np.uint8)  # along what hides a part of it, pixels show a mixture of both


@dataclass(frozen=True)
class Silhouette:
    """Patches in which a thing must show its upper face, and in which it may show itself."""

    face: Patch
    whole: Patch


class Plateau:
    """A level region: its pixels, and those around it where something hides what is as high."""

    def __init__(
        self, view: HeightView, window: Window, mask: Mask, level: float, hidden: Mask | None = None
    ) -> None:
        """Of a `mask` of the `window`, `level` metres high; `hidden` (H, W) is hidden in any case."""
        self.window = widened(window, _AROUND, view.heights.shape)
        self._mask = Patch(window, mask).within(self.window)
        self._view, self._level, self._foreign = view, level, hidden

    @cached_property
    def _hidden(self) -> Mask:
        heights = self._view.heights[self.window]
        higher = (heights > self._level + HIGHER).astype(np.uint8)
        hidden = cv2.dilate(higher, _MIXED).astype(bool) | (heights < NO_HEIGHT / 2)
        return hidden if self._foreign is None else hidden | self._foreign[self.window]

    def unexplained(self, things: Iterable[Silhouette]) -> float:
        """Return how much shows none of the things, or should show them and does not: 0 is perfect.

        In shares of the region. Borders as thin as a pixel are nobody's.
        """
        explained, missing = np.zeros_like(self._mask), 0
        for thing in things:
            explained |= thing.whole.within(self.window)
            face = cv2.erode(thing.face.within(self.window).astype(np.uint8), _SMALL).astype(bool)
            absent = face & ~self._mask
            missing += _thick(absent & ~self._hidden) if absent.any() else 0
        return (missing + _thick(self._mask & ~explained)) / max(int(self._mask.sum()), 1)


def _thick(mask: Mask) -> int:
    return int(np.count_nonzero(cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, _SMALL)))
