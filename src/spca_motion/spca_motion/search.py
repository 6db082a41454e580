"""Collision-free ways through joint space, found by OMPL's RRT-Connect and then made shorter.

A search with the same arguments gives the same way: its budget is a number of collision checks, not a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from spca_core.geometry import Array
from spca_motion.query import EDGE_STEP
from spca_robot.ur5 import POSITION_LIMITS

_RANGE = 1.0  # longest edge of the trees, rad
_SHORTCUTS = 30

Valid = Callable[[Array], bool]


@dataclass(frozen=True)
class Effort:
    """How far to look: `margin` rad outside the box that spans start and goals, and at most `checks` postures."""

    margin: float
    checks: int


# OMPL's seed is global; a search sets it and creates every generator it uses under this lock.
_lock = threading.Lock()
ou.setLogLevel(ou.LOG_NONE)


class Interrupted(Exception):
    """The search was told to stop."""


def find_way(
    start: Array, goals: Array, valid: Valid, stop: Callable[[], bool], effort: Effort, seed: int = 1
) -> Array | None:
    """A way (n, 6) from `start` to one of the valid `goals` (k, 6), or None if the effort was not enough.

    Raises Interrupted as soon as `stop` says so.
    """
    hull, (low, high) = np.vstack([start, goals]), POSITION_LIMITS.T
    lower = np.maximum(hull.min(axis=0) - effort.margin, low)
    upper = np.minimum(hull.max(axis=0) + effort.margin, high)
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
        for i in range(6):
            box.setLow(i, float(lower[i]))
            box.setHigh(i, float(upper[i]))
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

    solved = setup.solve(ob.PlannerTerminationCondition(lambda: checks > effort.checks or stop()))
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
