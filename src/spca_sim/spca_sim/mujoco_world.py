"""The embedded simulator: MuJoCo.

One thread at a time may use it. Nothing is welded or attached: what the gripper lifts, it holds by friction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.checkpoint import pack, unpack
from spca_core.contacts import SAMPLE_PERIOD, ContactSample
from spca_core.errors import InputError, SpcaError
from spca_core.geometry import Array, Pose
from spca_core.kinds import KINDS
from spca_core.layout import Layout, nominal_layout
from spca_core.ports.table import TableWorld
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import CameraMount, World
from spca_robot.gripper_2f85 import STROKE, driver_angle, gap_of, pad_force
from spca_robot.gripper_model import KP, KV, MAX_MOMENT
from spca_robot.windowless import mujoco
from spca_sim.contact_monitor import ContactMonitor
from spca_sim.disturber import DISTURBED_KINDS, Disturber
from spca_sim.physics_model import build_physics
from spca_sim.ray_renderer import RayRenderer
from spca_sim.recording import STATES, DisturbanceRecorder, Picture, SimState, save_states
from spca_sim.tracking import ArmServo, GripperRamp, check_trajectory
from spca_sim.variation import Lighting, SimVariation
from spca_sim.view import RgbdSensor, disturb, moved, sensor_view

_SETTLE_STEPS = 50  # at reset: things sink 0.1 mm into their contacts and come to rest within a few of these
_MAX_START_DEVIATION = 0.1  # rad between the arm and the first point of a trajectory
_TICK = 0.02  # simulated seconds between two looks at what is waited for
_STILL = (0.0, 0.0, 0.0)
_WAKING = 1e-9  # m/s and rad/s: whatever has a velocity is awake
_SLEEP = (
    "tree_asleep", "tree_awake", "body_awake", "body_awake_ind", "parent_awake_ind", "dof_awake_ind",
    "ntree_awake", "nbody_awake", "nparent_awake", "nv_awake", "qacc_smooth", "qfrc_smooth",
)  # fmt: skip
"""Fields of MuJoCo's data that say who sleeps, or that the solver reads of sleepers; its state lacks them."""


class _Scene:
    """The compiled model for one set of objects, with what hangs on it."""

    def __init__(self, world: World, objects: tuple[str, ...], variation: SimVariation) -> None:
        self.objects = objects
        self.model, self.index = build_physics(world, objects, variation)
        self.data = mujoco.MjData(self.model)
        self.monitor = ContactMonitor(self.model, self.index.geom_models, world.robot.model)
        containers = [world.object(name) for name in objects if KINDS[world.object(name).kind].walled]
        self.containers = {o.model: (self.model.body(o.model).id, o.size[2] / 2) for o in containers}
        self.renderer: RayRenderer | None = None
        self.view, self.lighting = sensor_view(world.camera, variation), Lighting.of(world, variation)
        self.knock = (_STILL, _STILL)
        self.friction = self.model.geom_friction.copy()
        self.tendon_qvel = [int(self.model.joint(f"{s}_driver").dofadr[0]) for s in ("left", "right")]

    @property
    def rims(self) -> dict[str, float]:
        """Heights of the containers' rims now, metres in `world`."""
        return {name: self.data.xpos[body, 2] + up for name, (body, up) in self.containers.items()}


class MujocoWorld(TableWorld):
    """Physics that is stepped by its user. Equal seeds and equal calls give equal results, bit for bit.

    `noise=False` makes the camera ideal; `variation` makes the world differ from its description. It is its
    own `Robot`, whose joint states are never stale, and its own `Camera`, whose `pose` is the calibrated one
    of the world file, as a real camera's would be. It records the states from which a video is drawn, and
    what disturbed the run.
    """

    camera: MujocoWorld

    def __init__(self, world: World, noise: bool = True, variation: SimVariation | None = None) -> None:
        self.robot = self.camera = self
        self.world = world
        self.intrinsics, self.pose = world.camera.intrinsics, world.camera.pose
        self.variation = variation or SimVariation()
        self._sensor = RgbdSensor(world.camera, self.variation, noise)
        self.wrist_camera = _WristCamera(self, world.wrist_camera, noise) if world.wrist_camera else None
        self._scenes: dict[tuple[str, ...], _Scene] = {}
        self._listeners: list[Callable[[ContactSample], object]] = []
        self.disturber = Disturber(world, self.variation.disturbances)
        self._frame: RgbdFrame | None = None  # the newest that has arrived
        self.states: list[SimState] = []
        """State at every sample, as lived through: a restored checkpoint sets the clock back."""
        self.disturbances = DisturbanceRecorder(self.picture)
        self.disturber.listener = self.disturbances.hear
        self._lock = threading.RLock()  # a contact listener, called while time passes, may ask to hold
        self.reset(nominal_layout(world))

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._steps * self._dt

    def now(self) -> float:
        """See `time`."""
        return self.time

    @property
    def model(self) -> mujoco.MjModel:
        """The physics model of the present set of objects; for viewers and tests."""
        return self._scene.model

    @property
    def data(self) -> mujoco.MjData:
        """The physics state; for viewers and tests."""
        return self._scene.data

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """See `TableWorld`. Raises InputError for an unknown object."""
        known = {o.model for o in self.world.objects}
        if unknown := sorted(set(layout.poses) - known):
            hint = ", ".join(sorted(known))
            raise InputError(f"no object '{unknown[0]}' in world '{self.world.name}'", hint=hint)
        self._scene = scene = self._scene_of(
            tuple(o.model for o in self.world.objects if o.model in layout.poses)
        )
        self._dt = float(scene.model.opt.timestep)
        self._steps, self._owed, self._begun = 0, 0.0, 0.0
        self._servo = ArmServo(self.world.robot.arm, np.array(self.world.robot.home))
        self._gripper = GripperRamp(STROKE)
        self._noise = np.random.default_rng(seed)
        self._frame = None
        self.disturber.reset(scene.objects)
        self._apply_friction()

        mujoco.mj_resetData(scene.model, scene.data)
        scene.index.set_arm(scene.data, np.array(self.world.robot.home))
        scene.index.set_gap(scene.data, STROKE)
        for name, pose in layout.poses.items():
            scene.index.set_item(scene.data, name, pose)
        for _ in range(_SETTLE_STEPS):
            self._advance()
        scene.data.qvel[:] = 0.0
        scene.data.time = 0.0
        scene.monitor.take(scene.data, scene.rims)
        self._steps = 0
        self.record_afresh()

    def step(self, seconds: float) -> None:
        """Advance by whole physics steps; the remainder is added to the next call."""
        if not seconds >= 0:
            raise ValueError(f"cannot step by {seconds} s")
        self._owed += seconds
        count = int(self._owed / self._dt + 1e-6)
        self._owed = max(0.0, self._owed - count * self._dt)
        per_sample = round(SAMPLE_PERIOD / self._dt)
        for _ in range(count):
            self._advance()
            self._steps += 1
            if self._steps % per_sample == 0:
                self._publish()

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin to track a trajectory. MotionError('deviation') if it does not begin where the arm is."""
        with self._lock:
            check_trajectory(trajectory, self._arm_position(), _MAX_START_DEVIATION)
            self._servo.follow(trajectory, self._dt)
            self._begun = self.time

    def begun(self) -> float:
        """See `Robot`: a simulator begins at once."""
        return self._begun

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Let up to `seconds` pass, as `step` does; return True as soon as `until` holds."""
        end = self.time + seconds
        while True:
            if until is not None and until(self.state()):
                return True
            left = end - self.time
            if left <= 1e-9:
                return False
            with self._lock:
                self.step(min(_TICK, left))

    def hold(self) -> None:
        """Brake to a standstill from where the arm is; along its reference it would creep on afterwards."""
        with self._lock:
            position, velocity = self._arm_position(), self.data.qvel[self._scene.index.arm_qvel].copy()
            if self._servo.done and np.abs(position - self._servo.state[0]).max() <= _MAX_START_DEVIATION:
                return  # it holds, and has not been pushed away
            inertia = np.empty((self.model.nv, self.model.nv))
            mujoco.mj_fullM(self.model, self.data, inertia)
            arm = self._scene.index.arm_qvel
            self._servo.brake(position, velocity, inertia[np.ix_(arm, arm)], self._dt)

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres; an object between them is pressed with 46 N per pad."""
        driver_angle(gap)  # refuses what is out of range
        with self._lock:
            now = self._scene.index.gap(self.data)  # pads that are pressed together give way a little
            self._gripper.command(gap, min(max(now, 0.0), STROKE))

    def state(self) -> JointState:
        """Return the state of arm and gripper now; the force is each pad's, in N, positive when closing."""
        with self._lock:
            index, data = self._scene.index, self.data
            angle = float(data.qpos[index.drivers].mean())
            rate = float(data.qvel[self._scene.tendon_qvel].mean())
            moment = KP * (float(data.ctrl[-1]) - angle) - KV * rate
            return JointState(
                stamp=self.time,
                position=self._arm_position(),
                velocity=data.qvel[index.arm_qvel].copy(),
                gripper_gap=gap_of(angle),
                gripper_force=pad_force(min(max(moment, -MAX_MOMENT), MAX_MOMENT), angle),
            )

    def capture(self) -> RgbdFrame:
        """Return the camera's frame now, with noise; an older one where the newest has been lost."""
        if self._frame is not None and self.disturber.loses_frame(self.time):
            return replace(self._frame, colour=self._frame.colour.copy(), depth=self._frame.depth.copy())
        self._frame = self.watched(self._noise)
        return self._frame

    def watched(self, noise: np.random.Generator) -> RgbdFrame:
        """Return a frame now; for onlookers, with noise of its own: it changes nothing that is captured."""
        return self._sensor.expose(*self.picture()[:2], self.time, noise)

    def picture(self) -> Picture:
        """Render what the camera would see now without noise or loss: colour, depth, and from where."""
        scene, now = self._scene, self.disturber.now
        knock = now.shift, now.turn
        view = scene.view if knock == (_STILL, _STILL) else moved(scene.view, *knock)
        if scene.renderer is None or scene.knock != knock:
            scene.renderer = RayRenderer(scene.model, view, scene.lighting)
            scene.knock = knock
        colour, depth = scene.renderer.render(scene.data.qpos)
        return *disturb(colour, depth, now, self.time, self.world, view), view

    def draw_ahead(self) -> None:
        """Have another thread draw what never moves, which is most of what the first picture takes."""
        scene = self._scene
        threading.Thread(target=RayRenderer, args=(scene.model, scene.view, scene.lighting)).start()

    def on_contacts(self, listener: Callable[[ContactSample], object]) -> Callable[[], None]:
        """Tell a listener of each sample as it is taken; returns a function that ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def moment(self) -> SimState:
        """Return all positions now. Ground truth: for recordings."""
        return SimState(self.time, self._scene.objects, self.data.qpos.astype(np.float32))

    def object_pose(self, model: str) -> Pose:
        """Return an object's pose in `world`. Ground truth: for referees and tests.

        Raises KeyError if the object is not there.
        """
        return self._scene.index.item_pose(self.data, model)

    def places(self, models: Iterable[str]) -> Mapping[str, Pose]:
        """See `TableWorld`."""
        return {model: self.object_pose(model) for model in models}

    def record_afresh(self) -> None:
        """See `TableWorld`."""
        self.states.clear()
        self.disturbances.clear()

    def save_recording(self, folder: Path) -> None:
        """Write `states.npz` and `disturbances/` into a run's folder."""
        save_states(self.states, folder / STATES)
        self.disturbances.save(folder)

    def checkpoint(self) -> bytes:
        """Return the complete state on which the future depends: physics, controllers, time and noise."""
        spec = mujoco.mjtState.mjSTATE_INTEGRATION
        physics = np.empty(mujoco.mj_stateSize(self.model, spec))
        mujoco.mj_getState(self.model, self.data, physics, spec)
        state = {
            "objects": self._scene.objects, "variation": self.variation, "steps": self._steps,
            "owed": self._owed, "begun": self._begun, "physics": physics,
            "sleep": {name: copy(getattr(self.data, name)) for name in _SLEEP},
            "servo": self._servo.save(), "gripper": (self._gripper.setpoint, self._gripper.target),
            "contacts": self._scene.monitor.save(), "noise": dict(self._noise.bit_generator.state),
            "disturbed": self.disturber.save(),
        }  # fmt: skip
        return pack(state)

    def restore(self, state: bytes) -> None:
        """See `TableWorld`. Raises ValueError for a checkpoint of another world or variation."""
        saved = unpack(state, (SimVariation, *DISTURBED_KINDS))
        if saved["variation"] != self.variation:
            raise ValueError("the checkpoint is of a simulator with another variation")
        self._scene = scene = self._scene_of(saved["objects"])
        mujoco.mj_resetData(scene.model, scene.data)
        mujoco.mj_setState(scene.model, scene.data, saved["physics"], mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_fwdPosition(scene.model, scene.data)  # a sleeper's geoms stay where they are put now
        for name, value in saved["sleep"].items():
            if name.startswith("n"):
                setattr(scene.data, name, value)
            else:
                getattr(scene.data, name)[:] = value
        self._steps, self._owed, self._begun = saved["steps"], saved["owed"], saved["begun"]
        self._servo.load(saved["servo"])
        self._gripper.setpoint, self._gripper.target = saved["gripper"]
        scene.monitor.load(saved["contacts"], scene.data)
        self._noise.bit_generator.state = saved["noise"]
        self._frame = None
        self.disturber.load(saved["disturbed"])
        self._apply_friction()

    def close(self) -> None:
        """End all subscriptions."""
        self._listeners.clear()

    def _scene_of(self, objects: tuple[str, ...]) -> _Scene:
        if objects not in self._scenes:
            self._scenes[objects] = _Scene(self.world, objects, self.variation)
        return self._scenes[objects]

    def _arm_position(self) -> Array:
        """Return the encoders' readings, radians (n,)."""
        return np.asarray(self.data.qpos[self._scene.index.arm_qpos] + self.disturber.now.encoder)

    def _apply_friction(self) -> None:
        """Bring the disturbed friction into the model."""
        self.model.geom_friction[:] = self._scene.friction * self.disturber.now.friction

    def _advance(self) -> None:
        scene = self._scene
        scene.data.ctrl[:-1] = self._servo.advance()
        if self.disturber.has_plans:
            scene.data.ctrl[:-1] -= self.disturber.now.encoder
            self.disturber.advance(scene.index, scene.data, self._dt)
        scene.data.ctrl[-1] = driver_angle(self._gripper.advance(self._dt))
        mujoco.mj_step(scene.model, scene.data)
        scene.monitor.watch(scene.data)

    def _publish(self) -> None:
        if self.data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise SpcaError(f"the physics became unstable at {self.time:.3f} s")
        before = self.disturber.now.friction
        self.disturber.watch(self.time, self._scene.index, self.data)
        if self.disturber.now.friction != before:
            self._apply_friction()
            self.data.qvel[self.data.qvel == 0] = _WAKING
        sample = ContactSample(self.time, *self._scene.monitor.take(self.data, self._scene.rims))
        self.disturbances.look(self.time)
        self.states.append(self.moment())
        for listener in tuple(self._listeners):
            listener(sample)


class _WristCamera:
    """See `spca_core.ports.table.Camera`. It sees no hand that hides the table from the other one."""

    def __init__(self, world: MujocoWorld, mount: CameraMount, noise: bool) -> None:
        self.intrinsics, self.pose = mount.intrinsics, mount.pose
        self._world, self._mount, self._sensor = world, mount, RgbdSensor(mount, world.variation, noise)

    def capture(self) -> RgbdFrame:
        """See `Camera`."""
        world, scene, carrier = self._world, self._world._scene, np.eye(4)
        site = world.data.site("tool0")
        carrier[:3, :3], carrier[:3, 3] = site.xmat.reshape(3, 3), site.xpos
        view = sensor_view(self._mount, world.variation, carrier)
        picture = RayRenderer(scene.model, view, scene.lighting).render(world.data.qpos)
        lit = disturb(*picture, replace(world.disturber.now, hand=None), world.time, world.world, view)
        return self._sensor.expose(*lit, world.time, world._noise)
