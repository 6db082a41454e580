"""Classifies pixels by catalogue colour, independently of the illumination.

Chromaticity (each channel's share of the sum) does not change with brightness or shading; a tinted light is
undone first by what it does to the table, whose colour is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array, Vec3
from spca_sense.catalogue import Catalogue
from spca_sense.view import EVERY, MIN_SAMPLES, NOISE, HeightView, Mask, most_alike

NEUTRAL = 0
"""Label of pixels without a catalogue colour."""

_MIN_CHROMA = 9.0  # grey levels away from grey; less is noise on something dark
_MAX_GAIN = 2.5
_BAND = 32  # rows
_OFF_LINE = 0.25  # times the distance of two colours: so far off their line a third one is no mixture
_SMALL, _SEAM = np.ones((3, 3), np.uint8), np.ones((7, 7), np.uint8)  # seams are two pixels wide


@dataclass(frozen=True)
class ColourLabels:
    """A segmentation of an image by colour.

    `labels` (H, W) uint8 are NEUTRAL or 1 + the index of the colour in `names`.
    """

    labels: NDArray[np.uint8]
    names: tuple[str, ...]

    def label_of(self, name: str) -> int:
        """Return the label of a colour name. Raises ValueError if there is none."""
        return 1 + self.names.index(name)


def chromaticity(rgb: Array | Vec3) -> Array:
    """Return each channel's share of the sum.

    >>> [float(v) for v in chromaticity((100.0, 50.0, 50.0))]
    [0.5, 0.25, 0.25]
    """
    values = np.asarray(rgb, float)
    return values / max(values.sum(), 1e-9)


def label_colours(view: HeightView, catalogue: Catalogue) -> ColourLabels:
    """Label every pixel with its colour of the catalogue's palette.

    All decisions are linear forms in RGB, so that they commute with blur: the border between table and object
    lies where a blurred pixel holds as much of the one as of the other.
    """
    palette = catalogue.palette
    gains = _white_balance(view, catalogue.table_colour)
    neutral = chromaticity(catalogue.table_colour)
    prototypes = np.array([chromaticity(c.rgb) for c in palette])
    away = prototypes - neutral
    lengths = np.linalg.norm(away, axis=1)
    # An equal mixture of object and table has the chromaticity of their sum.
    sums = np.array([np.sum(c.rgb) for c in palette])
    least = lengths * sums / (sums + np.sum(catalogue.table_colour))
    image = cv2.GaussianBlur(view.frame.colour, (3, 3), 0)
    labels = np.zeros(image.shape[:2], np.uint8)
    # What a pixel has beyond a table as bright as it is. Its direction alone, the hue, tells the colour,
    # because what is half table is paler than its prototype.
    table = ((np.eye(3) - neutral[:, None]) * gains).astype(np.float32)
    hues, brightness = (away / lengths[:, None]).astype(np.float32), gains.astype(np.float32)
    # In bands that the processor's cache holds.
    for part, its in ((image[i : i + _BAND], labels[i : i + _BAND]) for i in range(0, len(image), _BAND)):
        rgb = part.reshape(-1, 3).astype(np.float32)
        beyond = cv2.transform(rgb[None], table)[0]
        far = np.flatnonzero(cv2.transform(beyond[None] ** 2, np.ones((1, 3)))[0] > _MIN_CHROMA**2)
        strengths = hues @ beyond.take(far, axis=0).T
        best = strengths.argmax(axis=0)
        needed = np.maximum(least[best] * (rgb.take(far, axis=0) @ brightness), _MIN_CHROMA)
        its.flat[far] = np.where(strengths.max(axis=0) > needed, 1 + best, NEUTRAL)
    # The mixture of two colours that meet may look like a third one: each pixel is what it is more like.
    pure = np.where(cv2.erode(labels, _SMALL) == cv2.dilate(labels, _SMALL), labels, np.uint8(NEUTRAL))
    last, first = cv2.dilate(pure, _SEAM), cv2.erode(pure - np.uint8(1), _SEAM) + 1  # NEUTRAL is no first one
    third = (first > 0) & (first < last) & (labels != first) & (labels != last)
    shades = np.vstack((neutral, prototypes))
    third[third] = _is_mixture(shades[first[third]], shades[last[third]], shades[labels[third]])
    labels[third] = most_alike(pure, third, view.frame.colour, len(_SEAM) // 2)
    return ColourLabels(labels, tuple(c.name for c in palette))


def _is_mixture(one: Array, other: Array, third: Array) -> Mask:
    """Return where a third colour looks like a mixture of two others, all by chromaticity (N, 3)."""
    way = other - one
    length = np.maximum(np.linalg.norm(way, axis=1), 1e-9)
    along = np.sum((third - one) * way, axis=1) / length**2
    off = np.linalg.norm(third - one - along[:, None] * way, axis=1)
    return np.asarray((along > 0) & (along < 1) & (off < _OFF_LINE * length))


def _white_balance(view: HeightView, table_colour: Vec3) -> Array:
    """Return gains per channel (3,) that restore the table's known chromaticity.

    They are ones when too little of the table is visible.
    """
    pixels = view.frame.colour[::EVERY, ::EVERY][np.abs(view.heights[::EVERY, ::EVERY]) < NOISE]
    if len(pixels) < MIN_SAMPLES:
        return np.ones(3)
    gains = chromaticity(table_colour) / chromaticity(np.maximum(np.median(pixels, axis=0), 1.0))
    return np.clip(gains / gains.mean(), 1 / _MAX_GAIN, _MAX_GAIN)
