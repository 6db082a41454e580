"""What may explain a level region of a colour: hypotheses over the kinds of things, the likely sizes first.

A level region is the upper face of solids, the rim of a container, or a thing that carries another one. The
cheapest explanation by `spca_sense.explanations` is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import cv2
import numpy as np

from spca_core.geometry import Array, Pose, Vec3, about_z, aligning, wrap_angle
from spca_core.kinds import KINDS, MESHES, ObjectKind, is_round, problem_with
from spca_sense.colours import ColourLabels
from spca_sense.detection import UNKNOWN, Detection, square_yaw
from spca_sense.explanations import ANYTHING, FREE, GOOD, KNOWN, LEVEL, NOISE, Plateau, corners, silhouette
from spca_sense.outline import Outline, footprint, polygon_area, shared_area, trace
from spca_sense.shapes import (
    TOLERANCE,
    BoxShape,
    DiscShape,
    Fit,
    Prior,
    convex_hull,
    distance_to_polygon,
    fit_box,
    fit_shape,
    share_of_turn,
)
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Window

TALL = 0.012
"""Height in metres above the floor below which a thing is flat, a plate or a mat."""
LOW = 0.005
"""Height in metres above the table below which there is a mat, or the noise of the camera."""
MIN_AREA = 50
"""Number of pixels that are enough for a thing: 1 cm²."""
JOINT = 0.010
"""Largest distance in metres between a lower face and the one that carries it, and from a rim into it."""

# The price of a border that is all off, and the share of it that is the noise of pixels:
_MISFIT, _FITS = 0.05, 0.4
_FOOT = 0.003  # metres above the lower face of a thing with a mesh, below which its pixels do not count
_SEAMS = np.ones((9, 9), np.uint8)  # pixels between the parts of a mesh, as narrow as a handle's edge
_SMALL = np.ones((3, 3), np.uint8)
_CUT = 0.010  # metres of the sides, from the top, whose outline is used
_CUT_OF_KNOWN, _DEEPEST = 0.4, 0.016  # share of the height of a thing of known size, and metres, likewise
_DOME = 0.12  # of its radius, by which a ball's upper side falls off towards its outline
_ROUNDED = 0.04  # of its reach, by which what is taken for a ball's top is below it
_LEAST_FALL = 0.004  # metres; noise makes small level faces fall off by less
_MIN_OWN, _ENOUGH = 24, 400  # outline points that are needed, and that are enough
_MIN_INLIERS = 0.6
_MIN_ARC = 0.25  # share of a rim that must be in sight
_MIN_ARC_OF_KNOWN = 0.2
_MAX_SPREAD = 0.8  # pixels by which points on a known rim are off; those of other circles are by more
_NEAR = 0.002  # metres from a circle at which a point counts for it
_PAIRS, _VOTERS = 64, 120
_PERFECT = 0.98  # share of inliers at which an outline is a disc's without a look at the rectangle
_SMALLEST, _LARGEST = 0.012, 0.30  # metres: edges of what may be a thing of a size that is not known
_SUNK = 0.003  # metres by which a thing may seem to be sunk into the floor
_THINNER = 0.0045  # metres by which the thickness of what is flat may be off
_STANDS = 0.004  # metres above the floor below which a lower face stands on it
_SHOWN = 0.12  # share of a thing of known size that must be in sight
_ABSENT = 0.25  # share of one that may be missing where a fit begins
_LARGER = 1.5  # times the face of a thing of known size: what is larger is several, or something else
_CORNER = np.cos(np.radians(72.0))  # cosine within which an angle is a right one
_SIDE = 0.006  # metres of the sides at a corner that must be in sight
_BEND = 2.5  # pixels by which an outline may be off straight lines between its corners
_SHARED = 0.1  # share of its face by which a thing may seem to reach into the next one
_MOST = 8  # things that are looked for in a region, one after the other
_BESIDE = 0.003  # metres from a corner within which a border is not that of the thing alone
_PLACED = np.array([0.004, 0.004, 0.2])  # metres, metres, radians: how well a place next to others is known
_MIN_LEAN, _LEAN_SIGMAS = np.radians(2.5), 5.0
_MIN_CORE = 200  # pixels that tell how a face leans


T = TypeVar("T")
Placed = tuple[float, Detection]
"""Pair of how badly a thing's border fits (0 is perfect) and the thing's detection."""


@dataclass(frozen=True)
class Clues:
    """A view, the colours in it, and the heights up to which each pixel is explained already (H, W)."""

    view: HeightView
    colours: ColourLabels
    claims: Array


@dataclass(frozen=True)
class Face:
    """A level region: a `mask` of the window, the `body` it belongs to, and its level (metres)."""

    mask: Mask
    body: Mask
    level: float
    tilt: Array = field(default_factory=lambda: np.eye(3))
    """Rotation (3, 3) of the vertical into the axis of what leans."""
    taken: Mask | None = None
    """Pixels of the window that are another thing's, though it may be as high."""
    beside: tuple[Detection, ...] = field(default=())


class ColourRegion:
    """Takes one connected region of a colour apart."""

    def __init__(
        self,
        clues: Clues,
        colour: str,
        window: Window,
        mask: Mask,
        likely: Iterable[tuple[str, Vec3]],
        floor: float = 0.0,
    ) -> None:
        """Take a `mask` of the `window` and `likely` kinds and sizes, on a `floor` metres above the table."""
        self.clues, self.view = clues, clues.view
        self.colour, self.window, self.mask, self.floor = colour, window, mask, floor
        self.rest = mask.copy()
        self.heights = self.view.heights[window]
        self.origin = np.array([window[1].start, window[0].start], float)
        self._footprints = [(kind, way) for kind, size in likely for way in _ways_up(kind, size)]

    @cached_property
    def even(self) -> Mask:
        """Pixels where a face is level, within the noise."""
        heights = self.heights.astype(np.float32)
        return cv2.dilate(heights, _SMALL) - cv2.erode(heights, _SMALL) < LEVEL

    def obstacle(self, face: Face) -> Detection:
        """Return an obstacle that covers a face: whatever it is, it is in the way."""
        points = self._points(face.body, face.level)
        (x, y), (a, b), degrees = cv2.minAreaRect(points.astype(np.float32))
        fit = Fit(np.array([x, y, np.radians(degrees), max(a, _SMALLEST), max(b, _SMALLEST)]), 0.0, 0.5)
        return self._detection("unknown", fit, face.level, face.level)

    def _points(self, mask: Mask, level: float) -> Array:
        return self.view.to_plane(np.argwhere(mask)[:, ::-1] + self.origin, level)

    def _hidden(self, face: Face) -> Mask:
        """Return what hides a face in this view (H, W): what is known to be higher, and what is taken."""
        hidden: Mask = self.clues.claims > face.level + JOINT
        if face.taken is not None:
            hidden[self.window] |= face.taken
        return hidden

    def cheapest(self, face: Face, deeper: int = _MOST) -> tuple[float, list[Detection]]:
        """Return the price of the things that explain a face best, and those; if not `deeper`, of one."""
        hidden = self._hidden(face)
        region = Plateau(self.view, self.window, face.mask, face.level, hidden)
        best: list[Detection] = []
        least, limit = np.inf, np.inf
        for misfit, things in self._ways(face, region, hidden[self.window], deeper):
            price = sum(self._price(thing, face) for thing in things) + _MISFIT * misfit
            if price >= least or _overlap(things):
                continue
            left = region.unexplained(silhouette(self.view, thing) for thing in things)
            if left + price < least:
                best, least, limit = things, left + price, left
            if limit < GOOD and misfit < _FITS and all(thing.known for thing in best):
                break
        return least, best

    def _price(self, thing: Detection, face: Face) -> float:
        if thing.kind == "unknown":
            its = silhouette(self.view, thing).whole.within(self.window)
            return FREE + ANYTHING * float(np.mean(its[face.mask]))
        # One that stands high stands for what must be below it, too.
        high = thing.bottom - self.view.table_top > self.floor + JOINT
        return FREE if not thing.known else 2 * KNOWN if high else KNOWN

    def _ways(
        self, face: Face, region: Plateau, hidden: Mask, deeper: int
    ) -> Iterator[tuple[float, list[Detection]]]:
        """Yield ways to explain a face: one thing, a likely thing and what is left, an obstacle."""
        likely = []
        for misfit, thing in self._likely(face, region, hidden):
            likely.append(thing)
            yield misfit, [thing]
        free = self._free(face, hidden)
        if free is not None:
            yield 0.0, [free]
        if deeper:
            shown = [region.shown(silhouette(self.view, thing).face) for thing in likely]
            ways = [
                (2 * missing - inside, np.array([*thing.xy, thing.pose.yaw, *thing.size]), thing)
                for thing, (inside, missing) in zip(likely, shown, strict=True)
            ]
            for thing in _apart(ways)[: 2 if deeper == _MOST else 1]:
                if (rest := self._without(face, thing)) is not None:
                    yield 0.0, [thing, *self.cheapest(rest, deeper - 1)[1]]
        if face.level > self.floor + LOW:
            yield 0.0, [self.obstacle(face)]

    def _without(self, face: Face, thing: Detection) -> Face | None:
        """Return what is left of a face without a thing; None if that is nearly nothing, or all of it."""
        # Its side may be in line with what is next to it, which then hides it.
        upper = corners(thing)[0] - (0.0, 0.0, self.view.table_top)
        its = self.view.patch(upper, grow=1).within(self.window)
        rest = cv2.morphologyEx((face.mask & ~its).astype(np.uint8), cv2.MORPH_OPEN, _SMALL) > 0
        if not MIN_AREA <= np.count_nonzero(rest) < np.count_nonzero(face.mask):
            return None
        taken = its if face.taken is None else face.taken | its
        return replace(face, mask=rest, body=face.body & ~its, taken=taken, beside=(*face.beside, thing))

    # Things of likely sizes.

    def _likely(self, face: Face, region: Plateau, hidden: Mask) -> Iterator[Placed]:
        """Yield things of known sizes that show a part of a face, at the best places for each."""
        flat = face.level < self.floor + TALL
        shown = region.area * self.view.metres_per_pixel(face.level) ** 2
        ways = []
        for kind, size in self._footprints:
            above = face.level - size[2] - self.floor
            area = size[0] * size[1] * (np.pi / 4 if is_round(kind) else 1.0)
            sunk = LEVEL if KINDS[kind].domed else _SUNK  # what is level of a dome is not its top
            low, high = (-_THINNER, _THINNER) if flat else (-sunk, np.inf)
            if low <= above <= high and shown > _SHOWN * area:
                ways.append((above > _STANDS, abs(area - shown), kind, size, shown < _LARGER * area))
        # What stands on the floor explains a face without anything else.
        for *_, kind, size, single in sorted(ways):
            outline = self._outline(face, hidden, size[2] if flat else min(_CUT_OF_KNOWN * size[2], _DEEPEST))
            if outline is not None:
                places = self._rims if is_round(kind) else self._corners
                yield from places(face, region, outline, kind, size, single)

    def _corners(
        self, face: Face, region: Plateau, outline: Outline, kind: str, size: Vec3, single: bool
    ) -> Iterator[Placed]:
        """Yield boxes of that size: on the whole face, in a corner of it, or next to what was found."""
        for start, alone in self._starts(face, region, size, single):
            placed = self._box_at(face, outline, kind, size, start, alone)
            yield placed
            if region.unexplained([silhouette(self.view, placed[1])]) < GOOD:
                return

    def _starts(self, face: Face, region: Plateau, size: Vec3, single: bool) -> Iterator[tuple[Array, bool]]:
        """Yield where (x, y, yaw) a fit of a box begins, and whether it is alone on the face there."""
        a, b, _ = size
        if single:
            points = self._points(face.mask, face.level)
            (x, y), (w, h), degrees = cv2.minAreaRect(points.astype(np.float32))
            yaw = np.radians(degrees) + (0.0 if (w >= h) == (a >= b) else np.pi / 2)
            yield from ((start, True) for start in self._promising(region, size, [np.array([x, y, yaw])]))
        flush = self._promising(region, size, self._flush(face, a, b))[:1]
        for start in flush or self._promising(region, size, self._in_corners(face, a, b))[:2]:
            yield start, False

    def _promising(self, region: Plateau, size: Vec3, starts: Iterable[Array]) -> list[Array]:
        """Return the starts where a box would show enough of a region and miss little, the best first."""
        ways: list[tuple[int, Array, Array]] = []
        for start in starts:
            shape = BoxShape(size[0], region.level, size[2], size[1])
            patch = self.view.patch(shape.corners(start)[:4])
            inside, missing = region.shown(patch)
            whole = patch.mask.sum()
            if inside >= _SHOWN * whole and missing < _ABSENT * whole:
                ways.append((2 * missing - inside, start, start))
        return _apart(ways)

    def _flush(self, face: Face, a: float, b: float) -> Iterator[Array]:
        """Yield where (x, y, yaw) a rectangle is flush with what was found in the same face."""
        for thing in (thing for thing in face.beside if not is_round(thing.kind)):
            yaw = thing.pose.yaw
            for turn, mine, its in ((0.0, a, 0), (np.pi / 2, b, 0), (np.pi / 2, a, 1), (0.0, b, 1)):
                along = yaw + (np.pi / 2) * its
                step = (thing.size[its] + mine) / 2 * np.array([np.cos(along), np.sin(along)])
                for place in (thing.xy + step, thing.xy - step):
                    yield np.array([*place, yaw + turn])

    def _in_corners(self, face: Face, a: float, b: float) -> Iterator[Array]:
        """Yield where (x, y, yaw) a rectangle fills a corner of a face."""
        borders, _ = cv2.findContours(face.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for border in borders:
            if cv2.contourArea(border) < MIN_AREA / 3:
                continue
            ring = cv2.approxPolyDP(border, _BEND, True)[:, 0].astype(float)
            ring = self.view.to_plane(ring + self.origin, face.level)
            before, after = np.roll(ring, 1, axis=0) - ring, np.roll(ring, -1, axis=0) - ring
            for corner, u, v in zip(ring, before, after, strict=True):
                lengths = np.hypot(*u), np.hypot(*v)
                if min(lengths) < _SIDE:
                    continue
                one, two = u / lengths[0], v / lengths[1]
                if abs(one @ two) > _CORNER:
                    continue
                first = one if lengths[0] > lengths[1] else two
                other = one + two - first * ((one + two) @ first)
                other /= np.hypot(*other)
                yaw = float(np.arctan2(first[1], first[0]))
                yield np.array([*(corner + first * a / 2 + other * b / 2), yaw])
                if a != b:
                    yield np.array([*(corner + first * b / 2 + other * a / 2), yaw + np.pi / 2])

    def _box_at(
        self, face: Face, outline: Outline, kind: str, size: Vec3, start: Array, alone: bool = False
    ) -> Placed:
        a, b, c = size
        tilt = face.tilt if alone else np.eye(3)
        depth = c if face.level < self.floor + TALL else min(_CUT_OF_KNOWN * c, _DEEPEST)
        shape = BoxShape(a, face.level, depth, b, tilt)
        prior = None
        if not alone:  # where a border goes on beyond a corner, it is that of what is next to it
            prior, turn = Prior(start, _PLACED), np.array([np.cos(start[2]), np.sin(start[2])])
            away = self.view.to_plane(outline.points, face.level) - start[:2]
            along, across = np.abs(away @ turn) - a / 2, np.abs(away @ (-turn[1], turn[0])) - b / 2
            outline = outline.part(np.minimum(along, across) < -_BESIDE)
        fit = fit_box(self.view, shape, outline, start[None], prior)
        x, y, yaw = fit.parameters
        yaw = square_yaw(yaw) if kind == "cube" else wrap_angle(yaw, np.pi)
        matrix = np.eye(4)
        matrix[:3, :3] = tilt @ about_z(yaw)
        matrix[:3, 3] = np.array([x, y, self.view.table_top + face.level]) - tilt[:, 2] * c / 2
        thing = self._sure(kind, Pose.from_matrix(matrix), size, fit.inliers, face, outline)
        return _misfit(fit), thing

    def _rims(
        self, face: Face, region: Plateau, outline: Outline, kind: str, size: Vec3, single: bool
    ) -> Iterator[Placed]:
        """Yield the disc of that diameter that most of an outline lies on, or the ball."""
        radius, depth, height = size[0] / 2, min(_CUT_OF_KNOWN * size[2], _DEEPEST), face.level
        if domed := KINDS[kind].domed:
            rim = self._border(replace(face, body=self._whole(face)), None, _CUT)
            if not single or rim is None or (dome := self._fall(face)) is None:
                return
            outline, depth, height = rim, 0.001, dome[1] - radius
            radius *= radius / self._sphere(self._points(face.mask, height).mean(axis=0), height, radius)[1]
        elif face.level < self.floor + TALL:
            depth = size[2]
            height = self.floor + depth
        shape = DiscShape(radius, depth, height)
        points = self.view.to_plane(outline.points, height)
        fit = fit_shape(lambda p: shape.residuals(self.view, points, p), _vote(points, radius))
        on_rim = np.abs(shape.residuals(self.view, points, fit.parameters)[0]) < _NEAR
        arc = share_of_turn(points[on_rim] - fit.parameters)
        if arc < _MIN_ARC_OF_KNOWN or fit.spread > _MAX_SPREAD * self.view.metres_per_pixel(height):
            return
        top = height + size[0] / 2 if domed else height
        x, y = (self._sphere(fit.parameters, height, radius)[0] if domed else fit.parameters).tolist()
        pose = Pose.from_xyz_yaw(x, y, self.view.table_top + top - size[2] / 2)
        yield _misfit(fit), self._sure(kind, pose, size, 0.6 + 0.4 * arc, face, outline)

    def _sure(
        self, kind: str, pose: Pose, size: Vec3, fits: float, face: Face, outline: Outline
    ) -> Detection:
        """Return a thing of known size, the surer the more its face agrees and its border is in sight."""
        thing = Detection(kind, self.colour, pose, size, 0.0, known=True)
        agree = 1.0
        if kind == "cube":
            patch = silhouette(self.view, thing).face
            heights, labels = patch.of(self.view.heights), patch.of(self.clues.colours.labels)
            near = (np.abs(heights - face.level) < 1.5 * LEVEL) | (heights < NO_HEIGHT / 2)
            near &= labels == self.clues.colours.label_of(self.colour)
            agree = float(np.mean(near)) if len(heights) else 0.0
            agree *= 0.5 + 0.5 * outline.share_seen
        return replace(thing, confidence=float(np.clip(agree * fits, 0.05, 0.99)))

    def leaning(self, face: Face) -> Face:
        """Return a face with all that belongs to the same slope; as it is, unless that is beyond doubt."""
        core = cv2.erode(face.mask.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
        raw = self.view.raw_heights[self.window]
        core &= raw > NO_HEIGHT / 2
        if np.count_nonzero(core) < _MIN_CORE:
            return face
        heights, points = raw[core].astype(float), self._points(core, face.level)
        middle = points.mean(axis=0)
        design = np.column_stack((points - middle, np.ones(len(points))))
        plane = np.linalg.solve(design.T @ design, design.T @ heights)
        off = float(np.std(heights - design @ plane)) / np.sqrt(len(heights))
        if np.hypot(*plane[:2]) < max(_MIN_LEAN, _LEAN_SIGMAS * off / max(float(points.std()), 1e-6)):
            return face
        near = self.rest & (self.heights > self.floor + TALL)
        slope = plane[2] + (self._points(near, face.level) - middle) @ plane[:2]
        near[near] = np.abs(self.heights[near] - slope) < NOISE
        near = connected(near, core)
        level = float(np.median(self.heights[near]))
        tilt = aligning(np.array([0.0, 0.0, 1.0]), np.array([-plane[0], -plane[1], 1.0]))
        return replace(face, mask=near, body=face.body | near, level=level, tilt=tilt)

    # Things of any size.

    def container(self, face: Face, hull: Mask) -> Detection | None:
        """Return the bowl or the tray whose rim fills a hull, or None."""
        kind, fit = self._fitted(self._border(replace(face, body=hull), None, _CUT), face.level, _CUT)
        if fit is None or fit.inliers < _MIN_INLIERS:
            return None
        thing = self._detection("bowl" if kind == "cylinder" else "tray", fit, face.level, face.level)
        return None if problem_with(thing.kind, thing.size) else thing

    def of_mesh(self, face: Face, things: list[Detection]) -> Detection | None:
        """Return a thing with a mesh if it explains the surroundings of a face better than `things` do."""
        if not MESHES:
            return None
        from spca_sense.meshes import fitted

        ways: list[tuple[float, str, Pose]] = []
        for kind, mesh in MESHES.items():
            bottom = face.level - mesh.size[2]
            if bottom < -LEVEL:
                continue
            part = self.rest & (self.heights > bottom + _FOOT)
            part &= connected(cv2.dilate(part.astype(np.uint8), _SEAMS).astype(bool), face.mask)
            region = Plateau(self.view, self.window, part, face.level)
            known = region.unexplained(silhouette(self.view, thing) for thing in things)
            known += sum(ANYTHING if t.kind == "unknown" else KNOWN if t.known else FREE for t in things)
            for pose, shown in fitted(kind, self.view, self.window, part):
                left = region.unexplained([shown]) + KNOWN
                if left < known:
                    ways.append((left, kind, pose))
        if not ways:
            return None
        left, kind, pose = min(ways, key=lambda way: way[0])
        x, y, z = pose.position
        pose = Pose.from_xyz_yaw(x, y, self.view.table_top + z, pose.yaw)
        return Detection(kind, self.colour, pose, MESHES[kind].size, float(np.clip(1 - left, 0.05, 0.99)))

    def _free(self, face: Face, hidden: Mask) -> Detection | None:
        """Return the ball, the rectangle or the disc that has this face, whatever its size, or None."""
        flat = face.level < self.floor + TALL
        ball = None if flat else self._ball(face)
        if ball is not None:
            return ball
        height = face.level - self.floor if flat else face.level
        depth = height if flat else _CUT
        kind, fit = self._fitted(self._outline(face, hidden, depth), face.level, depth)
        if fit is None or fit.inliers < _MIN_INLIERS:
            return None
        if flat:
            kind = "plate" if kind == "cylinder" else "mat" if height < LOW else "cuboid"
        return self._detection(kind, fit, face.level, height)

    def _whole(self, face: Face) -> Mask:
        """Return all of what stands out that a face belongs to."""
        return connected(self.mask & (self.heights > self.floor + TALL), face.mask)

    def _fall(self, face: Face) -> tuple[float, float] | None:
        """Return how far a round upper side reaches, and its middle's height; None if it does not fall."""
        whole = self._whole(face)
        points, heights = self._points(whole, face.level / 2), self.heights[whole]
        near = heights > face.level - 0.010
        if np.count_nonzero(near) < MIN_AREA // 2:
            return None
        away = np.hypot(*(points[near] - points[near].mean(axis=0)).T)
        reach = float(np.percentile(away, 95))
        inner, outer = away < 0.45 * reach, away > 0.75 * reach
        if not inner.any() or not outer.any():
            return None
        fall = float(np.median(heights[near][inner]) - np.median(heights[near][outer]))
        if fall < max(_DOME * reach, _LEAST_FALL if reach > 0.012 else 0.002):
            return None
        return reach, float(np.percentile(heights[near][inner], 60)) + _ROUNDED * reach

    def _sphere(self, middle: Array, height: float, radius: float) -> tuple[Array, float]:
        """Return centre and radius of a ball from those of its outline on the plane through its centre."""
        foot, high = self.view.centre[:2], self.view.centre[2] - self.view.table_top - height
        radius *= 2 / (1 + float(np.hypot(1, np.linalg.norm(middle - foot) / high)))
        return foot + (middle - foot) * (1 - (radius / high) ** 2), radius

    def _ball(self, face: Face) -> Detection | None:
        """Return a round thing whose upper side falls off towards its outline, or None."""
        if (dome := self._fall(face)) is None:
            return None
        height = dome[1] - max(dome[1] / 2, 0.5 * dome[0])
        outline = self._border(replace(face, body=self._whole(face)), None, _CUT)
        fit = outline and self._disc(outline.points, height, 0.001)
        if not fit or fit.inliers < _MIN_INLIERS:
            return None
        middle, radius = self._sphere(fit.parameters[:2], height, fit.parameters[2] / 10)
        fit = replace(fit, parameters=np.array([*middle, 10 * radius]))
        return self._detection("ball", fit, dome[1], 2 * radius)

    def _fitted(self, outline: Outline | None, level: float, depth: float) -> tuple[ObjectKind, Fit | None]:
        """Return the rectangle or the disc that fits an outline better, down to `depth` below its level."""
        if outline is None or len(outline.points) < _MIN_OWN:
            return "cuboid", None
        disc = self._disc(outline.points, level, depth)
        if disc is not None and disc.inliers > _PERFECT:
            return "cylinder", disc
        box = self._box(outline.points, level, depth)
        if disc is None or box is None:
            return "cuboid" if disc is None else "cylinder", disc or box
        round_ = (round(disc.inliers, 2), -disc.spread) > (round(box.inliers, 2), -box.spread)
        return ("cylinder", disc) if round_ else ("cuboid", box)

    def _outline(self, face: Face, hidden: Mask | None, depth: float) -> Outline | None:
        """Return the border of a body down to `depth` below its face."""
        # What is level, and lower, is the upper face of something else.
        lower = (face.body & self.even & (self.heights < face.level - LEVEL)).astype(np.uint8)
        body = face.body & (self.heights > face.level - depth) & ~cv2.dilate(lower, _SMALL).astype(bool)
        return self._border(replace(face, body=body), hidden, depth)

    def _border(self, face: Face, hidden: Mask | None, depth: float) -> Outline | None:
        if not face.body.any():
            return None
        traced = trace(face.body, self.heights, face.level, depth, hidden)
        outline = traced.part(traced.own)
        outline = outline.part(np.arange(len(outline.points)) % max(1, len(outline.points) // _ENOUGH) == 0)
        if len(outline.points) < _MIN_OWN // 2:
            return None
        # Borders of holes belong to what lies within.
        hull = convex_hull(np.argwhere(face.body)[:, ::-1].astype(float))
        outline = outline.part(distance_to_polygon(outline.points, hull) > -3.0, self.origin)
        return outline if len(outline.points) >= _MIN_OWN // 2 else None

    def _box(self, pixels: Array, level: float, depth: float) -> Fit | None:
        points = self.view.to_plane(pixels, level)
        (x, y), (a, b), degrees = cv2.minAreaRect(points.astype(np.float32))
        if not _SMALLEST < min(a, b) <= max(a, b) < _LARGEST:
            return None
        shape = BoxShape(0.0, level, min(depth, level))
        start = np.array([x, y, np.radians(degrees), a, b])
        fit = fit_shape(lambda p: shape.residuals(self.view, points, p), start)
        return _of_possible_size(fit, fit.parameters[3:])

    def _disc(self, pixels: Array, height: float, depth: float) -> Fit | None:
        """Fit a disc: x, y and ten times the radius, so that it moves in steps as small as theirs."""
        points = self.view.to_plane(pixels, height)
        (x, y), radius = cv2.minEnclosingCircle(convex_hull(points).astype(np.float32))
        if not _SMALLEST < 2 * radius < _LARGEST:
            return None
        shape = DiscShape(radius, min(depth, height), height)
        fit = fit_shape(lambda p: shape.residuals(self.view, points, p), np.array([x, y, 10 * radius]))
        if share_of_turn(points - fit.parameters[:2]) < _MIN_ARC:
            return None  # too little of the rim to tell how large the disc is
        return _of_possible_size(fit, fit.parameters[2:] / 5)

    def _detection(self, kind: ObjectKind, fit: Fit, top: float, height: float) -> Detection:
        z = self.view.table_top + top
        if is_round(kind):
            x, y, wide = (float(v) for v in fit.parameters)
            yaw, a, b = 0.0, wide / 5, wide / 5
        else:
            x, y, yaw, a, b = (float(v) for v in fit.parameters)
            if b > a:
                yaw, a, b = yaw + np.pi / 2, b, a
            yaw = wrap_angle(yaw, np.pi)
        return Detection(
            kind=kind, colour=UNKNOWN if kind == "unknown" else self.colour,
            pose=Pose.from_xyz_yaw(x, y, z - height / 2, yaw), size=(a, b, max(height, 0.001)),
            confidence=float(np.clip(fit.inliers, 0.05, 0.99)),
        )  # fmt: skip


def connected(mask: Mask, seeds: Mask) -> Mask:
    """Return the connected parts of a mask that have something of the seeds."""
    _, parts = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    return np.isin(parts, np.unique(parts[mask & seeds])) & mask


def _misfit(fit: Fit) -> float:
    """Return how far a border is off that of a thing: 0 is perfect."""
    return min(fit.spread / TOLERANCE, 1.0) + 1 - fit.inliers


def _ways_up(kind: str, size: Vec3) -> set[Vec3]:
    """Return the sizes, height last, that a thing on the table may show: a block may lie on any side."""
    a, b, c = size
    if kind != "cuboid":
        return {size}
    return {(max(p), min(p), h) for p, h in (((a, b), c), ((a, c), b), ((b, c), a))}


def _apart(ways: Sequence[tuple[int, Array, T]]) -> list[T]:
    """Return what is at places (metres in the first two), the least first, without what is next to lesser."""
    first: list[tuple[int, Array, T]] = []
    for way in sorted(ways, key=lambda way: way[0]):
        if all(np.linalg.norm(way[1] - other[1]) > JOINT for other in first):
            first.append(way)
    return [what for _, _, what in first]


def _overlap(things: Sequence[Detection]) -> bool:
    """Return whether two things on one level share the room of one: together they are something else."""
    outlines = [footprint(d) for d in things if d.kind != "unknown"]
    return any(
        shared_area(a, b) > _SHARED * min(polygon_area(a), polygon_area(b))
        for a, b in combinations(outlines, 2)
    )


def _of_possible_size(fit: Fit, size: Array) -> Fit | None:
    """Return the fit, or None if its edges are none that a thing has, as on a sliver of a hidden one."""
    return fit if _SMALLEST < size.min() <= size.max() < _LARGEST else None


def _vote(points: Array, radius: float) -> Array:
    """Return the centre (2,) of a circle of known radius, through two points, that most others lie on."""
    rng = np.random.default_rng(0)
    points = points[:: max(1, len(points) // _VOTERS)]
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
