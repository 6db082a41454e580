"""From a goal to a collision-free path, or a MotionError that says why there is none.

A goal is a configuration, a tool pose or a straight line of the tool, followed on one branch of the inverse
kinematics from end to end.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import lru_cache

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose, matrix_of_vector, vector_of_matrix
from spca_core.stopping import Stop
from spca_core.world import World
from spca_motion.collision import CollisionChecker, PlanningScene
from spca_motion.limits import WorkspaceBox
from spca_motion.paths import Curve, Piece, rounded
from spca_motion.search import Checker, PathNotFound, PathSearch, Query, Start, TreeSearch
from spca_robot.kinematics import NOMINAL_GAP, ToolKinematics

# A configuration whose elbow is this much (m) lower than another's is chosen only if it saves this much time
# (s).
_LOW_ELBOW_BY, _LOW_ELBOW_S = 0.10, 4.0
# A goal nearer than this (rad) counts as reached already.
_THERE = 1e-5
# Spacing of the samples along a line (m and rad), and the largest motion of a joint between two samples.
_STEP, _TURN_STEP = 0.005, 0.05
_JUMP = 0.25
_SOLUTIONS, _SCENES = 2048, 4  # of the inverse kinematics, and with their checkers, that are remembered
# By how much the last joint of a redundant arm turns along a line, tried in this order (rad).
_TURNS = (0.0, 0.3, -0.3, 0.6, -0.6, 0.9, -0.9, 1.2, -1.2)

_Looks = dict[tuple[object, ...], list[tuple[set[str], set[str]]]]
"""What each configuration of a tool pose hits, and what of it the tool hits in all of them."""


class MotionPlanner:
    """Plans in one planning scene at a time; set `scene` to change it. Not for several threads at once.

    `checkers` say which configurations are free, `search` finds a path among them: MuJoCo's collision check
    and OMPL's RRT-Connect by default. Inverse kinematics, straight lines and rounding are the planner's own.
    """

    def __init__(
        self, world: World, checkers: Callable[[World, PlanningScene], Checker] = CollisionChecker,
        search: PathSearch | None = None,
    ) -> None:  # fmt: skip
        self.tools = ToolKinematics(world)
        self.box = WorkspaceBox.around(world)
        self._world, self._velocity = world, world.robot.arm.column("velocity")
        self._make_checker, self._search = checkers, search or TreeSearch(self.tools.arm.range)
        self.scene = PlanningScene()
        """The planning scene."""
        self._looked_at = lru_cache(_SCENES)(self._first_look)
        self._turns = lru_cache(_SOLUTIONS)(self._nearest_turns)

    def tcp_gap(self, gap: float) -> float:
        """Return the gap at which the tool centre point is taken to be; see `spca_robot.kinematics`."""
        return gap if self.scene.held is not None else min(gap, NOMINAL_GAP)

    def to_joints(self, start: Start, goal: Array, stop: Stop) -> list[Piece]:
        """Return a path to a joint goal (n,); empty if the arm is there."""
        self._check_joints(goal)
        tool = self.tools.tool(goal, self.tcp_gap(start.gap))
        self.box.check(tool[:3, 3], "the tool at the joint goal")
        return self._around(start, goal[None], "the joint goal", stop)

    def to_pose(self, start: Start, pose: Pose, stop: Stop) -> list[Piece]:
        """Return a path to a tool pose.

        It ends in the collision-free configuration of least cost, which is mostly joint travel.
        """
        self.box.check(pose.position, "the tool pose")
        return self._around(start, self._configurations(start, pose), f"the tool pose {_place(pose)}", stop)

    def along_line(self, start: Start, pose: Pose) -> list[Piece]:
        """Return the straight line to a tool pose. MotionError if a part is unreachable or would collide."""
        self.box.check(pose.position, "the end of the straight line")
        samples, extent = straight_line(self.tools, start.joints, pose.matrix(), self.tcp_gap(start.gap))
        if np.abs(samples - start.joints).max() < _THERE:
            return []
        pieces: list[Piece] = [Curve(samples, extent)]
        fault = self._query(start).fault(pieces)
        if fault is not None:
            raise MotionError("collision", f"on the straight line to {_place(pose)}, {fault}", fault.hit)
        return pieces

    def reachable(
        self, start: Start, pose: Pose, gap: float, without: Set[str] = frozenset(),
        alone: set[str] | None = None,
    ) -> bool:  # fmt: skip
        """Return whether that tool pose has a collision-free configuration at a gap (m) between the pads.

        Given `alone`, obstacles `without` do not count, those of which one may be all that bars the pose are
        added to it, and no configuration is looked at twice in a scene, nor in vain.
        """
        key = start.joints.tobytes(), start.gap, start.allowed, pose, gap
        (checker, looks), turns = self._looked_at(self.scene), self._turns(key[0], pose, self.tcp_gap(gap))
        checker.begin(start.joints, start.gap, start.allowed)
        if alone is None:
            return any(checker.valid(q, gap) for q in turns)
        found = looks.setdefault(key, [])
        for q in turns[len(found) :]:
            if any(others <= without or not tool <= without for others, tool in found):
                break
            hits = checker.hits(q, gap)
            found.append(({hit.other for hit in hits}, {hit.other for hit in hits if hit.of_tool}))
        alone.update(*(only for bars in found for only in bars if len(only) == 1))
        return any(others <= without for others, _ in found)

    def fault_ahead(self, scene: PlanningScene, start: Start, path: Array) -> tuple[str, str] | None:
        """Return what would block `path` (m, n) from `start` on in another scene, as `Query.blame` does.

        Neither uses nor changes the planner's own scene: it may be called while another thread plans.
        """
        query = Query(self._make_checker(self._world, scene), self.box, start, self.tcp_gap(start.gap))
        at = query.first_invalid(path)
        return None if at is None else query.blame(path[at])

    def _nearest_turns(self, joints: bytes, pose: Pose, gap: float) -> list[Array]:
        """Return the configurations that have the tool there, near others; none outside the workspace."""
        if not self.box.contains(pose.position):
            return []
        branches = self.tools.branches(pose.matrix(), gap)
        turns = self.tools.arm.nearest_turns(branches, np.frombuffer(joints))
        return [q for q in turns if not np.isnan(q[0])]

    def _configurations(self, start: Start, pose: Pose) -> Array:
        """Return the joint solutions (k ≥ 1, n) of a tool pose, best first. MotionError if there are none."""
        gap = self.tcp_gap(start.gap)
        found = np.array(self._turns(start.joints.tobytes(), pose, gap))
        if not len(found):
            excess = self.tools.excess(pose.matrix(), gap)
            far = f"about {100 * excess:.0f} cm too far for the arm"
            why = far if excess > 0.005 else "no configuration of the arm fits"
            raise MotionError("unreachable", f"the tool pose {_place(pose)} is unreachable: {why}")
        return found[np.argsort(self._cost(start.joints, found), kind="stable")]

    def _around(self, start: Start, goals: Array, what: str, stop: Stop) -> list[Piece]:
        """Return a path to one of the goals (k, n), best first: straight if that is free, else around."""
        query = self._query(start)
        free = np.array([q for q in goals if query.valid(q)])
        if not len(free):
            why, hit = query.blame(goals[0])
            raise MotionError("collision", f"at {what} {why}", hit)
        if np.abs(free[0] - start.joints).max() < _THERE:
            return []
        try:
            return self._search.path(query, free, self._cost(start.joints, free), stop)
        except PathNotFound as failure:
            fault = query.fault(rounded(np.stack([start.joints, free[0]])))
            why = f"no path found to {what} ({failure}); on the straight path there, {fault}"
            raise MotionError("collision", why, fault.hit if fault else "") from None

    def _check_joints(self, goal: Array) -> None:
        names = self._world.robot.arm.joint_names
        if goal.shape != (len(names),) or not np.isfinite(goal).all():
            raise MotionError("limit", f"a joint goal is {len(names)} finite angles, not {goal.tolist()}")
        for name, value, (low, high) in zip(names, goal, self.tools.arm.range, strict=True):
            if not low <= value <= high:
                reach = f"from {low:.2f} to {high:.2f} rad"
                raise MotionError("limit", f"{name} goes {reach}, not to {value:.2f}")

    def _cost(self, start: Array, goals: Array) -> Array:
        """Return the approximate time (s) to reach each of the goals (k, n).

        Goals with a hanging elbow get a penalty.

        With the elbow low, the upper arm and forearm sweep over the table: what is free above an object then
        often hits its neighbours when moving straight down.
        """
        steps = np.abs(goals - start)
        seconds = (steps / self._velocity).max(axis=1) + 0.05 * steps.sum(axis=1)
        elbow = self.tools.arm.link_frames(goals)[:, self.tools.arm.elbow - 1, 2, 3]
        return np.asarray(seconds + _LOW_ELBOW_S * (elbow < elbow.max() - _LOW_ELBOW_BY))

    def _query(self, start: Start) -> Query:
        return Query(self._looked_at(self.scene)[0], self.box, start, self.tcp_gap(start.gap))

    def _first_look(self, scene: PlanningScene) -> tuple[Checker, _Looks]:
        return self._make_checker(self._world, scene), {}


def _place(pose: Pose) -> str:
    x, y, z = pose.position
    return f"({x:.3f}, {y:.3f}, {z:.3f})"


def straight_line(tools: ToolKinematics, start: Array, goal: Array, gap: float) -> tuple[Array, float]:
    """Return the joint path (m ≥ 4, n) of a straight tool motion from `start` to the TCP pose `goal` (4×4).

    Also returns the line's length in metres.

    The orientation is interpolated uniformly along the line. Raises MotionError('unreachable') where the line
    leaves the reach, a joint its limits, or the arm would have to flip into another branch.
    """
    poses, extent = _interpolated(tools.tool(start, gap), goal)
    failures = []
    for turn in _TURNS if tools.arm.redundant else _TURNS[:1]:
        last = start[-1] + turn * np.linspace(0.0, 1.0, len(poses))
        try:
            return _followed(tools, start, poses, tools.branches(poses, gap, last[:, None])), extent
        except MotionError as failure:
            failures.append(failure)
    raise failures[0]


def _followed(tools: ToolKinematics, start: Array, poses: Array, branches: Array) -> Array:
    """Return the joint path (m, n) from `start` along the poses, each in the branch nearest to the last."""
    path = np.empty((len(poses), len(start)))
    path[0] = start
    for i in range(1, len(poses)):
        candidates = tools.arm.nearest_turns(branches[i], path[i - 1])
        jumps = np.abs(candidates - path[i - 1]).max(axis=1)
        share = 100 * i / (len(poses) - 1)
        if np.isnan(jumps).all():
            x, y, z = poses[i][:3, 3]
            leaves = "the arm's reach" if np.isnan(branches[i]).all() else "a joint's limits"
            where = f"at {share:.0f} % of the way ({x:.3f}, {y:.3f}, {z:.3f})"
            raise MotionError("unreachable", f"the straight line leaves {leaves} {where}")
        best = int(np.nanargmin(jumps))
        if jumps[best] > _JUMP:
            where = f"at {share:.0f} % of the straight line"
            raise MotionError("unreachable", f"the arm would have to swing round {where}; use move_to")
        path[i] = candidates[best]
    return path


def _interpolated(start: Array, goal: Array) -> tuple[Array, float]:
    extent = float(np.linalg.norm(goal[:3, 3] - start[:3, 3]))
    turn = vector_of_matrix(start[:3, :3].T @ goal[:3, :3])
    count = max(int(np.ceil(max(extent / _STEP, float(np.linalg.norm(turn)) / _TURN_STEP))), 3)
    share = np.linspace(0.0, 1.0, count + 1)
    poses = np.repeat(goal[None], count + 1, axis=0)
    poses[:, :3, 3] = start[:3, 3] + share[:, None] * (goal[:3, 3] - start[:3, 3])
    poses[:, :3, :3] = start[:3, :3] @ matrix_of_vector(share[:, None] * turn)
    return poses, extent
