"""Plates: flat coloured discs, found by fitting circles of known radius to the visible rim."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_sense.colours import ColourLabels
from spca_sense.fitting import Fit
from spca_sense.outline import trace
from spca_sense.shapes import DiscShape, fit_disc, share_of_turn
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Window, bounding_window

_MIN_AREA = 0.12  # share of a plate that must be in sight
_MIN_ARC = 0.2  # share of its rim that must be in sight
_MIN_FACE = 0.75  # share of its face that must be plate or be hidden
_MAX_SPILL = 0.3  # of the ring around it that may go on in its colour (where two plates touch it does)
_BAND = (-0.012, 0.024)  # metres above the floor between which a plate's pixels may lie, with their noise
_HEIGHT_ERROR = 0.0045  # metres by which the median height of a plate's face may be off
_OCCLUDER = 0.012
_NEAR = 0.002  # metres from a circle at which a point counts for it
_PAIRS = 64
_MIN_POINTS = 20


@dataclass(frozen=True)
class FoundPlate:
    """A plate in view coordinates: its shape at `centre` (x, y)."""

    colour: str
    shape: DiscShape
    centre: Array
    confidence: float
    floor: float = 0.0


def find_plates(
    view: HeightView, colours: ColourLabels, colour: str, diameter: float, thickness: float, things: Mask
) -> tuple[list[FoundPlate], list[str]]:
    """All plates of a colour lying on the table or the ground.

    `things` (H, W) are the pixels of what is known to be something else (cubes and the space below them).
    """
    plates: list[FoundPlate] = []
    notes: list[str] = []
    coloured = (colours.labels == colours.label_of(colour)) & ~things
    window = bounding_window(coloured, 4)
    heights = view.heights[window]
    known = heights > NO_HEIGHT / 2
    for floor in (0.0, -view.table_top):
        band = (heights > floor + _BAND[0]) & (heights < floor + _BAND[1])
        mask = coloured[window] & (band | ~known)
        shape = DiscShape(diameter / 2, thickness, floor + thickness)
        search = _Search(view, colours, colour, shape, floor, window, things[window])
        while (plate := search.best(mask)) is not None:
            plates.append(plate)
            mask &= ~view.patch(plate.shape.rim(plate.centre), grow=2).within(window)
        notes += search.notes
    return plates, notes


class _Search:
    """The search for discs in one window of the image."""

    def __init__(
        self,
        view: HeightView,
        colours: ColourLabels,
        colour: str,
        shape: DiscShape,
        floor: float,
        window: Window,
        things: Mask,
    ) -> None:
        self.view, self.colours, self.colour, self.shape, self.floor = view, colours, colour, shape, floor
        self.window, self.things = window, things
        self.heights = view.heights[window]
        self.area = np.pi * (shape.radius / view.metres_per_pixel(shape.height)) ** 2
        self.notes: list[str] = []

    def best(self, mask: Mask) -> FoundPlate | None:
        """The disc with the most inliers on the outline of `mask`, if it qualifies as a plate."""
        body = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)).astype(bool)
        if np.count_nonzero(body) < _MIN_AREA * self.area:
            return None
        outline = trace(body, self.heights, self.shape.height + _OCCLUDER, self.things)
        pixels = outline.points[outline.own] + (self.window[1].start, self.window[0].start)
        if len(pixels) < _MIN_POINTS:
            return None
        points = self.view.to_plane(pixels, self.shape.height)
        fit = fit_disc(self.view, self.shape, pixels, _vote(points, self.shape.radius))
        return self._judge(fit, body, self._arc(points, fit))

    def _judge(self, fit: Fit, body: Mask, arc: float) -> FoundPlate | None:
        words = f"flat {self.colour} thing at ({fit.parameters[0]:.3f}, {fit.parameters[1]:.3f})"
        disc = self.view.patch(self.shape.rim(fit.parameters)).within(self.window)
        shown = disc & body
        covered = disc & ~body & (self.things | (self.heights > self.shape.height + _OCCLUDER))
        pixels = float(np.count_nonzero(disc)) or 1.0
        seen, hidden = np.count_nonzero(shown) / pixels, np.count_nonzero(covered) / pixels
        if seen < _MIN_AREA or seen + hidden < _MIN_FACE or arc < _MIN_ARC:
            self.notes.append(f"{words} is no plate: {seen:.0%} of a disc and {arc:.0%} of a rim seen")
            return None
        if not self.colours.matches(
            self.colours.image[self.window][shown], self.colours.label_of(self.colour)
        ):
            self.notes.append(f"{words} has no catalogue colour")
            return None
        if self._spills_over(fit, body) > _MAX_SPILL:
            self.notes.append(f"{words} is no plate: it is not round")
            return None
        heights = self.view.raw_heights[self.window][shown]
        top = float(np.median(heights[heights > NO_HEIGHT / 2]))
        if not abs(top - self.shape.height) <= _HEIGHT_ERROR:
            self.notes.append(f"{words} is no plate: {(top - self.floor) * 1000:.0f} mm high")
            return None
        confidence = float(np.clip((seen + hidden) * (0.6 + 0.4 * arc), 0.05, 0.99))
        return FoundPlate(self.colour, self.shape, fit.parameters, confidence, self.floor)

    def _spills_over(self, fit: Fit, body: Mask) -> float:
        """Share of a narrow ring around the disc that has the disc's colour and height."""
        inner = DiscShape(self.shape.radius + 0.003, self.shape.thickness, self.shape.height)
        outer = DiscShape(self.shape.radius + 0.007, self.shape.thickness, self.shape.height)
        ring = self.view.patch(outer.rim(fit.parameters)).within(self.window)
        ring &= ~self.view.patch(inner.rim(fit.parameters)).within(self.window)
        return float(body[ring].mean()) if ring.any() else 0.0

    def _arc(self, points: Array, fit: Fit) -> float:
        """Share of the rim's directions in which a point lies on it."""
        on_rim = np.abs(self.shape.distance(self.view, points, fit.parameters)) < _NEAR
        return share_of_turn(points[on_rim] - fit.parameters)


def _vote(points: Array, radius: float) -> Array:
    """The centre (2,) of the circle of known radius through two points that most other points lie on."""
    rng = np.random.default_rng(0)
    a = points[rng.integers(len(points), size=_PAIRS)]
    b = points[rng.integers(len(points), size=_PAIRS)]
    half = (b - a) / 2
    length = np.hypot(*half.T)
    usable = (length > radius * 0.2) & (length < radius * 0.999)
    half, length, middle = half[usable], length[usable], ((a + b) / 2)[usable]
    if not len(middle):
        return points.mean(axis=0)
    rise = np.sqrt(radius**2 - length**2) / length
    across = np.column_stack((-half[:, 1], half[:, 0])) * rise[:, None]
    centres = np.vstack((middle + across, middle - across))
    distances = np.linalg.norm(points[None] - centres[:, None], axis=2) - radius
    return centres[int(np.argmax(np.count_nonzero(np.abs(distances) < _NEAR, axis=1)))]
