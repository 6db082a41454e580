"""The node `sim` where Gazebo is the simulator: the same topics, services and actions as the embedded one's.

Gazebo itself, its controllers and the bridge are processes of their own (launch/gazebo.launch.py). This node
translates their messages to the project's names and conventions and forwards commands.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState as JointStateMsg
from spca_interfaces.srv import Capture, LetPass, ResetWorld
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from spca_core.contacts import ContactSample, Pair, Touch, Way, ways_of_touching
from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.kinds import KINDS
from spca_core.layout import Layout
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import load_world
from spca_robot.description.moveit_config import harmless_pairs
from spca_robot.description.names import GRIPPER_CONTROLLER, GRIPPERS, SOURCES, STATE_BROADCASTER
from spca_robot.gripper_2f85 import CLOSED_ANGLE, STROKE, driver_angle
from spca_ros import names
from spca_ros.convert.records import duration_msg, from_msg, seconds, time_msg
from spca_ros.convert.robot import joint_state, joint_state_msg
from spca_ros.node import main_of
from spca_ros.qos import EVERY, SENSOR
from spca_sim.gazebo.contacts import ContactSampler, ModelPairs, oriented
from spca_sim.gazebo.controller import ArmController, Finger, brake, command, ramp_time
from spca_sim.gazebo.film import Film
from spca_sim.gazebo.moved import Moved, Recorder
from spca_sim.gazebo.passing import AHEAD_S, Control, Hanging, Passing, bridged, gazebo_process
from spca_sim.gazebo.polled import PolledTopic, SlowService
from spca_sim.gazebo.reset import (
    ask,
    control_service,
    parking,
    placement,
    pose_request,
    untouched,
    watched_models,
)
from spca_sim.gazebo.write import CLOCK, CONTACTS
from spca_sim.simulator_node import SimulatorNode
from spca_sim.tracking import check_trajectory

_HOME_S, _SETTLE_S = 4.0, 3.0  # simulated seconds to drive home, and for objects to come to rest
_STARTS_WITHIN = 0.05  # rad: a trajectory that begins farther from where the arm is would make it jump
_AT_HOME, _OPEN = 0.02, STROKE - 0.003  # rad and rad/s of the arm, m between the pads
_PLACED_S = 0.1  # simulated seconds within which Gazebo surely has done what its pose service accepted
_FRAME_S = 5.0  # simulated seconds to wait for a picture
_MOMENT_S = 0.04  # simulated seconds that pass between two looks at what is waited for
_LOOK_S, _STATE_S = 1.0, 0.05  # wall seconds between two looks at who watches, and two joint states
_UNHEARD_S = 2.0  # wall seconds without a tick of the clock after which time is granted once more
_PASSING_S = 0.002  # wall seconds between two looks at the clock, at the least
_CLOCK_S = 0.01  # wall seconds between two messages on /clock, at least
_GUARD_S = 0.2  # wall seconds between two looks whether Gazebo hangs
_START_S = 50.0  # wall seconds until the first joint state
_STALL_S = 30.0  # wall seconds that simulated time may stand still

_ROBOT_SENSORS = 4  # links of the robot that may report in one physics step: the fingertips, and two more


class GazeboSim(SimulatorNode):
    """The Gazebo simulation of one robot and one table; see the module docstring."""

    def __init__(self, control: Control | None = None, action: Any = None) -> None:
        """Start; where Gazebo is played, `control` of time and the arm controller's `action` are given."""
        super().__init__()
        self._world = load_world(self.parameter("world", "tabletop", "a world in worlds/, or a path"))
        self._joints = self._world.robot.arm.joint_names
        about = "which robot description Gazebo has"
        gripper = GRIPPERS[self.parameter("robot", "generated", about, choices=SOURCES)]
        about = "objects whose contacts Gazebo reports, with commas; empty: all"
        watched = self.parameter("watched", "", about)
        self._watched = watched_models(watched, self._world)
        with open(self.parameter("urdf", "", "path of the robot's URDF")) as file:
            harmless = harmless_pairs(file.read(), gripper.root)
        self._upper = min(CLOSED_ANGLE, 0.8) if gripper.root.startswith("robotiq") else CLOSED_ANGLE
        self._finger_joint, self._finger = gripper.commanded, Finger()
        self._models = ModelPairs(self._world.model_names, harmless, self._world.robot.model)
        world = self._world
        carriers = [o.model for o in world.objects if not KINDS[o.kind].solid]
        self._below = ([world.ground.model], [world.table.model], carriers)
        self._rims = {o.model: world.table.top + o.size[2] for o in world.objects if KINDS[o.kind].walled}
        self.recorder, self._moved = Recorder(world), Moved(self, world)
        self._sampler = ContactSampler(self._on_sample, ways=self._ways, poses=self._moved.poses)
        control = control or bridged(self, control_service(world))
        self._passing = Passing(control, lambda: self._now)
        self._ticked = time.monotonic()
        self._told = 0.0  # wall time (monotonic) of the newest message on /clock
        self._reported = 0.0  # simulated time of the newest contact report
        self._state_told = 0.0  # wall time (monotonic)
        self._newest_contacts: frozenset[Pair] = frozenset()
        self._resetting = False  # then no contacts are published: they are of no level
        self._handed_over = threading.Event()  # unless a path is on its way to the controller
        self._handed_over.set()
        self._ended = threading.Event()

        mounts = {"": world.camera, names.WRIST: world.wrist_camera}
        self._films = [(at, Film(self, mount, at)) for at, mount in mounts.items() if mount]
        self._arm = ArmController(self, self._joints, action)
        topic = f"/{GRIPPER_CONTROLLER}/joint_trajectory"
        self._pads = self.create_publisher(JointTrajectoryMsg, topic, EVERY)

        self.create_subscription(Clock, CLOCK.ros_topic_name, self._on_clock, SENSOR)
        self.create_subscription(JointStateMsg, f"/{STATE_BROADCASTER}/joint_states", self._on_joints, SENSOR)
        self._reports: PolledTopic | None = None
        if importlib.util.find_spec("ros_gz_interfaces") is not None:
            kind = importlib.import_module("ros_gz_interfaces.msg").Contacts
            # Every link in contact reports at every physics step; one step's reports make a sample.
            where = f"{names.SIM}_contacts", kind, CONTACTS.ros_topic_name
            self._reports = PolledTopic(self.context, *where, _ROBOT_SENSORS + len(self._watched))

        self._offer()

    def _offer(self) -> None:
        """Offer timers and services."""
        for at, film in self._films:
            self.wall_timer(_LOOK_S, film.look)
            SlowService(self, Capture, at + names.CAPTURE, partial(self._do_capture, film))
        self._beat = self.wall_timer(_STATE_S, self._tell_state)
        if (process := gazebo_process()) is not None:
            self._hanging = Hanging(process)
            self._guard = self.wall_timer(_GUARD_S, self._end_hanging)
        SlowService(self, ResetWorld, names.RESET, self._do_reset)
        SlowService(self, LetPass, names.LET_PASS, self._do_let_pass)

    def _end_hanging(self) -> None:
        if self._hanging.end_it():
            self.get_logger().fatal("Gazebo hangs: it uses no processor time any more, and is ended")
            self._guard.cancel()

    def _on_clock(self, clock: Clock) -> None:
        self._now, self._ticked = seconds(clock.clock), time.monotonic()
        if self._ticked - self._told >= _CLOCK_S:
            self._told = self._ticked
            self._time.publish(clock)
        if self._reports is not None and self._sampler.due(self._now):
            for report in self._reports.take():
                self._on_contacts(report)
        self._sampler.clock(self._now)

    def _on_joints(self, message: JointStateMsg) -> None:
        angle = message.position[list(message.name).index(self._finger_joint)]
        self._state = self._finger.felt(joint_state(message, self._joints), angle)
        self._tell_state(since=0.0)

    def _tell_state(self, since: float = _STATE_S) -> None:
        """Publish the newest joint state, unless one was published less than `since` wall seconds ago."""
        now = time.monotonic()
        if self._state is not None and now - self._state_told >= since:
            self._state_told = now
            self._states.publish(joint_state_msg(self._state, self._joints))

    def _on_contacts(self, message: Any) -> None:
        pairs = (self._models.pair(c.collision1.name, c.collision2.name) for c in message.contacts)
        points = map(self._models.touches, message.contacts)
        self._reported = max(seconds(message.header.stamp), self._reported)
        self._sampler.touch(seconds(message.header.stamp), [p for p in pairs if p is not None], points)

    def _ways(self, touches: Sequence[Touch]) -> frozenset[Way]:
        return ways_of_touching(oriented(touches, self._below), self._rims, self._world.robot.model)

    def _on_sample(self, sample: ContactSample) -> None:
        self._newest_contacts = sample.pairs
        poses = self._moved.poses()
        if self._resetting or self._state is None:
            return
        self.recorder.record(sample.stamp, self._state, poses)
        self.tell_contacts(sample, lambda: poses)

    def _do_let_pass(self, request: LetPass.Request) -> LetPass.Response:
        """Let as much of Gazebo's own time pass as is asked for; a path commanded before begins before.

        The answer is the moment asked for: of a later one at which Gazebo stands no joint state may come.
        """
        self.admit(request.client)
        self._handed_over.wait()
        self._asked = time.monotonic()
        return LetPass.Response(success=True, stamp=time_msg(self._pass(request.seconds)))

    def _pass(self, duration: float = _MOMENT_S) -> float:
        """Let simulated seconds pass, in a working thread, and return until when.

        Raises SpcaError when Gazebo does not go on.
        """
        end, asked = self._now + duration, time.monotonic()
        granted = asked
        self._passing.until(end + AHEAD_S)
        while (left := end - self._now) > 0.0:
            self._go_on(max(left / 2, _PASSING_S))
            self._asked = time.monotonic()  # whoever asked waits still
            heard = max(self._ticked, asked)
            if time.monotonic() - heard > _STALL_S:
                raise SpcaError(f"Gazebo's clock has stood still for {_STALL_S:.0f} s")
            if time.monotonic() - max(heard, granted) > _UNHEARD_S:
                granted = time.monotonic()
                self._passing.until(end, anew=True)
        return end

    def _go_on(self, wait: float = 0.0) -> None:
        """Wait so many wall seconds. Raises SpcaError when the simulation ends."""
        if self._ended.wait(wait):
            raise SpcaError("the simulation ends")

    def _do_capture(self, film: Film, _: Capture.Request) -> Capture.Response:
        """Return the first frame that is taken from now on."""
        begun = self._now
        with film.running():
            while self._now - begun < _FRAME_S:
                if (taken := film.since(begun)) is not None:
                    return taken
                self._pass()
        return Capture.Response(success=False, message=f"no picture from Gazebo's camera in {_FRAME_S:.0f} s")

    def follow(self, path: JointTrajectory) -> None:
        """See `SimulatorNode`. No time passes from here on until the controller has the path."""
        if self._state is not None:
            check_trajectory(path, self._state.position, _STARTS_WITHIN)
        self._handed_over.clear()

    def hand_over(self, path: JointTrajectory) -> None:
        """See `SimulatorNode`."""
        try:
            self._arm.follow(path)
        finally:
            self._asked = time.monotonic()
            self._handed_over.set()

    def command_gripper(self, gap: float) -> None:
        """See `SimulatorNode`."""
        if self._state is None or not 0.0 <= gap <= STROKE:
            raise SpcaError(f"the pads open from 0 to {STROKE} m")
        self._finger.goal = goal = command(gap, self._upper)
        duration = ramp_time(driver_angle(min(max(self._state.gripper_gap, 0.0), STROKE)), goal)
        end = duration_msg(duration)
        point = JointTrajectoryPoint(positions=[goal], velocities=[0.0], time_from_start=end)
        self._pads.publish(JointTrajectoryMsg(joint_names=[self._finger_joint], points=[point]))

    def brake(self) -> None:
        """See `SimulatorNode`."""
        if self._state is not None:
            self._arm.stop(brake(self._state, self._world.robot.arm.column("braking")))

    def _do_reset(self, request: ResetWorld.Request) -> ResetWorld.Response:
        """Home the robot, place objects, await new contacts."""
        self.change(request.client)
        wanted = from_msg(Layout, request.layout)
        self._resetting = True
        try:
            places = placement(self._world, wanted)
            problem = self._go_home() or self._move_objects(places) or self._await_contacts(wanted)
            if not problem:
                self.loop.run(lambda: self._lay(wanted))
        finally:
            self._resetting = False
        return ResetWorld.Response(success=not problem, message=problem, stamp=time_msg(self._now))

    def _lay(self, wanted: Layout) -> None:
        self.recorder.lay(wanted)
        if problem := self._moved.compare(wanted.poses):
            unseen = "no level is judged by places, and nothing moves in a video"
            self.get_logger().warning(f"{problem}: {unseen}")

    def _await_contacts(self, wanted: Layout) -> str:
        """Wait until every watched object touches something where it was placed; return why not, or ""."""
        begun = self._now + _PLACED_S

        def forget() -> None:  # including contacts in the parking place whose messages arrive late
            self._sampler.clear(since=begun)
            self._reported = 0.0
            self._newest_contacts = frozenset()

        self.loop.run(forget)
        lost = untouched(wanted, (), self._watched)
        while lost and self._now - begun < _SETTLE_S:
            self._pass()
            lost = untouched(wanted, self._newest_contacts, self._watched)
        if not lost:
            return ""
        behind = self._now - self._reported
        news = f"the newest report is {behind:.2f} s old" if self._reported else "no report has come"
        return f"nothing touches {', '.join(lost)} after the reset: {news}"

    def _go_home(self) -> str:
        """Drive the robot home if it is not there, with the objects out of its way; return why not, or ""."""
        self.loop.wait(lambda: self._state, _START_S)  # Gazebo and its controllers come up
        if (state := self._state) is None:
            return f"no joint state has come from Gazebo in {_START_S:.0f} s: do its controllers run?"
        if self._is_home(state):
            return ""
        if problem := self._move_objects(parking(self._world)):
            return problem
        self.loop.run(lambda: self.command_gripper(STROKE))
        home = np.array([self._world.robot.home])
        self._arm.follow(JointTrajectory(np.array([_HOME_S]), home, np.zeros_like(home)))
        begun = self._now
        while self._now - begun < _HOME_S + _SETTLE_S and not self._is_home(self._state or state):
            self._pass()
        off = self._off_home(self._state or state)
        return "" if off < _AT_HOME else f"the robot stopped {off:.2f} rad from its home configuration"

    def _is_home(self, state: JointState) -> bool:
        still = np.abs(state.velocity).max() < _AT_HOME
        return bool(still and self._off_home(state) < _AT_HOME and state.gripper_gap > _OPEN)

    def _off_home(self, state: JointState) -> float:
        return float(np.abs(state.position - np.array(self._world.robot.home)).max())

    def _move_objects(self, poses: Mapping[str, Pose]) -> str:
        if self.loop.run(lambda: self._moved.there(poses)):
            return ""
        service = f"/world/{self._world.name}/set_pose_vector"  # all of them between two physics steps
        return ask(service, "Pose_V", pose_request(poses), self._go_on)

    def interrupt(self) -> None:
        """Wait for nothing of Gazebo's any more: it is interrupted, too, or has ended."""
        self._ended.set()
        self.loop.check = self._go_on

    def close(self) -> None:
        """Stop the arm, then the threads."""
        self.interrupt()
        self.brake()
        super().close()
        self._moved.close()
        if self._reports is not None:
            self._reports.close()


main = main_of(GazeboSim)

if __name__ == "__main__":
    main()
