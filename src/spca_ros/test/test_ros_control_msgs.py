"""The driver boundary in control_msgs, with stand-ins that have its published fields and constants."""

from types import SimpleNamespace

import numpy as np
import pytest

from spca_core.arms import load_arm
from spca_core.trajectory import JointTrajectory
from spca_ros.convert.robot import trajectory
from spca_ros.driver import ControlDriver

JOINT_NAMES = load_arm("ur5").joint_names

pytestmark = pytest.mark.ros


class Result(SimpleNamespace):
    """control_msgs/action/FollowJointTrajectory_Result."""

    error_code, error_string = 0, ""
    SUCCESSFUL, INVALID_GOAL, PATH_TOLERANCE_VIOLATED = 0, -1, -4


@pytest.fixture
def driver() -> ControlDriver:
    """Nothing is connected."""
    driver = ControlDriver.__new__(ControlDriver)
    driver._joints, driver._follow = JOINT_NAMES, SimpleNamespace(Goal=SimpleNamespace)
    driver._messages = SimpleNamespace(JointTolerance=SimpleNamespace)
    driver.gripper, driver.arm = SimpleNamespace(), SimpleNamespace(of="arm")
    return driver


def test_a_trajectory_becomes_a_goal_with_a_tolerance_for_each_joint(driver: ControlDriver) -> None:
    times = np.array([0.0, 0.4, 1.0])
    given = JointTrajectory(times, np.arange(18.0).reshape(3, 6) / 10, np.zeros((3, 6)))
    goal = driver.trajectory_goal(given)
    np.testing.assert_array_equal(trajectory(goal.trajectory, JOINT_NAMES).positions, given.positions)
    for tolerances in (goal.path_tolerance, goal.goal_tolerance):
        assert [t.name for t in tolerances] == list(JOINT_NAMES)
        assert all(t.position > 0 for t in tolerances)
    stamp = goal.trajectory.header.stamp
    assert goal.goal_time_tolerance.sec == 1 and (stamp.sec, stamp.nanosec) == (0, 0), "begins at once"


def test_a_result_that_is_none_is_said_in_words(driver: ControlDriver) -> None:
    assert driver.ended(driver.arm, Result()) is None
    said = str(driver.ended(driver.arm, Result(error_code=-4, error_string="elbow_joint is 0.3 rad off")))
    assert "path tolerance violated" in said and "elbow_joint" in said
    assert "-77" in str(driver.ended(driver.arm, Result(error_code=-77)))


def test_a_stalled_gripper_counts_as_pressing(driver: ControlDriver) -> None:
    assert driver.ended(driver.gripper, SimpleNamespace(stalled=True)) is None
    assert driver.pressing > 8.0, "more than what counts as holding"
    driver.ended(driver.gripper, SimpleNamespace(stalled=False))
    assert driver.pressing == 0.0
