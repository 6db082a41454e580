"""The contract of the port `Robot`."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from spca_core.ports.table import Robot
from spca_core.trajectory import JointState, JointTrajectory


def gentle(robot: Robot, delta: float = 0.2, seconds: float = 1.0) -> JointTrajectory:
    """A smooth motion of all joints by `delta` radians from where the arm is."""
    start = robot.state().position
    s = np.linspace(0.0, 1.0, 21)[:, None]
    blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / seconds
    return JointTrajectory(s[:, 0] * seconds, start + blend * delta, rate * np.full(start.shape, delta))


class RobotContract:
    """Subclass it with a fixture `robot`: at rest, open, with room to move each joint by 0.2 rad."""

    def test_the_state_is_fresh_and_complete(self, robot: Robot) -> None:
        """Six joints at rest, the gripper open, as of now."""
        state = robot.state()
        assert state.position.shape == state.velocity.shape == (6,)
        assert np.abs(state.velocity).max() < 0.02
        assert state.gripper_gap == pytest.approx(0.085, abs=2e-3)
        assert abs(robot.now() - state.stamp) < 0.2

    def test_waiting_lets_time_pass(self, robot: Robot) -> None:
        """As much as asked for, and False for no condition."""
        before = robot.now()
        assert robot.wait(0.3) is False
        assert robot.now() - before == pytest.approx(0.3, abs=0.1)
        assert robot.state().stamp - before == pytest.approx(0.3, abs=0.15)

    def test_waiting_ends_when_its_condition_holds(self, robot: Robot) -> None:
        """Soon after it does; at once if it does already; False if it never does."""
        before = robot.now()
        assert robot.wait(5.0, lambda state: state.stamp - before >= 0.2) is True
        assert 0.2 <= robot.now() - before < 0.5
        assert robot.wait(5.0, lambda _: True) is True
        assert robot.now() - before < 0.6
        assert robot.wait(0.1, lambda _: False) is False

    def test_a_trajectory_is_followed_and_its_end_held(self, robot: Robot) -> None:
        """`follow` returns at once; the motion takes its time."""
        trajectory = gentle(robot, 0.2, 0.8)
        before = robot.now()
        robot.follow(trajectory)
        assert robot.now() - before < 0.1
        robot.wait(0.4)
        assert np.abs(robot.state().velocity).min() > 0.1
        robot.wait(1.0)
        end = robot.state()
        assert end.position == pytest.approx(trajectory.positions[-1], abs=5e-3)
        assert np.abs(end.velocity).max() < 0.02

    def test_the_end_of_a_short_trajectory_is_known(self, robot: Robot) -> None:
        """Whoever waits for it need not wait for the time that it may take at most."""
        for way in (0.02, -0.02, 0.02):
            robot.follow(gentle(robot, way, 0.2))
            assert robot.wait(2.0, lambda state: state.stamp - robot.begun() >= 0.2)

    def test_a_new_trajectory_replaces_the_old(self, robot: Robot) -> None:
        """The end of the first is never reached."""
        robot.follow(gentle(robot, 0.2, 2.0))
        robot.wait(0.3)
        robot.hold()
        robot.wait(0.5)
        second = gentle(robot, -0.1, 0.8)
        robot.follow(second)
        robot.wait(2.5)
        assert robot.state().position == pytest.approx(second.positions[-1], abs=5e-3)

    def test_the_gripper_obeys(self, robot: Robot) -> None:
        """Half closed, then open again; it is known when the driver began."""
        robot.command_gripper(0.04)
        assert robot.wait(3.0, lambda state: abs(state.gripper_gap - 0.04) < 2e-3)
        assert robot.begun() < robot.now() - 0.1
        robot.command_gripper(0.085)
        assert robot.wait(3.0, lambda state: abs(state.gripper_gap - 0.085) < 2e-3)

    def test_hold_from_another_thread_stops_a_motion(self, robot: Robot) -> None:
        """While this thread waits; the arm stays where it stopped."""
        trajectory = gentle(robot, 0.2, 3.0)
        moving, held = threading.Event(), threading.Event()

        def stopper() -> None:
            moving.wait(10.0)
            robot.hold()
            held.set()

        thread = threading.Thread(target=stopper)
        thread.start()
        robot.follow(trajectory)
        begun = robot.now()

        def watch(state: JointState) -> bool:
            if state.stamp - begun > 0.8:
                moving.set()
                held.wait(5.0)
            return held.is_set()

        assert robot.wait(3.0, watch)
        thread.join(5.0)
        robot.wait(0.5)
        stopped = robot.state()
        robot.wait(3.0)
        assert np.abs(stopped.velocity).max() < 0.02
        assert robot.state().position == pytest.approx(stopped.position, abs=2e-3)
        assert np.abs(stopped.position - trajectory.positions[-1]).min() > 0.02
