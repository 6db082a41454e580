"""One connected region of a colour, taken apart into things.

It is taken apart from the highest level down. A level part is the upper face of a solid, the rim of a
container, or a thing that carries another one; its outline is fitted with a rectangle and with a disc whose
sizes are free, and the better of the two tells the kind. What is neither is `unknown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array, Pose, wrap_angle
from spca_core.kinds import KINDS, MESHES, WALL, ObjectKind, is_round, problem_with
from spca_sense.detection import UNKNOWN, Detection
from spca_sense.explanations import ANYTHING, FREE, KNOWN, Plateau, Silhouette
from spca_sense.fitting import Fit, fit_shape
from spca_sense.footprint import outline_of
from spca_sense.meshes import fitted
from spca_sense.outline import trace
from spca_sense.shapes import BoxShape, DiscShape, convex_hull, distance_to_polygon, share_of_turn
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Patch, Window

TALL = 0.012
"""Metres above the table: what is lower is flat, a plate or a mat."""
LOW = 0.005
"""Metres above the table: what is lower is a mat, or the noise of the camera."""
NOISE = 0.005
"""Metres by which single pixels of a face may be too high or too low."""
LEVEL = 0.008
"""Metres off the level of an upper face that still belong to it: noise, a slight lean."""
MIN_AREA = 90
"""Pixels that are enough for a thing: 1.8 cm²."""

_FOOT = 0.003  # metres above the lower face of a thing with a mesh, below which its pixels do not count
_SEAMS = np.ones((9, 9), np.uint8)  # pixels between the parts of a mesh, as narrow as a handle's edge
_BESIDE = 0.002  # metres outside of an outline that still are the thing: errors of its fit, and of pixels
_BOX = np.array(list(product((-0.5, 0.5), repeat=3)))  # corners of a box with edges of 1
_CUT = 0.010  # metres of the sides, from the top, whose outline is used
_STEP = 0.010  # metres from a rim down to what is inside of it
_HOLLOW = 0.3  # share of the area within the rim that must be lower
_RIM = 1.5  # times a wall's thickness within which all of a rim lies
_DOME = 0.12  # of its radius, by which a ball's upper side falls off towards its outline
_LEAST_FALL = 0.004  # metres; noise makes small level faces fall off by less
_MIN_OWN, _ENOUGH = 24, 400  # outline points that are needed, and that are enough
MIN_INLIERS = 0.6
_MIN_ARC = 0.25  # share of a rim that must be in sight
_DOUBTFUL = 0.85  # share of inliers below which a face may be that of several things
_PERFECT = 0.98  # share of inliers at which an outline is a disc's without a look at the rectangle
_SMALLEST, _LARGEST = 0.012, 0.30  # metres: edges of what may be a thing


@dataclass(frozen=True)
class Face:
    """A level region (a mask of the window), the body it belongs to, and its height."""

    mask: Mask
    body: Mask
    level: float


class ColourRegion:
    """Takes one connected region of a colour apart."""

    def __init__(self, view: HeightView, colour: str, window: Window, mask: Mask) -> None:
        self.view, self.colour, self.window, self.mask = view, colour, window, mask
        self.heights = view.heights[window]
        heights, around = self.heights.astype(np.float32), np.ones((3, 3), np.uint8)
        self._even: Mask = cv2.dilate(heights, around) - cv2.erode(heights, around) < LEVEL
        self.origin = np.array([window[1].start, window[0].start], float)

    def tall(self) -> list[Detection]:
        """Return the things that stand out, from high to low."""
        found: list[Detection] = []
        rest = self.mask.copy()
        while (face := self._highest(rest)) is not None:
            hull = self._hull(face.mask)
            inside = self.heights[hull]
            low = float(np.mean(inside[inside > NO_HEIGHT / 2] < face.level - _STEP))
            thing = self._container(face) if low > _HOLLOW else None
            things = [thing] if thing is not None else self._solids(face)
            thing = self._of_mesh(face, rest, things) or thing
            things = [thing] if thing is not None else things
            found += things
            taken = face.body | (hull if thing is not None else face.mask)
            rest &= ~cv2.dilate(taken.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
            rest = outside(self.view, things, rest, self.window)
        return found

    def _highest(self, rest: Mask) -> Face | None:
        """The highest level region that is large enough."""
        tall = rest & (self.heights > TALL)
        _, parts, stats, _ = cv2.connectedComponentsWithStats(tall.astype(np.uint8), connectivity=8)
        best: Face | None = None
        faces = []
        for index in range(1, len(stats)):
            if stats[index, cv2.CC_STAT_AREA] < MIN_AREA:
                continue
            part = parts == index
            level = self._level(part)
            if level - NOISE < TALL:  # half of a face just above the limit seems to be below it
                part |= self._connected(rest & (self.heights > level - NOISE), part)
            near, body = part & (self.heights > level - LEVEL), part & (self.heights > level - _CUT)
            faces.append(Face(near, body, level))
            if best is None or level > best.level:
                best = faces[-1]
        return best if best is None else self._joined(best, faces)

    @staticmethod
    def _connected(mask: Mask, seeds: Mask) -> Mask:
        """The connected parts of a mask that have something of the seeds."""
        _, parts = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
        return np.isin(parts, np.unique(parts[mask & seeds])) & mask

    def _joined(self, best: Face, faces: list[Face]) -> Face:
        """A face with those that only a higher thing separates from it: on it, or before a rim."""
        level = [f for f in faces if abs(f.level - best.level) < LEVEL / 2]
        if len(level) < 2:
            return best
        mask, body = (np.logical_or.reduce([getattr(f, name) for f in level]) for name in ("mask", "body"))
        whole = Face(mask, body, best.level)
        if self._is_rim(mask, self._hull(mask), best.level):
            return whole
        one = self.solid(whole)
        if one is None or one.kind == "unknown":
            return best
        left = Plateau(self.view, self.window, mask, best.level).unexplained([silhouette(self.view, one)])
        return whole if left < FREE else best

    def _is_rim(self, mask: Mask, hull: Mask, level: float) -> bool:
        """Return whether a mask is along its hull's border, no thicker than walls, around lower ground."""
        within = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 3) * self.view.metres_per_pixel(
            level
        )
        lower = (self.heights < level - _STEP) & (self.heights > NO_HEIGHT / 2)
        return bool(np.percentile(within[mask], 95) < _RIM * WALL and np.mean(lower[hull]) > _HOLLOW)

    def _level(self, part: Mask) -> float:
        """The highest level at which there is enough of a face, metres.

        Pixels between a face and what lies on it have a height of both, and of neither.
        """
        inner = part & self._even
        heights = self.heights[inner if inner.sum() > MIN_AREA // 2 else part]
        ordered = np.sort(heights)[::-1]
        top = float(ordered[min(len(ordered) // 8, MIN_AREA // 2)])
        return float(np.median(heights[heights > top - 0.004]))

    def _hull(self, mask: Mask) -> Mask:
        """The convex hull of a mask."""
        points = np.argwhere(mask)[:, ::-1].astype(np.int32)
        filled = np.zeros(mask.shape, np.uint8)
        cv2.fillConvexPoly(filled, cv2.convexHull(points), 1)
        return filled.astype(bool)

    def _container(self, face: Face) -> Detection | None:
        rim = replace(face, mask=self._hull(face.mask), body=self._hull(face.mask))
        kind, fit = self._fitted(rim, _CUT)
        if fit is None or fit.inliers < MIN_INLIERS:
            return None
        thing = self._detection("bowl" if kind == "cylinder" else "tray", fit, face.level, face.level)
        return None if problem_with(thing.kind, thing.size) else thing

    def _of_mesh(self, face: Face, rest: Mask, things: list[Detection]) -> Detection | None:
        """A thing of a kind with a mesh, if it explains better what is around a face than `things` do."""
        ways: list[tuple[float, str, Pose]] = []
        for kind, mesh in MESHES.items():
            bottom = face.level - mesh.size[2]
            if bottom < -LEVEL:
                continue
            part = rest & (self.heights > bottom + _FOOT)
            joined = cv2.dilate(part.astype(np.uint8), _SEAMS).astype(bool)
            part &= self._connected(joined, face.mask)
            region = Plateau(self.view, self.window, part, face.level)
            known = region.unexplained(silhouette(self.view, thing) for thing in things)
            known += sum(ANYTHING if thing.kind == "unknown" else FREE for thing in things)
            for pose, shown in fitted(kind, self.view, self.window, part):
                left = region.unexplained([shown]) + KNOWN
                if left < known:
                    ways.append((left, kind, pose))
        if not ways:
            return None
        left, kind, pose = min(ways, key=lambda way: way[0])
        x, y, z = pose.position
        return Detection(
            kind=kind,
            colour=self.colour,
            pose=Pose.from_xyz_yaw(x, y, self.view.table_top + z, pose.yaw),
            size=MESHES[kind].size,
            confidence=float(np.clip(1 - left, 0.05, 0.99)),
        )

    def _solids(self, face: Face) -> list[Detection]:
        """The solid that has this face, or the several that touch and have it together."""
        one = self.solid(face)
        if one is not None and one.confidence < _DOUBTFUL:
            parts = [self.solid(part) for part in self._cut(face)]
            better = [p for p in parts if p is not None and p.confidence > _DOUBTFUL and p.kind != "unknown"]
            if len(better) == len(parts) > 1:
                return better
        return [one] if one is not None else []

    def _cut(self, face: Face) -> list[Face]:
        """A face cut where it is narrow."""
        inner: NDArray[Any] = face.mask.astype(np.uint8)
        while inner.any():
            inner = cv2.erode(inner, np.ones((3, 3), np.uint8))
            count, parts, stats, _ = cv2.connectedComponentsWithStats(inner, connectivity=4)
            large = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] > MIN_AREA // 3]
            if len(large) > 1:
                away = [cv2.distanceTransform((parts != i).astype(np.uint8), cv2.DIST_L2, 5) for i in large]
                nearest = np.argmin(away, axis=0)
                return [
                    Face(face.mask & (nearest == k), face.body & (nearest == k), face.level)
                    for k in range(len(large))
                ]
        return [face]

    def solid(self, face: Face) -> Detection | None:
        """The one solid that has this face; an obstacle, if its outline is no solid's."""
        ball = self._ball(face)
        if ball is not None:
            return ball
        kind, fit = self._fitted(face, _CUT)
        if fit is None and np.count_nonzero(face.body) < MIN_AREA:
            return None
        if fit is None or fit.inliers < MIN_INLIERS:
            return self._obstacle(face)
        return self._detection(kind, fit, face.level, face.level)

    def _ball(self, face: Face) -> Detection | None:
        """A round thing whose upper side falls off towards its outline."""
        tall = self.mask & (self.heights > TALL)
        _, parts = cv2.connectedComponents(tall.astype(np.uint8), connectivity=8)
        whole = parts == parts[tuple(np.argwhere(face.mask)[0])]
        points = self.view.to_plane(np.argwhere(whole)[:, ::-1] + self.origin, face.level / 2)
        heights = self.heights[whole]
        # A height function z = top - |p - c|² / 2R near the top of a ball of radius R.
        near = heights > face.level - 0.010
        if np.count_nonzero(near) < MIN_AREA:
            return None
        middle = points[near].mean(axis=0)
        away = np.hypot(*(points[near] - middle).T)
        reach = float(np.percentile(away, 95))
        inner, outer = away < 0.45 * reach, away > 0.75 * reach
        if not inner.any() or not outer.any():
            return None
        fall = float(np.median(heights[near][inner]) - np.median(heights[near][outer]))
        if fall < max(_DOME * reach, _LEAST_FALL):
            return None
        radius = max(face.level / 2, 0.5 * reach)
        pixels = self._outline(replace(face, mask=whole, body=whole))
        fit = None if pixels is None else self._disc(pixels, face.level - radius, 0.001)
        if fit is None or fit.inliers < MIN_INLIERS:
            return None
        top = float(np.percentile(heights[near][inner], 60))
        x, y, r = fit.parameters[0], fit.parameters[1], fit.parameters[2] / 10
        return self._detection("ball", replace(fit, parameters=np.array([x, y, 10 * r])), top, 2 * r)

    def _fitted(self, face: Face, depth: float, foreign: Mask | None = None) -> tuple[ObjectKind, Fit | None]:
        """The rectangle or the disc that fits the outline better, as far as it is not that of `foreign`."""
        pixels = self._outline(face, foreign)
        if pixels is None:
            return "cuboid", None
        disc = self._disc(pixels, face.level, depth)
        if disc is not None and disc.inliers > _PERFECT:
            return "cylinder", disc
        box = self._box(pixels, face.level, depth)
        if disc is None or box is None:
            return "cuboid" if disc is None else "cylinder", disc or box
        round_ = (round(disc.inliers, 2), -disc.spread) > (round(box.inliers, 2), -box.spread)
        return ("cylinder", disc) if round_ else ("cuboid", box)

    def _outline(self, face: Face, foreign: Mask | None = None) -> Array | None:
        outline = trace(face.body, self.heights, face.level, foreign)
        own = outline.points[outline.own]
        own = own[:: max(1, len(own) // _ENOUGH)]
        if face.body.any() and len(own) >= _MIN_OWN:
            # Borders of holes belong to what lies within.
            hull = convex_hull(np.argwhere(face.body)[:, ::-1].astype(float))
            own = own[distance_to_polygon(own, hull) > -3.0]
        return own + self.origin if len(own) >= _MIN_OWN else None

    def _box(self, pixels: Array, level: float, depth: float) -> Fit | None:
        points = self.view.to_plane(pixels, level)
        (x, y), (a, b), degrees = cv2.minAreaRect(points.astype(np.float32))
        if not _SMALLEST < min(a, b) <= max(a, b) < _LARGEST:
            return None
        shape = BoxShape.upright(0.0, level, min(depth, level))

        def residuals(parameters: Array) -> Array:
            return distance_to_polygon(points, shape.silhouette(self.view, parameters))

        fit = fit_shape(residuals, np.array([x, y, np.radians(degrees), a, b]))
        return _of_possible_size(fit, fit.parameters[3:])

    def _disc(self, pixels: Array, height: float, depth: float) -> Fit | None:
        """Parameters x, y and ten times the radius, so that it moves in steps as small as theirs."""
        points = self.view.to_plane(pixels, height)
        (x, y), radius = cv2.minEnclosingCircle(convex_hull(points).astype(np.float32))
        if not _SMALLEST < 2 * radius < _LARGEST:
            return None

        def residuals(parameters: Array) -> Array:
            shape = DiscShape(parameters[2] / 10, min(depth, height), height)
            return shape.distance(self.view, points, parameters[:2])

        fit = fit_shape(residuals, np.array([x, y, 10 * radius]))
        if share_of_turn(points - fit.parameters[:2]) < _MIN_ARC:
            return None  # too little of the rim to tell how large the disc is
        return _of_possible_size(fit, fit.parameters[2:] / 5)

    def _obstacle(self, face: Face) -> Detection:
        """Whatever it is, it is in the way."""
        points = self.view.to_plane(np.argwhere(face.body)[:, ::-1] + self.origin, face.level)
        (x, y), (a, b), degrees = cv2.minAreaRect(points.astype(np.float32))
        fit = Fit(np.array([x, y, np.radians(degrees), max(a, _SMALLEST), max(b, _SMALLEST)]), 0.0, 0.5)
        return self._detection("unknown", fit, face.level, face.level)

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
            kind=kind,
            colour=UNKNOWN if kind == "unknown" else self.colour,
            pose=Pose.from_xyz_yaw(x, y, z - height / 2, yaw),
            size=(a, b, max(height, 0.001)),
            confidence=float(np.clip(fit.inliers, 0.05, 0.99)),
        )


def _of_possible_size(fit: Fit, size: Array) -> Fit | None:
    """The fit, unless it has shrunk or grown to edges that no thing has, as on a sliver of a hidden one."""
    return fit if _SMALLEST < size.min() <= size.max() < _LARGEST else None


def silhouette(view: HeightView, thing: Detection, grow: int = 1) -> Silhouette:
    """Return the silhouette of a thing, its sides grown by some pixels."""
    outline = outline_of(thing.kind, thing.pose, thing.size)
    upper = np.column_stack((outline, np.full(len(outline), thing.top - view.table_top)))
    lower, face = upper - (0.0, 0.0, thing.size[2]), upper
    if KINDS[thing.kind].domed and thing.size[2] > LEVEL:  # what is level of it is a cap
        middle = upper.mean(axis=0)
        face = middle + (upper - middle) * 2 * np.sqrt(LEVEL * (thing.size[2] - LEVEL)) / thing.size[2]
    return Silhouette(view.patch(face), view.patch(np.vstack((upper, lower)), grow))


def _hull(view: HeightView, thing: Detection) -> tuple[Array, float]:
    """A thing's outline from above (N, 2), and how far above the table it reaches; it may lean."""
    if is_round(thing.kind):
        return outline_of(thing.kind, thing.pose, thing.size), thing.top - view.table_top
    corners = _BOX * thing.size @ thing.pose.matrix()[:3, :3].T + thing.pose.position
    return convex_hull(corners[:, :2]), float(corners[:, 2].max()) - view.table_top


def outside(view: HeightView, things: Sequence[Detection], mask: Mask, window: Window | None = None) -> Mask:
    """The pixels of a mask that show something outside of the hulls of things, which reach to the ground.

    What is in line with a thing is not always hidden by it, or a part of it: the point that is seen tells.
    """
    window = window or (slice(0, mask.shape[0]), slice(0, mask.shape[1]))
    rest = mask.copy()
    for thing in things:
        outline, top = _hull(view, thing)
        upper = np.column_stack((outline, np.full(len(outline), top)))
        face, its = view.patch(upper), view.patch(np.vstack((upper, upper * (1, 1, 0))), grow=2)
        heights = view.heights[its.window]
        inside = its.mask & (heights < top + NOISE) & Patch(window, rest).within(its.window)
        rows, columns = np.nonzero(inside & ~(face.within(its.window) & (heights > top - NOISE)))
        pixels = np.column_stack((columns + its.window[1].start, rows + its.window[0].start))
        seen = heights[rows, columns].astype(np.float64)
        points, unseen = view.to_plane(pixels, seen), seen < NO_HEIGHT / 2
        inside[rows, columns] = unseen | (distance_to_polygon(points, outline) < _BESIDE)
        rest &= ~Patch(its.window, inside).within(window)
    return rest
