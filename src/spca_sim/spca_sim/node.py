"""The node `sim`: the embedded simulator with the topics and actions of a robot, a camera and a clock."""

from __future__ import annotations

import time
from array import array
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import TypeAdapter
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState, MultiDOFJointState
from spca_interfaces.action import CommandGripper, FollowTrajectory, RunLevel
from spca_interfaces.msg import Contacts, Lease
from spca_interfaces.srv import Capture, Checkpoint, ResetWorld, Restore, SaveRecording
from std_srvs.srv import SetBool, Trigger

from spca_core.camera import RgbdFrame
from spca_core.checkpoint import pack, unpack
from spca_core.contacts import ContactSample
from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.processes.leaving import leave
from spca_core.world import load_world
from spca_ros import names
from spca_ros.convert.camera import colour_msg, depth_msg, info_msg
from spca_ros.convert.contacts import contacts_msg
from spca_ros.convert.places import places_msg
from spca_ros.convert.records import from_msg
from spca_ros.convert.robot import joint_state_msg, trajectory
from spca_ros.convert.time import duration_msg, seconds, time_msg
from spca_ros.node import SpcaNode, answering, existing
from spca_ros.peer import serve_supervisor
from spca_ros.pictures import CameraTopics
from spca_ros.qos import EVERY, SENSOR
from spca_sim.disturbances.disturbance import Disturbance
from spca_sim.disturbances.recorder import DisturbanceRecorder
from spca_sim.live_view import AttachedView, LiveView
from spca_sim.recording import StateRecorder, save_states
from spca_sim.simulation_clock import DONE, SimulationClock
from spca_sim.simulator import SNAPSHOT_KINDS, MujocoSimulator
from spca_sim.variation import PRESETS as VARIATIONS
from spca_sim.variation import draw_variation
from spca_sim.web_view import WebView

PRESETS = ("nominal", "shuffled", "noisy", "hard")
CAMERAS = ("ray", "gl")
VIEWS = ("none", "window", "web")
CameraKind = Literal["ray", "gl"]
_disturbances = TypeAdapter(tuple[Disturbance, ...])
_CLOCK_PERIOD = 0.01  # wall seconds between two clock messages, at least
_FEEDBACK_PERIOD = 0.1  # wall-clock seconds between two feedback messages of a motion


class _Variant(NamedTuple):
    """Parameters that a simulator is built with; the seed counts only where it draws something."""

    preset: str
    seed: int
    noise: bool
    camera: CameraKind
    disturbances: tuple[Disturbance, ...]


class SimNode(SpcaNode):
    """Steps the simulator and handles callbacks in turns, in one thread.

    Equal calls in equal order therefore give equal results.
    """

    def __init__(self) -> None:
        super().__init__(names.SIM)
        world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        rate = self.parameter(
            "rate", 0.0, "real-time factor while somebody wants time to pass; 0: as fast as it can", low=0.0
        )
        idle_rate = self.parameter(
            "idle_rate", 1.0, "real-time factor otherwise; 0: time stands still", low=0.0
        )
        # These may be changed; the next reset then makes another simulator.
        self.parameter(
            "preset",
            "nominal",
            "how far the simulated world differs from its description",
            choices=PRESETS,
            live=True,
        )
        self.parameter(
            "disturbances", "[]", "what happens while the robot acts: a JSON list of disturbances", live=True
        )
        self.parameter("places", False, "whether the referee is told where things are", live=True)
        self.parameter("seed", 0, "draws that difference", low=0, live=True)
        self.parameter("noise", True, "whether the camera has sensor noise", live=True)
        self.parameter(
            "camera",
            "ray",
            "how pictures are made: by ray casting (no GL needed) or by GL",
            choices=CAMERAS,
            live=True,
        )
        stream = self.parameter(
            "stream",
            0.0,
            "pictures a wall second for whoever watches the camera; 0: only those that are asked for",
            low=0.0,
        )
        self._wanted_view = self.parameter(
            "view", "none", "shows the simulation: in a window, or on a page for the browser", choices=VIEWS
        )
        self._arm_joints = world.robot.arm.joint_names
        self._world, self._rates = world, (rate or None, idle_rate)
        self._recorder, self._disturbances = StateRecorder(), DisturbanceRecorder()
        self._samples: list[ContactSample] = []
        self._moments: list[tuple[float, dict[str, Pose]]] = []  # where things were at some of them
        self._view: AttachedView | None = None
        self._build(self._wanted())
        self._epoch = ""
        self._published = self._published_clock = self._fed_back = 0.0
        self._goals: dict[str, ServerGoalHandle] = {}

        self._time = self.create_publisher(Clock, "/clock", SENSOR)
        self._joints = self.create_publisher(JointState, names.JOINT_STATES, SENSOR)
        self._contacts = self.create_publisher(Contacts, names.CONTACTS, EVERY)
        self._places = self.create_publisher(MultiDOFJointState, names.PLACES, EVERY)
        self._pictures, self._onlookers = CameraTopics(self), np.random.default_rng()
        if stream:
            self.wall_timer(1 / stream, self._show)
        self.create_subscription(Lease, names.LEASE, self._on_lease, EVERY)
        if isinstance(self._view, WebView):  # the feedback of the supervisor's goals from any client
            feedback = RunLevel.Impl.FeedbackMessage
            self.create_subscription(feedback, f"{names.RUN_LEVEL}/_action/feedback", self._on_event, EVERY)
        for kind, name, answer in (
            (Capture, names.CAPTURE, self._capture),
            (Trigger, names.HOLD, self._hold),
            (SetBool, names.PAUSE, self._pause),
            (ResetWorld, names.RESET, self._reset),
            (Checkpoint, names.checkpoint(names.SIM), self._checkpoint),
            (Restore, names.restore(names.SIM), self._restore),
            (SaveRecording, names.save_recording(names.SIM), self._save),
        ):
            self.create_service(kind, name, answer)
        self._follow = self._action(FollowTrajectory, names.FOLLOW, self._on_follow, CancelResponse.ACCEPT)
        self._gripper = self._action(CommandGripper, names.GRIPPER, self._on_grip, CancelResponse.REJECT)

    def _build(self, variant: _Variant) -> None:
        """Build a new simulator for one variant of the world."""
        self._variant = variant
        variation = draw_variation(variant.preset, variant.seed)
        variation = variation.model_copy(update={"disturbances": variant.disturbances})
        self._sim = MujocoSimulator(self._world, variant.noise, variation, variant.camera)
        self._sim_clock = SimulationClock(self._sim, *self._rates)
        self._sim.on_sample(self._recorder.record)
        self._disturbances.attach(self._sim)
        self._sim.on_contacts(self._on_sample)
        if self._view is not None:
            self._view.change(self._sim)
        elif self._wanted_view == "window":
            self._view = LiveView(self._sim)
        elif self._wanted_view == "web":
            self._view = WebView(self._sim)

    # --- turns ----------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Advance time, publish changes, handle a callback."""
        before = self._sim.time
        idle = self._sim_clock.advance()
        if self._sim.time != before or time.monotonic() - self._published > 0.02:
            self._tell()
        self.loop.turn(idle)

    def _tell(self) -> None:
        self._published = time.monotonic()
        state = self._sim.joint_state()
        self._joints.publish(joint_state_msg(state, self._arm_joints))
        if self._published - self._published_clock >= _CLOCK_PERIOD:
            self._published_clock = self._published
            self._time.publish(Clock(clock=time_msg(state.stamp)))
        self._flush()  # time waits for who judges them
        elapsed, following = self._sim_clock.elapsed(), self._goals.get(names.FOLLOW)
        due = self._published - self._fed_back >= _FEEDBACK_PERIOD
        if elapsed is not None and following is not None and due:
            self._fed_back = self._published
            attempt = following.request.attempt
            following.publish_feedback(
                FollowTrajectory.Feedback(attempt=attempt, elapsed=duration_msg(elapsed))
            )

    def _on_sample(self, sample: ContactSample) -> None:
        self._samples.append(sample)
        if self.get_parameter("places").value:
            poses = {model: self._sim.object_pose(model) for model in self._sim.state().objects}
            self._moments.append((sample.stamp, poses))

    def _flush(self) -> None:
        for stamp, poses in self._moments:
            self._places.publish(places_msg(stamp, poses, self._epoch))
        self._moments.clear()
        if self._samples:
            self._contacts.publish(contacts_msg(self._samples, self._epoch))
            self._samples.clear()

    # --- arm and gripper ------------------------------------------------------------------------------------

    def _on_lease(self, lease: Lease) -> None:
        self._sim_clock.lease(lease.client, seconds(lease.seen), seconds(lease.until))

    def _action(self, kind: Any, name: str, on_goal: Any, on_cancel: CancelResponse) -> ActionServer:
        """An action whose goals the clock executes: started when accepted, ended by `_finish`."""

        def accepted(handle: ServerGoalHandle) -> None:
            self._goals[name] = handle
            if kind is CommandGripper:  # it has begun with its acceptance
                handle.publish_feedback(CommandGripper.Feedback(attempt=handle.request.attempt))

        def cancel(_: ServerGoalHandle) -> CancelResponse:
            if on_cancel == CancelResponse.ACCEPT:
                self._sim_clock.hold()
            return on_cancel

        return ActionServer(
            self,
            kind,
            name,
            execute_callback=lambda _: kind.Result(),
            goal_callback=on_goal,
            handle_accepted_callback=accepted,
            cancel_callback=cancel,
        )

    def _on_follow(self, goal: FollowTrajectory.Goal) -> GoalResponse:
        def ended(status: str, message: str) -> None:
            self._finish(names.FOLLOW, FollowTrajectory.Result(status=status, message=message))

        try:
            self._sim_clock.follow(goal.client, trajectory(goal.trajectory, self._arm_joints), ended)
        except (SpcaError, ValueError, ArithmeticError, LookupError, TypeError) as error:
            self.get_logger().warning(f"trajectory refused: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_grip(self, goal: CommandGripper.Goal) -> GoalResponse:
        def ended(status: str, message: str) -> None:
            state = self._sim.joint_state()
            self._finish(
                names.GRIPPER,
                CommandGripper.Result(
                    status=status, message=message, gap=state.gripper_gap, force=state.gripper_force
                ),
            )

        try:
            self._sim_clock.grip(goal.client, goal.gap, ended)
        except (ValueError, SpcaError) as error:
            self.get_logger().warning(f"gripper goal refused: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _finish(self, name: str, result: Any) -> None:
        """End the goal under way with a result."""
        handle = self._goals.pop(name, None)
        if handle is None:
            return

        def conclude(goal: ServerGoalHandle) -> Any:
            if goal.is_cancel_requested:
                goal.canceled()
            elif result.status == DONE:
                goal.succeed()
            else:
                goal.abort()
            return result

        handle.execute(conclude)

    def _hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._sim_clock.hold()
        response.success = True
        return response

    # --- camera ---------------------------------------------------------------------------------------------

    def _capture(self, _: Capture.Request, response: Capture.Response) -> Capture.Response:
        frame = self._sim.capture()
        response.colour, response.depth, response.info = self._publish(frame)
        if isinstance(self._view, WebView):
            self._view.saw(frame.colour)
        response.success = True
        return response

    def _show(self) -> None:
        if self._pictures.watched:
            self._publish(self._sim.watched(self._onlookers))

    def _publish(self, frame: RgbdFrame) -> tuple[Image, Image, CameraInfo]:
        messages = colour_msg(frame), depth_msg(frame), info_msg(frame.intrinsics, frame.stamp)
        self._pictures.publish(*messages)
        return messages

    def _on_event(self, message: RunLevel.Impl.FeedbackMessage) -> None:
        event = message.feedback.event
        status = "".join(step.status for step in event.step)
        assert isinstance(self._view, WebView)
        self._view.tell(
            event.kind,
            event.text,
            {"steps": event.task.splitlines(), "status": status, "outcome": event.outcome},
        )

    # --- the world ------------------------------------------------------------------------------------------

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._sim_clock.paused = request.data
        self._flush()
        response.success = True
        return response

    def _reset(self, request: ResetWorld.Request, response: ResetWorld.Response) -> ResetWorld.Response:
        with answering(response):
            self._flush()
            self._become(self._wanted())
            self._sim_clock.reset(from_msg(Layout, request.layout), request.seed)
            self._epoch = request.epoch
            self._published_clock = 0.0  # the clock is told before any contacts are
            self._tell()
        return response

    def _wanted(self) -> _Variant:
        """Return the variant asked for. A preset that draws only the layout leaves the world as described."""
        preset, seed, noise, camera, disturbances = (
            self.get_parameter(name).value for name in ("preset", "seed", "noise", "camera", "disturbances")
        )
        if preset not in PRESETS or camera not in CAMERAS:
            raise SpcaError(f"preset '{preset}', camera '{camera}': one of {PRESETS} and of {CAMERAS}")
        varied = preset in VARIATIONS and preset != "nominal"
        return _Variant(
            preset if varied else "nominal",
            seed if varied else 0,
            noise,
            camera,
            _disturbances.validate_json(disturbances),
        )

    def _become(self, variant: _Variant) -> None:
        if variant == self._variant:
            return
        self._sim_clock.hold()
        self._sim.close()
        self._build(variant)

    def _checkpoint(self, _: Checkpoint.Request, response: Checkpoint.Response) -> Checkpoint.Response:
        with answering(response):
            self._flush()
            response.state = array("B", pack(self._sim.snapshot()))
            response.stamp = time_msg(self._sim.time)
        return response

    def _restore(self, request: Restore.Request, response: Restore.Response) -> Restore.Response:
        with answering(response):
            self._flush()
            self._sim_clock.restore(unpack(bytes(request.state), SNAPSHOT_KINDS))
            self._epoch = request.epoch
            self._published_clock = 0.0  # the clock is told before any contacts are
            self._tell()
        return response

    def _save(
        self, request: SaveRecording.Request, response: SaveRecording.Response
    ) -> SaveRecording.Response:
        with answering(response):
            if request.folder:
                save_states(self._recorder.states, existing(request.folder) / names.STATES_FILE)
                self._disturbances.save(existing(request.folder))
            self._recorder.states.clear()
            self._disturbances.clear()
        return response

    def close(self) -> None:
        """Close the window, release graphics contexts."""
        if self._view is not None:
            self._view.close()
        self._sim.close()


def main() -> None:
    """Run the node; its exit status is the process's."""
    leave(serve_supervisor(lambda: [SimNode()]))


if __name__ == "__main__":
    main()
