"""Flat things in a connected region of a colour: plates of known sizes, mats, low things of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from spca_core.geometry import Array, Vec3
from spca_core.kinds import ObjectKind
from spca_sense.detection import Detection
from spca_sense.explanations import ANYTHING, FREE, GOOD, KNOWN, Plateau
from spca_sense.fitting import Fit
from spca_sense.regions import LOW, MIN_AREA, MIN_INLIERS, ColourRegion, Face, silhouette
from spca_sense.shapes import DiscShape, fit_disc, share_of_turn
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Window

_HEIGHT_ERROR = 0.0045  # metres by which the median height of a plate's face may be off
_MIN_SHOWN = 0.12  # share of a plate that must be in sight
_MIN_ARC = 0.2  # share of its rim that must be in sight
_MAX_SPREAD = 0.5  # pixels by which points on the rim are off; those of other circles are by more
_NEAR = 0.002  # metres from a circle at which a point counts for it
_PAIRS = 64
_MOST = 4  # plates that are looked for in a region, one after the other


class FlatRegion(ColourRegion):
    """A region of what lies on a floor (metres above the table), behind other things perhaps."""

    def __init__(
        self,
        view: HeightView,
        colour: str,
        window: Window,
        mask: Mask,
        plates: Sequence[Vec3] = (),
        floor: float = 0.0,
    ) -> None:
        super().__init__(view, colour, window, mask)
        self.plates, self.floor = plates, floor
        self.level = self._median(mask)
        self._hidden = np.zeros(view.heights.shape, bool)

    def things(self, hidden: Mask) -> list[Detection]:
        """The things that explain it best; `hidden` (H, W) are the pixels of what may stand on them."""
        self._hidden = hidden
        return self._explained(self.mask, _MOST)

    def obstacle(self) -> Detection:
        """All of it as one thing of no known shape."""
        return self._obstacle(Face(self.mask, self.mask, self.level))

    def _median(self, mask: Mask) -> float:
        heights = self.heights[mask & (self.heights > NO_HEIGHT / 2)]
        return max(float(np.median(heights)) if len(heights) else 0.0, self.floor + 0.001)

    def _explained(self, mask: Mask, deeper: int) -> list[Detection]:
        """The cheapest of all ways to explain a part of the region."""
        region = Plateau(self.view, self.window, mask, self._median(mask), self._hidden)
        best: list[Detection] = []
        least = np.inf
        for things in self._ways(mask, deeper):
            left = region.unexplained(silhouette(self.view, thing) for thing in things)
            cost = left + sum(self._price(thing, mask) for thing in things)
            if cost < least:
                best, least = things, cost
            if least < GOOD + FREE:
                break
        return best

    def _price(self, thing: Detection, mask: Mask) -> float:
        if thing.kind != "unknown":
            return KNOWN if thing.kind == "plate" and thing.size in self.plates else FREE
        its = silhouette(self.view, thing).whole.within(self.window)
        return FREE + ANYTHING * float(np.mean(its[mask]))

    def _ways(self, mask: Mask, deeper: int) -> Iterator[list[Detection]]:
        """One thing, pieces, a known plate and what is left, an obstacle."""
        level = self._median(mask)
        face = Face(mask, mask, level)
        plates = [p for size in self.plates if (p := self._plate(face, size)) is not None]
        yield from ([plate] for plate in plates)
        kind, fit = self._fitted(face, level - self.floor, self._hidden[self.window])
        if fit is not None and fit.inliers >= MIN_INLIERS:
            height = level - self.floor
            flat: ObjectKind = "plate" if kind == "cylinder" else "mat" if height < LOW else "cuboid"
            yield [self._detection(flat, fit, level, height)]
        pieces = list(self._pieces(face)) if deeper else []
        if len(pieces) > 1:
            yield [thing for piece in pieces for thing in self._explained(piece, deeper - 1)]
        for plate in plates if deeper else ():
            rest = mask & ~silhouette(self.view, plate, grow=2).whole.within(self.window)
            rest = cv2.morphologyEx(rest.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0
            if MIN_AREA <= np.count_nonzero(rest) < np.count_nonzero(mask):
                yield [plate, *self._explained(rest, deeper - 1)]
        if level > self.floor + LOW:
            yield [self._obstacle(face)]

    def _pieces(self, face: Face) -> Iterator[Mask]:
        """A part of the region cut where something lies on it, or else where it is narrow."""
        count, parts, stats, _ = cv2.connectedComponentsWithStats(face.mask.astype(np.uint8), connectivity=8)
        large = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] >= MIN_AREA]
        if len(large) > 1:
            yield from (parts == i for i in large)
        else:
            yield from (part.mask for part in self._cut(face))

    def _plate(self, face: Face, size: Vec3) -> Detection | None:
        """A plate of a known size where most of its rim would be in sight."""
        radius, thickness = size[0] / 2, size[2]
        height = self.floor + thickness
        whole = np.pi * (radius / self.view.metres_per_pixel(height)) ** 2
        if abs(face.level - height) > _HEIGHT_ERROR or np.count_nonzero(face.mask) < _MIN_SHOWN * whole:
            return None
        pixels = self._outline(face, self._hidden[self.window])
        disc = pixels is not None and _circle(self.view, DiscShape(radius, thickness, height), pixels)
        return self._detection("plate", disc, height, thickness) if disc else None


def _circle(view: HeightView, shape: DiscShape, pixels: Array) -> Fit | None:
    """The disc that most of an outline's `pixels` (N, 2) lie on, the surer the more of its rim is in sight.

    Nothing, if that share is too small to tell, or if the outline has another curvature.
    """
    points = view.to_plane(pixels, shape.height)
    fit = fit_disc(view, shape, pixels, _vote(points, shape.radius))
    on_rim = np.abs(shape.distance(view, points, fit.parameters)) < _NEAR
    arc = share_of_turn(points[on_rim] - fit.parameters)
    bent = fit.spread < _MAX_SPREAD * view.metres_per_pixel(shape.height)
    disc = Fit(np.array([*fit.parameters, 10 * shape.radius]), fit.spread, 0.6 + 0.4 * arc)
    return disc if arc >= _MIN_ARC and bent else None


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
