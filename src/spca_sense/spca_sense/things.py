"""Finds things of any size, on a table where other things than the known cubes and plates may lie.

What one colour covers is split into connected regions; `spca_sense.regions` takes each of them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np

from spca_core.geometry import Pose, Vec3, wrap_angle
from spca_core.kinds import KINDS, MESHES
from spca_sense.colours import NEUTRAL, ColourLabels
from spca_sense.detection import UNKNOWN, Detection
from spca_sense.flats import FlatRegion
from spca_sense.footprint import outline_of, polygon_area, shared_area
from spca_sense.regions import LEVEL, LOW, MIN_AREA, NOISE, TALL, ColourRegion, outside
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Window, bounding_window

_EQUAL = 0.004  # metres by which the edges of a cube may seem to differ
_INSIDE = 0.6  # share of a piece's outline within that of the whole
_OVERLAP = 0.25  # share of a thing's footprint over what it rests on
_MARGIN = 6
_SEAMS = np.ones((11, 11), np.uint8)
_MIN_REST = 40  # pixels that are an obstacle, though too few to tell what it is


def find_tall(view: HeightView, colours: ColourLabels, free: Mask) -> list[Detection]:
    """Everything that stands out of the table in the pixels that are `free` (H, W) of what was found.

    Something grey that reaches out of the image may be the arm, and is not reported.
    """
    found: list[Detection] = []
    for label in (NEUTRAL, *(colours.label_of(name) for name in colours.present)):
        # A grey thing is told from the table by its height; a coloured one may have a floor, as a bowl has.
        mask = free & (colours.labels == label)
        if label == NEUTRAL:
            mask &= view.heights > TALL
        colour = UNKNOWN if label == NEUTRAL else colours.names[label - 1]
        for window, component in _components(mask, view.heights > TALL):
            if label == NEUTRAL and _reaches_out(view, window, component):
                continue
            found += ColourRegion(view, colour, window, component).tall()
    return [thing for thing in found if not any(_is_part_of(thing, other) for other in found)]


def _reaches_out(view: HeightView, window: Window, component: Mask) -> bool:
    """Return whether a component goes on beyond the image's rim."""
    rim = np.ones(view.heights.shape, bool)
    rim[1:-1, 1:-1] = False
    return bool(rim[window][component].any())


def _is_part_of(piece: Detection, whole: Detection) -> bool:
    """Return whether it is only a piece of a larger upper face, cut off by what stands on that."""
    if piece is whole or piece.colour != whole.colour or abs(piece.top - whole.top) > LEVEL:
        return False
    a, b = (outline_of(d.kind, d.pose, d.size) for d in (piece, whole))
    return polygon_area(a) < polygon_area(b) and shared_area(a, b) > _INSIDE * polygon_area(a)


def find_flat(
    view: HeightView, colours: ColourLabels, free: Mask, plates: Sequence[Vec3]
) -> tuple[list[Detection], Mask]:
    """Things that lie flat on the table or the ground in the pixels that are `free` (H, W) of what was found.

    `plates` are sizes that are likely. Also returns the pixels that are free of these things, too.
    """
    found: list[Detection] = []
    clear, unknown = free, view.heights < NO_HEIGHT / 2
    for floor in (0.0, -view.table_top):
        low = free & (view.heights < floor + TALL + NOISE) & (view.heights > floor - TALL - NOISE)
        if np.count_nonzero(low) < MIN_AREA:
            continue
        near = low | (unknown & free)
        regions = [
            FlatRegion(view, colour, *part, plates, floor)
            for colour in colours.present
            for part in _components(near & (colours.labels == colours.label_of(colour)), ~free)
        ]
        for region in sorted(regions, key=lambda r: -r.level):
            flat = region.things(~clear)
            clear = outside(view, flat, clear)
            found += flat
    return found, clear


def find_rest(view: HeightView, colours: ColourLabels, free: Mask) -> list[Detection]:
    """Obstacles for all that is clearly higher than the table, where it is `free` (H, W) of what was found.

    So nothing that is seen to stand out is nowhere, whatever became of it before.
    """
    rest = free & (view.heights > LOW)
    grey = colours.labels == NEUTRAL
    low = (rest & grey & (view.heights < TALL + NOISE)).astype(np.uint8)
    rest = (rest & ~grey) | (cv2.morphologyEx(low, cv2.MORPH_OPEN, _SEAMS) > 0)
    return [FlatRegion(view, UNKNOWN, *part).obstacle() for part in _components(rest, least=_MIN_REST)]


def on_their_supports(things: Sequence[Detection], table_top: float) -> list[Detection]:
    """The things with their heights: each reaches down to what it stands on, as far as that is seen."""
    settled: list[Detection] = []
    for thing in sorted(things, key=lambda d: d.top):
        if thing.kind in ("cube", "plate", *MESHES) or KINDS[thing.kind].walled:
            settled.append(thing)
            continue
        own = outline_of(thing.kind, thing.pose, thing.size)
        area = polygon_area(own)
        below = [
            other.deck
            for other in settled
            if other.deck < thing.top - NOISE
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
    elif kind == "cylinder" and height < TALL:
        kind = "plate"
    x, y, _ = thing.pose.position
    yaw = wrap_angle(thing.pose.yaw, KINDS[kind].yaw_period) if KINDS[kind].yaw_period else 0.0
    return replace(thing, kind=kind, size=size, pose=Pose.from_xyz_yaw(x, y, thing.top - size[2] / 2, yaw))


def _components(
    mask: Mask, across: Mask | None = None, least: int = MIN_AREA
) -> Iterator[tuple[Window, Mask]]:
    """Regions that are connected, be it `across` other things, without the seams between things."""
    if np.count_nonzero(mask) < least:
        return
    area = bounding_window(mask, _MARGIN)
    mask, (down, right) = mask[area], (area[0].start, area[1].start)
    seams = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    joined = seams if across is None else seams | across[area].astype(np.uint8)
    count, parts = cv2.connectedComponents(joined, connectivity=8)
    areas = np.bincount(parts[seams > 0], minlength=count)
    for index in range(1, count):
        if areas[index] >= least:
            part = (parts == index) & (seams > 0)
            rows, columns = bounding_window(part, _MARGIN)
            window = (
                slice(rows.start + down, rows.stop + down),
                slice(columns.start + right, columns.stop + right),
            )
            yield window, part[rows, columns]
