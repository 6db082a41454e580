"""`spca_motion`'s planner with MoveIt doing the checking and the searching.

Goals are solved in closed form, straight lines are sampled, paths are rounded and timed as ever; what differs is who says
whether a posture is free, and who finds a way around. MoveIt's ways are not taken on trust: each is checked again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.world import World
from spca_motion.collision import CollisionChecker
from spca_motion.paths import Piece, corners, rounded
from spca_motion.planner import MotionPlanner
from spca_motion.query import Query, Start, edge
from spca_motion.search import Interrupted
from spca_moveit.checker import ProcessChecker
from spca_moveit.process import PlannerProcess

# Postures of a goal that are tried, and how round the corners of a way may be: less and less until it is free.
_GOALS, _ROUNDINGS = 4, (1.0, 0.5, 0.2, 0.0)
_THERE = 1e-5  # rad
_STRAIGHT = 1e-4  # rad; a corner that bends less is none


class MoveItPlanner(MotionPlanner):
    """See `MotionPlanner`."""

    def __init__(self, world: World, process: PlannerProcess, seconds: float = 5.0) -> None:
        """`seconds` of wall time bound each search."""
        super().__init__(world)
        self._process, self._seconds = process, seconds

    def fault_ahead(self, start: Start, states: Array) -> str:
        """What the present scene has against a motion that is under way: `states` (n, 6) are still to come; "" if none."""
        query = self._query(start)
        for joints in states:
            if not query.valid(joints):
                return query.blame(joints)
        return ""

    def _ready_checker(self) -> CollisionChecker:
        if self._checker is None:
            self._checker = ProcessChecker(self._world, self._scene, self._process)
        return self._checker

    def _around(self, start: Start, goals: Array, what: str, stop: Callable[[], bool]) -> list[Piece]:
        query = self._query(start)
        free = np.array([q for q in goals if query.valid(q)])
        if not len(free):
            raise MotionError("collision", f"at {what} {query.blame(goals[0])}")
        if np.abs(free[0] - start.joints).max() < _THERE:
            return []
        for goal in free[:_GOALS]:
            if query.all_valid(edge(start.joints, goal)):
                return rounded(np.stack([start.joints, goal]))
        for goal in free[:_GOALS]:
            if stop():
                raise Interrupted
            way = self._process.plan(start.joints, goal, start.gap, self._seconds)
            pieces = None if way is None else _checked(query, way, goal)
            if pieces is not None:
                return pieces
        fault = query.fault(rounded(np.stack([start.joints, free[0]])))
        raise MotionError("collision", f"no way around to {what}: straight there, {fault}")


def _checked(query: Query, way: Array, goal: Array) -> list[Piece] | None:
    """MoveIt's way as a path, as round as it stays free; None if it does not lead there or is not free after all."""
    ends = way.shape[0] >= 2 and way.shape[1:] == (6,) and np.isfinite(way).all()
    if not ends or np.abs(way[0] - query.start.joints).max() > 1e-3 or np.abs(way[-1] - goal).max() > 1e-3:
        return None
    way = np.vstack([query.start.joints, bends(way)[1:-1], goal])
    for share in _ROUNDINGS:
        pieces = rounded(way, [share] * corners(way))
        if query.fault(pieces) is None:
            return pieces
    return None


def bends(way: Array) -> Array:
    """The ends of a way (n, 6) and those points between at which it turns."""
    keep = [0]
    for i in range(1, len(way) - 1):
        along, ahead = way[i] - way[keep[-1]], way[i + 1] - way[keep[-1]]
        length = float(ahead @ ahead)
        off = along if length == 0 else along - ahead * float(along @ ahead) / length
        if np.linalg.norm(off) > _STRAIGHT:
            keep.append(i)
    return np.asarray(way[[*keep, len(way) - 1]])
