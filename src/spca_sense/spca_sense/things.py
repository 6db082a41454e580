"""Finds things of any size by shape, on a table where other things than the known cubes and plates may lie.

What one colour covers is taken apart from the highest level down. A level region is the upper face of a
solid, the rim of a container, or a thing that carries another one; its outline is fitted with a rectangle
and with a disc whose sizes are free, and the better of the two tells the kind. What is neither is `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from spca_core.geometry import Array, Pose, wrap_angle
from spca_core.kinds import KINDS, WALL, ObjectKind
from spca_sense.colours import NEUTRAL, ColourLabels
from spca_sense.detection import UNKNOWN, Detection
from spca_sense.fitting import Fit, fit_shape
from spca_sense.footprint import outline_of, polygon_area, shared_area
from spca_sense.outline import trace
from spca_sense.shapes import BoxShape, DiscShape, convex_hull, distance_to_polygon
from spca_sense.view import NO_HEIGHT, Mask, Patch, View, Window, bounding_window

TALL = 0.012
"""Metres above the table: what is lower is flat, a plate or a mat."""

_LEVEL = 0.008  # metres below the highest level that still belong to it
_CUT = 0.010  # metres of the sides, from the top, whose outline is used
_OCCLUDER = 0.012
_STEP = 0.010  # metres from a rim down to what is inside of it
_HOLLOW = 0.3  # share of the area within the rim that must be lower
_RIM = 1.5  # times a wall's thickness within which all of a rim lies
_DOME = 0.12  # of its radius, by which a ball's upper side falls off towards its outline
_LEAST_FALL = 0.004  # metres; noise makes small level faces fall off by less
_MIN_AREA = 90  # pixels, 1.8 cm²
_MIN_OWN, _ENOUGH = 24, 400  # outline points that are needed, and that are enough
_TOLERANCE = 0.0025
_MIN_INLIERS = 0.6
_PERFECT = 0.98  # share of inliers at which an outline is a disc's without a look at the rectangle
_FILLED = 0.6  # share of a flat thing, as far as nothing hides it, that must have its colour
_SMALLEST, _LARGEST = 0.012, 0.30  # metres: edges of what may be a thing
_EQUAL = 0.004  # metres by which the edges of a cube may seem to differ
_FLAT = 0.0035  # metres above the table: below it a flat thing is a mat, above it a plate
_ONE = 0.85  # share of what pieces of a face enclose that must be theirs, or be hidden
_INSIDE = 0.6  # share of a piece's outline within that of the whole
_OVERLAP = 0.25  # share of a thing's footprint over what it rests on
_MARGIN = 6
# Obstacles where none are expected: metres above the table, at least and at most; pixels across; cube areas.
_STANDING, _TOO_HIGH = 0.018, 0.18
_THICK = 11
_CLEARLY_LARGER = 2.5


@dataclass(frozen=True)
class _Face:
    """A level region (a mask of the window), the body it belongs to, and its height."""

    mask: Mask
    body: Mask
    level: float


def find_tall(view: View, colours: ColourLabels, taken: Mask) -> list[Detection]:
    """Everything that stands out of the table, except for the pixels in `taken` (H, W)."""
    found: list[Detection] = []
    free = ~taken
    for label in range(len(colours.names) + 1):
        # A grey thing is told from the table by its height; a coloured one may have a floor, as a bowl has.
        mask = free & (colours.labels == label)
        if label == NEUTRAL:
            mask &= view.heights > TALL
        colour = UNKNOWN if label == NEUTRAL else colours.names[label - 1]
        for window, component in _components(mask, view.heights > TALL):
            found += _Search(view, colour, window, component).tall()
    return [thing for thing in found if not any(_is_part_of(thing, other) for other in found)]


def find_obstacles(view: View, colours: ColourLabels, taken: Mask, edge: float) -> list[Detection]:
    """What stands on a table where nothing but cubes of that `edge` (metres) and plates is expected.

    It is `unknown`, whatever its shape. What has a cube's colour, is not clearly larger than one and is next
    to what is `taken` may be a piece of a cube, and what reaches high up or out of the image may be the arm:
    neither is reported.
    """
    seams = np.ones((_THICK, _THICK), np.uint8)
    free = (~taken & (view.heights > _STANDING)).astype(np.uint8)
    found: list[Detection] = []
    for window, component in _components(cv2.morphologyEx(free, cv2.MORPH_OPEN, seams) > 0):
        whole = np.zeros(view.heights.shape, bool)
        whole[window] = component
        rim = whole[0].any() or whole[-1].any() or whole[:, 0].any() or whole[:, -1].any()
        heights = view.heights[whole]
        if rim or heights.max() > _TOO_HIGH:
            continue
        search = _Search(view, UNKNOWN, window, component)
        face = search._highest(component)
        if face is None:
            continue
        thing = search._obstacle(replace(face, body=component))
        coloured = np.mean(colours.labels[whole] != NEUTRAL) > _FILLED
        large = thing.size[0] * thing.size[1] > _CLEARLY_LARGER * edge**2
        alone = not (taken & (cv2.dilate(whole.astype(np.uint8), seams) > 0)).any()
        if large or alone or not coloured:
            found.append(thing)
    return found


def _is_part_of(piece: Detection, whole: Detection) -> bool:
    """Whether it is only a piece of a larger upper face, cut off by what stands on that."""
    if piece is whole or piece.colour != whole.colour or abs(piece.top - whole.top) > _LEVEL:
        return False
    a, b = (outline_of(d.kind, d.pose, d.size) for d in (piece, whole))
    return polygon_area(a) < polygon_area(b) and shared_area(a, b) > _INSIDE * polygon_area(a)


def find_flat(view: View, colours: ColourLabels, taken: Mask) -> list[Detection]:
    """Coloured things that lie flat on the table, except for the pixels in `taken` (H, W)."""
    found: list[Detection] = []
    for label, colour in enumerate(colours.names, start=1):
        mask = ~taken & (colours.labels == label) & (view.heights < TALL) & (view.heights > -TALL)
        for window, component in _components(mask, taken):
            found += _Search(view, colour, window, component).flat(taken[window])
    return found


def on_their_supports(things: Sequence[Detection], table_top: float) -> list[Detection]:
    """The things with their heights: each reaches down to what it stands on, as far as that is seen."""
    settled: list[Detection] = []
    for thing in sorted(things, key=lambda d: d.top):
        if thing.kind in ("cube", "plate") or KINDS[thing.kind].walled:
            settled.append(thing)
            continue
        own = outline_of(thing.kind, thing.pose, thing.size)
        area = polygon_area(own)
        below = [
            other.deck
            for other in settled
            if other.deck < thing.top - _LEVEL
            and shared_area(own, outline_of(other.kind, other.pose, other.size)) > _OVERLAP * area
        ]
        settled.append(_reaching_down(thing, max(below, default=table_top)))
    return settled


def _reaching_down(thing: Detection, bottom: float) -> Detection:
    a, b, _ = thing.size
    height = thing.top - bottom
    kind, size = thing.kind, (a, b, height)
    if kind == "cuboid" and max(size) - min(size) < _EQUAL:
        edge = float(np.mean(size))
        kind, size = "cube", (edge, edge, edge)
    elif kind == "ball":
        size = (a, a, a)
    x, y, _ = thing.pose.position
    yaw = wrap_angle(thing.pose.yaw, KINDS[kind].yaw_period) if KINDS[kind].yaw_period else 0.0
    return replace(thing, kind=kind, size=size, pose=Pose.from_xyz_yaw(x, y, thing.top - size[2] / 2, yaw))


def _components(mask: Mask, across: Mask | None = None) -> Iterator[tuple[Window, Mask]]:
    """Regions that are connected, be it `across` other things, without the seams between things."""
    if np.count_nonzero(mask) < _MIN_AREA:
        return
    area = bounding_window(mask, _MARGIN)
    mask, (down, right) = mask[area], (area[0].start, area[1].start)
    seams = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    joined = seams if across is None else seams | across[area].astype(np.uint8)
    count, parts = cv2.connectedComponents(joined, connectivity=8)
    areas = np.bincount(parts[seams > 0], minlength=count)
    for index in range(1, count):
        if areas[index] >= _MIN_AREA:
            part = (parts == index) & (seams > 0)
            rows, columns = bounding_window(part, _MARGIN)
            window = (
                slice(rows.start + down, rows.stop + down),
                slice(columns.start + right, columns.stop + right),
            )
            yield window, part[rows, columns]


class _Search:
    """Takes one connected region of a colour apart."""

    def __init__(self, view: View, colour: str, window: Window, mask: Mask) -> None:
        self.view, self.colour, self.window, self.mask = view, colour, window, mask
        self.heights = view.heights[window]
        self.origin = np.array([window[1].start, window[0].start], float)

    def tall(self) -> list[Detection]:
        """What stands out, from high to low."""
        found: list[Detection] = []
        rest = self.mask.copy()
        while (face := self._highest(rest)) is not None:
            hull = self._hull(face.mask)
            inside = self.heights[hull]
            low = float(np.mean(inside[inside > NO_HEIGHT / 2] < face.level - _STEP))
            thing = self._container(face) if low > _HOLLOW else self._solid(face)
            found += [thing] if thing is not None else []
            rest &= ~cv2.dilate((hull | face.body).astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
            if thing is not None:
                rest &= ~column(self.view, thing).within(self.window)
        return found

    def flat(self, hidden: Mask) -> list[Detection]:
        """A mat, or a plate of another size than usual; `hidden` are the pixels of what may stand on it."""
        heights = self.heights[self.mask & (self.heights > NO_HEIGHT / 2)]
        if not len(heights):
            return []
        level = max(float(np.median(heights)), 0.001)
        face = _Face(self.mask, self.mask, level)
        kind, fit = self._fitted(face, depth=level)
        hull = self._hull(self.mask)
        if fit is None or fit.inliers < _MIN_INLIERS or np.mean(self.mask[hull & ~hidden]) < _FILLED:
            return []
        if kind == "cylinder":
            return [self._detection("plate", fit, level, level)]
        return [self._detection("mat", fit, level, level)] if level < TALL / 2 else []

    def _highest(self, rest: Mask) -> _Face | None:
        """The highest level region that is large enough."""
        tall = rest & (self.heights > TALL)
        _, parts, stats, _ = cv2.connectedComponentsWithStats(tall.astype(np.uint8), connectivity=8)
        best: _Face | None = None
        faces = []
        for index in range(1, len(stats)):
            if stats[index, cv2.CC_STAT_AREA] < _MIN_AREA:
                continue
            part = parts == index
            level = self._level(self.heights[part])
            near, body = part & (self.heights > level - _LEVEL), part & (self.heights > level - _CUT)
            faces.append(_Face(near, body, level))
            if best is None or level > best.level:
                best = faces[-1]
        return best if best is None else self._joined(best, faces)

    def _joined(self, best: _Face, faces: list[_Face]) -> _Face:
        """A face with those that only a higher thing separates from it: on it, or before a rim."""
        level = [f for f in faces if abs(f.level - best.level) < _LEVEL / 2]
        if len(level) < 2:
            return best
        mask, body = (np.logical_or.reduce([getattr(f, name) for f in level]) for name in ("mask", "body"))
        hull = self._hull(mask)
        seen = hull & (self.heights < best.level + _LEVEL)
        whole = np.mean(mask[seen]) > _ONE or self._is_rim(mask, hull, best.level)
        return _Face(mask, body, best.level) if whole else best

    def _is_rim(self, mask: Mask, hull: Mask, level: float) -> bool:
        """Whether a mask is along the border of its hull, no thicker than walls, and lower ground within."""
        within = cv2.distanceTransform(hull.astype(np.uint8), cv2.DIST_L2, 3) * self.view.metres_per_pixel(
            level
        )
        lower = (self.heights < level - _STEP) & (self.heights > NO_HEIGHT / 2)
        return bool(np.percentile(within[mask], 95) < _RIM * WALL and np.mean(lower[hull]) > _HOLLOW)

    def _level(self, heights: Array) -> float:
        """The highest level at which there is enough of a face, metres."""
        ordered = np.sort(heights)[::-1]
        top = float(ordered[min(len(ordered) // 8, _MIN_AREA // 2)])
        return float(np.median(heights[heights > top - 0.004]))

    def _hull(self, mask: Mask) -> Mask:
        """The convex hull of a mask."""
        points = np.argwhere(mask)[:, ::-1].astype(np.int32)
        filled = np.zeros(mask.shape, np.uint8)
        cv2.fillConvexPoly(filled, cv2.convexHull(points), 1)
        return filled.astype(bool)

    def _container(self, face: _Face) -> Detection | None:
        rim = replace(face, mask=self._hull(face.mask), body=self._hull(face.mask))
        kind, fit = self._fitted(rim, _CUT)
        if fit is None or fit.inliers < _MIN_INLIERS:
            return None
        return self._detection("bowl" if kind == "cylinder" else "tray", fit, face.level, face.level)

    def _solid(self, face: _Face) -> Detection | None:
        ball = self._ball(face)
        if ball is not None:
            return ball
        kind, fit = self._fitted(face, _CUT)
        if fit is None:
            return None
        if fit.inliers < _MIN_INLIERS:
            return self._obstacle(face)
        return self._detection(kind, fit, face.level, face.level)

    def _ball(self, face: _Face) -> Detection | None:
        """A round thing whose upper side falls off towards its outline."""
        tall = self.mask & (self.heights > TALL)
        _, parts = cv2.connectedComponents(tall.astype(np.uint8), connectivity=8)
        whole = parts == parts[tuple(np.argwhere(face.mask)[0])]
        points = self.view.to_plane(np.argwhere(whole)[:, ::-1] + self.origin, face.level / 2)
        heights = self.heights[whole]
        # A height function z = top - |p - c|² / 2R near the top of a ball of radius R.
        near = heights > face.level - 0.010
        if np.count_nonzero(near) < _MIN_AREA:
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
        if fit is None or fit.inliers < _MIN_INLIERS:
            return None
        top = float(np.percentile(heights[near][inner], 60))
        x, y, r = fit.parameters[0], fit.parameters[1], fit.parameters[2] / 10
        return self._detection("ball", replace(fit, parameters=np.array([x, y, 10 * r])), top, 2 * r)

    def _fitted(self, face: _Face, depth: float) -> tuple[ObjectKind, Fit | None]:
        """The rectangle or the disc that fits the outline better."""
        pixels = self._outline(face)
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

    def _outline(self, face: _Face) -> Array | None:
        outline = trace(face.body, self.heights, face.level + _OCCLUDER)
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

        fit = fit_shape(residuals, np.array([x, y, np.radians(degrees), a, b]), _TOLERANCE)
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

        fit = fit_shape(residuals, np.array([x, y, 10 * radius]), _TOLERANCE)
        return _of_possible_size(fit, fit.parameters[2:] / 5)

    def _obstacle(self, face: _Face) -> Detection:
        """Whatever it is, it is in the way."""
        points = self.view.to_plane(np.argwhere(face.body)[:, ::-1] + self.origin, face.level)
        (x, y), (a, b), degrees = cv2.minAreaRect(points.astype(np.float32))
        fit = Fit(np.array([x, y, np.radians(degrees), max(a, _SMALLEST), max(b, _SMALLEST)]), 0.0, 0.5)
        return self._detection("unknown", fit, face.level, face.level)

    def _detection(self, kind: ObjectKind, fit: Fit, top: float, height: float) -> Detection:
        z = self.view.table_top + top
        if KINDS[kind].outline == "disc":
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


def paint(view: View, things: Sequence[Detection], image: Mask) -> None:
    """Mark the pixels of things in an image (H, W)."""
    for thing in things:
        column(view, thing).paint(image)


def column(view: View, thing: Detection) -> Patch:
    """The pixels of a thing and of all that is below it."""
    face = outline_of(thing.kind, thing.pose, thing.size)
    upper = np.column_stack((face, np.full(len(face), thing.top - view.table_top)))
    lower = np.column_stack((face, np.zeros(len(face))))
    return view.patch(np.vstack((upper, lower)), grow=2)
