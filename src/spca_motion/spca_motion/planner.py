"""From a wish (joints, a tool pose, a straight line) to a collision-free path, or a MotionError that says what is amiss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose
from spca_core.trajectory import JOINT_NAMES
from spca_core.world import World
from spca_motion.collision import CollisionChecker
from spca_motion.limits import WorkspaceBox
from spca_motion.lines import straight_line
from spca_motion.paths import Corner, Curve, Piece, corners, rounded
from spca_motion.planning_scene import PlanningScene
from spca_motion.query import Query, Start, edge
from spca_motion.search import Effort, find_way
from spca_motion.tool import ToolKinematics, planning_gap
from spca_robot.kinematics import link_frames, nearest_turns
from spca_robot.ur5 import POSITION_LIMITS, VELOCITY_LIMITS

# Postures that cost at most this factor, and this much (s), more than the best one are tried before the others.
_NEAR_FACTOR, _NEAR_EXTRA = 1.25, 0.1
# How hard to search for a way: among the near postures, then among all, then everywhere.
BRIEF, NORMAL, WIDE = Effort(1.2, 20_000), Effort(1.2, 40_000), Effort(np.pi, 120_000)
# Searches with other seeds, should a way prove to graze something between the postures that were checked.
_SEEDS = (1, 2, 3)
# A posture whose elbow hangs this much (m) lower than another's is taken only if it saves this much time (s).
_LOW_ELBOW_BY, _LOW_ELBOW_S = 0.10, 4.0
# Nearer than this (rad) counts as being there already.
_THERE = 1e-5


class MotionPlanner:
    """Plans in one planning scene at a time; set `scene` to change it. Not for several threads at once."""

    def __init__(self, world: World) -> None:
        self.tools = ToolKinematics(world)
        self.box = WorkspaceBox.around(world)
        self._world = world
        self._scene = PlanningScene()
        self._checker: CollisionChecker | None = None

    @property
    def scene(self) -> PlanningScene:
        """What is planned around."""
        return self._scene

    @scene.setter
    def scene(self, scene: PlanningScene) -> None:
        self._scene = scene
        self._checker = None

    def tcp_gap(self, gap: float) -> float:
        """The gap at which the tool centre point is taken to be; see `spca_motion.tool`."""
        return planning_gap(gap, self._scene.held is not None)

    def to_joints(self, start: Start, goal: Array, stop: Callable[[], bool]) -> list[Piece]:
        """A path to a joint goal (6,); empty if the arm is there."""
        _check_joints(goal)
        tool = self.tools.tool(goal, self.tcp_gap(start.gap))
        self.box.check(tool[None, :3, 3], "the tool at the joint goal")
        return self._around(start, goal[None], "the joint goal", stop)

    def to_pose(self, start: Start, pose: Pose, stop: Callable[[], bool]) -> list[Piece]:
        """A path to a tool pose, ending in the posture that is free and costs least, mostly in joint travel."""
        self.box.check(np.array([pose.position]), "the tool pose")
        return self._around(start, self._postures(start, pose), f"the tool pose {_place(pose)}", stop)

    def along_line(self, start: Start, pose: Pose) -> list[Piece]:
        """The straight line to a tool pose; MotionError if any part of it is unreachable or would collide."""
        self.box.check(np.array([pose.position]), "the end of the straight line")
        samples, extent = straight_line(self.tools, start.joints, pose.matrix(), self.tcp_gap(start.gap))
        if np.abs(samples - start.joints).max() < _THERE:
            return []
        pieces: list[Piece] = [Curve(samples, extent)]
        fault = self._query(start).fault(pieces)
        if fault is not None:
            raise MotionError("collision", f"on the straight line to {_place(pose)}, {fault}")
        return pieces

    def reachable(self, start: Start, pose: Pose, gap: float) -> bool:
        """Whether some posture puts the tool there without a collision, the pads being `gap` metres apart."""
        if not self.box.contains(np.array(pose.position)):
            return False
        checker = self._ready_checker()
        checker.begin(start.joints, start.gap, start.allowed)
        branches = self.tools.branches(pose.matrix(), self.tcp_gap(gap))
        return any(checker.valid(q, gap) for q in nearest_turns(branches, start.joints) if not np.isnan(q[0]))

    # --- steps ---------------------------------------------------------------------------------------------------

    def _postures(self, start: Start, pose: Pose) -> Array:
        """The joint solutions (k ≥ 1, 6) of a tool pose, best first."""
        gap = self.tcp_gap(start.gap)
        found = nearest_turns(self.tools.branches(pose.matrix(), gap), start.joints)
        found = found[~np.isnan(found[:, 0])]
        if not len(found):
            excess = self.tools.reach_excess(pose.matrix(), gap)
            far = f"about {100 * excess:.0f} cm too far for the arm"
            why = far if excess > 0.005 else "no posture of the arm fits"
            raise MotionError("unreachable", f"the tool pose {_place(pose)} is unreachable: {why}")
        return found[np.argsort(_cost(start.joints, found), kind="stable")]

    def _around(self, start: Start, goals: Array, what: str, stop: Callable[[], bool]) -> list[Piece]:
        """A path to one of the goals (k, 6), which come best first: straight if that is free, else around."""
        query = self._query(start)
        free = np.array([q for q in goals if query.valid(q)])
        if not len(free):
            raise MotionError("collision", f"at {what} {query.blame(goals[0])}")
        cost = _cost(start.joints, free)
        if np.abs(free[0] - start.joints).max() < _THERE:
            return []
        near = free[cost <= _NEAR_FACTOR * cost[0] + _NEAR_EXTRA]
        for targets, effort in ((near, BRIEF), (free, NORMAL), (free, WIDE)):
            for goal in targets if effort is not WIDE else ():
                if query.all_valid(edge(start.joints, goal)):
                    return rounded(np.stack([start.joints, goal]))
            pieces = _detour(query, targets, effort, stop)
            if pieces is not None:
                return pieces
        fault = query.fault(rounded(np.stack([start.joints, near[0]])))
        raise MotionError("collision", f"no way around to {what}: straight there, {fault}")

    def _query(self, start: Start) -> Query:
        return Query(self._ready_checker(), self.box, start, self.tcp_gap(start.gap))

    def _ready_checker(self) -> CollisionChecker:
        if self._checker is None:
            self._checker = CollisionChecker(self._world, self._scene)
        return self._checker


def _detour(query: Query, goals: Array, effort: Effort, stop: Callable[[], bool]) -> list[Piece] | None:
    """A smooth way around what is between the start and the goals, or None."""
    for seed in _SEEDS:
        way = find_way(query.start.joints, goals, query.valid, stop, effort, seed)
        if way is None:
            return None
        pieces = _smooth(query, way)
        if pieces is not None:
            return pieces
    return None


def _smooth(query: Query, way: Array) -> list[Piece] | None:
    """The way with its corners rounded as far as that stays free; None if the way itself proves not to be."""
    roundings = [1.0] * corners(way)
    while True:
        pieces = rounded(way, roundings)
        fault = query.fault(pieces)
        if fault is None:
            return pieces
        if not isinstance(pieces[fault.piece], Corner):
            return None
        # Corners whose rounding was given up have no piece of their own.
        still_round = [i for i, share in enumerate(roundings) if share > 0]
        at = still_round[sum(isinstance(p, Corner) for p in pieces[: fault.piece])]
        roundings[at] = roundings[at] / 2 if roundings[at] > 0.1 else 0.0


def _check_joints(goal: Array) -> None:
    if goal.shape != (6,) or not np.isfinite(goal).all():
        raise MotionError("limit", f"a joint goal is six finite angles, not {goal.tolist()}")
    for name, value, (low, high) in zip(JOINT_NAMES, goal, POSITION_LIMITS, strict=True):
        if not low <= value <= high:
            raise MotionError("limit", f"{name} goes from {low:.2f} to {high:.2f} rad, not to {value:.2f}")


def _cost(start: Array, goals: Array) -> Array:
    """Roughly the time (s) that each of the goals (k, 6) takes to reach, and more for one with a hanging elbow.

    With the elbow low, the upper arm and forearm sweep over the table: what is free above an object then often
    hits its neighbours on the straight way down.
    """
    steps = np.abs(goals - start)
    seconds = (steps / VELOCITY_LIMITS).max(axis=1) + 0.05 * steps.sum(axis=1)
    elbow = link_frames(goals)[:, 1, 2, 3]
    return np.asarray(seconds + _LOW_ELBOW_S * (elbow < elbow.max() - _LOW_ELBOW_BY))


def _place(pose: Pose) -> str:
    x, y, z = pose.position
    return f"({x:.3f}, {y:.3f}, {z:.3f})"
