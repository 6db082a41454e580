"""Planning queries, and the search for a collision-free path in joint space by RRT-Connect.

A query has the start, the rules along the path and the explanation of a failure. The search runs in the
compiled kernel (`spca_motion.kernel`) where there is one, else in OMPL.

A search with the same arguments gives the same path: its budget is a number of collision checks, not a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from spca_core.errors import Interrupted
from spca_core.geometry import Array
from spca_core.stopping import Stop
from spca_motion.collision import Hit
from spca_motion.limits import WorkspaceBox
from spca_motion.paths import Corner, Piece, rounded, sampled
from spca_robot.gripper_2f85 import tcp_offset

if TYPE_CHECKING:
    from ompl import base as ob

    from spca_motion.kernel import Kernel


Tried = tuple[float, float, int, int, int]
"""Longest edge and step of a search, in radians, its most checks, its shortcuts, and its seed."""
EDGE_STEP = 0.02
"""Largest Euclidean joint distance (rad) between configurations that are checked along a path."""


class Checker(Protocol):
    """Collision checks in one planning scene. Joints are (n,) in radians, gaps between the pads in metres."""

    def begin(self, joints: Array, gap: float, allowed: Iterable[str] = ()) -> None:
        """Set the rules for the motion that starts at `joints`.

        The gripper and what it holds may touch what is named in `allowed`. Pairs in contact at the start may
        stay so: a motion must be able to depart from a support, or from a thing that was put down.
        """

    def valid(self, joints: Array, gap: float) -> bool:
        """Return whether nothing is nearer than the rules of the motion allow."""

    def first_invalid(self, path: Array, gap: float, inside: Callable[[], bool]) -> int | None:
        """Return the index of the first configuration of `path` (m, n) that is invalid or fails `inside`.

        Returns None if there is none. `inside` looks at `flange`, which then is that configuration's.
        """

    def hits(self, joints: Array, gap: float) -> list[Hit]:
        """Return the violated clearances, deepest first where depths are known; none where it is valid."""

    def kernel(self, gap: float, box: Array | None, reach: float, needed: bool = False) -> Kernel | None:
        """Return what proves configurations free by the rules of the motion, or None where nothing does.

        The point `reach` metres ahead of the flange must stay in `box` (2, 3). Loaded once it is `needed`.
        """

    def flange(self) -> tuple[list[float], list[float]]:
        """Return the position of `tool0` in `world` and its z axis, at the configuration checked last."""


@dataclass(frozen=True)
class Start:
    """Start of a motion: joints (n,), gap between the pads (m), and contacts allowed on the way."""

    joints: Array
    gap: float
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PathFault:
    """A configuration on a path that breaks the rules.

    `piece` is its segment's number, `share` how far along that segment it lies (0 to 1), `reason` the
    explanation, `hit` the thing that would be hit, if one would.
    """

    piece: int
    share: float
    reason: str
    hit: str

    def __str__(self) -> str:
        return f"{self.reason} at {100 * self.share:.0f} % of the way"


class Query:
    """Validity of configurations for a motion from a given start.

    `tcp_gap` (m) is the gap between the pads that defines the tool centre point.
    """

    def __init__(self, checker: Checker, box: WorkspaceBox, start: Start, tcp_gap: float) -> None:
        self.start = start
        self.reach = tcp_offset(tcp_gap)
        """Distance of the tool centre point from `tool0`, along its z axis, in metres."""
        self.checker = checker
        checker.begin(start.joints, start.gap, start.allowed)
        (self._x0, self._y0, self._z0), (self._x1, self._y1, self._z1) = box.low.tolist(), box.high.tolist()
        self.box: WorkspaceBox | None = box
        """Box in which the tool must stay; None if it starts outside, as it must be able to return."""
        if not self._inside():
            self.box = None
        self._kernel: Kernel | None = None

    def valid(self, joints: Array) -> bool:
        """Return whether the configuration is allowed on the path."""
        return self.checker.valid(joints, self.start.gap) and self._inside()

    def first_invalid(self, path: Array) -> int | None:
        """Return the index of the first configuration of `path` (m, n) where the arm may not be, or None."""
        kernel = self.kernel()
        if kernel is None:
            return self.checker.first_invalid(path, self.start.gap, self._inside)
        return next((int(i) for i in np.flatnonzero(kernel.states(path)) if not self.valid(path[i])), None)

    def kernel(self, needed: bool = False) -> Kernel | None:
        """See `Checker`."""
        if self._kernel is None:
            box = None if self.box is None else np.stack([self.box.low, self.box.high])
            self._kernel = self.checker.kernel(self.start.gap, box, self.reach, needed)
        return self._kernel

    def blame(self, joints: Array) -> tuple[str, str]:
        """Describe what is wrong with a configuration that is not valid, and name what would be hit."""
        hits = self.checker.hits(joints, self.start.gap)
        return (str(hits[0]), hits[0].other) if hits else ("the tool would leave the workspace", "")

    def fault(self, pieces: Sequence[Piece]) -> PathFault | None:
        """Return the first fault along a path, or None."""
        samples = [sampled([piece], EDGE_STEP) for piece in pieces]
        path = np.concatenate(samples)
        at = self.first_invalid(path)
        if at is None:
            return None
        number = int(np.searchsorted(np.cumsum([len(rows) for rows in samples]), at, side="right"))
        return PathFault(number, at / (len(path) - 1), *self.blame(path[at]))

    def straight(self, goal: Array) -> list[Piece] | None:
        """Return the path straight to `goal` (n,) in joint space, or None if it is not free."""
        if self.first_invalid(edge(self.start.joints, goal)) is not None:
            return None
        return rounded(np.stack([self.start.joints, goal]))

    def smooth(self, waypoints: Array) -> list[Piece] | None:
        """Return the path through waypoints (m, n), with corners rounded as far as that is collision-free.

        None if the path itself is in collision.
        """
        roundings = [1.0] * len(waypoints)  # more than there are corners
        while True:
            pieces = rounded(waypoints, roundings)
            fault = self.fault(pieces)
            if fault is None:
                return pieces
            if not isinstance(pieces[fault.piece], Corner):
                return None
            # Corners that could not be rounded have no piece of their own.
            still_round = [i for i, share in enumerate(roundings) if share > 0]
            at = still_round[sum(isinstance(p, Corner) for p in pieces[: fault.piece])]
            roundings[at] = roundings[at] / 2 if roundings[at] > 0.1 else 0.0

    def _inside(self) -> bool:
        """Return whether the tool is where it must stay, at the configuration last checked."""
        if self.box is None:
            return True
        (x, y, z), (ax, ay, az) = self.checker.flange()
        r = self.reach
        return (
            self._x0 <= x + r * ax <= self._x1
            and self._y0 <= y + r * ay <= self._y1
            and self._z0 <= z + r * az <= self._z1
        )


def edge(start: Array, goal: Array) -> Array:
    """Return the configurations (m, n) to check between two, at `EDGE_STEP`; both included."""
    count = max(int(np.ceil(np.linalg.norm(goal - start) / EDGE_STEP)), 1)
    return start + np.linspace(0.0, 1.0, count + 1)[:, None] * (goal - start)


_RANGE = 0.5  # longest edge of the trees, rad; twice as long ones do not get into narrow openings
_SHORTCUTS = 30


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

    def path(self, query: Query, goals: Array, cost: Array, stop: Stop) -> list[Piece]:
        """Return a smooth path from the query's start to one of the free `goals` (k ≥ 1, n), best first.

        `cost` (k,) says in seconds how much better. Raises PathNotFound, and Interrupted as soon as `stop`
        holds.
        """


class TreeSearch:
    """The straight path where that is free, else one that RRT-Connect finds.

    `limits` (n, 2) are the lowest and highest position of each joint.
    """

    def __init__(self, limits: Array) -> None:
        self._limits = limits

    def path(self, query: Query, goals: Array, cost: Array, stop: Stop) -> list[Piece]:
        """See `PathSearch`."""
        near = goals[cost <= _NEAR_FACTOR * cost[0] + _NEAR_EXTRA]
        for targets, effort in ((near, BRIEF), (goals, NORMAL), (goals, WIDE)):
            for goal in targets if effort is not WIDE else ():
                if (straight := query.straight(goal)) is not None:
                    return straight
            if (pieces := _detour(query, targets, effort, stop, self._limits)) is not None:
                return pieces
        raise PathNotFound(f"searched {BRIEF.checks + NORMAL.checks + WIDE.checks} configurations")


def _detour(query: Query, goals: Array, effort: Effort, stop: Stop, limits: Array) -> list[Piece] | None:
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
    start: Array, goals: Array, box: Array, tried: Tried, valid: Callable[[Array], bool], stop: Stop
) -> Array | None:
    """See `spca_motion.kernel.Kernel.path`."""
    from ompl import base as ob  # most paths are straight
    from ompl import geometric as og
    from ompl import util as ou

    ou.setLogLevel(ou.LOG_NONE)
    (lower, upper), (reach, step, most, tries, seed) = box, tried
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
