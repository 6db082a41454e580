"""Where a thing can be put down without being in anybody's way."""

from __future__ import annotations

from spca_minigrid.cells import DOOR, EMPTY, Point, beside, kind_of, walkable
from spca_minigrid.worldmap import WorldMap

_RING = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))


def spare_places(known: WorldMap) -> set[Point]:
    """Free cells that no way leads through: not beside a door, and with their free neighbours all in one piece."""
    return {
        point
        for point, cell in known.cells.items()
        if cell == EMPTY
        and point != known.position
        and not any(kind_of(known.cell(n)) == DOOR for n in beside(point))
        and _gaps(known, point) <= 1
    }


def _gaps(known: WorldMap, point: Point) -> int:
    """How many separate groups the free cells beside a point form; with more than one, a way may lead through it.

    Two of them belong together if the cell diagonally between them is free too.
    """
    x, y = point
    free = [walkable(known.cell((x + dx, y + dy))) for dx, dy in _RING]
    sides = range(1, len(_RING), 2)
    joined = sum(free[i] and free[(i + 1) % 8] and free[(i + 2) % 8] for i in sides)
    return max(sum(free[i] for i in sides) - joined, 1 if joined == len(sides) else 0)
