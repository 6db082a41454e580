"""The `Robot` port over ROS: joint states in, trajectories, gripper goals and wishes for time out."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState as JointStateMsg

from spca_core.errors import Lost, MotionError
from spca_core.trajectory import JointState, JointTrajectory
from spca_ros import names
from spca_ros.calls import MISSED, NodeLost
from spca_ros.convert.robot import joint_state
from spca_ros.driver import Driver, SpcaDriver
from spca_ros.node import SpcaNode
from spca_ros.qos import NEWEST

_EPSILON = 1e-9


class RosRobot:
    """See `spca_core.ports.table.Robot`. Commands go to `driver`, the simulator's by default.

    `joints` are the arm's, as messages call them. Commands and `wait` are for
    threads that do not spin; `hold` is for any. `patience` is how many wall seconds may pass without a joint
    state before the driver counts as dead: then everything raises MotionError('stale').
    """

    def __init__(
        self, node: SpcaNode, joints: Sequence[str], patience: float = 5.0, driver: Driver | None = None
    ) -> None:
        self._node, self._joints, self._patience = node, joints, patience
        self._driver = driver or SpcaDriver(node, joints)
        self._news = threading.Condition()
        self._state: JointState | None = None
        self._others, self._arrived = "", 0.0
        self._broken: MotionError | None = None
        node.create_subscription(JointStateMsg, names.JOINT_STATES, self._on_state, NEWEST)
        self._followed: Any = None  # the arm's newest goal
        self._handle: Any = None  # of the newest one that was accepted
        self._begun = 0.0  # of arm or gripper
        self.on_follow: Callable[[JointTrajectory], None] | None = None
        """Function called with every trajectory before it is sent, so that it can be drawn."""
        self.on_passed: Callable[[float], None] = lambda now: None
        """Function called with the clock whenever time has been waited for, in the thread that waits."""

    def now(self) -> float:
        """Return the world's time in seconds, as of the newest joint state."""
        return self.state().stamp

    def state(self) -> JointState:
        """Return the newest joint state; wait for the first.

        Raises MotionError('stale') when the driver sends none.
        """
        with self._news:
            self._await(lambda: self._state is not None, self._news.wait)
            if self._state is None or time.monotonic() - self._arrived > self._patience:
                silence = f"no joint state for {self._patience:.1f} s"
                raise MotionError("stale", f"{silence}; the arm's driver is gone")
            return self._state

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin to track a trajectory. Raises MotionError when the driver refuses it or does not answer."""
        if self.on_follow is not None:
            self.on_follow(trajectory)
        goal = self._driver.trajectory_goal(trajectory)
        self._followed, self._broken = goal, None
        self._begin(self._driver.arm, goal, "the trajectory does not begin where the arm is, or is malformed")

    def begun(self) -> float:
        """See `Robot`: the driver has a goal when it accepts it."""
        return self._begun

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres. Raises MotionError when the driver refuses or is silent."""
        goal = self._driver.gripper_goal(gap)
        self._begin(self._driver.gripper, goal, f"a gap of {gap} m is out of range")

    def hold(self) -> None:
        """Stop the arm where it is.

        Returns when the driver has confirmed it, or at once in a callback or without a driver. How the motion
        under way ends tells nothing then.
        """
        self._followed = self._broken = None
        try:
            self._driver.hold(self._handle, wait=not self._node.loop.here)
        except Lost as error:
            self._node.get_logger().warning(f"hold: {error}")

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Let up to `seconds` pass; return True once `until` holds, which is asked a few times in 0.1 s."""
        state, left = self.state(), seconds
        while True:
            if until is not None and until(state):
                return True
            if left <= _EPSILON:
                return False
            last, state = state, self._later(state, left)
            left -= max(0.0, state.stamp - last.stamp)  # less: a stranger's was ahead, or the world was reset

    @property
    def newest(self) -> float | None:
        """The stamp in seconds of the newest joint state; None before the first."""
        return None if self._state is None else self._state.stamp

    def wait_news(self) -> None:
        """Wait for a joint state that was sent after this call, as after a jump of the world's time."""
        for _ in range(2):  # one may be under way
            self._next(self.state())

    def wait_ready(self, timeout: float, check: Callable[[], None] = lambda: None) -> None:
        """Wait for the driver, and for a first joint state; `check` is called meanwhile, and may raise.

        Raises NodeLost when it does not come up within `timeout` wall seconds.
        """
        if not self._node.loop.wait(lambda: self._state and self._driver.there, timeout, check):
            raise NodeLost(f"no driver is running for the arm: no joint states, or no actions{self._others}")

    def _later(self, last: JointState, left: float) -> JointState:
        """Return a state after some time has passed, at most as much as is `left`."""
        try:
            now = self._driver.let_pass(left)
        except NodeLost as error:
            raise MotionError("stale", str(error)) from error
        state = self._next(last, since=-math.inf if now is None or now <= last.stamp else now)
        if now is not None and state.stamp > now:  # a stranger's: the simulator knows the world's clock
            state = replace(state, stamp=now)
        self.on_passed(state.stamp)
        return state

    def _next(self, last: JointState, since: float = -math.inf) -> JointState:
        """Wait for the newest state that is not `last` and is of `since` or later, and return it."""

        def news() -> bool:
            new = self._state is not last and self._state is not None
            return self._broken is not None or (new and self._state.stamp >= since - _EPSILON)  # type: ignore[union-attr]

        with self._news:
            self._await(news, self._news.wait)
            if (broken := self._broken) is not None:  # told once
                self._broken = None
                raise broken
        return self.state()

    def _await(self, done: Callable[[], bool], pause: Callable[[float], object]) -> bool:
        """See `Loop.wait`, for `patience`. Raises MotionError('stale') for a driver that has gone."""
        there = time.monotonic()

        def look() -> None:
            nonlocal there
            if self._state is None or self._driver.there:
                there = time.monotonic()
            if time.monotonic() > there + MISSED:
                raise MotionError("stale", "the arm's driver is gone")

        return self._node.loop.wait(done, self._patience, look, pause)

    def _begin(self, client: ActionClient, goal: Any, refusal: str) -> None:
        if self._state is None:
            self.state()  # as long as none has come, the driver may know none either, and refuse
        arm, accepted, handles = client is self._driver.arm, threading.Event(), []

        def on_answer(future: Any) -> None:
            handle = future.result()
            handles.append(handle)
            if handle.accepted:
                self._handle = handle if arm else self._handle
                self._begun = self.now()
                handle.get_result_async().add_done_callback(
                    lambda done: self._on_end(goal, client, done.result())
                )
            accepted.set()

        # In the turning thread: rclpy's action client loses answers that come before this call has returned.
        self._node.loop.soon(lambda: client.send_goal_async(goal).add_done_callback(on_answer))
        if not self._await(accepted.is_set, accepted.wait):
            raise MotionError("stale", "the arm's driver does not answer")
        if not handles[0].accepted:
            raise MotionError("deviation" if arm else "limit", f"refused: {refusal}")

    def _on_end(self, goal: Any, client: ActionClient, answer: Any) -> None:
        arm = client is self._driver.arm
        if arm and (goal is not self._followed or answer.status == GoalStatus.STATUS_CANCELED):
            return  # replaced, or stopped on purpose
        if problem := self._driver.ended(client, answer.result):
            with self._news:
                self._broken = problem
                self._news.notify_all()

    def _on_state(self, message: JointStateMsg) -> None:
        try:
            state = joint_state(message, self._joints)
        except ValueError:
            self._others = f"; joint states come of {', '.join(message.name[:3])}: is it another arm?"
            return  # or of another device, which publishes on this topic, too
        if not (np.isfinite(state.position).all() and np.isfinite(state.velocity).all()):
            raise ValueError("a joint state that is not finite")  # dropped with a warning, see SpcaNode
        if (pressing := self._driver.pressing) > state.gripper_force:
            state = replace(state, gripper_force=pressing)
        with self._news:
            self._state, self._arrived = state, time.monotonic()
            self._news.notify_all()
