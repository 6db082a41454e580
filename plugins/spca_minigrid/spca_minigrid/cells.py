"""Cells and directions as short texts.

A cell is `wall`, `empty`, `door red locked`, `key blue`, `goal green` or `unseen`, for example.
"""

from __future__ import annotations

from functools import cache

Point = tuple[int, int]
"""Position (x, y) in cells: x grows to the right, y downwards; the origin is where the agent started."""

DIRECTIONS: tuple[Point, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
DIRECTION_NAMES = ("right", "down", "left", "up")

UNSEEN, EMPTY, WALL, LAVA = "unseen", "empty", "wall", "lava"
DOOR, KEY, BALL, BOX, GOAL = "door", "key", "ball", "box", "goal"
PORTABLE = (KEY, BALL, BOX)
THINGS = (DOOR, *PORTABLE, GOAL)
"""Kinds of cells that are objects with an id."""
COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")

# MiniGrid's numbers (`minigrid.core.constants`, whose import takes a second).
_KINDS = ("unseen", "empty", "wall", "floor", DOOR, KEY, BALL, BOX, GOAL, "lava", "agent")
_STATES = ("open", "closed", "locked")
_PLAIN = {"unseen": UNSEEN, "empty": EMPTY, "wall": WALL, "floor": EMPTY, "lava": LAVA, "agent": EMPTY}


@cache
def cell_of(kind: int, colour: int, state: int) -> str:
    """Return the cell that MiniGrid encodes as three numbers."""
    name = _KINDS[kind]
    if name in _PLAIN:
        return _PLAIN[name]
    words = [name, COLOURS[colour]]
    return " ".join([*words, _STATES[state]] if name == DOOR else words)


def kind_of(cell: str) -> str:
    """Return the first word of a cell: what it is."""
    return cell.partition(" ")[0]


def colour_of(cell: str) -> str:
    """Return the second word of a cell, empty for cells without a colour."""
    return cell.split(" ")[1] if " " in cell else ""


def state_of(cell: str) -> str:
    """Return the state of a door: open, closed or locked; empty for all else."""
    words = cell.split(" ")
    return words[2] if len(words) > 2 else ""


def see_through(cell: str) -> bool:
    """Return whether one sees what lies behind a cell; unseen ones are given the benefit of the doubt."""
    return cell != WALL and state_of(cell) not in ("closed", "locked")


def walkable(cell: str) -> bool:
    """Return whether the agent can step on a cell and live."""
    return cell == EMPTY or kind_of(cell) == GOAL or state_of(cell) == "open"


def ahead(point: Point, direction: int, steps: int = 1) -> Point:
    """Return the point `steps` cells further in a direction."""
    dx, dy = DIRECTIONS[direction]
    return point[0] + steps * dx, point[1] + steps * dy


def beside(point: Point) -> list[Point]:
    """Return the four neighbours of a point."""
    return [ahead(point, direction) for direction in range(4)]
