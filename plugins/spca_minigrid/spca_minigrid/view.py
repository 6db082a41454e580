"""The agent's 7×7 view: which cells of the world it covers, and what can be seen through what."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from spca_minigrid.cells import DIRECTIONS, Point, see_through

VIEW = 7
_HALF = VIEW // 2


@cache
def _offsets(direction: int) -> tuple[tuple[Point, ...], ...]:
    """Return the world offsets of the view's cells, [column][row] as in MiniGrid's image.

    The agent is at column 3, row 6.
    """
    dx, dy = DIRECTIONS[direction]
    rx, ry = -dy, dx  # to the right of the agent
    return tuple(
        tuple(
            (dx * (VIEW - 1 - row) + rx * (column - _HALF), dy * (VIEW - 1 - row) + ry * (column - _HALF))
            for row in range(VIEW)
        )
        for column in range(VIEW)
    )


def covered(position: Point, direction: int) -> list[list[Point]]:
    """Return the world points of the view's cells, [column][row]."""
    x, y = position
    return [[(x + ox, y + oy) for ox, oy in column] for column in _offsets(direction)]


def in_view(position: Point, direction: int, point: Point) -> bool:
    """Return whether a point lies within the 7×7 cells, seen or hidden."""
    dx, dy = DIRECTIONS[direction]
    x, y = point[0] - position[0], point[1] - position[1]
    return 0 <= x * dx + y * dy < VIEW and abs(-x * dy + y * dx) <= _HALF


def visible(position: Point, direction: int, cell_at: Callable[[Point], str]) -> list[Point]:
    """Return the points visible from a pose, by MiniGrid's rule: sight spreads by rows, away from the agent.

    A cell that is seen and not opaque lights its neighbours in its own row and the three cells of the row
    ahead.
    """
    points = covered(position, direction)
    lit = [[False] * VIEW for _ in range(VIEW)]
    lit[_HALF][VIEW - 1] = True
    clear = [[see_through(cell_at(point)) for point in column] for column in points]
    clear[_HALF][VIEW - 1] = True  # an agent that stands in a doorway has opened the door
    for row in range(VIEW - 1, -1, -1):
        for columns, side in ((range(VIEW - 1), 1), (range(VIEW - 1, 0, -1), -1)):
            for column in columns:
                if lit[column][row] and clear[column][row]:
                    lit[column + side][row] = True
                    if row > 0:
                        lit[column + side][row - 1] = lit[column][row - 1] = True
    return [points[c][r] for c in range(VIEW) for r in range(VIEW) if lit[c][r]]
