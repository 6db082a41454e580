"""Finds the cubes that support a raised cube, from the visible strip of their side or by inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array, Vec3, wrap_angle
from spca_sense.colours import NEUTRAL, ColourLabels
from spca_sense.cubes import FoundCube
from spca_sense.detection import UNKNOWN
from spca_sense.fitting import Prior
from spca_sense.footprint import shared_area
from spca_sense.outline import Outline, trace
from spca_sense.shapes import BoxShape, fit_box
from spca_sense.view import NO_HEIGHT, HeightView, Mask, Patch

_LEVEL_STEP = 0.010  # metres, at most, between a lower face and the upper face that carries it
_LEVEL_ERROR = 0.006  # metres by which a stack's height may differ from whole cubes
_MOSTLY = 0.6
_MARGIN = 0.012  # metres by which a cube beneath may stick out of its stack
_AROUND = 0.020  # metres around it at which a larger face would go on
_GOES_ON = 0.2  # share of what is around it
_MIN_STRIP = 20  # pixels of a side that tell a cube's colour
_MIN_PURE = 9  # of them, with no other colour around: along borders pixels show a mixture of two
_MIN_POINTS = 12
_PRIOR = np.array([0.005, 0.005, 1.0])  # metres, metres, radians: how well stacked cubes are aligned
_INFERRED = 0.3  # confidence in a cube that nobody has seen
_PLATE_BAND = 0.014  # metres above the floor; sides are looked for above what may be a plate
_MIN_OVERLAP = 0.03


def complete_stacks(
    view: HeightView, colours: ColourLabels, cubes: list[FoundCube], plates: Sequence[Vec3]
) -> list[FoundCube]:
    """`cubes`, plus the unseen cubes that must support those standing high, be it on plates of these sizes.

    A supporting cube with a visible side gets its colour from that side, and its pose from the side and from
    what stands on it. One of whose side too little is in sight has no colour (`UNKNOWN`): it may be whatever
    nobody sees, and the tracker decides whether it is known which. Cubes that are partly
    covered are fitted again without the false border where the upper one begins. A cube at a height that no
    stack has, or with nothing below it where something would show, is in the air.
    """
    known = sorted(cubes, key=_from_high_to_low)
    claims = np.full(view.heights.shape, -np.inf)  # the upper face's height of the cube that each pixel shows
    position = 0
    while position < len(known):
        upper = known[position]
        if upper.seen:
            patch = view.patch(upper.corners(), grow=1)
            np.maximum(claims[patch.window], upper.shape.height, out=claims[patch.window], where=patch.mask)
        position += 1
        if upper.bottom - upper.floor < 0.6 * upper.shape.edge:
            continue
        below = [i for i in range(position, len(known)) if _carries(known[i], upper)]
        for i in below:
            if known[i].seen:
                known[i] = _refit(view, colours, known[i], upper, claims)
        if not below and _may_be_stacked(upper, plates):
            beside = _beside(view, upper, known[position:])
            lower = _beneath(view, colours, upper, claims, beside)
            if _is_of_more(view, colours, lower, beside) if lower.seen else _is_air(view, lower, claims):
                continue
            known.append(lower)
            known[position:] = sorted(known[position:], key=_from_high_to_low)
    return known


def _beside(view: HeightView, upper: FoundCube, cubes: list[FoundCube]) -> Array:
    """Claims of the cubes on the level of that under `upper`: what shows one of them does not show that."""
    claims = np.full(view.heights.shape, -np.inf)
    for cube in cubes:
        if cube.seen and abs(cube.shape.height - upper.bottom) < _LEVEL_STEP:
            patch = view.patch(cube.corners(), grow=1)
            claims[patch.window][patch.mask] = cube.shape.height
    return claims


def _from_high_to_low(cube: FoundCube) -> float:
    return -cube.shape.height


def _carries(lower: FoundCube, upper: FoundCube) -> bool:
    if abs(lower.shape.height - upper.bottom) > _LEVEL_STEP:
        return False
    shared = shared_area(lower.corners()[:4, :2], upper.corners()[:4, :2])
    return shared > _MIN_OVERLAP * upper.shape.edge**2


def _may_be_stacked(upper: FoundCube, plates: Sequence[Vec3]) -> bool:
    """Return whether whole cubes fit between a cube and the floor, or a plate on it."""
    room, bases = upper.bottom - upper.floor, (0.0, *(thickness for _, _, thickness in plates))
    return any(abs(wrap_angle(room - base, upper.shape.edge)) < _LEVEL_ERROR for base in bases)


def _is_air(view: HeightView, lower: FoundCube, claims: Array) -> bool:
    """Return whether the view past the upper cube shows something far below, not the side of `lower`."""
    patch = view.patch(lower.corners(margin=-0.003))
    heights = view.heights[patch.window][patch.mask & np.isneginf(claims[patch.window])]
    heights = heights[heights > NO_HEIGHT / 2]
    return len(heights) >= _MIN_STRIP and float(np.mean(heights < lower.bottom + 0.006)) > _MOSTLY


def _is_of_more(view: HeightView, colours: ColourLabels, lower: FoundCube, beside: Array) -> bool:
    """Return whether the upper face of `lower` goes on around it: it is that of something larger."""
    patch = view.patch(lower.corners(_AROUND)[:4])
    ring = patch.mask & ~view.patch(lower.corners(_MARGIN)).within(patch.window)
    alike = colours.labels[patch.window] == _label(colours, lower.colour)
    alike &= np.abs(view.heights[patch.window] - lower.shape.height) < _LEVEL_ERROR
    alike &= np.isneginf(beside[patch.window])
    return bool(alike[ring].sum() > _GOES_ON * ring.sum())


def _visible_part(
    view: HeightView, cube: FoundCube, claims: Array, margin: float
) -> tuple[Patch, Mask, float]:
    """Return the part of the view in which a supporting cube may be visible.

    It is a window, its pixels between the heights in question, and the lowest of these heights.
    """
    lowest = max(cube.bottom + 0.003, cube.floor + _PLATE_BAND)
    turned = replace(cube, parameters=cube.parameters + np.array([0.0, 0.0, np.pi / 4]))
    patch = view.patch(np.vstack((cube.corners(margin), turned.corners(margin))))
    heights = view.heights[patch.window]
    part = (
        patch.mask
        & np.isneginf(claims[patch.window])
        & (heights > lowest)
        & (heights < cube.shape.height + 0.006)
    )
    return patch, part, lowest


def _own_outline(view: HeightView, cube: FoundCube, patch: Patch, part: Mask, claims: Array) -> Outline:
    # A neighbour on the same level hides nothing: the border with it is the cube's own.
    higher = claims[patch.window] > cube.shape.height + _LEVEL_STEP
    outline = trace(part, view.heights[patch.window], cube.shape.height, higher)
    return outline.part(outline.own, np.array([patch.window[1].start, patch.window[0].start], float))


def _refit(
    view: HeightView, colours: ColourLabels, cube: FoundCube, upper: FoundCube, claims: Array
) -> FoundCube:
    """A cube whose upper face is partly in sight, fitted to the border that is its own."""
    patch, part, lowest = _visible_part(view, cube, claims, _MARGIN)
    part &= colours.labels[patch.window] == colours.label_of(cube.colour)
    outline = _own_outline(view, cube, patch, part, claims)
    if len(outline.points) < _MIN_POINTS:
        return cube
    cut = BoxShape.upright(cube.shape.edge, cube.shape.height, cube.shape.height - lowest)
    x, y, yaw = cube.parameters
    starts = np.array([(x, y, yaw), (x, y, upper.parameters[2]), upper.parameters, (x, y, yaw + np.pi / 4)])
    fit = fit_box(view, cut, outline, starts)
    if np.hypot(*(fit.parameters - cube.parameters)[:2]) > 0.6 * cube.shape.edge:
        return cube
    return replace(cube, parameters=fit.parameters, confidence=float(np.clip(fit.inliers - 0.1, 0.05, 0.9)))


def _beneath(
    view: HeightView, colours: ColourLabels, upper: FoundCube, claims: Array, beside: Array
) -> FoundCube:
    """The cube that must be under `upper`; `beside` are the claims of those next to it."""
    claims = np.maximum(claims, beside)
    shape = BoxShape.upright(upper.shape.edge, upper.bottom, upper.shape.edge)
    unseen = FoundCube(UNKNOWN, shape, upper.parameters, _INFERRED, upper.floor, seen=False)
    patch, side, lowest = _visible_part(view, unseen, claims, _MARGIN)
    label, count = _commonest(colours.labels[patch.window][side], colours)
    strip = colours.labels[patch.window] == label
    if count < _MIN_STRIP or np.count_nonzero(side & _pure(strip)) < _MIN_PURE:
        return unseen
    outline = _own_outline(view, unseen, patch, side & strip, claims)
    parameters = upper.parameters
    if len(outline.points) >= _MIN_POINTS:
        cut = BoxShape.upright(shape.edge, shape.height, shape.height - lowest)
        yaws = parameters[2] + np.radians([0.0, 22.5, 45.0, 67.5])
        starts = np.array([(*parameters[:2], yaw) for yaw in yaws])
        fit = fit_box(view, cut, outline, starts, Prior(parameters, _PRIOR))
        if np.hypot(*(fit.parameters - parameters)[:2]) < 0.6 * shape.edge:
            parameters = fit.parameters
    confidence = 0.5 + 0.3 * min(1.0, count / (10 * _MIN_STRIP))
    return replace(
        unseen, colour=colours.names[label - 1], parameters=parameters, confidence=confidence, seen=True
    )


def _pure(mask: Mask) -> Mask:
    """The pixels of a mask that have only such around them."""
    return cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)


def _label(colours: ColourLabels, colour: str) -> int:
    return NEUTRAL if colour == UNKNOWN else colours.label_of(colour)


def _commonest(labels: NDArray[np.uint8], colours: ColourLabels) -> tuple[int, int]:
    """The colour label that most of `labels` (N,) have, and how many; neutral ones do not count."""
    counts = np.bincount(labels, minlength=len(colours.names) + 1)
    counts[NEUTRAL] = 0
    label = int(np.argmax(counts))
    return label, int(counts[label])
