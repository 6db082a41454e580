"""Detects cubes by their top faces: level regions of one colour, one cube height above the support."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_core.rotations import aligning
from spca_sense.catalogue import Catalogue
from spca_sense.colours import ColourLabels
from spca_sense.explanations import ANYTHING, FREE, KNOWN, Plateau, Silhouette
from spca_sense.fitting import Fit
from spca_sense.footprint import shared_area
from spca_sense.outline import OCCLUDER, Outline, trace
from spca_sense.regions import LEVEL, ColourRegion, Face, silhouette
from spca_sense.shapes import BoxShape, fit_box, starts_around
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Patch, Window, bounding_window

_MIN_COMPONENT = 60  # pixels; a twelfth of a cube's face
_MIN_FACE = 0.15  # share of an upper face that must be in sight for a cube to be found
_BIN = 0.002  # metres; of the histogram in which upper faces are peaks
_HIGHEST = 0.40  # metres above the floor; nothing on the table is higher
_CUT = (
    0.4  # share of a cube's height, from the top, whose outline is used: its sides lower down may be hidden
)
_MIN_LEAN, _LEAN_SIGMAS = np.radians(2.5), 5.0
_MIN_POINTS = 20
_MOST_TOGETHER = 4  # cubes of one colour in one level region; larger ones are something else
_SAME_FACE = 0.005  # metres by which an edge of a face may seem to be longer, with the sides in sight
_SUNK = 0.003  # metres by which a cube may seem to be sunk into the floor
_ROUND = 0.82  # share of the circle around it that a round face fills at least
_LARGER = 1.26  # times the area of the cubes' faces: more than the sides that may be in sight, too
_SHARED = 0.1  # share of its face by which a cube may seem to reach into the next one
_MOST_LEFT = 0.1  # share of a face that its cubes may leave unexplained
_MARGIN = 8  # pixels around a component that are looked at
_QUARTERS = np.radians([0.0, 90.0, 180.0, 270.0])
_OFF_TABLE = 0.05  # metres below the table's surface: such a component lies on the ground


@dataclass(frozen=True)
class FoundCube:
    """A cube in view coordinates: its shape from the upper face down, at `parameters` (x, y, yaw)."""

    colour: str
    shape: BoxShape
    parameters: Array
    confidence: float
    floor: float = 0.0
    """Height of the table (0) or the ground (negative) that it or its stack stands on."""
    seen: bool = True

    @property
    def bottom(self) -> float:
        """Height of its lower face's centre above the table."""
        return self.shape.height - self.shape.edge * float(self.shape.tilt[2, 2])

    def corners(self, margin: float = 0.0) -> Array:
        """Its eight corners (8, 3), upper face first, moved out sideways by `margin` metres."""
        box = BoxShape(self.shape.edge + 2 * margin, self.shape.height, self.shape.edge, self.shape.tilt)
        return box.corners(self.parameters)


def find_cubes(view: HeightView, colours: ColourLabels, colour: str, catalogue: Catalogue) -> list[FoundCube]:
    """All cubes of a colour with a visible top face, from high to low.

    A cube is nothing but a cube's face, at a height at which a cube can stand, and no block of that colour
    that is known by its size.
    """
    mask = colours.labels == colours.label_of(colour)
    area = bounding_window(mask, _MARGIN)
    _, components, stats, _ = cv2.connectedComponentsWithStats(mask[area].astype(np.uint8), connectivity=8)
    cubes: list[FoundCube] = []
    for index in range(1, len(stats)):
        if stats[index, cv2.CC_STAT_AREA] < _MIN_COMPONENT:
            continue
        component = components == index
        part = bounding_window(component, _MARGIN)
        window = tuple(slice(a.start + p.start, a.start + p.stop) for a, p in zip(area, part, strict=True))
        cubes += _Search(view, colours, colour, catalogue, (window[0], window[1]), component[part]).run()
    return sorted(cubes, key=lambda c: -c.shape.height)


class _Search:
    """Search one connected component of a colour, highest faces first, removing each found cube."""

    def __init__(
        self,
        view: HeightView,
        colours: ColourLabels,
        colour: str,
        catalogue: Catalogue,
        window: Window,
        mask: Mask,
    ) -> None:
        self.view, self.colours, self.colour, self.edge = view, colours, colour, catalogue.cube_edge
        self.blocks = [size for name, size in catalogue.blocks if name == colour]
        self.window, self.mask = window, mask
        self.heights = view.heights[window]
        self.raw = view.raw_heights[window]
        self.origin = np.array([window[1].start, window[0].start], float)
        known = self.heights[mask & (self.heights > NO_HEIGHT / 2)]
        below = len(known) > 0 and float(np.median(known)) < -_OFF_TABLE
        self.floor = -view.table_top if below else 0.0

    def run(self) -> list[FoundCube]:
        """All cubes of the component."""
        cubes: list[FoundCube] = []
        remaining = self.mask.copy()
        while (level := self._top_level(remaining)) is not None:
            near = remaining & (np.abs(self.heights - level) < LEVEL)
            found = [c for face in self._faces(near, level) for c in self._cubes_of_face(face, remaining)]
            if found and not self._better_than_one(found, near, remaining, level):
                found = []
            for cube in found:
                remaining &= ~self.view.patch(cube.corners(), grow=2).within(self.window)
            remaining &= ~near
            cubes += found
        return cubes

    def _face_pixels(self, height: Array | float) -> Any:
        """Pixels of a whole upper face at a height (or heights)."""
        return (self.edge / self.view.metres_per_pixel(height)) ** 2

    def _top_level(self, mask: Mask) -> float | None:
        """The height of the highest level region that is large enough for a cube's face."""
        lowest = self.floor + 0.6 * self.edge
        edges = np.arange(lowest, self.floor + _HIGHEST, _BIN)
        values = self.heights[mask]
        if np.count_nonzero(values > lowest) < _MIN_FACE * self._face_pixels(lowest):
            return None
        counts, _ = np.histogram(values, edges)
        window = np.convolve(counts, np.ones(4), mode="same")
        centres = (edges[:-1] + edges[1:]) / 2
        needed = _MIN_FACE * self._face_pixels(centres)
        candidates = np.flatnonzero(window >= needed)
        if not len(candidates):
            return None
        best = int(candidates[-1])
        while best > 0 and window[best - 1] > window[best]:
            best -= 1
        level = values[np.abs(values - centres[best]) < 0.006]
        return float(np.median(level)) if len(level) else None

    def _faces(self, near: Mask, level: float) -> Iterator[Mask]:
        closed = cv2.morphologyEx(near.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        _, parts, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=4)
        for index in range(1, len(stats)):
            if stats[index, cv2.CC_STAT_AREA] >= _MIN_FACE * self._face_pixels(level):
                yield parts == index

    def _cubes_of_face(self, face: Mask, remaining: Mask) -> list[FoundCube]:
        """One cube for a level region, or several of the same colour that touch."""
        inner = cv2.erode(face.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
        measured = inner & (self.raw > NO_HEIGHT / 2)
        if np.count_nonzero(measured) < _MIN_POINTS:
            return []
        level = float(np.median(self.raw[measured]))
        if level < self.floor + self.edge - _SUNK:
            return []
        faces = np.count_nonzero(face) / self._face_pixels(level)
        count = max(1, round(faces))
        points = self.view.to_plane(np.argwhere(face)[:, ::-1] + self.origin, level)
        if count > _MOST_TOGETHER:
            return []
        if not self._may_be_cubes(points, level, faces):
            return []
        if self._may_be_block(level):  # which spares the search for what would be dearer in any case
            price, each = self._one_solid(face, remaining, level)
            if price <= each * count:
                return []
        outline = self._outline(face, remaining, level)
        if np.count_nonzero(outline.own) < _MIN_POINTS:
            return []
        own = outline.part(outline.own, self.origin)
        if count == 1:
            tilt = self._lean(measured, level)
            shape = BoxShape(self.edge, level, _CUT * self.edge, tilt)
            fits = [fit_box(self.view, shape, own, starts_around(points))]
        else:
            shape = BoxShape.upright(self.edge, level, _CUT * self.edge)
            fits = self._split(shape, own, points, count)
        found = [c for fit in fits if (c := self._judge(shape, fit, outline)) is not None]
        if not found and count == 1:
            found = self._partly_hidden(shape, own, points, outline)
        left = Plateau(self.view, self.window, face, level).unexplained(self._silhouette(c) for c in found)
        return found if left < _MOST_LEFT and not _overlap(found) else []

    def _partly_hidden(
        self, shape: BoxShape, own: Outline, points: Array, outline: Outline
    ) -> list[FoundCube]:
        """The cube of which only a strip is in sight: its middle lies beside that of the strip."""
        x, y, yaw = starts_around(points)[0]
        away = 0.4 * self.edge
        starts = [(x + away * np.cos(turned), y + away * np.sin(turned), yaw) for turned in yaw + _QUARTERS]
        fits = [fit_box(self.view, shape, own, np.array([start])) for start in starts]
        cubes = [c for fit in fits if (c := self._judge(shape, fit, outline)) is not None]
        return [max(cubes, key=lambda c: c.confidence)] if cubes else []

    def _may_be_cubes(self, points: Array, level: float, faces: float) -> bool:
        """Return whether a region (N, 2) of so many faces is neither too large nor too round for cubes."""
        if faces >= 1.5:
            return faces <= _LARGER * round(faces)
        pixel = self.view.metres_per_pixel(level)
        hull = cv2.contourArea(cv2.convexHull(points.astype(np.float32)))  # through the pixels' centres
        whole = (np.sqrt(hull) + pixel) ** 2 / self.edge**2
        return bool(whole <= _LARGER and _roundness(points, pixel) <= _ROUND)

    def _silhouette(self, cube: FoundCube) -> Silhouette:
        return Silhouette(self.view.patch(cube.corners()[:4]), self.view.patch(cube.corners(), grow=1))

    def _better_than_one(self, cubes: list[FoundCube], near: Mask, remaining: Mask, level: float) -> bool:
        """Return whether cubes explain all that is in sight at a level better than a single solid."""
        region = Plateau(self.view, self.window, near, level)
        left = region.unexplained(self._silhouette(c) for c in cubes)
        if left + KNOWN * len(cubes) < FREE and not self._may_be_block(level):
            return True
        price, each = self._one_solid(near, remaining, level)
        return left + each * len(cubes) < price

    def _may_be_block(self, level: float) -> bool:
        """Return whether the world has a block of this colour that reaches up to a level."""
        return any(abs(level - self.floor - edge) < _SUNK for block in self.blocks for edge in block)

    def _one_solid(self, near: Mask, remaining: Mask, level: float) -> tuple[float, float]:
        """The price of a level region as one solid, with what that leaves, and of each cube instead.

        Against a solid that the world has, a cube high up stands for those below it, too.
        """
        body = remaining & (self.heights > level - _CUT * self.edge)
        one = ColourRegion(self.view, self.colour, self.window, self.mask).solid(Face(near, body, level))
        if one is None:
            return ANYTHING, KNOWN
        known = any(np.allclose(one.size, s, atol=_SAME_FACE) for b in self.blocks for s in permutations(b))
        left = Plateau(self.view, self.window, near, level).unexplained([silhouette(self.view, one)])
        if known:
            return left + KNOWN, KNOWN * max(1, round((level - self.floor) / self.edge))
        return left + (ANYTHING if one.kind == "unknown" else FREE), KNOWN

    def _outline(self, face: Mask, remaining: Mask, level: float) -> Outline:
        """The outline of all that belongs to the cube from its face down to the cut."""
        near_face = cv2.dilate(face.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
        no_depth = (self.heights < NO_HEIGHT / 2) & near_face
        body = remaining & ((self.heights > level - _CUT * self.edge) | no_depth)
        _, parts = cv2.connectedComponents(body.astype(np.uint8), connectivity=4)
        body = np.isin(parts, np.unique(parts[face & body])) & body
        return trace(body, self.heights, level)

    def _lean(self, measured: Mask, level: float) -> Array:
        """The cube's own axis, from the slope of its upper face; upright unless the slope is beyond doubt."""
        core = cv2.erode(measured.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
        if np.count_nonzero(core) < 10 * _MIN_POINTS:
            return np.eye(3)
        heights = self.raw[core].astype(float)
        points = self.view.to_plane(np.argwhere(core)[:, ::-1] + self.origin, level)
        centred = points - points.mean(axis=0)
        design = np.column_stack((centred, np.ones(len(centred))))
        slope, *_ = np.linalg.lstsq(design, heights, rcond=None)
        sigma = (
            float(np.std(heights - design @ slope)) / np.sqrt(len(heights)) / max(float(centred.std()), 1e-6)
        )
        lean = float(np.hypot(slope[0], slope[1]))
        if lean < max(_MIN_LEAN, _LEAN_SIGMAS * sigma):
            return np.eye(3)
        return aligning(np.array([0.0, 0.0, 1.0]), np.array([-slope[0], -slope[1], 1.0]))

    def _split(self, shape: BoxShape, own: Outline, points: Array, count: int) -> list[Fit]:
        """Boxes for `count` touching faces of one colour, each outline point assigned to the nearest."""
        criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 1e-5)
        cv2.setRNGSeed(0)
        _, _, found = cv2.kmeans(
            points.astype(np.float32), count, np.zeros(0), criteria, 5, cv2.KMEANS_PP_CENTERS
        )
        plane = self.view.to_plane(own.points, shape.height)
        centres = np.asarray(found, np.float64)
        fits: list[Fit] = []
        for _ in range(2):
            owner, part = _nearest(plane, centres), _nearest(points, centres)
            fits = [
                fit_box(self.view, shape, own.part(owner == i), starts_around(points[part == i]))
                for i in range(count)
                if np.count_nonzero(owner == i) >= _MIN_POINTS
            ]
            if len(fits) < count:
                break
            centres = np.array([f.parameters[:2] for f in fits])
        return fits

    def _judge(self, shape: BoxShape, fit: Fit, outline: Outline) -> FoundCube | None:
        """A found cube, if the pixels of its upper face agree with one."""
        cube = FoundCube(self.colour, shape, fit.parameters, 0.0, self.floor)
        patch = self.view.patch(cube.corners(margin=-0.05 * self.edge)[:4])
        agree, hidden = self._agreement(patch, shape.height)
        if agree < _MIN_FACE or agree + hidden < 0.75 or fit.inliers < 0.5:
            return None
        label = self.colours.label_of(self.colour)
        pixels = patch.of(self.colours.image)[patch.of(self.colours.labels) == label]
        if not self.colours.matches(pixels, label):
            return None
        confidence = agree * fit.inliers * (0.5 + 0.5 * outline.share_seen)
        return FoundCube(
            self.colour, shape, fit.parameters, float(np.clip(confidence, 0.05, 0.99)), self.floor
        )

    def _agreement(self, patch: Patch, level: float) -> tuple[float, float]:
        """Shares of the face's pixels that show it, and that are hidden by something higher."""
        heights = patch.of(self.view.heights)
        if not len(heights):
            return 0.0, 0.0
        coloured = patch.of(self.colours.labels) == self.colours.label_of(self.colour)
        level_or_unknown = (np.abs(heights - level) < 1.5 * LEVEL) | (heights < NO_HEIGHT / 2)
        agree = coloured & level_or_unknown
        hidden = ~agree & (heights > level + OCCLUDER)
        return float(agree.mean()), float(hidden.mean())


def _overlap(cubes: list[FoundCube]) -> bool:
    """Return whether two cubes on one level share the room of one: together they are something else."""
    return any(
        shared_area(a.corners()[:4, :2], b.corners()[:4, :2]) > _SHARED * a.shape.edge**2
        for a, b in combinations(cubes, 2)
    )


def _roundness(points: Array, pixel: float) -> float:
    """Share of the circle around points (N, 2), `pixel` metres apart, that they fill: 0.64 for a square."""
    _, radius = cv2.minEnclosingCircle(points.astype(np.float32))
    return len(points) * pixel**2 / (np.pi * radius**2)


def _nearest(points: Array, centres: Array) -> Array:
    """Index (N,) of the centre nearest to each point."""
    return np.argmin(np.linalg.norm(points[:, None] - centres[None], axis=2), axis=1)
