"""The arm of every simulator and robot: composed of a planner, an executor and a gripper."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Literal

import numpy as np

from spca_core.errors import Interrupted, MotionError
from spca_core.geometry import Array, Pose
from spca_core.ports.table import Robot
from spca_core.scene import Scene
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_motion.execution import Executor, StopGate, Tolerances
from spca_motion.limits import EMPTY, HOLDING
from spca_motion.paths import Piece, time_path
from spca_motion.planner import MotionPlanner
from spca_motion.search import Start
from spca_robot.gripper_2f85 import STROKE

# Above this force and this gap, an object is between the pads.
HOLD_FORCE, HOLD_GAP = 8.0, 0.002
# A commanded gap counts as reached within this tolerance.
_REACHED = 0.002
# The pads are at rest when gap and force change less than this over `_WINDOW` seconds, and have begun to move
# when the gap has changed by `_MOVED`.
_STILL_GAP, _STILL_FORCE, _WINDOW, _MOVED = 0.0001, 1.0, 0.06, 0.001
_TIMEOUT = 3.0
# Pads that have pressed against nothing for so long (s) have lost what they held.
_LOST_AFTER = 0.04
# Release: the first millimetres are slow, so that neither pad drags the object along.
_RELEASE_STEP, _RELEASE_STEPS, _RELEASE_PAUSE = 0.001, 5, 0.02


class Gripper:
    """Commands the pads and waits until they are at rest; `state` gives a fresh joint state, or raises."""

    def __init__(
        self, robot: Robot, gate: StopGate, state: Callable[[], JointState], lag: float = Tolerances.lag
    ) -> None:
        """Allow the pads to move `lag` (simulated s) later than the driver begins, and to pause that long."""
        self._robot, self._gate, self._state, self._lag = robot, gate, state, lag

    def open(self, gap: float) -> None:
        """Open (or close) to `gap`. Raises MotionError('gripper') if something keeps the pads from it."""
        self._check_gap(gap)
        now = self._state().gripper_gap
        if self.holding() and gap > now:
            for step in range(1, _RELEASE_STEPS + 1):
                if now + step * _RELEASE_STEP < gap:
                    self._gate.command_gripper(now + step * _RELEASE_STEP)
                    self._robot.wait(_RELEASE_PAUSE)
        reached = self._drive(gap)
        if abs(reached - gap) > _REACHED:
            apart = f"{1000 * reached:.0f} mm apart instead of {1000 * gap:.0f}"
            raise MotionError("gripper", f"the pads stopped {apart}; are they blocked?")

    def close(self, gap: float) -> float:
        """Close until the pads meet resistance or reach `gap`; returns the gap."""
        self._check_gap(gap)
        return self._drive(gap)

    def holding(self) -> bool:
        """Return whether the pads are pressed against something."""
        return _pressed(self._state())

    def _drive(self, gap: float) -> float:
        """Command a gap and wait until the pads are at rest; returns the gap reached."""
        begun = self._state()
        self._gate.command_gripper(gap)
        seen: deque[JointState] = deque()

        def at_rest(state: JointState) -> bool:
            seen.append(state)
            while len(seen) > 1 and seen[1].stamp <= state.stamp - max(_WINDOW, self._lag):
                seen.popleft()
            due = state.stamp - max(self._robot.begun(), begun.stamp) > self._lag
            obeyed = due or abs(state.gripper_gap - begun.gripper_gap) > _MOVED
            expected = abs(state.gripper_gap - gap) <= _REACHED or (obeyed and _pressed(state))
            # Pads at rest elsewhere without force may not have received the command yet.
            patience = _WINDOW if expected else max(_WINDOW, self._lag)
            return self._gate.is_stopped or ((expected or due) and _still(seen, patience))

        rested = self._robot.wait(_TIMEOUT, at_rest)
        self._gate.check()
        if not rested and not _pressed(self._state()):  # what rolls or yields between the pads is held, too
            raise MotionError("timeout", f"the gripper is still moving after {_TIMEOUT:.0f} s")
        return self._state().gripper_gap

    @staticmethod
    def _check_gap(gap: float) -> None:
        if not 0.0 <= gap <= STROKE:
            raise MotionError("limit", f"the pads open from 0 to {STROKE} m, not to {gap}")


def _grip_watch(name: str) -> Callable[[JointState], str]:
    """Return what says, from gap and force at every joint state, why an object is lost; "" if it is not."""
    empty: list[float] = []  # stamps since something last pressed against the pads

    def lost(state: JointState) -> str:
        empty[:] = [] if _pressed(state) else [*empty[:1], state.stamp]
        long = empty and state.stamp - empty[0] >= _LOST_AFTER
        return f"{name} was lost: nothing presses against the pads" if long else ""

    return lost


def _pressed(state: JointState) -> bool:
    return state.gripper_gap > HOLD_GAP and state.gripper_force > HOLD_FORCE


def _still(seen: Sequence[JointState], seconds: float) -> bool:
    """Return whether gap and force were nearly constant over the last `seconds` of the ordered states."""
    begin = seen[-1].stamp - seconds + 1e-9
    before = [s for s in seen if s.stamp <= begin]
    recent = before[-1:] + [s for s in seen if s.stamp > begin]
    gaps, forces = [s.gripper_gap for s in recent], [s.gripper_force for s in recent]
    still = max(gaps) - min(gaps) < _STILL_GAP and max(forces) - min(forces) < _STILL_FORCE
    return still and bool(before)


class Manipulator:
    """Plans and executes collision-free motions of an arm with a two-finger gripper.

    Every pose is that of the tool centre point (TCP) in `world`. The TCP lies between the fingertips, with z
    pointing out of the fingers and y from pad to pad; where it is taken to be: see `spca_robot.kinematics`.
    `speed` scales the velocities of a motion, at most by 1.

    All calls block until the motion has ended and its result has been verified. They raise MotionError
    (`kind` is the reason: unreachable, collision, limit, deviation, timeout, cancelled, stale, gripper, lost)
    and never leave the arm moving. A motion ends at once (`lost`) when the attached object is no longer
    between the pads. The limits of velocity, acceleration and workspace hold for every request.

    One motion at a time: a second thread that asks for one waits. `stop`, `resume`, `state`, `holding`,
    `tool_pose` and `set_scene` may be called from any thread at any time. When the scene changes under a
    motion whose remaining path is then no longer free, the motion ends with MotionError('collision').
    """

    def __init__(
        self, world: World, robot: Robot, tolerances: Tolerances | None = None, speed: float = 1.0,
        planner: MotionPlanner | None = None,
    ) -> None:  # fmt: skip
        """Compose the arm; `speed` is the share of its full speed that a motion may have at most.

        By default the planner is the one in this process, with MuJoCo's collision check.
        """
        self._world, self._robot, self._planner = world, robot, planner or MotionPlanner(world)
        self._gate = StopGate(robot)  # through which executor and gripper drive the robot
        self._executor = Executor(robot, self._gate, world.robot.arm.joint_names, tolerances)
        self._gripper = Gripper(robot, self._gate, self._executor.fresh_state, self._executor.tolerances.lag)
        self._empty, self._holding = (each.within(world.robot.arm).slowed(speed) for each in (EMPTY, HOLDING))
        self._allowed = self._absent = frozenset[str]()
        self._alone: set[str] | None = None
        self._busy = threading.RLock()
        self._changing = threading.Lock()

    def set_scene(self, scene: Scene) -> None:
        """Set the obstacles for the running motion and all later ones; a held object stays attached."""
        with self._changing:
            if len(path := self._gate.ahead()):
                state = self._robot.state()
                start, perceived = self._start(state), self._planner.scene.perceived(scene)
                if fault := self._planner.fault_ahead(perceived, start, path):
                    why = f"the scene changed under the motion: {fault[0]}"
                    self._gate.block(MotionError("collision", why, fault[1]))
        with self._busy:
            self._planner.scene = self._planner.scene.perceived(scene)

    @contextmanager
    def supposing(self, *absent: str, scene: Scene | None = None) -> Iterator[set[str]]:
        """While it lasts, `reachable` takes more things for absent, and this for the scene. Motions do not.

        Yields the set of those of which one may be all that bars a pose that is asked for meanwhile.
        """
        with self._busy:
            kept = self._planner, self._absent, self._alone
            if scene is not None:
                self._planner = copy(self._planner)
                self._planner.scene = self._planner.scene.perceived(scene)
            self._absent, self._alone = self._absent | {*absent}, set()
            try:
                yield self._alone
            finally:
                self._planner, self._absent, self._alone = kept

    def attach(self, object_id: str) -> None:
        """Attach that object to the gripper, centred between the pads and square to them."""
        with self._busy:
            state = self._executor.fresh_state()
            flange = self._planner.tools.flange(state.position)
            tcp = self._planner.tools.tool(state.position, _gap(state))
            self._planner.scene = self._planner.scene.attached(object_id, flange, tcp)

    def detach(self) -> None:
        """Detach what is held; the object stays in the planning scene where it is."""
        with self._busy:
            flange = self._planner.tools.flange(self._executor.fresh_state().position)
            self._planner.scene = self._planner.scene.detached(flange)

    @property
    def held(self) -> str | None:
        """Id of the object attached to the gripper, or None."""
        held = self._planner.scene.held
        return held.thing.id if held else None

    def allow_contact(self, *object_ids: str) -> None:
        """Allow gripper and held object to touch these, also `table`; unknown names have no effect."""
        self._allowed = frozenset(object_ids)

    def move_joints(self, positions: Array, speed: float = 1.0) -> None:
        """Move collision-free to a joint goal (n,), radians."""
        goal = np.asarray(positions, dtype=float)
        self._move(lambda start: self._planner.to_joints(start, goal, lambda: self._gate.is_stopped), speed)

    def move_to(self, pose: Pose, speed: float = 1.0) -> None:
        """Move collision-free to a tool pose, by the configuration with the least joint travel."""
        self._move(lambda start: self._planner.to_pose(start, pose, lambda: self._gate.is_stopped), speed)

    def move_linear(self, pose: Pose, speed: float = 1.0) -> None:
        """Move in a straight line to a tool pose; refused as a whole if any part of it cannot be."""
        self._move(lambda start: self._planner.along_line(start, pose), speed)

    def move_named(self, name: Literal["home", "out_of_view"], speed: float = 1.0) -> None:
        """Move collision-free to a named configuration of the world description."""
        robot = self._world.robot
        self.move_joints(np.array(robot.home if name == "home" else robot.out_of_view), speed)

    def reachable(self, pose: Pose, gap: float | None = None) -> bool:
        """Return whether the tool is free to be at that pose, the pads as they are or `gap` metres apart."""
        with self._busy:
            start = self._start(self._executor.fresh_state())
            gap = start.gap if gap is None or self.held else gap
            return self._planner.reachable(start, pose, gap, self._absent, self._alone)

    def open(self, gap: float = STROKE) -> None:
        """Open to `gap` metres and wait. Raises MotionError('gripper') if something blocks the fingers."""
        with self._busy:
            self._gripper.open(gap)

    def close(self, gap: float = 0.0) -> float:
        """Close until the pads meet resistance or reach `gap`; returns the gap in metres."""
        with self._busy:
            return self._gripper.close(gap)

    def holding(self) -> bool:
        """Return whether the pads are pressed against something, by gap and force alone."""
        return self._gripper.holding()

    def tool_pose(self) -> Pose:
        """Return the pose of the tool centre point, by forward kinematics."""
        state = self._robot.state()
        return Pose.from_matrix(self._planner.tools.tool(state.position, self._planner.tcp_gap(_gap(state))))

    def state(self) -> JointState:
        """Return the newest joint state."""
        return self._robot.state()

    def wait(self, seconds: float) -> None:
        """Let simulated time pass."""
        self._gate.check()
        self._robot.wait(seconds, lambda _: self._gate.is_stopped)
        self._gate.check()

    def stop(self) -> None:
        """Stop now and refuse all further motion until `resume`. From any thread."""
        self._gate.stop()

    def resume(self) -> None:
        """Allow motion again after a `stop`."""
        self._gate.resume()

    def _move(self, plan: Callable[[Start], list[Piece]], speed: float) -> None:
        with self._busy:
            self._gate.check()
            limits = (self._holding if self.held or self.holding() else self._empty).slowed(speed)
            try:
                pieces = plan(self._start(self._executor.settle()))
            except Interrupted:
                self._gate.check()
                raise MotionError("cancelled", "planning was interrupted") from None
            if pieces:
                watch = _grip_watch(self.held) if self.held else None
                self._executor.run(time_path(pieces, limits), watch)

    def _start(self, state: JointState) -> Start:
        return Start(state.position, _gap(state), self._allowed)


def _gap(state: JointState) -> float:
    """Return the measured gap in metres, brought within what the gripper can have."""
    return min(max(state.gripper_gap, 0.0), STROKE)
