"""Placements of a held thing: candidate tool poses, best first, not yet checked for reach.

All heights are for the tool centre point, which is `Hold.height` above the bottom of what is held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product, takewhile

import numpy as np

from spca_core.geometry import Array, Pose, top_down, top_down_yaw
from spca_core.kinds import APART, KINDS, MESHES, OFF_WALLS, SOLIDS, WALL, is_round
from spca_core.names import words_of
from spca_core.relation import Place
from spca_core.scene import Scene, SceneObject
from spca_core.world import Table, WorkArea, World
from spca_robot.kinematics import NOMINAL_GAP
from spca_sense.outline import footprint, gap, outline_of
from spca_sense.view import NOISE
from spca_tabletop.act.grasps import COVERED, TIP_CLEARANCE

# Cubes are let go this far above what they are put on: nearer, and an error in height would press them down.
DROP = 0.002
# This far, where they are let go beside the table.
FALL = 0.05
# Free space between a placed cube and others on the same thing, and before closing up to a neighbour.
SPACING = 0.004
SIDE_GAP = 0.006
# How far a cube is pushed into its neighbour to be sure that the two touch: by a little more than both are
# likely to be off together.
PUSH = 0.005
# Against a round one less: its outline is modelled less exactly, and what may be touched may be pressed by
# 6 mm at most.
ROUND_PUSH = SIDE_GAP / 2
# 1 - cos of the angle by which a row may be bent.
STRAIGHT = 0.1
# A row is begun where it can go on for so many more things: then it has four.
ROW_GOES_ON = 2
# Free table wanted around a cube that is put aside, and the step of the search for it.
CLEARANCE = 0.035
GRID = 0.03
# So far from a thing nothing stands in the way of putting another one next to it.
ELBOW_ROOM = 0.14
# Fingers that open reach this far from the middle.
FINGERS = 0.056
TRAY_SPACING = 0.010
# Two things that differ by less in height carry a third level enough.
EVEN = NOISE
# Along a face (metres) where its middle is not free, because of what stands around the corner.
ALONG_FACE = (0.006, -0.006, 0.012, -0.012, 0.018, -0.018)
# How far off the joint a cube in a pyramid may be put for the sake of its neighbour.
MOST_OFF = 2 * SPACING


@dataclass(frozen=True)
class PlaceCandidate:
    """Placement: put down at `pose`; next to a cube, then move on to `contact` to touch it."""

    pose: Pose
    contact: Pose


@dataclass(frozen=True)
class Hold:
    """Hold of a thing in the gripper.

    `height` of the tool centre point above its lower face, its extents `along` the tool's x axis and `across`
    the pads (metres), and its `turn` against the tool (radians). `yaw` is the tool's own when it closed: put
    down at that yaw, a thing lies where the camera will see it in the right place, whatever the error of the
    camera's calibration, because the error was made twice, in opposite directions. Turned by 180 degrees, the
    thing is off by twice the error. The tool is `ahead` of the thing's middle along its own x axis, and
    `aside` to the left of that (metres).
    """

    height: float = NOMINAL_GAP / 2
    along: float = NOMINAL_GAP
    across: float = NOMINAL_GAP
    turn: float = 0.0
    yaw: float = 0.0
    ahead: float = 0.0
    aside: float = 0.0

    def tool_at(self, middle: Pose) -> Pose:
        """Return the tool's pose that brings the thing's middle to where the tool itself is at `middle`."""
        return self._moved(middle, self.ahead, self.aside)

    def middle_at(self, tool: Pose) -> tuple[float, float]:
        """Return the position (x, y) of the thing's middle at a pose of the tool."""
        return self._moved(tool, -self.ahead, -self.aside).position[:2]

    @staticmethod
    def _moved(pose: Pose, ahead: float, aside: float) -> Pose:
        if not ahead and not aside:
            return pose
        (x, y, z), yaw = pose.position, top_down_yaw(pose)
        c, s = math.cos(yaw), math.sin(yaw)
        at = x + ahead * c - aside * s, y + ahead * s + aside * c, z
        return pose.model_copy(update={"position": at})

    def least_turned(self, *yaws: float) -> list[float]:
        """Sort tool yaws, the least turned against that of the grasp first."""
        return sorted(yaws, key=lambda yaw: round(abs(math.remainder(yaw - self.yaw, 2 * math.pi)), 2))

    @classmethod
    def of(cls, thing: SceneObject, tool: Pose, tool_yaw: float) -> Hold:
        """Return the hold of a thing that the pads have just closed on."""
        height = tool.position[2] - thing.bottom
        a, b, _ = thing.size
        if thing.kind in MESHES:  # across the pads it is as wide as they are apart
            c, s = math.cos(tool_yaw), math.sin(tool_yaw)
            x, y, _ = np.subtract(tool.position, thing.pose.position).tolist()
            along = float(np.ptp(footprint(thing) @ (c, s)))
            turn = thing.pose.yaw - tool_yaw
            return cls(height, along, 0.0, turn, tool_yaw, x * c + y * s, y * c - x * s)
        if KINDS[thing.kind].oblong and abs(math.cos(thing.pose.yaw - tool_yaw)) < math.sqrt(0.5):
            return cls(height, b, a, math.pi / 2, tool_yaw)
        return cls(height, a, b, yaw=tool_yaw)


def on_top(
    base: SceneObject, scene: Scene, held: str, hold: Hold, tip_reach: float, cramped: bool = False
) -> Iterator[Pose]:
    """Yield tool poses on a thing: at its centre; on a plate or in a tray also next to what is there.

    On a `cramped` plate, where room was lacking, what comes first is put towards its rim.
    """
    x, y, _ = base.pose.position
    held_size = hold.along
    z = base.deck + hold.height + DROP
    others = [o for o in scene.of_kind(*SOLIDS) if o.id != held and scene.holds("on", o.id, base.id)]
    if KINDS[base.kind].walled:
        thing = scene.get(held)
        deep = thing is not None and base.top + TIP_CLEARANCE > base.deck + thing.size[2] - COVERED
        yield from _within(base, others, hold, z, base.top + tip_reach + TIP_CLEARANCE, deep)
        return
    if KINDS[base.kind].room != "many" or not others:
        off = base.size[0] / 2 - math.hypot(hold.along, hold.across) / 2 if cramped else 0.0
        yaws = hold.least_turned(*(base.pose.yaw + turn * math.pi / 2 for turn in range(4)))
        for away, yaw in product(dict.fromkeys((max(off, 0.0), 0.0)), yaws):  # they open beside it
            yield top_down(x + away * math.cos(yaw), y + away * math.sin(yaw), z, yaw)
        return
    # On a plate that is in use: in the four directions of a standing thing's faces; then in the same
    # directions, shifted along the face to be as near to the plate's middle as possible.
    reach = base.size[0] / 2 - held_size / 4
    for shifted in (False, True):
        for other in others:
            ox, oy, _ = other.pose.position
            for k in range(4):
                angle = other.pose.yaw + k * math.pi / 2
                c, s = math.cos(angle), math.sin(angle)
                d = held_size / 2 + other.size[0] / 2 + SPACING
                along = (y - oy) * c - (x - ox) * s if shifted else 0.0
                px, py = ox + d * c - along * s, oy + d * s + along * c
                near = math.hypot(px - x, py - y) <= reach
                if not near or _room(px, py, angle, hold, others) <= SPACING / 2:
                    continue
                # Pads closing across the row first: the fingers do not reach between the things.
                for yaw in _across_first(angle, hold):
                    yield top_down(px, py, z, yaw)


def _across_first(row: float, hold: Hold) -> list[float]:
    """Return tool yaws for a place in a row in that direction, those whose pads close across it first."""
    beside = row + math.pi / 2
    return hold.least_turned(row, row + math.pi) + hold.least_turned(beside, beside + math.pi)


def _within(
    base: SceneObject, others: list[SceneObject], hold: Hold, low: float, high: float, deep: bool
) -> Iterator[Pose]:
    """Yield tool poses in rows far from the contents of a bowl or a tray, then anywhere in it.

    In a `deep` one, whose rim bars the way to the thing's top, those come first where the fingers have room
    to take it out again. A bowl's rows lead through its middle, in the direction in which the tool turns
    least. Tool heights in metres: `low` puts the thing down, `high` keeps the fingertips above the rim.
    """
    inner = [size - 2 * WALL for size in base.size[:2]]
    disc, x, y = is_round(base.kind), *base.pose.position[:2]
    rows = hold.least_turned(*(hold.yaw + k * math.pi / 12 for k in range(12))) if disc else [base.pose.yaw]

    def length(axis: int, wide: float) -> float:
        return math.sqrt(max(0.0, inner[axis] ** 2 - wide**2)) if disc else inner[axis]

    for out_again, closely in product((True, False) if deep else (False,), (False, True)):
        found = []
        for row, turn in product(rows, (0.0, math.pi / 2)):
            c, s = math.cos(row), math.sin(row)
            long, wide = (hold.along, hold.across) if turn == 0.0 else (hold.across, hold.along)
            across = [0.0] if disc else _places(inner[1], wide, closely)
            for u, v in product(_places(length(0, wide), long, closely), across):
                px, py = x + c * u - s * v, y + s * u + c * v
                room = _room(px, py, row + turn, hold, others)
                # The fingers open across the tool's x axis and must not open into the wall.
                beside = (length(1, 2 * u) / 2 - abs(v)) if turn == 0.0 else (inner[0] / 2 - abs(u))
                if room >= SPACING and (beside > FINGERS or not out_again):
                    found.append((px, py, row + turn, room, beside))
        for px, py, yaw, _, beside in sorted(found, key=lambda f: (-round(f[3], 2), -f[4])):
            for turned in hold.least_turned(yaw, yaw + math.pi):
                if beside > FINGERS:
                    yield top_down(px, py, low, turned)
                yield top_down(px, py, max(low, high), turned)


def _places(inner: float, extent: float, closely: bool) -> list[float]:
    """Return places along an inner length, for as many things as fit, or `closely`, a centimetre apart."""
    reach = max(0.0, (inner - extent) / 2 - TRAY_SPACING / 2)
    count = 1 + round(2 * reach / 0.01) if closely else int((inner - OFF_WALLS) / (extent + APART))
    return [float(v) for v in np.linspace(-reach, reach, count)] if count > 1 and reach else [0.0]


def _room(x: float, y: float, yaw: float, hold: Hold, others: Sequence[SceneObject]) -> float:
    """Return the least gap in metres between the held thing, put down there, and others; 1 without any."""
    own = outline_of("cuboid", Pose.from_xyz_yaw(x, y, 0.0, yaw), (hold.along, hold.across, 0.01))
    return least_gap(own, others)


def least_gap(outline: Array, others: Sequence[SceneObject]) -> float:
    """Return the least gap in metres between an outline and things; 1 without any."""
    return min((gap(outline, footprint(o)) for o in others), default=1.0)


def clear_of(tool: Pose, others: Sequence[SceneObject], hold: Hold) -> bool:
    """Return whether what is held at that tool pose is over none of these."""
    return _room(*tool.position[:2], tool.yaw, hold, others) > 0


def next_to(
    other: SceneObject, hold: Hold, neighbours: Sequence[SceneObject] = (), shifts: Sequence[float] = (0.0,)
) -> Iterator[PlaceCandidate]:
    """Yield placements next to the faces of a thing, or around a round one, with the fingers along the face.

    In line with the `neighbours` that it has already, if possible: a push from there keeps them in contact.
    `shifts` are how far along the face it is put, metres from the face's middle.
    """
    x, y, _ = other.pose.position
    z = other.bottom + hold.height + DROP
    around = 12 if is_round(other.kind) else 4
    angles = [(other.pose.yaw + k * 2 * math.pi / around, k) for k in range(around)]
    if neighbours:
        angles.sort(key=lambda turn: round(_out_of_line(turn[0], other, neighbours[0]), 2))
    for angle, k in angles:
        touching = (hold.along + other.size[0 if around == 12 else k % 2]) / 2
        c, s = math.cos(angle), math.sin(angle)
        near, far = touching - (ROUND_PUSH if around == 12 else PUSH), touching + SIDE_GAP
        for shift, yaw in product(shifts, hold.least_turned(angle, angle + math.pi)):
            px, py = x - shift * s, y + shift * c
            yield PlaceCandidate(
                top_down(px + far * c, py + far * s, z, yaw),
                top_down(px + near * c, py + near * s, z - DROP, yaw),
            )


def _out_of_line(angle: float, other: SceneObject, neighbour: SceneObject) -> float:
    """Return 0 for the direction from the neighbour over the other thing, 2 for the opposite one."""
    (x, y, _), (nx, ny, _) = other.pose.position, neighbour.pose.position
    return 1 - math.cos(angle - math.atan2(y - ny, x - nx))


def in_line(
    spots: Iterable[PlaceCandidate], other: SceneObject, row: Sequence[SceneObject]
) -> list[PlaceCandidate]:
    """Return the spots next to `other` that make a straight row with its neighbour, if that is one."""
    if len(row) != 1:
        return list(spots)
    x, y, _ = other.pose.position
    directions = [(s, math.atan2(s.pose.position[1] - y, s.pose.position[0] - x)) for s in spots]
    return [s for s, angle in directions if _out_of_line(angle, other, row[0]) < STRAIGHT]


def able_to_go_on(
    spots: Sequence[PlaceCandidate], other: SceneObject, free: Callable[[Pose], bool]
) -> list[PlaceCandidate]:
    """Sort spots next to `other`, those first beyond which a row can go on over most places that are `free`.

    Among equals, those first whose opposite is a spot, too: from there a row can go on to the other side.
    """
    x, y, _ = other.pose.position

    def beyond(spot: PlaceCandidate) -> int:
        px, py, z = spot.pose.position
        further = ((px + k * (px - x), py + k * (py - y), z) for k in range(1, ROW_GOES_ON + 1))
        poses = (spot.pose.model_copy(update={"position": position}) for position in further)
        return sum(1 for _ in takewhile(free, poses))

    def opposite_free(spot: PlaceCandidate) -> bool:
        px, py, _ = spot.pose.position
        return any(math.dist((2 * x - px, 2 * y - py), s.pose.position[:2]) < SIDE_GAP for s in spots)

    return sorted(spots, key=lambda spot: (-beyond(spot), not opposite_free(spot)))


def beside_on(a: SceneObject, b: SceneObject, scene: Scene, held: str) -> list[SceneObject]:
    """Return what rests on either of two things already, without `held`, which may have rested there."""
    others = (o for o in scene.of_kind(*SOLIDS) if o.id != held)
    return [o for o in others if any(scene.holds("on", o.id, s.id) for s in (a, b))]


def across(a: SceneObject, b: SceneObject, scene: Scene, held: str, hold: Hold) -> Iterator[Pose]:
    """Yield tool poses on two things side by side: over the joint, along their faces, a bit off neighbours.

    Nowhere, if they are not equally high.
    """
    if abs(a.top - b.top) > EVEN:
        return
    x, y = np.mean([a.pose.position[:2], b.pose.position[:2]], axis=0)
    z = max(a.top, b.top) + hold.height + DROP
    row = math.atan2(b.pose.position[1] - a.pose.position[1], b.pose.position[0] - a.pose.position[0])
    beside = beside_on(a, b, scene, held)

    def off(shift: float, yaw: float) -> float:
        """Return a thing's gap to neighbours, `shift` metres from the joint; capped at `SPACING`."""
        room = _room(x + shift * math.cos(row), y + shift * math.sin(row), yaw, hold, beside)
        return round(min(SPACING, room), 4)

    for yaw in _across_first(_along_faces(row, a, b), hold):
        shift = max(np.linspace(-MOST_OFF, MOST_OFF, 17), key=lambda s: (off(s, yaw), -abs(s)))
        yield top_down(float(x + shift * math.cos(row)), float(y + shift * math.sin(row)), z, yaw)


def _along_faces(row: float, *things: SceneObject) -> float:
    """Return the direction of a row of things by their faces, which is surer than by their places."""
    quarter = math.pi / 2
    turns = [math.remainder(o.pose.yaw - row, quarter) for o in things if not is_round(o.kind)]
    return row + float(np.mean(turns)) if turns else row


def on_table(
    scene: Scene, table: Table, area: WorkArea, held: str, hold: Hold, cramped: Collection[str] = ()
) -> Iterator[Pose]:
    """Yield tool poses on free table inside the work area, the roomiest places near its middle first.

    Those near a `cramped` thing come last: room was wanted there.
    """
    others = [o for o in scene.objects if o.id not in (held, "table")]
    xs = np.arange(area.x[0], area.x[1] + 1e-9, GRID)
    ys = np.arange(area.y[0], area.y[1] + 1e-9, GRID)
    centre = (sum(area.x) / 2, sum(area.y) / 2)

    def room(x: float, y: float) -> float:
        gaps = (math.dist((x, y), o.pose.position[:2]) - max(o.size[:2]) * 0.6 for o in others)
        return min(gaps, default=1.0)

    def cramps(x: float, y: float) -> bool:
        around = (o for o in others if o.id in cramped)
        return any(math.dist((x, y), o.pose.position[:2]) < max(o.size[:2]) / 2 + ELBOW_ROOM for o in around)

    need = max(hold.along, hold.across) * 0.71
    spots = [(float(x), float(y), room(float(x), float(y)) - need) for x in xs for y in ys]
    roomy = [s for s in spots if s[2] > CLEARANCE] or [s for s in spots if s[2] > CLEARANCE / 4]
    for x, y, _ in sorted(roomy, key=lambda s: (cramps(*s[:2]), math.dist(s[:2], centre) - min(s[2], 0.06))):
        for turn in (0.0, math.pi / 2):
            yield top_down(x, y, table.top + hold.height + DROP, turn)


def at_place(place: Place, scene: Scene, world: World, held: str, hold: Hold) -> Iterator[Pose]:
    """Yield tool poses at a place on the table, roomy spots before narrow ones, the tightest last."""
    others = [o for o in scene.objects if o.id not in (held, "table")]
    thing = scene.get(held)
    if thing is None:
        return
    period = KINDS[thing.kind].yaw_period
    found = []
    for x, y, yaw in place.spots(thing, scene.objects, world):
        if yaw is None:
            near = min(others, key=lambda o: math.dist(o.pose.position[:2], (x, y)), default=thing)
            ways = hold.yaw, near.pose.yaw - hold.turn  # there is most room along what stands beside it
            turns = [way + k * math.pi / 2 for way in ways for k in (0, 1)]
        else:
            turns = [yaw - hold.turn + k * (period or math.pi) for k in range(4)]
        found += [(x, y, turn, _room(x, y, turn, hold, others)) for turn in hold.least_turned(*turns)]
    for most, least in pairwise((math.inf, CLEARANCE, CLEARANCE / 4, SPACING / 2)):
        tight = least < SPACING  # as where two that touch are swapped
        for x, y, turn, room in sorted(found, key=lambda spot: -spot[3]) if tight else found:
            if least < room <= most:
                yield top_down(x, y, world.table.top + hold.height + DROP, turn)


def barred(place: Place, there: SceneObject, others: Sequence[SceneObject]) -> str:
    """Say what is in the way of a thing that stands at a place."""
    room = {o.id: gap(footprint(there), footprint(o)) for o in others}
    nearest = min(room, key=room.__getitem__, default="")
    if not nearest or room[nearest] > CLEARANCE:
        return f"no free place {place.words}: the arm does not get there"
    far = f"only {room[nearest] * 100:.0f} cm away" if room[nearest] >= EVEN else "in the way"
    return f"no free place {place.words}: the {words_of(nearest)} is {far}"


def above(place: Place, scene: Scene, world: World, held: str, hold: Hold) -> Iterator[Pose]:
    """Yield tool poses above what a place is of, from where a thing let go gets there; freest first."""
    thing, others = scene.get(held), [o for o in scene.objects if o.id in place.things]
    if thing is None or len(others) < len(place.things):
        return
    rest = [o.pose.position[:2] for o in scene.objects if o.id not in (held, *place.things, "table")]
    spots = list(place.relation.spots(thing, others, place.values, world))
    if others:
        spots.sort(key=lambda s: -min((math.dist(s[:2], p) for p in rest), default=1.0))
    z = max((o.deck + DROP for o in others), default=world.table.top + FALL) + hold.height
    for x, y, yaw in spots:
        yield top_down(x, y, z, hold.yaw if yaw is None else yaw)
