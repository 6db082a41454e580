"""Ways over the known map: to stand before something, to step onto something, to see something new.

A route is a list of primitives that are safe on the map as it is known: it never leads into lava, never onto
a goal that is not its aim, and opens closed doors on the way. With `force` it may lead up to a locked door or
a movable thing that is in the way, and names it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Set

from spca_core.model import Record
from spca_minigrid import primitives
from spca_minigrid.cells import (
    DOOR,
    EMPTY,
    GOAL,
    LAVA,
    PORTABLE,
    UNSEEN,
    WALL,
    Point,
    ahead,
    beside,
    kind_of,
    state_of,
    walkable,
)
from spca_minigrid.view import in_view, visible
from spca_minigrid.worldmap import WorldMap

Pose = tuple[Point, int]

_IN_THE_WAY = 15.0
"""Rough number of primitives that it takes to clear something away."""
_LOCKED = 30.0
_PATIENCE = 4.0
"""Cost added to that of a viewpoint when it is weighed against what it shows.

Otherwise a nearby glimpse would always win.
"""
_CAREFUL_DOOR = 25.0
_MOST_NEW = 36
_RING = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))


class PlannedRoute(Record):
    """Primitives to go, and the id of what then stands in the way (empty if nothing does).

    `cells` are the points that the whole way leads over, those beyond the obstacle included.
    """

    steps: tuple[int, ...]
    obstacle: str = ""
    cost: float = 0.0
    cells: frozenset[Point] = frozenset()


class Navigator:
    """Finds routes on a map. `may_force` says whether a thing can be moved out of the way at all."""

    def __init__(self, world: WorldMap, may_force: Callable[[str], bool] = lambda thing_id: True) -> None:
        self._map, self._may_force = world, may_force

    def to_face(self, targets: Set[Point], force: bool = False) -> PlannedRoute | None:
        """Return a route to stand next to one of the points, facing it."""
        return self._route(lambda pose: ahead(*pose) in targets, frozenset(), force)

    def onto(self, targets: Set[Point], force: bool = False) -> PlannedRoute | None:
        """Return a route that ends on one of the points."""
        return self._route(lambda pose: pose[0] in targets, frozenset(targets), force)

    def to_see_new(
        self, force: bool = False, careful: bool = False, within: Set[Point] | None = None
    ) -> PlannedRoute | None:
        """Return a route to where much that is new is seen at little cost; None when no more can be reached.

        With `careful` doors are opened only when nothing else is left; `within` bounds what counts as new to
        the surroundings of some cells.
        """
        edge = self._edge(within)
        if not edge:
            return None
        best, best_pose = 0.0, None
        costs: dict[Pose, float] = {}
        parents: dict[Pose, tuple[Pose, int]] = {}
        for pose, cost in self._search(costs, parents, frozenset(), force, _CAREFUL_DOOR if careful else 0.0):
            if best and _MOST_NEW / (cost + _PATIENCE) <= best:
                break
            value = self._gain(pose, edge) / (cost + _PATIENCE)
            if value > best:
                best, best_pose = value, pose
        return None if best_pose is None else self._walk_back(best_pose, parents, costs[best_pose])

    # --- searching ------------------------------------------------------------------------------------------

    def _route(
        self, arrived: Callable[[Pose], bool], aims: frozenset[Point], force: bool
    ) -> PlannedRoute | None:
        costs: dict[Pose, float] = {}
        parents: dict[Pose, tuple[Pose, int]] = {}
        for pose, cost in self._search(costs, parents, aims, force):
            if arrived(pose):
                return self._walk_back(pose, parents, cost)
        return None

    def _search(
        self,
        costs: dict[Pose, float],
        parents: dict[Pose, tuple[Pose, int]],
        aims: frozenset[Point],
        force: bool,
        door_price: float = 0.0,
    ) -> Iterator[tuple[Pose, float]]:
        """Yield poses in order of their cost (Dijkstra's algorithm); fill `costs` and `parents` meanwhile."""
        start: Pose = (self._map.position, self._map.direction)
        costs[start] = 0.0
        queue: list[tuple[float, int, Pose]] = [(0.0, 0, start)]
        done: set[Pose] = set()
        count = 0
        while queue:
            cost, _, pose = heapq.heappop(queue)
            if pose in done:
                continue
            done.add(pose)
            yield pose, cost
            point, direction = pose
            following: list[tuple[Pose, int, float]] = [
                ((point, (direction - 1) % 4), primitives.LEFT, 1.0),
                ((point, (direction + 1) % 4), primitives.RIGHT, 1.0),
            ]
            there = ahead(point, direction)
            step = self._step_cost(there, aims, force)
            if step is not None:
                step += door_price * (state_of(self._map.cell(there)) == "closed")
                following.append(((there, direction), primitives.FORWARD, step))
            for after, primitive, price in following:
                if cost + price < costs.get(after, float("inf")):
                    costs[after] = cost + price
                    parents[after] = (pose, primitive)
                    count += 1
                    heapq.heappush(queue, (cost + price, count, after))

    def _step_cost(self, point: Point, aims: frozenset[Point], force: bool) -> float | None:
        """Return the cost of stepping onto a point, with whatever has to be done first.

        None if it cannot or must not be entered.
        """
        cell = self._map.cell(point)
        kind, state = kind_of(cell), state_of(cell)
        if cell == EMPTY or state == "open" or (kind == GOAL and point in aims):
            return 1.0
        if state == "closed":
            return 2.0
        if kind in (WALL, LAVA, GOAL) or not force:
            return None
        thing = self._map.thing_at(point)
        if thing is None or not self._may_force(thing.id):
            return None
        return 1.0 + (_LOCKED if kind == DOOR else _IN_THE_WAY)

    def _walk_back(self, pose: Pose, parents: dict[Pose, tuple[Pose, int]], cost: float) -> PlannedRoute:
        """Return the route to a pose, cut at the first thing that has to be dealt with."""
        moves: list[tuple[Pose, int]] = []
        while pose in parents:
            pose, primitive = parents[pose]
            moves.append((pose, primitive))
        cells = frozenset(ahead(*pose) for pose, primitive in moves if primitive == primitives.FORWARD)
        steps: list[int] = []
        for (point, direction), primitive in reversed(moves):
            if primitive == primitives.FORWARD:
                there = ahead(point, direction)
                cell = self._map.cell(there)
                if state_of(cell) == "locked" or kind_of(cell) in PORTABLE:
                    thing = self._map.thing_at(there)
                    obstacle = thing.id if thing else ""
                    return PlannedRoute(steps=tuple(steps), obstacle=obstacle, cost=cost, cells=cells)
                if state_of(cell) == "closed":
                    steps.append(primitives.TOGGLE)
            steps.append(primitive)
        return PlannedRoute(steps=tuple(steps), cost=cost, cells=cells)

    # --- what there is to see -------------------------------------------------------------------------------

    def _edge(self, within: Set[Point] | None) -> set[Point]:
        """Return the frontier: unseen points next to known cells that are not walls."""
        known = self._map.cells.items()
        open_cells = (p for p, c in known if c != WALL and (within is None or p in within))
        return {n for point in open_cells for n in beside(point) if self._map.cell(n) == UNSEEN}

    def _gain(self, pose: Pose, edge: set[Point]) -> int:
        """Count the unseen cells that can be seen from a pose, if all unseen cells are transparent."""
        if not any(in_view(*pose, point) for point in edge):
            return 0
        seen = visible(*pose, self._map.cell)
        if not any(point in edge for point in seen):
            return 0
        return min(sum(self._map.cell(point) == UNSEEN for point in seen), _MOST_NEW)


def spare_places(known: WorldMap) -> set[Point]:
    """Return free cells that block no path: not next to a door, and with connected free neighbours."""
    return {
        point
        for point, cell in known.cells.items()
        if cell == EMPTY
        and point != known.position
        and not any(kind_of(known.cell(n)) == DOOR for n in beside(point))
        and _gaps(known, point) <= 1
    }


def _gaps(known: WorldMap, point: Point) -> int:
    """Count the separate groups that the free cells around a point form.

    With more than one, a path may lead through the point.

    Two of them belong together if the cell diagonally between them is free too.
    """
    x, y = point
    free = [walkable(known.cell((x + dx, y + dy))) for dx, dy in _RING]
    sides = range(1, len(_RING), 2)
    joined = sum(free[i] and free[(i + 1) % 8] and free[(i + 2) % 8] for i in sides)
    return max(sum(free[i] for i in sides) - joined, 1 if joined == len(sides) else 0)
