"""From a wish (joints, a tool pose, a straight line) to a collision-free path, or a MotionError that says what is amiss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose
from spca_core.trajectory import JOINT_NAMES
from spca_core.world import World
from spca_motion import search
from spca_motion.collision import CollisionChecker
from spca_motion.limits import WorkspaceBox
from spca_motion.lines import straight_line
from spca_motion.paths import Corner, Curve, Piece, corners, rounded, sampled
from spca_motion.planning_scene import PlanningScene
from spca_motion.tool import ToolKinematics, planning_gap
from spca_robot.kinematics import nearest_turns
from spca_robot.ur5 import POSITION_LIMITS, VELOCITY_LIMITS

# A goal posture that is free on the straight way is taken if it costs no more than this much longer than the nearest
# one; a search tries these goals before those farther away.
_DETOUR = 1.5
# Nearer than this (rad) counts as being there already.
_THERE = 1e-5
# Searches with other seeds before giving up on rounding a way's corners.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Start:
    """Where a motion begins: joints (6,), the gap between the pads in metres, and what may be touched on the way."""

    joints: Array
    gap: float
    allowed: frozenset[str] = frozenset()


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
        what = "the joint goal"
        self._check_joints(goal)
        self.box.check(self._points(goal[None], start.gap), "the tool at the joint goal")
        return self._around(start, goal[None], what, stop)

    def to_pose(self, start: Start, pose: Pose, stop: Callable[[], bool]) -> list[Piece]:
        """A path to a tool pose, ending in the posture that is nearest in joint travel and free."""
        what = f"the tool pose {_place(pose)}"
        self.box.check(np.array([pose.position]), "the tool pose")
        return self._around(start, self._postures(start, pose), what, stop)

    def along_line(self, start: Start, pose: Pose) -> list[Piece]:
        """The straight line to a tool pose; MotionError if any part of it is unreachable or would collide."""
        self.box.check(np.array([pose.position]), "the end of the straight line")
        samples, extent = straight_line(self.tools, start.joints, pose.matrix(), self.tcp_gap(start.gap))
        if np.abs(samples - start.joints).max() < _THERE:
            return []
        pieces: list[Piece] = [Curve(samples, extent)]
        checker = self._begin(start)
        bad = self._first_bad(checker, pieces, start.gap)
        if bad is not None:
            _, joints, share = bad
            raise MotionError(
                "collision", f"on the straight line {self._hit(checker, joints, start.gap)} {_way(share)}"
            )
        self._check_box(start, pieces)
        return pieces

    def reachable(self, start: Start, pose: Pose, gap: float) -> bool:
        """Whether some posture puts the tool there without a collision, the pads being `gap` metres apart."""
        point = np.array(pose.position)
        if (point < self.box.low).any() or (point > self.box.high).any():
            return False
        checker = self._begin(start)
        branches = self.tools.branches(pose.matrix(), self.tcp_gap(gap))
        return any(checker.valid(q, gap) for q in nearest_turns(branches, start.joints) if not np.isnan(q[0]))

    # --- steps ---------------------------------------------------------------------------------------------------

    def _postures(self, start: Start, pose: Pose) -> Array:
        """The joint solutions (k ≥ 1, 6) of a tool pose, least travel first."""
        gap = self.tcp_gap(start.gap)
        found = nearest_turns(self.tools.branches(pose.matrix(), gap), start.joints)
        found = found[~np.isnan(found[:, 0])]
        if not len(found):
            excess = self.tools.reach_excess(pose.matrix(), gap)
            why = (
                f"about {100 * excess:.0f} cm too far for the arm"
                if excess > 0.005
                else "no posture of the arm fits"
            )
            raise MotionError("unreachable", f"the tool pose {_place(pose)} is unreachable: {why}")
        return found[np.argsort(_travel(start.joints, found), kind="stable")]

    def _around(self, start: Start, goals: Array, what: str, stop: Callable[[], bool]) -> list[Piece]:
        """A path to the best of the goals (k, 6), which come least travel first."""
        checker = self._begin(start)
        free = np.array([q for q in goals if checker.valid(q, start.gap)])
        if not len(free):
            raise MotionError("collision", f"at {what} {self._hit(checker, goals[0], start.gap)}")
        travel = _travel(start.joints, free)
        if travel[0] < _THERE:
            return []
        near = free[travel <= _DETOUR * travel[0] + 0.5]

        def valid(joints: Array) -> bool:
            return checker.valid(joints, start.gap)

        for goal in near:
            if search.first_invalid(search.edge(start.joints, goal), valid) is None:
                pieces = rounded(np.stack([start.joints, goal]))
                self._check_box(start, pieces)
                return pieces
        for goals_to_try in (near, free) if len(near) < len(free) else (free,):
            for seed in range(1, _ATTEMPTS + 1):
                way = search.find_way(start.joints, goals_to_try, valid, stop, seed)
                if way is None:
                    break
                smooth = self._smooth(checker, way, start.gap)
                if smooth is not None:
                    self._check_box(start, smooth)
                    return smooth
        raise MotionError("collision", f"no way around to {what}: {self._first_hit(checker, start, near[0])}")

    def _smooth(self, checker: CollisionChecker, way: Array, gap: float) -> list[Piece] | None:
        """The way with its corners rounded as far as that stays free; None if the way itself proves not to be."""
        roundings = [1.0] * corners(way)
        while True:
            pieces = rounded(way, roundings)
            bad = self._first_bad(checker, pieces, gap)
            if bad is None:
                return pieces
            index = bad[0]
            if not isinstance(pieces[index], Corner):
                return None
            # The corner's number: those whose rounding was given up have no piece of their own.
            which = [i for i, r in enumerate(roundings) if r > 0][
                sum(isinstance(p, Corner) for p in pieces[:index])
            ]
            roundings[which] = roundings[which] / 2 if roundings[which] > 0.1 else 0.0

    def _first_bad(
        self, checker: CollisionChecker, pieces: Sequence[Piece], gap: float
    ) -> tuple[int, Array, float] | None:
        """The first posture on the pieces that is not valid: its piece, its joints, its share of the way."""
        samples = [_samples(p) for p in pieces]
        total = sum(len(s) for s in samples)
        done = 0
        for index, rows in enumerate(samples):
            for k, joints in enumerate(rows):
                if not checker.valid(joints, gap):
                    return index, joints, (done + k) / max(total - 1, 1)
            done += len(rows)
        return None

    def _first_hit(self, checker: CollisionChecker, start: Start, goal: Array) -> str:
        postures = search.edge(start.joints, goal)
        bad = search.first_invalid(postures, lambda q: checker.valid(q, start.gap))
        if bad is None:
            return "the way is too narrow"
        return (
            f"{self._hit(checker, postures[bad], start.gap)} {_way(bad / (len(postures) - 1))} straight there"
        )

    def _begin(self, start: Start) -> CollisionChecker:
        if self._checker is None:
            self._checker = CollisionChecker(self._world, self._scene)
        self._checker.begin(start.joints, start.gap, start.allowed)
        return self._checker

    def _hit(self, checker: CollisionChecker, joints: Array, gap: float) -> str:
        hits = checker.hits(joints, gap)
        return str(hits[0]) if hits else "the arm would hit something"

    def _check_joints(self, goal: Array) -> None:
        if goal.shape != (6,) or not np.isfinite(goal).all():
            raise MotionError("limit", f"a joint goal is six finite angles, not {goal!r}")
        low, high = POSITION_LIMITS.T
        for name, value, lo, hi in zip(JOINT_NAMES, goal, low, high, strict=True):
            if not lo <= value <= hi:
                raise MotionError("limit", f"{name} goes from {lo:.2f} to {hi:.2f} rad, not to {value:.2f}")

    def _check_box(self, start: Start, pieces: Sequence[Piece]) -> None:
        """The whole way must be inside the workspace, unless the arm is already outside: it must be able to return."""
        points = self._points(np.concatenate([_samples(p) for p in pieces]), start.gap)
        if ((points[0] >= self.box.low) & (points[0] <= self.box.high)).all():
            self.box.check(points, "on the way, the tool at")

    def _points(self, joints: Array, gap: float) -> Array:
        return self.tools.tool(joints, self.tcp_gap(gap))[:, :3, 3]


def _samples(piece: Piece) -> Array:
    return sampled([piece], search.EDGE_STEP)


def _travel(start: Array, goals: Array) -> Array:
    """Roughly the time (s) that each of the goals (k, 6) takes to reach."""
    steps = np.abs(goals - start)
    return (steps / VELOCITY_LIMITS).max(axis=1) + 0.05 * steps.sum(axis=1)


def _place(pose: Pose) -> str:
    x, y, z = pose.position
    return f"({x:.3f}, {y:.3f}, {z:.3f})"


def _way(share: float) -> str:
    return f"at {100 * share:.0f} % of the way"
