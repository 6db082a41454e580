"""What things stand on: what is seen beneath them, or must be there and is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spca_core.geometry import Pose, Vec3, wrap_angle
from spca_core.kinds import KINDS, MESHES, STACKABLE, UNKNOWN, is_round
from spca_sense.association import BY_ELIMINATION
from spca_sense.catalogue import Catalogue
from spca_sense.colours import NEUTRAL
from spca_sense.detection import Detection, square_yaw
from spca_sense.explanations import corners
from spca_sense.hypotheses import MIN_POINTS, MIN_STRIP, MOSTLY, Clues
from spca_sense.outline import (
    Prism,
    convex_hull,
    distance_to_polygon,
    fit_outline,
    footprint,
    polygon_area,
    shared_area,
    trace,
)
from spca_sense.relations import MIN_SHARE
from spca_sense.view import JOINT, LEVEL, NO_HEIGHT, NOISE, TALL, Patch

_OVERLAP = 0.25  # share of a thing's footprint over what it rests on
_PRIOR = np.array([NOISE, NOISE, 1.0])  # metres, metres, radians: how well stacked things are aligned


def complete(clues: Clues, things: Sequence[Detection], catalogue: Catalogue) -> list[Detection]:
    """Return `things`, plus those unseen that must support what stands high, be it on plates.

    A support with a visible side gets its colour from that side, and its pose from the side and from what
    stands on it. One of whose side too little is in sight has no colour (`UNKNOWN`): it may be what nobody
    sees, and the tracker decides whether it is known which. A thing at a height that no stack has, or with
    nothing below it where something would show, is in the air.
    """
    table, known = clues.view.table_top, sorted(things, key=lambda d: -d.top)
    for position, upper in enumerate(known, 1):  # what is found to be below is looked at in its turn
        floor = table if upper.bottom > table - JOINT else 0.0
        high = upper.known and not KINDS[upper.kind].mesh and upper.bottom - floor >= 2 * JOINT
        if not high or _is_borne(upper, known):
            continue
        decks = [d.deck for d in known[position:] if distance_to_polygon(upper.xy[None], footprint(d))[0] < 0]
        room = upper.bottom - max(decks, default=floor)
        what = _hidden_size(room, upper, catalogue) if room >= 2 * JOINT else None
        lower = _beneath(clues, upper, what) if what is not None else None
        if lower is None or (not lower.seen and _is_air(clues, lower)):
            continue
        known[position:] = sorted([*known[position:], lower], key=lambda d: -d.top)
    return known


def _is_borne(upper: Detection, things: Sequence[Detection]) -> bool:
    """Return whether some of the things carry another one: its middle is over one of them, or between."""
    own = footprint(upper)
    near = (d for d in things if d.kind != UNKNOWN and abs(d.top - upper.bottom) < JOINT)
    below = [footprint(d) for d in near if d is not upper]
    below = [its for its in below if shared_area(own, its) > MIN_SHARE * polygon_area(own)]
    return bool(below) and distance_to_polygon(upper.xy[None], convex_hull(np.vstack(below)))[0] < NOISE


def _hidden_size(room: float, upper: Detection, catalogue: Catalogue) -> tuple[str, Vec3] | None:
    """Return what fits under a thing, with others below it, or None.

    Under a cube its like comes first, as in a tower; else what fits alone.
    """
    others = {(kind, size) for _, kind, size in catalogue.others if kind in STACKABLE}
    likely = [*catalogue.usual, *sorted(others)]
    rooms = [room - base for base in (0.0, *(thickness for _, _, thickness in catalogue.plates))]
    heights = {0.0, *(size[2] for _, size in likely)}
    ways: list[tuple[tuple[bool, ...], int, tuple[str, Vec3]]] = []
    for what in likely:
        rests = [rest for its in rooms if (rest := its - what[1][2]) >= -LEVEL]
        alone = any(rest < LEVEL for rest in rests)
        # Below it there may be more of its like, or one other thing.
        off = [wrap_angle(rest, what[1][2]) for rest in rests] + [r - h for r in rests for h in heights]
        if any(abs(by) < LEVEL for by in off):
            last = what != (upper.kind, upper.size), not alone
            ways.append((last if KINDS[upper.kind].cubic else last[::-1], len(ways), what))
    return min(ways)[-1] if ways else None


def _is_air(clues: Clues, lower: Detection) -> bool:
    """Return whether the view past the upper thing shows something far below, not the side of `lower`."""
    patch = _patch(clues, -LEVEL / 2, lower)
    heights = clues.view.heights[patch.window][patch.mask & np.isneginf(clues.claims[patch.window])]
    heights = heights[heights > NO_HEIGHT / 2] + clues.view.table_top
    return len(heights) >= MIN_STRIP and float(np.mean(heights < lower.bottom + LEVEL)) > MOSTLY


def _patch(clues: Clues, margin: float, *things: Detection) -> Patch:
    """Return where things of one size would show, with their sides moved out by a margin (m)."""
    a, b, c = things[0].size
    wider = (replace(thing, kind="cuboid", size=(a + 2 * margin, b + 2 * margin, c)) for thing in things)
    sides = np.vstack([side for thing in wider for side in corners(thing)])
    return clues.view.patch(sides - (0.0, 0.0, clues.view.table_top))


def _beneath(clues: Clues, upper: Detection, what: tuple[str, Vec3]) -> Detection:
    """Return the thing that must be under `upper`."""
    view, (kind, size) = clues.view, what
    x, y, _ = upper.pose.position
    height, yaw = upper.bottom - view.table_top, upper.pose.yaw
    pose = Pose.from_xyz_yaw(x, y, upper.bottom - size[2] / 2, square_yaw(yaw) if KINDS[kind].cubic else yaw)
    unseen = Detection(kind, UNKNOWN, pose, size, BY_ELIMINATION, seen=False, known=True)
    floor = -view.table_top if height < 0 else 0.0
    lowest = max(height - size[2] + LEVEL / 2, floor + TALL)
    turned = replace(unseen, pose=Pose.from_xyz_yaw(*pose.position, yaw + np.pi / 4))
    patch = _patch(clues, TALL, unseen, turned)
    heights, claims = view.heights[patch.window], clues.claims[patch.window]
    side = patch.mask & (heights > np.maximum(claims + NOISE, lowest)) & (heights < height + LEVEL)
    labels = clues.colours.labels[patch.window]
    counts = np.bincount(labels[side], minlength=NEUTRAL + 1)
    counts[NEUTRAL] = 0
    label = int(np.argmax(counts))
    strip, count = labels == label, int(counts[label])
    if count < MIN_STRIP:
        return unseen
    colour, sure = clues.colours.names[label - 1], 0.5 + 0.3 * min(1.0, count / (10 * MIN_STRIP))
    seen = replace(unseen, colour=colour, confidence=sure, seen=True)
    # A neighbour on the same level hides nothing: the border with it is the thing's own.
    outline = trace(replace(patch, mask=side & strip), heights, height, 2 * LEVEL, claims > height + JOINT)
    if len(outline.points) < MIN_POINTS or is_round(kind):
        return seen
    mean = np.array([x, y, yaw, *size[:2]])
    starts = mean + np.outer(np.radians([0.0, 22.5, 45.0, 67.5]), (0, 0, 1, 0, 0))
    shape = Prism(kind, height, height - lowest)
    fits = [fit_outline(view, shape, outline, start, _PRIOR) for start in starts]
    fit = max(fits, key=lambda f: (round(f.inliers, 2), -f.spread))
    if np.hypot(*(fit.parameters - mean)[:2]) > 0.6 * size[0]:
        return seen
    x, y, yaw, *_ = fit.parameters.tolist()
    pose = Pose.from_xyz_yaw(x, y, pose.position[2], square_yaw(yaw) if KINDS[kind].cubic else yaw)
    return replace(seen, pose=pose)


def on_their_supports(things: Sequence[Detection], table_top: float) -> list[Detection]:
    """Return the things with their heights: each reaches down to what it stands on, as far as it is seen."""
    settled: list[Detection] = []
    for thing in sorted(things, key=lambda d: d.top):
        own = footprint(thing)
        under = (d for d in settled if d.deck < thing.top - NOISE)
        below = (d.deck for d in under if shared_area(own, footprint(d)) > _OVERLAP * polygon_area(own))
        sure = thing.known or thing.kind in MESHES or KINDS[thing.kind].walled
        settled.append(thing if sure else _reaching_down(thing, max(below, default=table_top)))
    return settled


def _reaching_down(thing: Detection, bottom: float) -> Detection:
    a, b, _ = thing.size
    height = thing.top - bottom
    kind, size = thing.kind, (a, b, height)
    if KINDS[kind].oblong and max(size) - min(size) < LEVEL:
        edge = float(np.mean(size))
        kind, size = "cube", (edge, edge, edge)
    elif KINDS[kind].domed:
        size = (a, a, a)
    elif KINDS[kind].solid and is_round(kind) and height < TALL:
        kind = "plate"
    x, y, _ = thing.pose.position
    yaw = wrap_angle(thing.pose.yaw, KINDS[kind].yaw_period) if KINDS[kind].yaw_period else 0.0
    return replace(thing, kind=kind, size=size, pose=Pose.from_xyz_yaw(x, y, thing.top - size[2] / 2, yaw))
