"""The motions of arm and gripper that the node `sim` is asked for, until they end. The physics are real."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
from spca_interfaces.action import CommandGripper, FollowTrajectory
from spca_interfaces.msg import Layout
from spca_interfaces.srv import ResetWorld

from spca_core.arms import load_arm
from spca_core.layout import nominal_layout
from spca_core.stopping import left_alone
from spca_core.world import load_world
from spca_ros import names
from spca_ros.calls import ActionCall, ServiceCall
from spca_ros.convert.records import to_msg
from spca_ros.convert.robot import trajectory_msg
from spca_ros.node import SpcaNode
from spca_ros.robot import RosRobot
from spca_testing.contracts.robot_contract import gentle
from spca_testing.ros import ask, running, sim

JOINT_NAMES = load_arm("ur5").joint_names

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def node() -> Iterator[SpcaNode]:
    with running(sim()) as (node, _):
        yield node


@pytest.fixture
def reset(node: SpcaNode) -> Callable[[], None]:
    call = ServiceCall(node, ResetWorld, names.RESET)
    layout = to_msg(nominal_layout(load_world()), Layout())
    return lambda: ask(call, ResetWorld.Request(client=node.get_name(), layout=layout, seed=1))


@pytest.fixture
def robot(node: SpcaNode, reset: Callable[[], None]) -> RosRobot:
    robot = RosRobot(node, JOINT_NAMES)
    robot.wait_ready(10.0)
    reset()
    robot.wait_news()
    return robot


def under_way(node: SpcaNode, robot: RosRobot, seconds: float) -> Future[FollowTrajectory.Result]:
    """The outcome to come of a trajectory that has begun."""
    path, begun = trajectory_msg(gentle(robot, 0.1, seconds), JOINT_NAMES), list[FollowTrajectory.Feedback]()
    goal = FollowTrajectory.Goal(attempt="a", client=node.get_name(), trajectory=path)
    call = ActionCall(node, FollowTrajectory, names.FOLLOW)
    outcome = left_alone(lambda: call(goal, begun.append))
    assert node.loop.wait(lambda: begun, 10.0), "it never began"
    return outcome


def test_a_motion_says_that_it_has_come_to_its_end(node: SpcaNode, robot: RosRobot) -> None:
    outcome = under_way(node, robot, 1.0)
    robot.wait(0.9)
    assert not outcome.done()
    robot.wait(0.2)
    assert outcome.result(10.0).status == FollowTrajectory.Result.DONE


def test_a_newer_goal_and_a_hold_end_a_motion(node: SpcaNode, robot: RosRobot) -> None:
    first = under_way(node, robot, 2.0)
    second = under_way(node, robot, 2.0)
    assert first.result(10.0).status == FollowTrajectory.Result.REPLACED
    robot.hold()
    assert second.result(10.0).status == FollowTrajectory.Result.HELD


def test_a_reset_ends_a_motion(node: SpcaNode, robot: RosRobot, reset: Callable[[], None]) -> None:
    outcome = under_way(node, robot, 2.0)
    robot.wait(0.5)
    reset()
    assert outcome.result(10.0).status == FollowTrajectory.Result.HELD


def test_the_gripper_says_where_its_pads_rest(node: SpcaNode, robot: RosRobot) -> None:
    call = ActionCall(node, CommandGripper, names.GRIPPER)
    outcome = left_alone(lambda: call(CommandGripper.Goal(client=node.get_name(), gap=0.03)))
    while not outcome.done():
        robot.wait(0.1)
        assert robot.now() < 5.0
    assert outcome.result().status == CommandGripper.Result.DONE
    assert outcome.result().gap == pytest.approx(0.03, abs=2e-3)
