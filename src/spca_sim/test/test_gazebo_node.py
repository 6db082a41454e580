"""The Gazebo node over real DDS.

What it talks to (Gazebo, its controllers, the bridge) is played on MuJoCo's physics.
"""

import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
import rclpy
from rclpy.action import ActionServer
from rclpy.signals import SignalHandlerOptions

from spca_core.arms import load_arm
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import CameraMount, load_world
from spca_robot.description.names import ARM_CONTROLLER, GENERATED, GRIPPER_CONTROLLER, STATE_BROADCASTER
from spca_robot.description.urdf import build_urdf
from spca_robot.gripper_2f85 import driver_angle, gap_of
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import build_model
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.convert.contacts import contact_samples
from spca_ros.convert.records import pose_msg, seconds, time_msg, to_msg
from spca_ros.node import SpcaNode, background
from spca_ros.qos import EVERY, SENSOR, WHOLE
from spca_ros.robot import RosRobot
from spca_ros.world import RosWorld
from spca_sim.gazebo.moved import Moved
from spca_sim.gazebo.reset import parking
from spca_sim.gazebo.write import CLOCK, POSES, camera_topics
from spca_sim.gazebo.write import STEP as PHYSICS_STEP
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.recording import recorded_states
from spca_testing.contracts.robot_contract import RobotContract

JOINT_NAMES = load_arm("ur5").joint_names

pytestmark = [pytest.mark.ros, pytest.mark.slow]
WORLD = load_world()
STEP, FASTER = 2 * PHYSICS_STEP, 4.0  # s of simulated time a step; simulated seconds a wall second


class PlayedGazebo(SpcaNode):
    """Physics, clock and the two trajectory controllers, under the names that Gazebo's have."""

    def __init__(self) -> None:
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import JointState as JointStateMsg
        from spca_interfaces.action import FollowTrajectory
        from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

        super().__init__("played_gazebo")
        self.simulator = MujocoWorld(WORLD)
        self.simulator.reset(nominal_layout(WORLD))
        self._clock_type, self._state_type = Clock, JointStateMsg
        self._ticks = self.create_publisher(Clock, CLOCK.ros_topic_name, SENSOR)
        self._joints = self.create_publisher(JointStateMsg, f"/{STATE_BROADCASTER}/joint_states", SENSOR)
        self.action = FollowTrajectory
        """In place of control_msgs/FollowJointTrajectory, which has the same field."""
        name = f"/{ARM_CONTROLLER}/follow_joint_trajectory"
        self._server = ActionServer(self, self.action, name, self._arm)
        self.create_subscription(
            JointTrajectoryMsg, f"/{GRIPPER_CONTROLLER}/joint_trajectory", self._grip, EVERY
        )
        self._lock, self._ended = threading.Lock(), False
        self._last_angle = 0.0
        self._free, self._steps = True, 0
        self._thread = background(self._run)

    def control(self, steps: int) -> None:
        """What Gazebo does on request: stop time after so many physics steps."""
        with self._lock:
            self._free = False
            self._steps += steps

    def _run(self) -> None:
        while not self._ended:
            time.sleep(STEP / FASTER)
            with self._lock:
                if not self._free:
                    if self._steps <= 0:
                        continue
                    self._steps -= round(STEP / PHYSICS_STEP)
                self.simulator.step(STEP)
                state, now = self.simulator.state(), self.simulator.time
            self._ticks.publish(self._clock_type(clock=time_msg(now)))
            if round(now / STEP) % 2:  # states do not come as often as time passes
                continue
            angle = driver_angle(min(max(state.gripper_gap, 0.0), 0.085))
            speed, self._last_angle = (angle - self._last_angle) / (2 * STEP), angle
            message = self._state_type(
                name=[GENERATED.commanded, *JOINT_NAMES],  # another order than ours
                position=[angle, *state.position.tolist()],
                velocity=[speed, *state.velocity.tolist()],
            )
            message.header.stamp = time_msg(now)
            self._joints.publish(message)

    def _arm(self, goal) -> object:
        message = goal.request.trajectory
        with self._lock:
            state = self.simulator.state()
            times = np.array([seconds(p.time_from_start) for p in message.points])
            positions = np.array([p.positions for p in message.points])
            velocities = np.array([p.velocities for p in message.points])
            if times[0] > 0:  # as the controller does: from where the arm is
                times = np.concatenate([[0.0], times])
                positions, velocities = (
                    np.vstack([state.position, positions]),
                    np.vstack([state.velocity, velocities]),
                )
            self.simulator.follow(JointTrajectory(times, positions, velocities))
        goal.succeed()
        return self.action.Result()

    def _grip(self, message) -> None:
        assert list(message.joint_names) == [GENERATED.commanded]
        with self._lock:
            self.simulator.command_gripper(max(gap_of(message.points[-1].positions[0]), 0.0))

    def close(self) -> None:
        self._ended = True
        self._thread.join(5.0)
        self.simulator.close()


class Rig:
    """The node under test, what it talks to, and a client."""

    def __init__(self, folder: Path) -> None:
        from spca_sim.gazebo.node import GazeboSim

        urdf = folder / "cobot.urdf"
        urdf.write_text(build_urdf(WORLD))
        program = folder / "gz"
        program.write_text(
            f'#!/bin/sh\necho "$@" >> {folder}/requests\n'
            f'if rm {folder}/busy 2>/dev/null; then echo "Service call timed out"; exit; fi\n'
            f'if [ -f {folder}/refusing ]; then echo "data: false"; exit; fi\n'
            'echo "data: true"\n'
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.requests = folder / "requests"
        self.busy, self.refusing = folder / "busy", folder / "refusing"
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
        rclpy.init(args=["--ros-args", "-p", f"urdf:={urdf}"], signal_handler_options=SignalHandlerOptions.NO)
        self.gazebo, self.client = PlayedGazebo(), SpcaNode("client")
        self.node = GazeboSim(self.gazebo.control, self.gazebo.action)
        self._ended = False
        self._threads = [background(self._spin, node) for node in (self.gazebo, self.node, self.client)]
        self.robot = RosRobot(self.client, JOINT_NAMES)
        self.robot.wait_ready(20.0)

    def _spin(self, node: SpcaNode) -> None:
        while not self._ended:
            node.loop.turn()

    def touch(self, *pairs: tuple[str, str]) -> None:
        """Gazebo reports these contacts now."""
        named = [tuple(SimpleNamespace(name=f"{model}::link::collision") for model in pair) for pair in pairs]
        contacts = [SimpleNamespace(collision1=a, collision2=b, normals=[], positions=[]) for a, b in named]
        header = SimpleNamespace(stamp=time_msg(self.gazebo.simulator.time))
        message = SimpleNamespace(header=header, contacts=contacts)
        self.node.loop.soon(lambda: self.node._on_contacts(message))

    def close(self) -> None:
        self._ended = True
        for thread in self._threads:
            thread.join(5.0)
        for node in (self.node, self.gazebo, self.client):
            node.close()
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture(scope="module")
def rig(tmp_path_factory) -> Iterator[Rig]:
    path = os.environ["PATH"]
    rig = Rig(tmp_path_factory.mktemp("gazebo"))
    yield rig
    rig.close()
    os.environ["PATH"] = path


@contextmanager
def meanwhile(act: Callable[[], object], period: float = 0.03) -> Iterator[None]:
    """Have something done again and again in a thread of its own."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(period):
            act()

    background(go_on)
    try:
        yield
    finally:
        ended.set()


def wait_for(condition, seconds=15.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def to(rig: Rig, goal: np.ndarray, seconds: float) -> JointTrajectory:
    start = rig.robot.state().position
    s = np.linspace(0, 1, 20)[:, None]
    blend = 3 * s**2 - 2 * s**3
    rate = (6 * s - 6 * s**2) / seconds
    return JointTrajectory(s[:, 0] * seconds, start + blend * (goal - start), rate * (goal - start))


class TestGazeboRobot(RobotContract):
    @pytest.fixture
    def robot(self, rig: Rig) -> RosRobot:
        rig.robot.follow(to(rig, np.array(WORLD.robot.home), 1.5))
        rig.robot.command_gripper(0.085)
        rig.robot.wait(2.2)
        return rig.robot


def test_a_trajectory_that_does_not_begin_where_the_arm_is_is_refused(rig: Rig) -> None:
    from spca_core.errors import MotionError

    far = JointTrajectory(np.array([0.0, 1.0]), np.ones((2, 6)), np.zeros((2, 6)))
    with pytest.raises(MotionError, match="refused"):
        rig.robot.follow(far)


def test_no_time_passes_unless_somebody_asks_and_a_motion_goes_on_where_it_was(rig: Rig) -> None:
    """However late the program is: the arm waits for it."""
    goal = rig.robot.state().position - np.array([0.4, 0, 0, 0, 0, 0])
    path = to(rig, goal, 1.5)
    rig.robot.follow(path)
    rig.robot.wait(0.4)
    stands = wait_until_it_stands(rig)
    assert np.abs(rig.robot.state().velocity).max() > 0.02, "in the middle of its motion"
    assert rig.robot.state().stamp <= stands
    rig.robot.wait(1.3)
    assert rig.robot.state().position == pytest.approx(goal, abs=0.02)


def test_whoever_is_gone_leaves_no_motion_behind(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    from spca_core.errors import MotionError

    monkeypatch.setattr("spca_sim.simulator_node._SILENT_S", 0.3)
    goal = rig.robot.state().position + np.array([0.8, 0, 0, 0, 0, 0])
    rig.robot.follow(to(rig, goal, 3.0))
    rig.robot.wait(1.0)
    with rig.robot._news:
        assert rig.robot._news.wait_for(lambda: rig.robot._broken is not None, 15.0)
    with pytest.raises(MotionError, match="nobody has let time pass"):
        rig.robot.wait(0.5)
    rig.robot.wait(0.6)
    assert np.abs(rig.robot.state().velocity).max() < 0.05
    assert abs(rig.robot.state().position[0] - goal[0]) > 0.2


def test_whoever_waits_for_a_slow_gazebo_is_not_gone(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spca_sim.simulator_node._SILENT_S", 0.3)
    goal = rig.robot.state().position + np.array([0.01, 0, 0, 0, 0, 0])
    # What passes at once, 0.04 s, takes longer than that.
    monkeypatch.setattr(sys.modules[__name__], "FASTER", STEP / 0.2)
    rig.robot.follow(to(rig, goal, 0.2))
    rig.robot.wait(0.4)
    assert rig.robot.state().position == pytest.approx(goal, abs=0.005)


def wait_until_it_stands(rig: Rig) -> float:
    """Wait until Gazebo's clock stands still; return it."""
    last = -1.0
    while (now := rig.gazebo.simulator.time) != last:
        last = now
        threading.Event().wait(0.2)
    return now


def reset(rig: Rig, touching: bool):
    from spca_interfaces.srv import ResetWorld

    call = ServiceCall(rig.client, ResetWorld, names.RESET)
    layout = nominal_layout(WORLD)
    request = ResetWorld.Request(client=rig.client.get_name())
    to_msg(layout, request.layout)
    pairs = [(name, WORLD.table.model) for name in layout.poses] if touching else []
    with meanwhile(lambda: pairs and rig.touch(*pairs)):
        return call(request, timeout=60.0)


def away_from_home(rig: Rig) -> None:
    """Where a level may leave the arm."""
    rig.robot.follow(to(rig, np.array(WORLD.robot.home) + np.array([0.3, 0, 0, 0, 0, 0]), 1.0))
    rig.robot.wait(1.6)


def test_a_reset_parks_the_objects_drives_home_places_them_and_waits_for_contacts(rig: Rig) -> None:
    away_from_home(rig)
    rig.requests.unlink(missing_ok=True)
    answer = reset(rig, touching=True)
    assert answer.success, answer.message
    parked, placed = rig.requests.read_text().splitlines()
    assert "set_pose_vector" in parked and "x: -1.5" in parked
    assert 'name: "box_red" position {x: 0.5 y: -0.14' in placed
    state = rig.robot.state()
    assert state.position == pytest.approx(WORLD.robot.home, abs=0.02)
    assert state.gripper_gap == pytest.approx(0.085, abs=0.003)


def test_a_robot_that_is_at_home_is_not_driven_there(rig: Rig) -> None:
    """As at the start: nothing is in its way, and nothing is waited for but the contacts."""
    assert reset(rig, touching=True).success  # from wherever it was left
    rig.requests.unlink()
    begun = rig.gazebo.simulator.time
    assert reset(rig, touching=True).success
    assert rig.gazebo.simulator.time - begun < 3.0
    [placed] = rig.requests.read_text().splitlines()
    assert 'name: "box_red" position {x: 0.5 y: -0.14' in placed


def test_what_touched_in_the_parking_place_is_not_of_the_level_that_begins(rig: Rig) -> None:
    from spca_interfaces.msg import Contacts

    away_from_home(rig)
    rig.requests.unlink(missing_ok=True)
    received: list[Contacts] = []
    subscription = rig.client.create_subscription(Contacts, names.CONTACTS, received.append, EVERY)
    moved: list[float] = []

    def lie_behind_the_robot() -> None:
        if not moved and rig.requests.exists() and len(rig.requests.read_text().splitlines()) == 2:
            moved.append(rig.gazebo.simulator.time)
        # Accepted: a few more reports come from before it was done.
        if not moved or rig.gazebo.simulator.time < moved[0] + 0.06:
            rig.touch(("box_red", WORLD.ground.model))

    with meanwhile(lie_behind_the_robot, 0.002):
        answer = reset(rig, touching=True)
        assert answer.success, answer.message
        of_level = lambda: [m for m in received if seconds(m.header.stamp) > seconds(answer.stamp)]  # noqa: E731
        rig.robot.wait(0.3)
        assert wait_for(lambda: len(of_level()) > 5)
    rig.client.destroy_subscription(subscription)
    pairs = {p for m in of_level() for s in contact_samples(m) for p in s.pairs}
    assert pairs and not any(WORLD.ground.model in p for p in pairs)


def test_silent_contact_topics_fail_the_reset_in_words(rig: Rig) -> None:
    wait_for(lambda: False, 0.3)  # until earlier touches have timed out
    answer = reset(rig, touching=False)
    assert not answer.success and answer.message.endswith("after the reset: no report has come")


def test_gazebo_is_asked_again_when_it_was_too_busy_to_answer_and_not_when_it_refused(rig: Rig) -> None:
    rig.requests.unlink(missing_ok=True)
    rig.busy.touch()
    assert rig.node._move_objects(parking(WORLD)) == ""
    assert len(rig.requests.read_text().splitlines()) == 2
    rig.requests.unlink()
    rig.refusing.touch()
    try:
        problem = rig.node._move_objects(parking(WORLD))
    finally:
        rig.refusing.unlink()
    assert "data: false" in problem or "refuse" in problem
    assert len(rig.requests.read_text().splitlines()) == 1


def test_a_level_is_recorded_and_its_referee_told_where_things_are(rig: Rig, tmp_path: Path) -> None:
    from geometry_msgs.msg import PoseArray

    table = RosWorld(rig.client, WORLD, varied={"places": True})
    laid = nominal_layout(WORLD).poses
    poses = PoseArray(poses=[pose_msg(laid[thing.model]) for thing in WORLD.objects])
    red = next(i for i, thing in enumerate(WORLD.objects) if thing.model == "box_red")
    publisher = rig.client.create_publisher(PoseArray, POSES, SENSOR)
    assert wait_for(lambda: publisher.get_subscription_count() == 1)
    rig.requests.unlink(missing_ok=True)

    def lie() -> None:
        rig.touch(*((name, WORLD.table.model) for name in laid))
        publisher.publish(poses)

    with meanwhile(lie), closing(table):
        table.reset(nominal_layout(WORLD))
        poses.poses[red].position.x = 0.61
        table.wait(0.5)
        told = table.places(["box_red"])["box_red"]
        table.save_recording(tmp_path)
    assert told.position == (0.61, *laid["box_red"].position[1:])
    states = recorded_states(tmp_path)
    assert {*states[-1].objects} == {*nominal_layout(WORLD).poses}
    assert 0.2 < states[-1].stamp - states[0].stamp < 2.0
    model, index = build_model(WORLD, map(WORLD.object, states[-1].objects))
    data = mujoco.MjData(model)
    data.qpos[:] = states[-1].qpos
    assert index.item_pose(data, "box_red").position == pytest.approx(told.position, abs=1e-6)
    assert index.item_pose(data, "box_blue").position == pytest.approx(laid["box_blue"].position, abs=1e-6)
    assert data.qpos[index.arm_qpos] == pytest.approx(WORLD.robot.home, abs=0.02)
    assert index.gap(data) == pytest.approx(0.085, abs=0.003)


def test_poses_told_in_another_order_than_the_worlds_are_not_believed() -> None:
    from geometry_msgs.msg import PoseArray

    moved, laid = Moved.__new__(Moved), nominal_layout(WORLD).poses
    told = [pose_msg(laid[thing.model]) for thing in WORLD.objects]
    moved._models, moved._poses, moved._known = [thing.model for thing in WORLD.objects], {}, True
    moved._topic = SimpleNamespace(take=lambda: [PoseArray(poses=told)])
    assert moved.compare(laid) == "" and moved.poses() == laid
    assert moved.there(laid) and not moved.there(parking(WORLD))
    first, second = moved._models[:2]
    assert not moved.there({**laid, first: Pose.from_xyz_yaw(*laid[first].position, yaw=0.01)})
    told[:2] = told[1::-1]
    assert moved.compare(laid) == f"Gazebo tells other places than where {first}, {second} was put"
    assert moved.poses() == {}


@contextmanager
def filming(rig: Rig, mount: CameraMount, at: str = "") -> Iterator[Callable[[], int]]:
    """Gazebo draws pictures, the first of them black; yields who counts those who listen."""
    from sensor_msgs.msg import Image

    colour, depth = (
        rig.gazebo.create_publisher(Image, topic.ros_topic_name, WHOLE) for topic in camera_topics(at)[:2]
    )
    w, h, grey = mount.width, mount.height, 0

    def film() -> None:
        nonlocal grey
        picture = Image(width=w, height=h, encoding="rgb8", step=3 * w, data=bytes([grey]) * 3 * w * h)
        metres = np.full((h, w), 0.85, np.float32)
        metres[0, 0] = np.inf
        range_ = Image(width=w, height=h, encoding="32FC1", step=4 * w, data=metres.tobytes())
        picture.header.stamp = range_.header.stamp = time_msg(rig.gazebo.simulator.time)
        colour.publish(picture)
        depth.publish(range_)
        if colour.get_subscription_count() and depth.get_subscription_count():
            grey = 90

    with meanwhile(film, 0.1):
        yield lambda: colour.get_subscription_count() + depth.get_subscription_count()


def test_a_picture_is_two_images_of_one_instant_with_the_projects_calibration(rig: Rig) -> None:
    from spca_ros.camera import RequestedCamera

    with filming(rig, WORLD.camera) as listeners:
        assert listeners() == 0
        frame = RequestedCamera(rig.client, WORLD.camera).capture()
        # Nobody looks any more: Gazebo is asked for no more pictures.
        assert wait_for(lambda: listeners() == 0)
    assert frame.intrinsics == WORLD.camera.intrinsics  # not Gazebo's, which is half a pixel off
    assert (frame.colour == 90).all()
    assert frame.depth[0, 0] == 0.0 and frame.depth[5, 5] == pytest.approx(0.85)


def test_the_wrist_camera_takes_its_pictures_under_its_own_names(rig: Rig) -> None:
    from spca_sim.gazebo.film import Film

    mount = load_world("wrist").wrist_camera
    film = rig.node.loop.run(lambda: Film(rig.node, mount, names.WRIST))
    with filming(rig, mount, names.WRIST) as listeners, filming(rig, WORLD.camera) as others:
        with film.running():
            assert wait_for(lambda: film.since(0.0))
        assert others() == 0, "the camera above the table is not asked for pictures meanwhile"
        assert wait_for(lambda: listeners() == 0)
    taken = film.since(0.0)
    for message in (taken.colour, taken.depth, taken.info):
        assert message.header.frame_id == "wrist_camera_color_optical_frame"
    assert (taken.info.width, taken.info.k[0]) == (mount.width, mount.fx)


def test_of_a_flood_of_reports_only_the_newest_are_read_and_only_when_asked_for(rig: Rig) -> None:
    from std_msgs.msg import Header

    from spca_sim.gazebo.polled import PolledTopic

    publisher = rig.client.create_publisher(Header, "/flood", SENSOR)
    topic = PolledTopic(rig.client.context, "flooded", Header, "/flood", depth=4)
    assert wait_for(lambda: publisher.get_subscription_count() == 1)
    got: list[str] = []
    for number in range(50):
        publisher.publish(Header(frame_id=str(number)))
    assert wait_for(lambda: got.extend(m.frame_id for m in topic.take()) or "49" in got)
    assert len(got) < 50 and got == sorted(got, key=int)
    assert list(topic.take()) == []
    topic.close()
