"""Executes trajectories on the robot and monitors the tracking error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.ports.table import Robot
from spca_core.stopping import Flag
from spca_core.trajectory import JointState, JointTrajectory


@dataclass(frozen=True)
class Tolerances:
    """Tolerances in following a trajectory. Radians and seconds.

    The tracked state may be anywhere on the stretch of path between `lag` seconds behind the clock and `lead`
    before it, and may deviate from it by `path` radians in any joint. A joint state may be `stale` seconds
    old. The gripper, too, may take `lag` seconds to respond.
    """

    path: float = 0.06
    lag: float = 0.15
    lead: float = 0.05
    goal: float = 0.01
    settled: float = 0.002
    rest_speed: float = 0.02
    settle_time: float = 1.5
    stale: float = 0.5


class StopGate:
    """Passes commands on to the robot until `stop`; no command can follow a stop.

    It also knows the trajectory under way, and ends it when `block` gives a reason. Usable from any thread.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._stopped = Flag()
        self._lock = threading.RLock()
        self._followed: tuple[JointTrajectory, float] | None = None
        self._blocked: MotionError | None = None

    @property
    def is_stopped(self) -> bool:
        """The running motion must end."""
        return self._stopped.is_set() or self._blocked is not None

    def stop(self) -> None:
        """Stop the robot and refuse all commands from now on."""
        self._stopped.set()
        with self._lock:
            self._robot.hold()

    def resume(self) -> None:
        """Pass commands on again after a `stop`."""
        self._stopped.clear()

    def check(self) -> None:
        """Raise MotionError: `cancelled` if stopped, or why the path under way has become blocked."""
        if self._stopped.is_set():
            raise MotionError("cancelled", "the arm was commanded to stop")
        if self._blocked is not None:
            raise self._blocked

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin a trajectory, unless stopped."""
        with self._lock:
            self.check()
            self._followed = trajectory, self._robot.now()
            self._robot.follow(trajectory)

    def ended(self) -> None:
        """Note that the trajectory is over, however it ended."""
        with self._lock:
            self._followed = self._blocked = None

    def ahead(self) -> Array:
        """Return the remaining configurations (m, n) of the trajectory under way; empty if nothing moves."""
        with self._lock:
            if self._followed is None:
                return np.empty((0, 0))
            trajectory, begun = self._followed
            return trajectory.positions[trajectory.times >= self._robot.now() - begun]

    def block(self, reason: MotionError) -> None:
        """End the trajectory under way, if there is one, because of `reason`."""
        with self._lock:
            if self._followed is not None:
                self._blocked = reason
                self._robot.hold()

    def command_gripper(self, gap: float) -> None:
        """Command the gripper, unless stopped."""
        with self._lock:
            self.check()
            self._robot.command_gripper(gap)


class Executor:
    """Blocks until a trajectory has been executed, or stops the robot and raises the reason."""

    def __init__(
        self, robot: Robot, gate: StopGate, joints: Sequence[str], tolerances: Tolerances | None = None
    ) -> None:
        """Execute through a gate; `joints` are the names of the arm's joints, for messages."""
        self._robot, self.gate, self._joints = robot, gate, joints
        self.tolerances = tolerances or Tolerances()

    def settle(self) -> JointState:
        """Wait until the arm is at rest and return its state.

        Raises MotionError('timeout') if it does not come to rest.
        """
        state = self.fresh_state()
        if not self._at_rest(state):
            self._robot.wait(self.tolerances.settle_time, lambda s: self.gate.is_stopped or self._at_rest(s))
            self.gate.check()
            state = self.fresh_state()
            if not self._at_rest(state):
                raise MotionError("timeout", "the arm does not come to rest, so no motion can begin")
        return state

    def run(self, trajectory: JointTrajectory, watch: Callable[[JointState], str] | None = None) -> None:
        """Execute a trajectory to its end.

        The robot is never left moving, whether this returns or raises. `watch` is asked at every joint state
        whether what is carried has been lost; what it then says ends the motion with MotionError('lost').
        """
        try:
            self._run(trajectory, watch or (lambda state: ""))
        except BaseException:
            self._robot.hold()
            raise
        finally:
            self.gate.ended()

    def fresh_state(self) -> JointState:
        """Return the newest joint state. Raises MotionError('stale') if that is too old to act on."""
        state = self._robot.state()
        if self._is_stale(state):
            age = self._robot.now() - state.stamp
            raise MotionError("stale", f"the newest joint state is {age:.2f} s old")
        return state

    def _run(self, trajectory: JointTrajectory, carried: Callable[[JointState], str]) -> None:
        limits = self.tolerances
        watch = _PathWatch(trajectory, self._robot, limits, self._joints)
        self.gate.follow(trajectory)

        def ended(state: JointState) -> bool:
            off_path = self._is_stale(state) or watch.errors(state).max() > limits.path
            if self.gate.is_stopped or off_path or carried(state):
                return True
            near = np.abs(state.position - watch.goal).max() < limits.settled
            return bool(watch.time(state) >= trajectory.duration and near and self._at_rest(state))

        if not self._robot.wait(trajectory.duration + limits.settle_time, ended):
            late = self._robot.begun() - watch.commanded
            self._robot.wait(max(late, 0.0), ended)
        self.gate.check()
        state = self.fresh_state()
        if watch.errors(state).max() > limits.path:
            raise MotionError("deviation", watch.complaint(state))
        if reason := carried(state):
            raise MotionError("lost", reason)
        error = np.abs(state.position - watch.goal)
        if error.max() > limits.goal:
            joint = int(error.argmax())
            name, off = self._joints[joint], f"{error[joint]:.3f} rad off its goal"
            if self._at_rest(state):
                raise MotionError("deviation", f"{name} came to rest {off}; is it blocked?")
            raise MotionError("timeout", f"{name} is still {off} and moving")

    def _at_rest(self, state: JointState) -> bool:
        return bool(np.abs(state.velocity).max() < self.tolerances.rest_speed)

    def _is_stale(self, state: JointState) -> bool:
        return self._robot.now() - state.stamp > self.tolerances.stale


class _PathWatch:
    """Compares states with a trajectory that is about to be commanded.

    It begins between `commanded` and the robot's `begun()` (s): on a busy machine a command takes its time to
    reach the driver. The arm is late only by the latter, and early only by the former.
    """

    def __init__(
        self, trajectory: JointTrajectory, robot: Robot, tolerances: Tolerances, joints: Sequence[str]
    ) -> None:
        self._trajectory, self._robot, self._tolerances = trajectory, robot, tolerances
        self._joints, self.commanded = joints, robot.now()
        self.goal: Array = trajectory.positions[-1]

    def time(self, state: JointState) -> float:
        """Return the seconds since the driver began, at the least."""
        return state.stamp - max(self._robot.begun(), self.commanded)

    def complaint(self, state: JointState) -> str:
        """Describe what is wrong with a state that is off the path."""
        errors = self.errors(state)
        joint = int(errors.argmax())
        share = min(max(self.time(state) / self._trajectory.duration, 0.0), 1.0)
        left = f"{self._joints[joint]} left its path by {errors[joint]:.2f} rad"
        return f"{left} at {100 * share:.0f} % of the motion; something may be in the way"

    def errors(self, state: JointState) -> Array:
        """Return each joint's distance (rad) from the stretch of path where the arm should be."""
        times = self._trajectory.times
        first = int(np.searchsorted(times, self.time(state) - self._tolerances.lag)) - 1
        last = int(np.searchsorted(times, state.stamp - self.commanded + self._tolerances.lead)) + 1
        stretch = self._trajectory.positions[max(min(first, len(times) - 1), 0) : max(last, 1)]
        errors = np.abs(stretch - state.position)
        return np.asarray(errors[errors.max(axis=1).argmin()])
