"""Presence of a remembered object that was not detected: whether it may still be at its place."""

from __future__ import annotations

from typing import Literal

import numpy as np

from spca_core.geometry import Array
from spca_core.scene import SceneObject
from spca_sense.detection import Look
from spca_sense.footprint import footprint
from spca_sense.outline import OCCLUDER
from spca_sense.view import NO_HEIGHT, HeightView

Presence = Literal["hidden", "gone"]

_LOWER = 0.010  # metres below its upper face: the place is empty (thicker things only)
_EMPTY_SHARE = 0.4  # of the place that must be seen to be empty

_OVERHEAD = 0.18  # metres above the table
_OVERHEAD_SHARE = 0.01  # of the image


def obstructed(view: HeightView) -> bool:
    """Return whether something hangs over the table: higher than all that stands on it, and not small."""
    return float((view.heights > _OVERHEAD).mean()) > _OVERHEAD_SHARE


def presence(look: Look, thing: SceneObject) -> Presence:
    """`hidden` when something covers its place or the place is out of the image.

    `gone` when the place is seen to be empty.
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
