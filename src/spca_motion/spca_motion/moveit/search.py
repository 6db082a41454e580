"""Paths by MoveIt: several goals and attempts, each path checked again by the project's rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from spca_core.errors import Interrupted
from spca_core.geometry import Array
from spca_core.ports.table import Robot
from spca_core.world import World
from spca_motion.execution import Tolerances
from spca_motion.manipulator import Manipulator
from spca_motion.moveit.backend import Box, PathRequest
from spca_motion.moveit.checker import ProcessChecker
from spca_motion.moveit.process import PlannerProcess
from spca_motion.paths import Piece, rounded
from spca_motion.planner import MotionPlanner
from spca_motion.query import Query
from spca_motion.search import PathNotFound

_GOALS = 4  # configurations of a goal that are tried
_STRAIGHT = 1e-4  # rad; a corner that bends less is none


class MoveItSearch:
    """See `spca_motion.search.PathSearch`. MoveIt's paths are not taken on trust: each is checked again."""

    def __init__(self, process: PlannerProcess, seconds: float = 5.0, attempts: int = 3) -> None:
        """Limit each attempt to `seconds` of wall time; each goal gets `attempts`, interleaved."""
        self._process, self._seconds, self._attempts = process, seconds, attempts

    def path(self, query: Query, goals: Array, cost: Array, stop: Callable[[], bool]) -> list[Piece]:
        """See `PathSearch`."""
        checker = query.checker
        assert isinstance(checker, ProcessChecker)
        goals = goals[:_GOALS]
        for goal in goals:
            if (straight := query.straight(goal)) is not None:
                return straight
        rejected: list[str] = []
        nothing = 0
        for attempt in range(self._attempts):
            # MoveIt searches several times as long where a path constraint holds, and most paths stay in the
            # workspace without one: it constrains only the further attempts.
            box = _box(query) if attempt else None
            for goal in goals:
                if stop():
                    raise Interrupted
                wanted = PathRequest(query.start.joints, goal, query.start.gap, self._seconds, box)
                path = self._process.plan(checker.geometry, wanted, stop)
                if path is None:
                    nothing += 1
                    continue
                if why := _mismatch(path, query.start.joints, goal):
                    rejected.append(why)
                    continue
                waypoints = np.vstack([query.start.joints, bends(path)[1:-1], goal])
                if (pieces := query.smooth(waypoints)) is not None:
                    return pieces
                rejected.append(str(query.fault(rounded(waypoints, [0.0] * len(waypoints)))))
        raise PathNotFound(_account(nothing, rejected))


def _box(query: Query) -> Box | None:
    if query.box is None:
        return None
    low, high = (tuple(corner.tolist()) for corner in (query.box.low, query.box.high))
    return Box(low, high, query.reach)


def bends(path: Array) -> Array:
    """Return the ends of a path (m, n) and those points between at which it turns."""
    keep = [0]
    for i in range(1, len(path) - 1):
        along, ahead = path[i] - path[keep[-1]], path[i + 1] - path[keep[-1]]
        length = float(ahead @ ahead)
        off = along if length == 0 else along - ahead * float(along @ ahead) / length
        if np.linalg.norm(off) > _STRAIGHT:
            keep.append(i)
    return np.asarray(path[[*keep, len(path) - 1]])


def _mismatch(path: Array, start: Array, goal: Array) -> str:
    if path.ndim != 2 or path.shape[0] < 2 or path.shape[1] != len(start) or not np.isfinite(path).all():
        return f"it is no path of {len(start)} joints"
    if max(np.abs(path[0] - start).max(), np.abs(path[-1] - goal).max()) > 1e-3:
        return "it does not lead from the start to the goal"
    return ""


def _account(nothing: int, rejected: list[str]) -> str:
    tries = f"MoveIt found none in {nothing} of {nothing + len(rejected)} searches"
    return f"{tries}, and what it found was rejected: {rejected[-1]}" if rejected else tries


def moveit_arm(
    world: World,
    robot: Robot,
    process: PlannerProcess,
    tolerances: Tolerances | None = None,
    speed: float = 1.0,
) -> Manipulator:
    """Return the arm with MoveIt's collision checks and searches; see `Manipulator` for the rest.

    They run in `process`, which the caller must close.
    """
    planner = MotionPlanner(world, partial(ProcessChecker, process=process), MoveItSearch(process))
    return Manipulator(world, robot, planner, tolerances, speed)
