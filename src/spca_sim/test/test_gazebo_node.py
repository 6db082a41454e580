"""What the node of Gazebo decides by itself; test_full_stack.py runs it with Gazebo."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
from geometry_msgs.msg import PoseArray
from spca_interfaces.action import FollowTrajectory

from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import load_world
from spca_ros.convert.records import pose_msg
from spca_ros.convert.robot import trajectory_msg
from spca_sim.gazebo.contacts import ContactSampler
from spca_sim.gazebo.controller import Finger
from spca_sim.gazebo.moved import Moved
from spca_sim.gazebo.node import GazeboSim
from spca_sim.gazebo.reset import parking, pose_request

pytestmark = pytest.mark.ros
WORLD = load_world()
LAID = nominal_layout(WORLD)
HOME = np.array(WORLD.robot.home)


class Node(GazeboSim):
    """The node, connected to nothing: a moment passes whenever it waits, and the arm is where it was sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[object] = []
        self.loop = SimpleNamespace(run=lambda task: task(), wait=lambda *_: True)
        self._world, self._joints = WORLD, WORLD.robot.arm.joint_names
        self._watched = tuple(LAID.poses)
        self._now = self._asked = self._ticked = self._reported = 0.0
        self._state = JointState(0.0, HOME + 0.3, np.zeros(6), 0.04)
        self._arm = SimpleNamespace(follow=self._go, stop=self.sent.append)
        self._pads = SimpleNamespace(publish=lambda message: None)
        self._finger, self._finger_joint, self._upper = Finger(), "finger", 0.8
        self._handed_over = threading.Event()
        self._passing = SimpleNamespace(until=lambda moment, anew=False: None)
        self._ended = SimpleNamespace(wait=self._tick)
        self._moved = SimpleNamespace(there=lambda poses: False)
        self._sampler = ContactSampler(lambda sample: None)
        monkeypatch.setattr("spca_sim.gazebo.node.ask", lambda *asked: self.sent.append(asked[2]) or "")

    def _tick(self, seconds: float) -> bool:
        self._now += 0.01
        return False

    def _go(self, path: JointTrajectory) -> None:
        self.sent.append(path)
        self._state = JointState(self._now, path.positions[-1], np.zeros(6), 0.085)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(monkeypatch)


def path_to(goal: np.ndarray) -> JointTrajectory:
    return JointTrajectory(np.array([0.0, 1.0]), np.stack([HOME + 0.3, goal]), np.zeros((2, 6)))


def test_a_trajectory_that_does_not_begin_where_the_arm_is_is_refused(node: Node) -> None:
    with pytest.raises(SpcaError, match="away from the arm"):
        node.follow(JointTrajectory(np.array([0.0, 1.0]), np.ones((2, 6)), np.zeros((2, 6))))
    assert node.sent == []


def test_whoever_is_gone_leaves_no_motion_behind(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spca_sim.simulator_node._SILENT_S", -1.0)
    goal = FollowTrajectory.Goal(trajectory=trajectory_msg(path_to(HOME), node._joints))
    job = SimpleNamespace(goal=goal, replaced=False, cancelled=lambda: False)
    result = node._do_follow(job)
    assert result.status == FollowTrajectory.Result.STALE and "nobody has let time pass" in result.message
    [begun, stop] = node.sent
    assert len(begun.times) == 2 and np.array_equal(stop.positions[-1], HOME)


def test_whoever_waits_for_a_slow_gazebo_is_not_gone_and_one_that_stands_still_is_an_error(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert node._pass(0.04) == pytest.approx(0.04)
    assert node._asked > 0.0
    monkeypatch.setattr("spca_sim.gazebo.node._STALL_S", -1.0)
    with pytest.raises(SpcaError, match="stood still"):
        node._pass(0.04)


def test_a_reset_parks_the_objects_drives_home_and_is_not_done_twice(node: Node) -> None:
    assert node._go_home() == ""
    parked, home = node.sent
    assert parked == pose_request(parking(WORLD)) and np.array_equal(home.positions[-1], HOME)
    assert node._go_home() == "" and len(node.sent) == 2


@pytest.mark.parametrize("touching", [True, False])
def test_a_reset_waits_for_contacts_of_its_own_and_silent_topics_fail_it_in_words(
    node: Node, touching: bool
) -> None:
    """What touched before, as in the parking place, does not count."""
    pairs = frozenset((name, WORLD.table.model) for name in LAID.poses)
    node._newest_contacts = pairs

    def told(seconds: float) -> bool:
        node._newest_contacts = pairs if touching and node._now > 0.2 else frozenset()
        return node._tick(seconds)

    node._ended.wait = told
    problem = node._await_contacts(LAID)
    assert node._now > 0.2
    assert problem == "" if touching else problem.endswith("after the reset: no report has come")


def test_poses_told_in_another_order_than_the_worlds_are_not_believed() -> None:
    told, laid = [pose_msg(LAID.poses[thing.model]) for thing in WORLD.objects], LAID.poses
    moved = Moved.__new__(Moved)
    moved._models, moved._poses, moved._known = [thing.model for thing in WORLD.objects], {}, True
    moved._topic = SimpleNamespace(take=lambda: [PoseArray(poses=told)])
    assert moved.compare(laid) == "" and moved.poses() == laid
    assert moved.there(laid) and not moved.there(parking(WORLD))
    first, second = moved._models[:2]
    assert not moved.there({**laid, first: Pose.from_xyz_yaw(*laid[first].position, yaw=0.01)})
    told[:2] = told[1::-1]
    assert moved.compare(laid) == f"Gazebo tells other places than where {first}, {second} was put"
    assert moved.poses() == {}
