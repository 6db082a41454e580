"""Search for a collision-free path in joint space: the interface, and RRT-Connect behind it.

It runs in the compiled kernel (`spca_motion.kernel`) where there is one, else in OMPL.

A search with the same arguments gives the same path: its budget is a number of collision checks, not a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from spca_core.errors import Interrupted
from spca_core.geometry import Array
from spca_motion.paths import Piece
from spca_motion.query import EDGE_STEP, Query

if TYPE_CHECKING:
    from ompl import base as ob

_RANGE = 0.5  # longest edge of the trees, rad; twice as long ones do not get into narrow openings
_SHORTCUTS = 30

Valid = Callable[[Array], bool]


@dataclass(frozen=True)
class Effort:
    """Effort of a search.

    It stays within `margin` rad of the box that spans start and goals, and checks at most `checks`
    configurations.
    """

    margin: float
    checks: int


# Configurations that cost at most this factor, and this much (s), more than the best one are tried before the
# others.
_NEAR_FACTOR, _NEAR_EXTRA = 1.25, 0.1
BRIEF, NORMAL, WIDE = Effort(1.2, 5_000), Effort(2.2, 40_000), Effort(np.pi, 120_000)
"""Efforts of successive searches: near the near goals, then farther around all, then everywhere."""
# Seeds of the successive searches, used if a path turns out to collide between the checked configurations.
_SEEDS = (1, 2, 3)


# OMPL's seed is global; a search sets it and creates every generator it uses under this lock.
_lock = threading.Lock()


class PathNotFound(Exception):
    """No path was found; the message says how hard it was tried."""


class PathSearch(Protocol):
    """Finds a path through the free space of a `Query`."""

    def path(self, query: Query, goals: Array, cost: Array, stop: Callable[[], bool]) -> list[Piece]:
        """Return a smooth path from the query's start to one of the free `goals` (k ≥ 1, n), best first.

        `cost` (k,) says in seconds how much better. Raises PathNotFound, and Interrupted as soon as `stop`
        holds.
        """
        ...


class TreeSearch:
    """The straight path where that is free, else one that RRT-Connect finds.

    `limits` (n, 2) are the lowest and highest position of each joint.
    """

    def __init__(self, limits: Array) -> None:
        self._limits = limits

    def path(self, query: Query, goals: Array, cost: Array, stop: Callable[[], bool]) -> list[Piece]:
        """See `PathSearch`."""
        near = goals[cost <= _NEAR_FACTOR * cost[0] + _NEAR_EXTRA]
        for targets, effort in ((near, BRIEF), (goals, NORMAL), (goals, WIDE)):
            for goal in targets if effort is not WIDE else ():
                if (straight := query.straight(goal)) is not None:
                    return straight
            if (pieces := _detour(query, targets, effort, stop, self._limits)) is not None:
                return pieces
        raise PathNotFound(f"searched {BRIEF.checks + NORMAL.checks + WIDE.checks} configurations")


def _detour(
    query: Query, goals: Array, effort: Effort, stop: Callable[[], bool], limits: Array
) -> list[Piece] | None:
    """Return a smooth path around the obstacles between start and goals, or None."""
    kernel, start = query.kernel(needed=True), query.start.joints
    search = find_path if kernel is None else kernel.path
    for seed in _SEEDS:
        tried = _RANGE, EDGE_STEP, effort.checks, _SHORTCUTS, seed
        waypoints = search(start, goals, box_of(start, goals, effort, limits), tried, query.valid, stop)
        if waypoints is None:
            return None
        if (pieces := query.smooth(waypoints)) is not None:
            return pieces
    return None


def find_path(
    start: Array,
    goals: Array,
    box: Array,
    effort: tuple[float, float, int, int, int],
    valid: Valid,
    stop: Callable[[], bool],
) -> Array | None:
    """See `spca_motion.kernel.Kernel.path`."""
    from ompl import base as ob  # most paths are straight
    from ompl import geometric as og
    from ompl import util as ou

    ou.setLogLevel(ou.LOG_NONE)
    (lower, upper), (reach, step, most, tries, seed) = box, effort
    checks = 0
    count = len(start)
    joints = np.empty(count)

    def is_valid(state: ob.State) -> bool:
        nonlocal checks
        checks += 1
        for i in range(count):
            joints[i] = state[i]
        return valid(joints)

    with _lock:
        ou.RNG.setSeed(seed)
        space = ob.RealVectorStateSpace(count)
        bounds = ob.RealVectorBounds(count)
        for i in range(count):
            bounds.setLow(i, float(lower[i]))
            bounds.setHigh(i, float(upper[i]))
        space.setBounds(bounds)
        space.setLongestValidSegmentFraction(step / space.getMaximumExtent())
        setup = og.SimpleSetup(space)
        setup.setStateValidityChecker(is_valid)
        setup.setStartState(_state(space, start))
        targets = ob.GoalStates(setup.getSpaceInformation())
        for goal in goals:
            targets.addState(_state(space, goal))
        setup.setGoal(targets)
        planner = og.RRTConnect(setup.getSpaceInformation())
        planner.setRange(reach)
        setup.setPlanner(planner)
        setup.setup()
        simplifier = og.PathSimplifier(setup.getSpaceInformation())

    solved = setup.solve(ob.PlannerTerminationCondition(lambda: checks > most or stop()))
    if stop():
        raise Interrupted
    if not solved or not setup.haveExactSolutionPath():
        return None
    path = setup.getSolutionPath()
    simplifier.reduceVertices(path, tries)
    simplifier.partialShortcutPath(path, tries)
    simplifier.reduceVertices(path, tries)
    waypoints = np.array([[state[i] for i in range(count)] for state in path.getStates()])
    waypoints[0] = start
    return waypoints


def box_of(start: Array, goals: Array, effort: Effort, limits: Array) -> Array:
    """Return the lowest and highest joints (2, n) of a search."""
    hull, (low, high) = np.vstack([start, goals]), limits.T
    lower = np.maximum(hull.min(axis=0) - effort.margin, low)
    return np.stack([lower, np.minimum(hull.max(axis=0) + effort.margin, high)])


def _state(space: ob.RealVectorStateSpace, joints: Array) -> ob.State:
    state = space.allocState()
    for i, value in enumerate(joints):
        state[i] = float(value)
    return state
