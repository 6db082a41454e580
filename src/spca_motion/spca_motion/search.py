"""Collision-free ways through joint space, found by OMPL's RRT-Connect and then made shorter.

A search with the same arguments gives the same way: its budget is a number of collision checks, not a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from spca_core.geometry import Array
from spca_robot.ur5 import POSITION_LIMITS

EDGE_STEP = 0.02
"""Postures are checked at least this often along every edge, in radians of Euclidean joint distance."""
_RANGE = 1.0  # longest edge of the trees, rad
_HULL = 1.2  # how far outside the box between start and goals to search first, rad
_CHECKS = (40_000, 120_000)  # budgets of the narrow and of the wide search
_SHORTCUTS = 30

Valid = Callable[[Array], bool]

# OMPL's seed is global; a search sets it and creates every generator it uses under this lock.
_lock = threading.Lock()
ou.setLogLevel(ou.LOG_NONE)


class Interrupted(Exception):
    """The search was told to stop."""


def edge(start: Array, goal: Array) -> Array:
    """The postures (n, 6) to check between two, at `EDGE_STEP`; both included."""
    count = max(int(np.ceil(np.linalg.norm(goal - start) / EDGE_STEP)), 1)
    return start + np.linspace(0.0, 1.0, count + 1)[:, None] * (goal - start)


def first_invalid(postures: Array, valid: Valid) -> int | None:
    """The index of the first posture that is not valid, or None."""
    return next((i for i, joints in enumerate(postures) if not valid(joints)), None)


def find_way(
    start: Array, goals: Array, valid: Valid, stop: Callable[[], bool], seed: int = 1
) -> Array | None:
    """A way (n, 6) from `start` to one of the valid `goals` (k, 6), or None if the budget ends first.

    Raises Interrupted as soon as `stop` says so.
    """
    low, high = POSITION_LIMITS.T
    hull = np.vstack([start, goals])
    narrow = np.maximum(hull.min(axis=0) - _HULL, low), np.minimum(hull.max(axis=0) + _HULL, high)
    wide = np.maximum(hull.min(axis=0) - np.pi, low), np.minimum(hull.max(axis=0) + np.pi, high)
    for (lower, upper), budget in zip((narrow, wide), _CHECKS, strict=True):
        way = _search(start, goals, (lower, upper), valid, budget, stop, seed)
        if way is not None:
            return way
    return None


def _search(
    start: Array,
    goals: Array,
    bounds: tuple[Array, Array],
    valid: Valid,
    budget: int,
    stop: Callable[[], bool],
    seed: int,
) -> Array | None:
    checks = 0
    joints = np.empty(6)

    def is_valid(state: ob.State) -> bool:
        nonlocal checks
        checks += 1
        for i in range(6):
            joints[i] = state[i]
        return valid(joints)

    with _lock:
        ou.RNG.setSeed(seed)
        space = ob.RealVectorStateSpace(6)
        box = ob.RealVectorBounds(6)
        for i, (lower, upper) in enumerate(zip(*bounds, strict=True)):
            box.setLow(i, float(lower))
            box.setHigh(i, float(upper))
        space.setBounds(box)
        space.setLongestValidSegmentFraction(EDGE_STEP / space.getMaximumExtent())
        setup = og.SimpleSetup(space)
        setup.setStateValidityChecker(is_valid)
        setup.setStartState(_state(space, start))
        targets = ob.GoalStates(setup.getSpaceInformation())
        for goal in goals:
            targets.addState(_state(space, goal))
        setup.setGoal(targets)
        planner = og.RRTConnect(setup.getSpaceInformation())
        planner.setRange(_RANGE)
        setup.setPlanner(planner)
        setup.setup()
        simplifier = og.PathSimplifier(setup.getSpaceInformation())

    solved = setup.solve(ob.PlannerTerminationCondition(lambda: checks > budget or stop()))
    if stop():
        raise Interrupted
    if not solved or not setup.haveExactSolutionPath():
        return None
    path = setup.getSolutionPath()
    simplifier.reduceVertices(path, _SHORTCUTS)
    simplifier.partialShortcutPath(path, _SHORTCUTS)
    simplifier.reduceVertices(path, _SHORTCUTS)
    way = np.array([[state[i] for i in range(6)] for state in path.getStates()])
    way[0] = start
    return way


def _state(space: ob.RealVectorStateSpace, joints: Array) -> ob.State:
    state = space.allocState()
    for i, value in enumerate(joints):
        state[i] = float(value)
    return state
