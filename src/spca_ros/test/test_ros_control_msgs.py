"""The driver boundary in control_msgs, with stand-ins that have its published fields and constants."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from spca_core.arms import load_arm
from spca_core.errors import InputError
from spca_core.trajectory import JointTrajectory
from spca_ros.convert.robot import trajectory
from spca_ros.domain import own_domain
from spca_ros.driver import ControlDriver
from spca_ros.node import ros_session

JOINT_NAMES = load_arm("ur5").joint_names

pytestmark = pytest.mark.ros


def message(title: str, /, *numbers: str, **makes: Callable[[], object]) -> type:
    """A message of control_msgs: fields that are numbers, and others by what makes their values."""
    fields = [(of, object, field(default_factory=make)) for of, make in makes.items()]
    return make_dataclass(title, [*fields, *((number, float, 0.0) for number in numbers)])


JointTolerance = message("JointTolerance", "position", "velocity", "acceleration", name=str)
GripperCommandMsg = message("GripperCommand", "position", "max_effort")
LISTS = ("path_tolerance", "component_path_tolerance", "goal_tolerance", "component_goal_tolerance")


class FollowJointTrajectory:
    """control_msgs/action/FollowJointTrajectory."""

    Goal = message(
        "Goal", trajectory=JointTrajectoryMsg, multi_dof_trajectory=object, goal_time_tolerance=Duration,
        **dict.fromkeys(LISTS, list),
    )  # fmt: skip

    @dataclass
    class Result:
        error_code: int = 0
        error_string: str = ""
        SUCCESSFUL = 0
        INVALID_GOAL = -1
        INVALID_JOINTS = -2
        OLD_HEADER_TIMESTAMP = -3
        PATH_TOLERANCE_VIOLATED = -4
        GOAL_TOLERANCE_VIOLATED = -5


GripperCommand = SimpleNamespace(Goal=message("Goal", command=GripperCommandMsg))
"""control_msgs/action/GripperCommand."""


@pytest.fixture
def driver() -> ControlDriver:
    """Nothing is connected."""
    driver = ControlDriver.__new__(ControlDriver)
    driver._joints, driver._follow, driver._command = JOINT_NAMES, FollowJointTrajectory, GripperCommand
    driver._messages = SimpleNamespace(JointTolerance=JointTolerance, GripperCommand=GripperCommandMsg)
    driver.gripper, driver.arm = SimpleNamespace(), SimpleNamespace()
    driver.pressing = 0.0
    return driver


def test_a_trajectory_becomes_a_goal_with_a_tolerance_for_each_joint(driver: ControlDriver) -> None:
    times = np.array([0.0, 0.4, 1.0])
    given = JointTrajectory(times, np.arange(18.0).reshape(3, 6) / 10, np.zeros((3, 6)))
    goal = driver.trajectory_goal(given)
    back = trajectory(goal.trajectory, JOINT_NAMES)
    np.testing.assert_allclose(back.times, times, atol=1e-9)
    np.testing.assert_array_equal(back.positions, given.positions)
    for tolerances in (goal.path_tolerance, goal.goal_tolerance):
        assert [t.name for t in tolerances] == list(JOINT_NAMES)
        assert all(t.position > 0 for t in tolerances)
    assert goal.goal_time_tolerance.sec == 1
    assert (goal.trajectory.header.stamp.sec, goal.trajectory.header.stamp.nanosec) == (0, 0), (
        "begins at once"
    )


def test_a_result_that_is_none_is_said_in_words(driver: ControlDriver) -> None:
    result = FollowJointTrajectory.Result
    assert driver.ended(driver.arm, result()) is None
    said = str(driver.ended(driver.arm, result(-4, "elbow_joint is 0.3 rad off")))
    assert "path tolerance violated" in said and "elbow_joint" in said
    assert "-77" in str(driver.ended(driver.arm, result(-77)))


@pytest.mark.skipif(importlib.util.find_spec("control_msgs") is not None, reason="control_msgs is installed")
def test_where_control_msgs_is_missing_that_is_one_line_with_its_remedy() -> None:
    with own_domain(), ros_session("test") as node, pytest.raises(InputError, match="ros-jazzy-control-msgs"):
        ControlDriver(node, JOINT_NAMES, "arm_controller", "gripper_controller")


def test_a_stalled_gripper_counts_as_pressing(driver: ControlDriver) -> None:
    assert driver.ended(driver.gripper, SimpleNamespace(stalled=True, reached_goal=False)) is None
    assert driver.pressing > 8.0, "more than what counts as holding"
    driver.ended(driver.gripper, SimpleNamespace(stalled=False, reached_goal=True))
    assert driver.pressing == 0.0
