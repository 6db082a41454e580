"""The node `sim`: the embedded simulator with the topics and actions of a robot, a camera and a clock."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from pydantic import TypeAdapter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from spca_interfaces.srv import Capture, LetPass, ResetWorld

from spca_core.camera import RgbdFrame
from spca_core.contacts import ContactSample
from spca_core.errors import SpcaError
from spca_core.layout import Layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import load_world
from spca_robot.description.names import OPTICAL_FRAME
from spca_ros import names
from spca_ros.camera import CameraTopics
from spca_ros.convert.camera import colour_msg, depth_msg, info_msg
from spca_ros.convert.records import from_msg, time_msg
from spca_ros.convert.robot import joint_state_msg
from spca_ros.node import answering, main_of
from spca_sim.live_view import LiveView
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.pacer import Pacer
from spca_sim.simulator_node import SimulatorNode
from spca_sim.variation import PRESETS as VARIATIONS
from spca_sim.variation import Disturbance, draw_variation

PRESETS = ("nominal", "shuffled", "noisy", "hard")
VIEWS = ("none", "window")
_disturbances = TypeAdapter(tuple[Disturbance, ...])
_Variant = tuple[str, str, int, bool, tuple[Disturbance, ...]]
"""World, preset, seed, noise and disturbances that a simulator is built with."""
_TICK = 0.02  # simulated seconds that pass between two joint states
_SLICE_S = 0.1  # simulated seconds that pass for one request, at most
_BUSY_S = 0.05  # wall seconds that one request may take at a slow rate, unless a single tick takes longer
_STATE_PERIOD = 0.05  # wall seconds between two joint states while time stands still


class SimNode(SimulatorNode):
    """Lets time pass as it is asked for, and in no other way: whoever is gone moves nothing.

    All that moves does so in one thread, so that equal calls in equal order give equal results.
    """

    def __init__(self) -> None:
        super().__init__()
        # These may be changed; the next reset then makes another simulator.
        self.parameter("world", "tabletop", "a world in worlds/ or a path", live=True)
        self._rate = self.parameter("rate", 0.0, "real-time factor at most; 0: as fast as it can", low=0.0)
        about = "how far the world differs from its description"
        self.parameter("preset", "nominal", about, choices=PRESETS, live=True)
        self.parameter("disturbances", "[]", "what happens while the robot acts: a JSON list", live=True)
        self.parameter("seed", 0, "draws that difference", low=0, live=True)
        self.parameter("noise", True, "whether the camera has sensor noise", live=True)
        about = "pictures a wall second for whoever watches; 0: only those that are asked for"
        stream = self.parameter("stream", 0.0, about, low=0.0)
        self._wanted_view = self.parameter("view", "none", "shows the simulation in a window", choices=VIEWS)
        self._pacer = Pacer(self._rate or None)
        self._view: LiveView | None = None
        self._build(self._wanted())
        self._published = 0.0

        self._pictures = {at: CameraTopics(self, at) for at in ("", names.WRIST)}
        self._onlookers = np.random.default_rng()
        if stream:
            self.wall_timer(1 / stream, self._show)
        self.wall_timer(_STATE_PERIOD, self._idle)
        for at in self._pictures:
            self.create_service(Capture, at + names.CAPTURE, partial(self._capture, at))
        self.create_service(LetPass, names.LET_PASS, self._let_pass)
        self.create_service(ResetWorld, names.RESET, self._reset)

    def _build(self, variant: _Variant) -> None:
        """Build a new simulator for one variant of the world."""
        self._variant = variant
        world_name, preset, seed, noise, disturbances = variant
        world = load_world(world_name)
        self._joints = world.robot.arm.joint_names
        variation = draw_variation(preset, seed).model_copy(update={"disturbances": disturbances})
        self.recorder = self._sim = MujocoWorld(world, noise, variation)
        self._sim.on_contacts(self._on_sample)
        self._sim.draw_ahead()
        if self._view is not None:
            self._view.change(self._sim)
        elif self._wanted_view == "window":
            self._view = LiveView(self._sim)

    def _let_pass(self, request: LetPass.Request, response: LetPass.Response) -> LetPass.Response:
        with answering(response):
            self.admit(request.client)
            self._asked = time.monotonic()
            if not 0.0 <= request.seconds <= _SLICE_S:
                raise SpcaError(f"{request.seconds} s: from 0 to {_SLICE_S} s pass at once")
            allowed = max(_TICK, self._rate * _BUSY_S) if self._rate else _SLICE_S
            end = self._sim.time + min(request.seconds, allowed)
            while (left := end - self._sim.time) > 1e-9:
                before = self._sim.time
                self._sim.step(min(left, _TICK))
                if self._sim.time == before:  # less than a step of the physics is owed
                    break
                self._pacer.pace(self._sim.time)
                self._tell()
            response.stamp = time_msg(self._sim.time)
        return response

    def _idle(self) -> None:
        if time.monotonic() - self._published > _STATE_PERIOD / 2:
            self._tell()

    def _tell(self) -> None:
        """Publish the time and the joint states, which say that it has passed: its contacts are told."""
        self._published = time.monotonic()
        self._state = state = self._sim.state()
        self._now = state.stamp
        self._time.publish(Clock(clock=time_msg(state.stamp)))
        self._states.publish(joint_state_msg(state, self._joints))

    def _on_sample(self, sample: ContactSample) -> None:
        self.tell_contacts(sample, lambda: self._sim.places(self._sim.moment().objects))

    def follow(self, path: JointTrajectory) -> None:
        """See `SimulatorNode`."""
        self._sim.follow(path)

    def command_gripper(self, gap: float) -> None:
        """See `SimulatorNode`."""
        self._sim.command_gripper(gap)

    def brake(self) -> None:
        """See `SimulatorNode`."""
        self._sim.hold()

    def _capture(self, at: str, _: Capture.Request, response: Capture.Response) -> Capture.Response:
        with answering(response):
            if (camera := self._sim.wrist_camera if at else self._sim) is None:
                raise SpcaError("this world has no camera at the wrist")
            response.colour, response.depth, response.info = self._publish(camera.capture(), at)
        return response

    def _show(self) -> None:
        if self._pictures[""].watched:
            self._publish(self._sim.watched(self._onlookers))

    def _publish(self, frame: RgbdFrame, at: str = "") -> tuple[Image, Image, CameraInfo]:
        messages = colour_msg(frame), depth_msg(frame), info_msg(frame.intrinsics, frame.stamp)
        for message in messages:
            message.header.frame_id = at + OPTICAL_FRAME
        self._pictures[at].publish(*messages)
        return messages

    def _reset(self, request: ResetWorld.Request, response: ResetWorld.Response) -> ResetWorld.Response:
        with answering(response):
            self.change(request.client)
            if (variant := self._wanted()) != self._variant:
                self._sim.close()
                self._build(variant)
            self._sim.reset(from_msg(Layout, request.layout), request.seed)
            self._tell()
            response.stamp = time_msg(self._sim.time)
        return response

    def _wanted(self) -> _Variant:
        """Return the variant asked for; the seed counts only where it draws something.

        A preset that draws only the layout leaves the world as described.
        """
        world, preset, seed, noise, disturbances = (
            self.get_parameter(name).value for name in ("world", "preset", "seed", "noise", "disturbances")
        )
        if preset not in VARIATIONS or preset == "nominal":
            preset, seed = "nominal", 0
        return world, preset, seed, noise, _disturbances.validate_json(disturbances)

    def close(self) -> None:
        """End motions, close the window, release graphics contexts."""
        super().close()
        if self._view is not None:
            self._view.close()
        self._sim.close()


main = main_of(SimNode)

if __name__ == "__main__":
    main()
