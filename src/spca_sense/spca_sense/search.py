"""Finds everything that stands or lies on a table: the highest that is not explained yet, again and again.

What one colour covers is split into connected regions. What explains a region's highest face best
(`spca_sense.hypotheses`) takes away what it covers, and the search goes on with what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import wrap_angle
from spca_core.kinds import KINDS, UNKNOWN
from spca_sense.catalogue import Catalogue
from spca_sense.colours import NEUTRAL, ColourLabels, label_colours
from spca_sense.detection import Detection, Look
from spca_sense.explanations import covered, silhouette
from spca_sense.hypotheses import (
    BODY,
    LOW,
    MIN_AREA,
    MIN_STRIP,
    SEAMS,
    THINNEST,
    Clues,
    ColourRegion,
    Face,
    connected,
)
from spca_sense.outline import distance_to_polygon, footprint, polygon_area
from spca_sense.supports import complete, on_their_supports
from spca_sense.view import (
    JOINT,
    LEVEL,
    NO_HEIGHT,
    NOISE,
    TALL,
    HeightView,
    Mask,
    Patch,
    bounding_window,
    make_view,
    morphed,
)

_EVEN = 0.3  # share of a face that has no slope; a strip of a side has less
_LEVEL_STRIP = 0.8  # share of a thin wall's rim that is at its level; a side is at all levels
_STRIP = 0.35  # of the face of a thing, that at most is in sight of the one below if that is hidden
_OFF_TABLE = 0.05  # metres below the table's surface: such a region lies on the ground
_MARGIN = (SEAMS + 1) // 2  # pixels around a region, so that seams of it are within the window


def find_things(view: HeightView, colours: ColourLabels, catalogue: Catalogue) -> tuple[Detection, ...]:
    """Return all things in sight, and those that must carry what stands high, from high to low."""
    clues = Clues(view, colours, np.full(view.heights.shape, -np.inf, np.float32))
    # First everything coloured that stands out of the table, or out of the ground beside it.
    regions = _regions(clues, catalogue, colours.labels != NEUTRAL, view.heights > TALL)
    found = complete(clues, _from_high_to_low(clues, [*regions]), catalogue)
    free = np.ones(view.heights.shape, bool)
    _clear(free, clues, found)
    found += (grey := _grey(clues, free))
    _clear(free, clues, grey)
    found += _flat(clues, catalogue, free) + _rest(clues, free)
    return tuple(reversed(on_their_supports(found, view.table_top)))


def _clear(free: Mask, clues: Clues, things: Sequence[Detection]) -> None:
    """Take what shows things out of the pixels that are `free` (H, W).

    Of what has another colour than a thing, as a ring around it, less beside the thing is its own.
    """
    for thing in things:
        its, near = covered(clues.view, thing)
        own = NEUTRAL if thing.colour == UNKNOWN else clues.colours.label_of(thing.colour)
        labels = clues.colours.labels[its.window]
        others = (own != NEUTRAL) & (labels != NEUTRAL) & (labels != own)
        free[its.window] &= ~np.where(others, near, its.mask)


def _regions(
    clues: Clues, catalogue: Catalogue, mask: Mask, across: Mask, strips: bool = False
) -> Iterator[ColourRegion]:
    """Yield the connected regions of each colour in a mask, on the table or on the ground beside it."""
    for name in clues.colours.names:
        its = mask & (clues.colours.labels == clues.colours.label_of(name))
        for patch in _components(its, across, strips=strips):
            floor = -clues.view.table_top if _middle(clues.view, patch) < -_OFF_TABLE else 0.0
            yield ColourRegion(clues, name, patch, catalogue.likely(name), floor)


def _grey(clues: Clues, free: Mask) -> list[Detection]:
    """Return what stands out and has no colour: it is told from the table by its height.

    What reaches out of the image may be the arm, and is not reported.
    """
    mask = free & (clues.colours.labels == NEUTRAL) & (clues.view.heights > TALL)
    rim = np.pad(np.zeros(np.subtract(mask.shape, 2), bool), 1, constant_values=True)
    parts = [patch for patch in _components(mask) if not patch.of(rim).any()]
    return _from_high_to_low(clues, [ColourRegion(clues, UNKNOWN, patch) for patch in parts])


def _from_high_to_low(clues: Clues, regions: Sequence[ColourRegion]) -> list[Detection]:
    found: list[Detection] = []
    faces = [(face, region) for region in regions if (face := _highest(region)) is not None]
    while faces:
        faces.sort(key=lambda pair: pair[0].level)
        face, region = faces.pop()
        things = _taken_out(region, face, found)
        for thing in (thing for thing in things if thing.kind != UNKNOWN):
            its = silhouette(clues.view, thing)
            shown = its.face if KINDS[thing.kind].walled else its.whole  # one sees what is within walls
            claims = clues.claims[shown.window]
            np.maximum(claims, thing.top - clues.view.table_top, out=claims, where=shown.mask)
        found += things
        if (face := _highest(region)) is not None:
            faces.append((face, region))
    return found


def _taken_out(region: ColourRegion, face: Face, found: Sequence[Detection]) -> list[Detection]:
    """Return the things that have a face, and take them out of the face's region."""
    things = region.cheapest(face)[1]
    if not any(thing.known for thing in things) and _is_strip(region, face, things, found):
        things = []
    elif not all(thing.known for thing in things) and (thing := region.of_mesh(face, things)):
        things = [thing]
    region.rest &= ~morphed(face.mask, cv2.MORPH_DILATE, 5)
    for thing in things:
        region.rest &= ~covered(region.view, thing)[0].within(region.window)
    return things


def _is_strip(region: ColourRegion, face: Face, things: list[Detection], found: Sequence[Detection]) -> bool:
    """Return whether what is seen of a face may be a strip of what must be below a thing of known size."""
    area = np.count_nonzero(face.mask) * region.view.metres_per_pixel(face.level) ** 2
    for upper in found:
        bottom = upper.bottom - region.view.table_top
        # Of a tower of equal things, those between may be hidden altogether.
        off = abs(wrap_angle(bottom - face.level, upper.size[2]))
        if upper.known and off < JOINT and region.floor + 2 * JOINT < face.level < bottom + JOINT:
            outline = footprint(upper)
            near = (distance_to_polygon(d.xy[None], outline)[0] < TALL for d in things)
            if area < _STRIP * polygon_area(outline) and all(near):
                return True
    return False


def _highest(region: ColourRegion) -> Face | None:
    """Return the highest level face of a region that is large enough, or None."""
    rest, heights = region.rest, region.heights
    tall = rest & (heights > region.floor + TALL)
    count, parts, stats, _ = cv2.connectedComponentsWithStats(tall.astype(np.uint8), connectivity=8)
    faces = []
    for index in range(1, count):
        if stats[index, cv2.CC_STAT_AREA] < MIN_AREA:
            continue
        part = parts == index
        level = _level(region, part)
        if level - NOISE < region.floor + TALL:  # half of a face just above the limit seems to be below it
            part |= connected(rest & (heights > level - NOISE), part)
        near = part & (heights > level - LEVEL)
        even = np.count_nonzero(near & region.even)
        level_strip = np.mean(np.abs(heights[near] - level) < NOISE / 2) > _LEVEL_STRIP
        if even >= max(MIN_STRIP, _EVEN * np.count_nonzero(near)) or level_strip:
            faces.append(Face(near, part & (heights > level - BODY), level))
    if not faces:
        return None
    return region.leaning(_joined(region, max(faces, key=lambda face: face.level), faces))


def _joined(region: ColourRegion, best: Face, faces: list[Face]) -> Face:
    """Return a face with those that only a higher thing separates from it: on it, or before a rim."""
    level = [f for f in faces if abs(f.level - best.level) < LEVEL / 2]
    if len(level) < 2:
        return best
    mask, body = (np.logical_or.reduce([getattr(f, name) for f in level]) for name in ("mask", "body"))
    whole = Face(mask, body, best.level)
    apart = sum(region.cheapest(face, 0)[0] for face in level)
    cost, one = region.cheapest(whole, 0)
    return whole if cost < apart and one[0].kind != UNKNOWN else best


def _level(region: ColourRegion, part: Mask) -> float:
    """Return the highest level at which there is enough of a face, metres.

    Pixels between a face and what lies on it have a height of both, and of neither.
    """
    inner = part & region.even
    heights = region.heights[inner if inner.sum() > MIN_AREA else part]
    ordered = np.sort(heights)[::-1]
    top = float(ordered[min(len(ordered) // 8, MIN_AREA)])
    return float(np.median(heights[heights > top - 0.004]))


def _flat(clues: Clues, catalogue: Catalogue, free: Mask) -> list[Detection]:
    """Return things that lie flat on the table or the ground in the pixels that are `free` (H, W) of others.

    Takes these things' pixels out of them.
    """
    found: list[Detection] = []
    high = clues.view.heights >= TALL + NOISE
    found_low = _regions(clues, catalogue, free & ~high, ~free | high, strips=True)
    regions = [(_whole(region), region) for region in found_low]
    for face, region in sorted(regions, key=lambda pair: -pair[0].level):
        flat = region.cheapest(replace(face, taken=~free[region.window]))[1]
        _clear(free, clues, flat)
        found += flat
    return found


def _whole(region: ColourRegion) -> Face:
    """Return all of a region as one face."""
    level = _middle(region.view, Patch(region.window, region.mask))
    return Face(region.mask, region.mask, max(level, region.floor + THINNEST))


def _rest(clues: Clues, free: Mask) -> list[Detection]:
    """Return obstacles for all that is clearly higher than the table where it is `free` (H, W) of things.

    So nothing that is seen to stand out is nowhere, whatever became of it before.
    """
    view = clues.view
    rest = free & (view.heights > LOW)
    grey = clues.colours.labels == NEUTRAL
    low = rest & grey & (view.heights < TALL + NOISE)
    rest = (rest & ~grey) | morphed(low, cv2.MORPH_OPEN, SEAMS)
    regions = [ColourRegion(clues, UNKNOWN, patch) for patch in _components(rest, least=2 * MIN_STRIP)]
    return [region.obstacle(_whole(region)) for region in regions]


def _middle(view: HeightView, patch: Patch) -> float:
    """Return the median of a patch's heights, as far as there are any, in metres; 0 if there are none."""
    heights = patch.of(view.heights)
    heights = heights[heights > NO_HEIGHT / 2]
    return float(np.median(heights)) if len(heights) else 0.0


def _components(
    mask: Mask, across: Mask | None = None, least: int = MIN_AREA, strips: bool = False
) -> Iterator[Patch]:
    """Yield connected regions, be it `across` other things, without the seams between things.

    Of what is flat, `strips` beside what hides the rest are no seams.
    """
    if np.count_nonzero(mask) < least:
        return
    area = bounding_window(mask, _MARGIN)
    mask, others = mask[area], np.zeros_like(mask[area]) if across is None else across[area]
    inner = morphed(mask | others if strips else mask, cv2.MORPH_OPEN, 3) & mask
    _, parts = cv2.connectedComponents((inner | others).astype(np.uint8), connectivity=8)
    for index in np.flatnonzero(np.bincount(parts[inner]) >= least):
        part = (parts == index) & inner
        window = bounding_window(part, _MARGIN)
        own = [slice(w.start + a.start, w.stop + a.start) for w, a in zip(window, area, strict=True)]
        yield Patch((own[0], own[1]), part[window])


_SUSPICIOUS_TILT = np.radians(1.0)


class ShapeDetector:
    """Finds whatever explains best what is seen; see `spca_sense.detection.Detector`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def detect(self, frame: RgbdFrame) -> Look:
        """Return all things in sight, and the cubes that must carry what stands high, from high to low.

        Raises ValueError for images that do not have the size of the intrinsics.
        """
        size = frame.intrinsics.height, frame.intrinsics.width
        if frame.colour.shape != (*size, 3) or frame.depth.shape != size:
            raise ValueError(f"images of {frame.colour.shape} and {frame.depth.shape}, intrinsics of {size}")
        view = make_view(frame, self.catalogue.table_top)
        colours = label_colours(view, self.catalogue)
        things = find_things(view, colours, self.catalogue)
        return Look(view, colours, things, tuple(_calibration_notes(view)))


def _calibration_notes(view: HeightView) -> list[str]:
    table = view.table
    if not table.trusted:
        return ["too little of the table is in sight to check the camera's calibration"]
    if table.tilt > _SUSPICIOUS_TILT or abs(table.offset) > JOINT:
        lies = f"{table.offset * 1000:.1f} mm and {np.degrees(table.tilt):.2f}°"
        return [f"the table lies {lies} off the calibration"]
    return []
