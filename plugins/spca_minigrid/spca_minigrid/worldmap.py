"""The map an agent makes of its world from what it sees, by dead reckoning, and the things on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spca_core.model import Record
from spca_minigrid import primitives
from spca_minigrid.cells import (
    BALL,
    BOX,
    DOOR,
    EMPTY,
    LAVA,
    THINGS,
    UNSEEN,
    WALL,
    Point,
    ahead,
    beside,
    cell_of,
    colour_of,
    kind_of,
    state_of,
    walkable,
)
from spca_minigrid.view import VIEW, covered

HELD, GONE = "held", "gone"


@dataclass
class KnownThing:
    """A door, key, ball, box or goal.

    `place` is where it was last seen, or in the hand, or gone (a box opened).
    """

    id: str
    kind: str
    colour: str
    state: str
    place: Point | str
    first_place: Point
    moving: bool = False
    """The thing has been seen to move by itself."""

    @property
    def cell(self) -> str:
        """The thing as a cell of the map."""
        return " ".join(word for word in (self.kind, self.colour, self.state) if word)


class KnownMap(Record):
    """A map as plain data: cells as (x, y, cell), and the things on them."""

    cells: tuple[tuple[int, int, str], ...]
    things: tuple[KnownThing, ...]
    position: Point
    direction: int
    start_direction: int
    names: dict[str, str] = {}


class WorldMap:
    """Map of what is known so far.

    Points are relative to the start; the compass is MiniGrid's (0 right, 1 down, …).
    """

    def __init__(self) -> None:
        self.cells: dict[Point, str] = {}
        self.position: Point = (0, 0)
        self.direction = 0
        self.start_direction = 0
        self.things: dict[str, KnownThing] = {}
        self.names: dict[str, str] = {}
        """Meanings that skills have found for words of the mission: symbol → id of a thing."""
        self.looks = 0
        self.version = 0
        """Number that grows whenever the map, the pose or the hand changes."""

    @classmethod
    def of(cls, known: KnownMap) -> WorldMap:
        """Return the map from which `record` made `known`."""
        made = cls()
        made.cells = {(x, y): cell for x, y, cell in known.cells}
        made.things = {t.id: t for t in known.things}
        made.position, made.direction = known.position, known.direction
        made.start_direction, made.looks = known.start_direction, 1
        made.names = dict(known.names)
        return made

    def record(self) -> KnownMap:
        """Return all that is known, as plain data."""
        return KnownMap(
            cells=tuple((x, y, cell) for (x, y), cell in self.cells.items()),
            things=tuple(self.things.values()),
            position=self.position,
            direction=self.direction,
            start_direction=self.start_direction,
            names=dict(self.names),
        )

    def cell(self, point: Point) -> str:
        """Return what is at a point, `unseen` if nothing is known."""
        return self.cells.get(point, UNSEEN)

    def thing_at(self, point: Point) -> KnownThing | None:
        """Return the thing at a point; None if none is known there."""
        return next((t for t in self.things.values() if t.place == point), None)

    @property
    def held(self) -> KnownThing | None:
        """The thing in the hand; None if it is empty."""
        return next((t for t in self.things.values() if t.place == HELD), None)

    @property
    def front(self) -> Point:
        """The point that the agent faces."""
        return ahead(self.position, self.direction)

    def present(self) -> list[KnownThing]:
        """Return the things that lie or stand somewhere, in the order in which they were first seen."""
        return [t for t in self.things.values() if not isinstance(t.place, str)]

    def observe(self, image: np.ndarray, direction: int, action: int | None = None) -> None:
        """Take in a view (7, 7, 3), column by row as in MiniGrid, after `action` (None: the first look)."""
        before = (self.position, self.direction, self.held.id if self.held else "", dict(self.cells))
        seen = [[cell_of(*(int(v) for v in code)) for code in column] for column in image]
        in_hand = seen[VIEW // 2][VIEW - 1]
        seen[VIEW // 2][VIEW - 1] = UNSEEN  # MiniGrid shows the hand's content in the agent's own cell
        if self.looks == 0:
            self.start_direction = direction
        self.looks += 1
        self.direction = direction
        self.position = self._reckon(seen, action)
        self._take_in_hand(in_hand, action)
        points = covered(self.position, direction)
        now = {
            point: cell
            for column, cells in zip(points, seen, strict=True)
            for point, cell in zip(column, cells, strict=True)
            if cell != UNSEEN
        }
        self.cells.update(now)
        if self.cell(self.position) == UNSEEN:
            self.cells[self.position] = EMPTY
        self._recognise(now)
        if before != (self.position, self.direction, self.held.id if self.held else "", self.cells):
            self.version += 1

    def _reckon(self, seen: list[list[str]], action: int | None) -> Point:
        """Locate the agent: after a step forward, at the one of two possible cells that fits better."""
        if action != primitives.FORWARD:
            return self.position
        likely, other = ahead(self.position, self.direction), self.position
        if not (walkable(self.cell(likely)) or self.cell(likely) in (LAVA, UNSEEN)):
            likely, other = other, likely
        return min((likely, other), key=lambda position: self._mismatch(seen, position))

    def _mismatch(self, seen: list[list[str]], position: Point) -> int:
        """Count the cells of a view that contradict the map, if it was seen from `position`.

        Balls may move, nothing else.
        """
        count = 0
        for column, cells in zip(covered(position, self.direction), seen, strict=True):
            for point, cell in zip(column, cells, strict=True):
                known = self.cell(point)
                if UNSEEN not in (known, cell) and BALL not in (kind_of(known), kind_of(cell)):
                    count += known != cell
        return count

    def _take_in_hand(self, cell: str, action: int | None) -> None:
        held = self.held
        if cell == EMPTY:
            if held is not None:
                held.place = self.front
                self.cells[self.front] = held.cell
        elif held is None or held.cell != cell:
            thing = self.thing_at(self.front) if action == primitives.PICK_UP else None
            if thing is None or thing.cell != cell:
                thing = self._new(cell, HELD)
            thing.place = HELD
            self.cells[self.front] = EMPTY

    def _recognise(self, now: dict[Point, str]) -> None:
        """Match things in view with known ones, so that each keeps its id when its state or place changes."""
        fresh: list[tuple[Point, str]] = []
        for point, cell in now.items():
            thing = self.thing_at(point)
            if thing is not None and (thing.kind, thing.colour) == (kind_of(cell), colour_of(cell)):
                thing.state = state_of(cell)
            elif kind_of(cell) in THINGS:
                fresh.append((point, cell))
        missing = [t for t in self.present() if t.place in now and now[_point(t)] != t.cell]
        for point, cell in fresh:
            moved = [t for t in missing if t.kind == BALL and t.cell == cell and _near(_point(t), point)]
            if moved:
                moved[0].place, moved[0].moving = point, True
                missing.remove(moved[0])
            else:
                self._new(cell, point)
        for thing in missing:
            thing.place = GONE

    def _new(self, cell: str, place: Point | str) -> KnownThing:
        name = "_".join(word for word in (kind_of(cell), colour_of(cell)) if word)
        number = 1 + sum(id_.rpartition("_")[0] == name for id_ in self.things)
        first = self.position if isinstance(place, str) else place
        thing = KnownThing(f"{name}_{number}", kind_of(cell), colour_of(cell), state_of(cell), place, first)
        self.things[thing.id] = thing
        return thing

    def start_room(self) -> set[Point]:
        """Return the known part of the room where the agent started: its floor, its things and its doors."""
        return self.room((0, 0))

    def room(self, inside: Point) -> set[Point]:
        """Return the known cells around a point up to the nearest walls and doors, these doors included."""
        found, edge = {inside}, [inside]
        while edge:
            for point in beside(edge.pop()):
                cell = self.cell(point)
                if point in found or cell in (UNSEEN, WALL):
                    continue
                found.add(point)
                if kind_of(cell) != DOOR:
                    edge.append(point)
        return found

    def as_text(self) -> str:
        """Return the map as rows of letters, for reports.

        `#` is wall, `.` floor, `?` unseen, `^` the agent; a thing is its first letter.
        """
        if not self.cells:
            return ""
        letters = {WALL: "#", EMPTY: ".", UNSEEN: "?", LAVA: "~", BOX: "B", BALL: "o"}
        xs, ys = [x for x, _ in self.cells], [y for _, y in self.cells]
        rows = []
        for y in range(min(ys), max(ys) + 1):
            row = ""
            for x in range(min(xs), max(xs) + 1):
                cell = self.cell((x, y))
                letter = letters.get(kind_of(cell), kind_of(cell)[0])
                row += ">v<^"[self.direction] if (x, y) == self.position else letter
            rows.append(row)
        return "\n".join(rows)


def _point(thing: KnownThing) -> Point:
    assert not isinstance(thing.place, str)
    return thing.place


def _near(a: Point, b: Point) -> bool:
    return abs(a[0] - b[0]) <= 1 and abs(a[1] - b[1]) <= 1
