"""The ports `Robot` and `Camera` over DDS, against the embedded simulator in a process of its own."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from sensor_msgs.msg import JointState as JointStateMsg
from spca_interfaces.action import FollowTrajectory
from spca_interfaces.msg import Layout
from spca_interfaces.srv import ResetWorld
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from spca_core.arms import load_arm
from spca_core.errors import MotionError, SpcaError
from spca_core.layout import nominal_layout
from spca_core.stopping import left_alone
from spca_core.trajectory import JointTrajectory
from spca_core.world import World
from spca_ros import names
from spca_ros.calls import ActionCall, NodeLost, ServiceCall
from spca_ros.camera import RequestedCamera, StreamedCamera
from spca_ros.convert.records import time_msg, to_msg
from spca_ros.convert.robot import GRIPPER_JOINT, trajectory_msg
from spca_ros.node import SpcaNode
from spca_ros.qos import SENSOR
from spca_ros.robot import RosRobot
from spca_testing.contracts.camera_contract import CameraContract
from spca_testing.contracts.robot_contract import RobotContract, gentle
from spca_testing.ros import ask, heeded, running, sim

JOINT_NAMES = load_arm("ur5").joint_names

pytestmark = pytest.mark.ros

Reset = Callable[[], None]


@pytest.fixture(scope="module")
def alone() -> Iterator[SpcaNode]:
    with running(sim()) as (node, _):
        yield node


@pytest.fixture(scope="module")
def driver(alone: SpcaNode) -> RosRobot:
    robot = RosRobot(alone, JOINT_NAMES)
    robot.wait_ready(10.0)
    return robot


@pytest.fixture(scope="module")
def reset(alone: SpcaNode, world: World) -> Reset:
    call = ServiceCall(alone, ResetWorld, names.RESET)

    def to_home() -> None:
        layout = to_msg(nominal_layout(world), Layout())
        response = ask(call, ResetWorld.Request(client=alone.get_name(), layout=layout, seed=1))
        assert response.success, response.message

    return to_home


def test_a_service_that_has_gone_is_not_waited_for_as_one_that_is_to_come(alone: SpcaNode) -> None:
    service = alone.loop.run(lambda: alone.create_service(Trigger, "there_and_gone", lambda _, said: said))
    call = ServiceCall(alone, Trigger, "there_and_gone")
    ask(call, Trigger.Request())
    alone.loop.run(lambda: alone.destroy_service(service))
    for _ in range(1000):  # it is missed once
        with pytest.raises(NodeLost, match="no node offers"):
            call(Trigger.Request(), timeout=3600.0)


@pytest.fixture
def robot(driver: RosRobot, reset: Reset) -> RosRobot:
    reset()
    driver.wait_news()
    return driver


class TestRobot(RobotContract):
    """Everything that any robot must do."""


class TestCamera(CameraContract):
    """Everything that any camera must do."""

    @pytest.fixture(scope="class")
    def camera(self, alone: SpcaNode, world: World) -> RequestedCamera:
        return RequestedCamera(alone, world.camera)


class TestStreamedCamera(CameraContract):
    """The same of one that publishes whether anybody asks or not, as the drivers of real cameras do."""

    @pytest.fixture(scope="class")
    def camera(self, world: World) -> Iterator[StreamedCamera]:
        with running(sim(stream=20.0)) as (node, _):
            yield StreamedCamera(node, world.camera, names.COLOUR, names.DEPTH, timeout=60.0)

    def test_what_is_missing_is_said(self, alone: SpcaNode, world: World) -> None:
        """A topic that nobody publishes ends in one line, not in waiting."""
        silent = StreamedCamera(alone, world.camera, "cell/colour/image_raw", "cell/depth", timeout=0.1)
        with pytest.raises(SpcaError, match="image_raw and cell/depth: no camera info"):
            silent.capture()


def test_a_state_of_nonsense_is_no_news(driver: RosRobot, alone: SpcaNode) -> None:
    """It is dropped with a warning, whoever sent it."""
    publisher = heeded(alone, JointStateMsg, names.JOINT_STATES, SENSOR)
    joints, nan = [*JOINT_NAMES, GRIPPER_JOINT], [float("nan")] * 7
    for _ in range(20):
        publisher.publish(JointStateMsg(header=Header(stamp=time_msg(1.0)), name=joints, position=nan))
    assert np.isfinite(driver.state().position).all()


def test_a_state_that_is_ahead_of_the_world_s_clock_moves_no_time(driver: RosRobot, alone: SpcaNode) -> None:
    """Its stamp is believed neither by who waits nor by who hands on the contacts until then."""
    publisher = heeded(alone, JointStateMsg, names.JOINT_STATES, SENSOR)
    joints, began, told = [*JOINT_NAMES, GRIPPER_JOINT], driver.now(), list[float]()
    driver.on_passed = told.append
    for stamp in (2e9 + 1 / 3, 1e9 + 0.7, began + 1.0):  # the larger, the coarser its floating point
        ahead = JointStateMsg(header=Header(stamp=time_msg(stamp)), name=joints, position=[0.0] * 7)
        while driver.newest != pytest.approx(stamp, abs=1e-6, rel=0):
            publisher.publish(ahead)
            time.sleep(0.01)
        assert driver.wait(0.5) is False
    driver.on_passed = lambda now: None
    assert told and began <= min(told) and began + 1.4 < max(told) < began + 60.0


def test_a_trajectory_from_elsewhere_is_refused(driver: RosRobot) -> None:
    good = gentle(driver, 0.1, 1.0)
    with pytest.raises(MotionError, match="begin where the arm is") as error:
        driver.follow(JointTrajectory(good.times, good.positions + 1.0, good.velocities))
    assert error.value.kind == "deviation"


def follow(node: SpcaNode, trajectory: JointTrajectory, *heard: Any, **more: Any) -> FollowTrajectory.Result:
    """Have the arm follow a trajectory; return how that ended."""
    path = trajectory_msg(trajectory, JOINT_NAMES)
    goal = FollowTrajectory.Goal(attempt="a", client=node.get_name(), trajectory=path)
    return ActionCall(node, FollowTrajectory, names.FOLLOW)(goal, *heard, **more)


def test_a_cancelled_trajectory_stops_the_arm(alone: SpcaNode, robot: RosRobot) -> None:
    trajectory, begun = gentle(robot, 0.3, 4.0), robot.now()
    result = follow(alone, trajectory, cancelled=lambda: robot.wait(0.5) is False)
    assert result.status == FollowTrajectory.Result.HELD
    robot.wait(1.0)
    stopped = robot.state()
    assert begun + 0.5 < stopped.stamp < begun + 4.0
    assert np.abs(stopped.velocity).max() < 0.01
    assert np.abs(stopped.position - trajectory.positions[-1]).min() > 0.05


def under_way(node: SpcaNode, robot: RosRobot, seconds: float) -> Future[FollowTrajectory.Result]:
    """The outcome to come of a trajectory that has begun."""
    begun: list[FollowTrajectory.Feedback] = []
    outcome = left_alone(lambda: follow(node, gentle(robot, 0.1, seconds), begun.append))
    assert node.loop.wait(lambda: begun, 10.0), "it never began"
    return outcome


def test_a_newer_goal_a_hold_and_a_reset_end_a_motion(alone: SpcaNode, robot: RosRobot, reset: Reset) -> None:
    first = under_way(alone, robot, 2.0)
    second = under_way(alone, robot, 2.0)
    assert first.result(10.0).status == FollowTrajectory.Result.REPLACED
    robot.hold()
    assert second.result(10.0).status == FollowTrajectory.Result.HELD
    third = under_way(alone, robot, 2.0)
    robot.wait(0.5)
    reset()
    assert third.result(10.0).status == FollowTrajectory.Result.HELD


def test_no_state_is_waited_for_that_will_not_come(alone: SpcaNode, monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulator killed between its answer and its next joint state once held a run for five seconds."""

    def lost() -> None:
        raise NodeLost("the node 'sim' was killed")

    robot = RosRobot(alone, JOINT_NAMES)
    robot.wait_ready(10.0)
    last = robot.state()
    monkeypatch.setattr(alone.loop, "check", lost)
    began = time.monotonic()
    with pytest.raises(NodeLost, match="killed"):
        robot._next(last, since=last.stamp + 1e6)
    assert time.monotonic() - began < 1.0
