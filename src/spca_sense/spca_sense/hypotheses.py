"""What may explain a level region of a colour: hypotheses over the kinds of things, the likely sizes first.

A level region is the upper face of solids, the rim of a container, or a thing that carries another one. The
cheapest explanation by `spca_sense.explanations` is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array, Pose, Vec3, about_z, aligning, wrap_angle
from spca_core.kinds import KINDS, MESHES, UNKNOWN, is_round, problem_with
from spca_sense.colours import ColourLabels
from spca_sense.detection import Detection
from spca_sense.explanations import ANYTHING, FREE, GOOD, KNOWN, Plateau, silhouette
from spca_sense.outline import (
    Fit,
    Outline,
    Prism,
    convex_hull,
    distance_to_polygon,
    fit_outline,
    outline_of,
    trace,
)
from spca_sense.relations import LEAN
from spca_sense.view import JOINT, LEVEL, NO_HEIGHT, NOISE, TALL, TOLERANCE, HeightView, Mask, Patch, morphed

LOW = NOISE
"""Height in metres above the table below which there is a mat, or the noise of the camera."""
MIN_AREA = 50
"""Number of pixels that are enough for a thing: 1 cm²."""
MIN_STRIP = 20
"""Number of pixels that are enough for a part of a thing that something hides."""
SEAMS = 11
"""Number of pixels between coloured things, or between parts of a mesh, which are nothing."""
BODY = 2 * JOINT
"""Length in metres of the sides, from the top, that belong to a face."""
THINNEST = 0.001
"""Height in metres of what seems to be as low as its floor."""

# The price of a border that is all off, and the share of it that is the noise of pixels:
_MISFIT, _FITS = 0.05, 0.4
_SIDE_SHARE = 0.4  # of a thing's height, of the sides whose outline is used
_DOME = 1.2  # times the reach of what is seen of it that a ball's radius measures, at most
_LEVEL_PART = 0.5  # share of a face that is exactly at its level, which no ball has
_WITHIN = -3.0  # pixels from the outer border at which the borders of holes begin
_HOLLOW = 0.3  # share of the area within the rim that must be lower
MIN_POINTS = 12
"""Number of an outline's points that are needed."""
MOSTLY = 0.6
"""Share of points or pixels that must agree."""
_DRAWN = np.random.default_rng(0).random((2, 64))  # pairs of points, as shares of how many there are
_SMALLEST, _LARGEST = TALL, 0.35  # metres: edges of what may be a thing of a size that is not known
_NEAR_FLOOR = LEVEL / 2  # metres by which what is fitted to many pixels may be off
_SHOWN = 0.02  # share of a thing of known size that must be in sight
_RIGHT = np.sin(np.radians(72.0))  # sine from which an angle is a right one
_BEND = 2.5  # pixels by which an outline may be off straight lines between its corners
_MOST = 8  # things that are looked for in a region, one after the other
_PLACED = np.array([0.004, 0.004, 0.2])  # metres, metres, radians: how well a place next to others is known
_LEAN_SIGMAS = 5.0


T = TypeVar("T")


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
    tilt: Array | None = None
    """Rotation (3, 3) of the vertical into the axis of what leans."""
    taken: Mask | None = None
    """Pixels of the window that are another thing's, though it may be as high."""


class ColourRegion:
    """Takes one connected region of a colour apart."""

    def __init__(
        self,
        clues: Clues,
        colour: str,
        patch: Patch,
        likely: Iterable[tuple[str, Vec3]] = (),
        floor: float = 0.0,
    ) -> None:
        """Take the pixels of a patch, and `likely` kinds and sizes, on a `floor` metres above the table."""
        self.clues, self.view = clues, clues.view
        self.colour, self.window, self.mask, self.floor = colour, patch.window, patch.mask, floor
        self.rest, self._origin = patch.mask.copy(), patch.origin
        self.heights = self.view.heights[self.window]
        self._sizes = [(kind, way) for kind, size in likely for way in _ways_up(kind, size)]

    @cached_property
    def even(self) -> Mask:
        """Pixels where a face is level, within the noise."""
        return cv2.morphologyEx(self.heights, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) < LEVEL

    def obstacle(self, face: Face) -> Detection:
        """Return an obstacle that covers a face: whatever it is, it is in the way."""
        (x, y), (a, b), degrees = self._rectangle(face.body, face.level)
        edges = np.maximum((a, b), _SMALLEST)
        return self._free_thing(UNKNOWN, np.array([x, y, np.radians(degrees), *edges]), 0.5, face.level)

    def _rectangle(self, mask: Mask, level: float) -> tuple[Sequence[float], Sequence[float], float]:
        """Return the middle, the edges and the turn (degrees) of the smallest rectangle around a mask."""
        points = self.view.to_plane(_ends_of_rows(mask) + self._origin, level)
        return cv2.minAreaRect(points.astype(np.float32))

    def _points(self, mask: Mask, level: float | Array) -> Array:
        return self.view.to_plane(Patch(self.window, mask).pixels, level)

    def cheapest(self, face: Face, deeper: int = _MOST) -> tuple[float, list[Detection]]:
        """Return the price of the things that explain a face best, and those; if not `deeper`, of one."""
        taken = None if face.taken is None else Patch(self.window, face.taken)
        region = Plateau(self.view, Patch(self.window, face.mask), face.level, self.clues.claims, taken)
        best: list[Detection] = []
        least, limit = np.inf, np.inf
        for misfit, things in self._ways(face, region, region.hidden(self.window), deeper):
            price = sum(self._price(thing, face) for thing in things) + _MISFIT * misfit
            if price >= least:
                continue
            left = region.unexplained(silhouette(self.view, thing) for thing in things)
            if left + price < least:
                best, least, limit = things, left + price, left
            sure = all(thing.known or KINDS[thing.kind].walled for thing in best)
            if limit < GOOD and misfit < _FITS and sure:
                break
        return least, best

    def _price(self, thing: Detection, face: Face) -> float:
        if thing.kind == UNKNOWN:
            its = silhouette(self.view, thing).whole.within(self.window)
            return FREE + ANYTHING * float(np.mean(its[face.mask]))
        # One that stands high stands for what must be below it, too.
        high = thing.bottom - self.view.table_top > self.floor + JOINT
        return FREE if not thing.known else 2 * KNOWN if high else KNOWN

    def _ways(
        self, face: Face, region: Plateau, hidden: Mask, deeper: int
    ) -> Iterator[tuple[float, list[Detection]]]:
        """Yield ways to explain a face: one thing, a likely thing and what is left, an obstacle."""
        container = self._container(face)
        if container is not None:
            yield 0.0, [container]
        likely = []
        for misfit, thing in self._likely(face, region, hidden):
            likely.append((misfit, thing))
            yield misfit, [thing]
        free = self._ball(face) or self._solid(face, hidden)
        if free is not None:
            yield 0.0, [free]
        if deeper:
            faces = ((m, silhouette(self.view, thing).face, thing.xy, (m, thing)) for m, thing in likely)
            for misfit, thing in _promising(region, faces)[: 2 if deeper == _MOST else 1]:
                if (rest := self._without(face, thing)) is not None:
                    yield misfit, [thing, *self.cheapest(rest, deeper - 1)[1]]
        if face.level > self.floor + LOW:
            yield 0.0, [self.obstacle(face)]

    def _without(self, face: Face, thing: Detection) -> Face | None:
        """Return what is left of a face without a thing; None if that is nearly nothing, or all of it."""
        # Its side may be in line with what is next to it, which then hides it.
        its = silhouette(self.view, thing).face.within(self.window)
        rest = morphed(face.mask & ~its, cv2.MORPH_OPEN, 3)
        if not MIN_AREA <= np.count_nonzero(rest) < np.count_nonzero(face.mask):
            return None
        taken = its if face.taken is None else face.taken | its
        body = morphed(face.body & ~its, cv2.MORPH_OPEN, 3)
        return replace(face, mask=rest, body=body, taken=taken)

    # Things of likely sizes.

    def _likely(self, face: Face, region: Plateau, hidden: Mask) -> Iterator[tuple[float, Detection]]:
        """Yield things of known sizes that show a part of a face, and how badly (0 is perfect) each fits."""
        flat = self._is_flat(face)
        shown = region.area * self.view.metres_per_pixel(face.level) ** 2
        ways = []
        for kind, size in self._sizes:
            level = self._level_of(face, size)
            above = level - size[2] - self.floor
            fits = abs(face.level - level) < _NEAR_FLOOR if flat else above >= -_NEAR_FLOOR
            area = size[0] * size[1] * (np.pi / 4 if is_round(kind) else 1.0)
            if not KINDS[kind].domed and fits and shown > _SHOWN * area:
                ways.append((above > _NEAR_FLOOR, abs(area - shown), kind, size, level))
        # What stands on the floor explains a face without anything else.
        for *_, kind, size, level in sorted(ways):
            face = replace(face, level=level)
            outline = self._outline(face, hidden, self._depth(face, size[2]))
            if len(outline.points) >= MIN_POINTS:
                yield from self._placed(face, region, outline, kind, size)

    def _level_of(self, face: Face, size: Vec3) -> float:
        """Return the level at which a thing of that size, if it stands on the floor, shows in a face."""
        standing = self.floor + size[2]
        if self._is_flat(face):
            return standing
        if not _NEAR_FLOOR < abs(face.level - standing) < LEVEL:
            return face.level
        own = self.heights[face.mask & self.even]
        own = own[np.abs(own - standing) < _NEAR_FLOOR]
        # Heights on a slope are spread evenly: by more.
        level = len(own) >= MIN_AREA and own.std() < _NEAR_FLOOR / 4
        return float(np.median(own)) if level else face.level

    def _is_flat(self, face: Face) -> bool:
        return face.level < self.floor + TALL

    def _depth(self, face: Face, height: float) -> float:
        """Return how much (m) of the sides of a thing of that height has an outline that is used."""
        return height if self._is_flat(face) else min(_SIDE_SHARE * height, BODY)

    def _placed(
        self, face: Face, region: Plateau, outline: Outline, kind: str, size: Vec3
    ) -> Iterator[tuple[float, Detection]]:
        """Yield things of that size: discs on the border, boxes on the whole face or in a corner of it."""
        a, b, _ = size
        if is_round(kind):
            points = self.view.to_plane(outline.points, face.level)
            whole = np.array([*_vote(points, a / 2), 0.0, a, b])
        else:
            (x, y), (w, h), degrees = self._rectangle(face.mask, face.level)
            yaw = np.radians(degrees) + (0.0 if (w >= h) == (a >= b) else np.pi / 2)
            whole = np.array([x, y, yaw, a, b])
        corners = () if is_round(kind) else self._in_corners(face, a, b)
        for starts, most in (([whole], 1), (corners, 2)):
            faces = ((0.0, self._shown(kind, start, face.level), start, start) for start in starts)
            for start in _promising(region, faces)[:most]:
                misfit, thing = self._fit_at(face, outline, kind, size, start, start is whole)
                its = silhouette(self.view, thing)
                shown = region.shown(its.face)[0] / max(int(its.face.mask.sum()), 1)
                yield misfit, replace(thing, confidence=_sure(shown * thing.confidence))
                if region.unexplained([its]) < GOOD:
                    return

    def _shown(self, kind: str, at: Array, level: float) -> Patch:
        """Return where the upper face of a thing shows that is at (x, y, yaw, a, b)."""
        x, y, yaw, a, b = at.tolist()
        outline = outline_of(kind, Pose.from_xyz_yaw(x, y, 0.0, yaw), (a, b, 0.0))
        return self.view.patch(np.column_stack((outline, np.full(len(outline), level))))

    def _in_corners(self, face: Face, a: float, b: float) -> Iterator[Array]:
        """Yield where (x, y, yaw, a, b) a rectangle fills a corner of a face."""
        borders, _ = cv2.findContours(face.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for border in (border for border in borders if cv2.contourArea(border) > MIN_AREA / 3):
            # Where a corner is cut off, the rectangle around all has it.
            rings = cv2.approxPolyDP(border, _BEND, True)[:, 0], cv2.boxPoints(cv2.minAreaRect(border))
            own = (self.view.to_plane(ring + self._origin, face.level) for ring in rings)
            with_ends = [np.stack([np.roll(ring, by, axis=0) for by in (0, 1, -1)], axis=1) for ring in own]
            for corner, *ends in np.vstack(with_ends):
                side, other = sorted((end - corner for end in ends), key=np.linalg.norm, reverse=True)
                side /= np.linalg.norm(side)
                across = other - side * (side @ other)
                length = np.linalg.norm(across)
                if length < max(LEVEL, _RIGHT * np.linalg.norm(other)):
                    continue
                across /= length
                yaw = np.arctan2(side[1], side[0])
                yield np.array([*(corner + side * a / 2 + across * b / 2), yaw, a, b])
                if a != b:
                    yield np.array([*(corner + side * b / 2 + across * a / 2), yaw + np.pi / 2, a, b])

    def _fit_at(
        self, face: Face, outline: Outline, kind: str, size: Vec3, start: Array, alone: bool
    ) -> tuple[float, Detection]:
        tilt, placed = (face.tilt, np.array(np.inf)) if alone else (None, _PLACED)
        if not alone:  # where a border goes on beyond a corner, it is that of what is next to it
            away = self.view.to_plane(outline.points, face.level) - start[:2]
            away = np.abs(away @ about_z(start[2])[:2, :2]) - start[3:] / 2
            inside = away.min(axis=1) < -_NEAR_FLOOR
            outline = Outline(outline.points[inside], outline.beside[inside])
        shape = Prism(kind, face.level, self._depth(face, size[2]), tilt)
        fit = fit_outline(self.view, shape, outline, start, placed)
        misfit = min(fit.spread / TOLERANCE, 1.0) + 1 - fit.inliers
        return misfit, self._thing(kind, fit.parameters, size, face.level, fit.inliers, tilt)

    def _thing(
        self,
        kind: str,
        at: Array,
        size: Vec3,
        top: float,
        fits: float,
        tilt: Array | None = None,
        known: bool = True,
    ) -> Detection:
        """Return a thing whose upper face has its middle at (x, y, yaw), `top` metres above the table."""
        period, pose = KINDS[kind].yaw_period, np.eye(4)
        yaw = wrap_angle(float(at[2]), period) if period else 0.0
        pose[:3, :3] = about_z(yaw) if tilt is None else tilt @ about_z(yaw)
        pose[:3, 3] = (*at[:2], self.view.table_top + top) - pose[:3, 2] * size[2] / 2
        colour = UNKNOWN if kind == UNKNOWN else self.colour
        return Detection(kind, colour, Pose.from_matrix(pose), size, _sure(fits), known=known)

    def _free_thing(
        self, kind: str, parameters: Array, fits: float, top: float, height: float | None = None
    ) -> Detection:
        """Return a thing of the size that a fit has found."""
        x, y, yaw, a, b = (float(v) for v in parameters)
        if is_round(kind):
            a = b = (a + b) / 2
        if b > a:
            yaw, a, b = yaw + np.pi / 2, b, a
        size = (a, b, max(top if height is None else height, THINNEST))
        return self._thing(kind, np.array([x, y, yaw]), size, top, fits, known=False)

    def leaning(self, face: Face) -> Face:
        """Return a face with all that belongs to the same slope; as it is, unless that is beyond doubt."""
        core = morphed(face.mask, cv2.MORPH_ERODE, 5) & (self.heights > NO_HEIGHT / 2)
        core[1::2] = core[:, 1::2] = False  # a quarter is enough
        if np.count_nonzero(core) < MIN_AREA:
            return face
        heights, points = self.heights[core].astype(float), self._points(core, face.level)
        middle = points.mean(axis=0)
        design = np.column_stack((points - middle, np.ones(len(points))))
        plane = np.linalg.solve(design.T @ design, design.T @ heights)
        off = float(np.std(heights - design @ plane)) / np.sqrt(len(heights))
        if np.hypot(*plane[:2]) < max(LEAN, _LEAN_SIGMAS * off / max(float(points.std()), 1e-6)):
            return face
        near = self.rest & (self.heights > self.floor + TALL)
        slope = plane[2] + (self._points(near, face.level) - middle) @ plane[:2]
        near[near] = np.abs(self.heights[near] - slope) < NOISE
        near = connected(near, core)
        level = float(np.median(self.heights[near]))
        tilt = aligning(np.array([0.0, 0.0, 1.0]), np.array([-plane[0], -plane[1], 1.0]))
        return replace(face, mask=near, body=face.body | near, level=level, tilt=tilt)

    # Things of any size.

    def _container(self, face: Face) -> Detection | None:
        """Return the bowl or the tray whose rim a face may be, as it is around lower ground, or None."""
        hull = _hull(face.mask)
        inside = self.heights[hull]
        if np.mean(inside[inside > NO_HEIGHT / 2] < face.level - JOINT) < _HOLLOW:
            return None
        way = self._fitted(self._border(replace(face, body=hull)), face.level, BODY)
        if way is None:
            return None
        kind, fit = "bowl" if is_round(way[0]) else "tray", way[1]
        thing = self._free_thing(kind, fit.parameters, fit.inliers, face.level)
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
            part = self.rest & (self.heights > bottom + _NEAR_FLOOR)
            part &= connected(morphed(part, cv2.MORPH_DILATE, SEAMS), face.mask)
            region = Plateau(self.view, Patch(self.window, part), face.level, self.clues.claims)
            known = region.unexplained(silhouette(self.view, thing) for thing in things)
            known += sum(self._price(thing, face) for thing in things)
            for pose, shown in fitted(kind, self.view, self.window, part):
                left = region.unexplained([shown]) + KNOWN
                if left < known:
                    ways.append((left, kind, pose))
        if not ways:
            return None
        left, kind, pose = min(ways, key=lambda way: way[0])
        size = MESHES[kind].size
        at = np.array([*pose.position[:2], pose.yaw])
        return self._thing(kind, at, size, pose.position[2] + size[2] / 2, 1 - left, known=False)

    def _solid(self, face: Face, hidden: Mask) -> Detection | None:
        """Return the rectangle or the disc that has this face, whatever its size, or None."""
        flat = self._is_flat(face)
        height = face.level - self.floor
        depth = self._depth(face, height)
        way = self._fitted(self._outline(face, hidden, depth), face.level, depth)
        if way is None:
            return None
        kind, fit = way
        if flat:
            kind = "plate" if is_round(kind) else "mat" if height < LOW else kind
        return self._free_thing(kind, fit.parameters, fit.inliers, face.level, height if flat else None)

    def _ball(self, face: Face) -> Detection | None:
        """Return the ball that has this surface, of a likely size if it has one, or None."""
        body = face.body & (self.heights > NO_HEIGHT / 2)
        level = np.mean(np.abs(self.heights[face.mask] - face.level) < THINNEST) > _LEVEL_PART
        if level or self._is_flat(face) or np.count_nonzero(body) < MIN_AREA:
            return None
        heights = self.heights[body].astype(float)
        points = np.column_stack((self._points(body, heights), heights))
        middle = points.mean(axis=0)
        own = points - middle
        # |p - c|² = r² is linear in c and in r² - |c|².
        design = np.column_stack((2 * own, np.ones(len(own))))
        *centre, rest = np.linalg.lstsq(design, (own**2).sum(axis=1), rcond=None)[0]
        radius = float(np.sqrt(rest + np.dot(centre, centre)))
        off = np.linalg.norm(own - centre, axis=1) - radius
        reach = float(np.percentile(np.hypot(*own[:, :2].T), 95))
        if radius > _DOME * reach or np.sqrt(np.mean(off**2)) > NOISE:
            return None
        x, y, z = middle + centre
        top, radius = z + radius, max(radius, reach)
        balls = [size for kind, size in self._sizes if KINDS[kind].domed]
        size = min(balls, key=lambda size: abs(size[0] - 2 * radius), default=(2 * radius,) * 3)
        known = bool(balls) and abs(size[0] - 2 * radius) < _NEAR_FLOOR
        size = size if known else (2 * radius,) * 3
        return self._thing("ball", np.array([x, y, 0.0]), size, top, 1.0, known=known)

    def _fitted(self, outline: Outline, level: float, depth: float) -> tuple[str, Fit] | None:
        """Return the kind, cylinder or cuboid, whose face fits an outline best, and the fit, or None."""
        if len(outline.points) < MIN_POINTS:
            return None
        points = self.view.to_plane(outline.points, level).astype(np.float32)
        (x, y), (a, b), degrees = cv2.minAreaRect(points)
        middle, radius = cv2.minEnclosingCircle(points)
        depth = min(depth, level - self.floor)
        starts = {
            "cylinder": np.array([*middle, 0.0, 2 * radius, 2 * radius]),
            "cuboid": np.array([x, y, np.radians(degrees), a, b]),
        }
        ways = []
        for kind, start in starts.items():
            fit = fit_outline(self.view, Prism(kind, level, depth), outline, start)
            edges = fit.parameters[3:]  # those of a sliver of a hidden thing are none that a thing has
            if fit.inliers > MOSTLY and _SMALLEST < edges.min() <= edges.max() < _LARGEST:
                ways.append((kind, fit))
        return max(ways, key=lambda way: (round(way[1].inliers, 2), -way[1].spread), default=None)

    def _outline(self, face: Face, hidden: Mask, depth: float) -> Outline:
        """Return the border of a body down to `depth` below its face."""
        # What is level, and lower, is the upper face of something else.
        lower = morphed(face.body & self.even & (self.heights < face.level - LEVEL), cv2.MORPH_DILATE, 3)
        body = face.body & (self.heights > face.level - depth) & ~lower
        return self._border(replace(face, body=body), hidden, depth)

    def _border(self, face: Face, hidden: Mask | None = None, depth: float = BODY) -> Outline:
        border = trace(Patch(self.window, face.body), self.heights, face.level, depth, hidden)
        if not len(border.points) or np.count_nonzero(face.body) < 2:  # a single pixel has no holes
            return border
        # Borders of holes belong to what lies within.
        hull = convex_hull(_ends_of_rows(face.body) + self._origin)
        outer = distance_to_polygon(border.points, hull) > _WITHIN
        return Outline(border.points[outer], border.beside[outer])


def connected(mask: Mask, seeds: Mask) -> Mask:
    """Return the connected parts of a mask that have something of the seeds."""
    _, parts = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    return np.isin(parts, np.unique(parts[mask & seeds])) & mask


def _ways_up(kind: str, size: Vec3) -> set[Vec3]:
    """Return the sizes, height last, that a thing on the table may show: a block may lie on any side."""
    a, b, c = size
    if not KINDS[kind].oblong:
        return {size}
    return {(max(p), min(p), h) for p, h in (((a, b), c), ((a, c), b), ((b, c), a))}


def _promising(region: Plateau, ways: Iterable[tuple[float, Patch, Array, T]]) -> list[T]:
    """Return what shows enough of a region, the best first, none next to a better one.

    Each way is how badly it fits, where an upper face would show, its place (x, y and more), and what has it.
    """
    good = []
    for misfit, face, place, what in ways:
        inside, missing = region.shown(face)
        if inside >= max(_SHOWN * np.count_nonzero(face.mask), missing):
            good.append((misfit + (2 * missing - inside) / region.area, place, what))
    first: list[tuple[Array, T]] = []
    for _, place, what in sorted(good, key=lambda way: way[0]):
        if all(np.linalg.norm(place - other) > JOINT for other, _ in first):
            first.append((place, what))
    return [what for _, what in first]


def _hull(mask: Mask) -> Mask:
    """Return the convex hull of a mask, as a mask."""
    filled = np.zeros(mask.shape, np.uint8)
    cv2.fillConvexPoly(filled, cv2.convexHull(_ends_of_rows(mask)), 1)
    return filled.view(bool)


def _ends_of_rows(mask: Mask) -> NDArray[np.int32]:
    """Return the first and the last pixel of each row of a mask (N, 2: column, row), which its hull has."""
    rows = np.flatnonzero(mask.any(axis=1))
    ends = mask[rows].argmax(axis=1), mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1)
    return np.column_stack((np.concatenate(ends), np.tile(rows, 2))).astype(np.int32)


def _sure(share: float) -> float:
    """Return a confidence, of which there is never none and never all."""
    return float(np.clip(share, 0.05, 0.99))


def _vote(points: Array, radius: float) -> Array:
    """Return the centre (2,) of a circle of known radius, through two points, that most others lie on."""
    points = points[:: max(1, len(points) // _DRAWN.size)]
    a, b = points[(_DRAWN * len(points)).astype(int)]
    half = (b - a) / 2
    length = np.maximum(np.linalg.norm(half, axis=1, keepdims=True), TOLERANCE)
    across = half[:, ::-1] * (-1, 1) * np.sqrt(np.maximum((radius / length) ** 2 - 1, 0))
    centres = np.vstack((a + half + across, a + half - across))
    squares = (centres**2).sum(axis=1)[:, None] - 2 * centres @ points.T + (points**2).sum(axis=1)
    near = (squares > (radius - TOLERANCE) ** 2) & (squares < (radius + TOLERANCE) ** 2)
    return centres[int(np.argmax(np.count_nonzero(near, axis=1)))]
