"""Where a thing can be put down without being in anybody's way."""

from __future__ import annotations

from spca_minigrid.cells import DOOR, EMPTY, Point, beside, kind_of, walkable
from spca_minigrid.worldmap import WorldMap

_RING = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))


def spare_places(known: WorldMap) -> set[Point]:
    """Free cells that block no path: not next to a door, and with free neighbours that are connected."""
    return {
        point
        for point, cell in known.cells.items()
        if cell == EMPTY
        and point != known.position
        and not any(kind_of(known.cell(n)) == DOOR for n in beside(point))
        and _gaps(known, point) <= 1
    }


def _gaps(known: WorldMap, point: Point) -> int:
    """How many separate groups the free cells around a point form.

    With more than one, a path may lead through the point.

    Two of them belong together if the cell diagonally between them is free too.
    """
    x, y = point
    free = [walkable(known.cell((x + dx, y + dy))) for dx, dy in _RING]
    sides = range(1, len(_RING), 2)
    joined = sum(free[i] and free[(i + 1) % 8] and free[(i + 2) % 8] for i in sides)
    return max(sum(free[i] for i in sides) - joined, 1 if joined == len(sides) else 0)
