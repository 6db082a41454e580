"""The simulated table and robot in this process: time passes when asked to, repeatable bit for bit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.checkpoint import pack, unpack
from spca_core.contacts import ContactSample
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.ports.table import TableWorld
from spca_core.trajectory import JointState, JointTrajectory
from spca_sim.disturbances.disturbance import Happened
from spca_sim.recording import STATES, SimState, save_states
from spca_sim.simulator import SNAPSHOT_KINDS, MujocoSimulator


class Pacer:
    """Sleeps so that simulated time runs at most `rate` times as fast as the wall clock.

    `rate` None: never sleeps. `clock` tells wall seconds, `sleep` waits for so many of them.

    A simulation that falls behind does not catch up later. A reset that sets the clock back restarts the
    pacing.
    """

    _SLACK = 0.25  # s of lag after which the past is forgotten

    def __init__(
        self,
        rate: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if rate is not None and not rate > 0:
            hint = "a number above 0, for example 1 or 2.5"
            raise InputError(f"real-time factor {rate}", where="--rate", hint=hint)
        self.rate, self._clock, self._sleep = rate, clock, sleep
        self._origin: tuple[float, float] | None = None  # wall and simulated seconds

    def pace(self, simulated: float) -> None:
        """Wait until the wall clock has caught up with that simulated time."""
        if self.rate is None:
            return
        now = self._clock()
        if self._origin is None or simulated < self._origin[1]:
            self._origin = (now, simulated)
        ahead = self._origin[0] + (simulated - self._origin[1]) / self.rate - now
        if ahead > 0:
            self._sleep(ahead)
        elif ahead < -self._SLACK:
            self._origin = (now, simulated)


DISTURBANCES = "disturbances"
"""Folder of the pictures in a run's folder, each with a record (`Happened`) of the same name."""

_AFTER = 0.5  # simulated seconds from a disturbance to its picture
_MARK = (255, 220, 0)


class DisturbanceRecorder:
    """Hears of disturbances, and takes the camera's picture soon after each; costs nothing without them."""

    def __init__(self, simulator: MujocoSimulator) -> None:
        self.happened: list[tuple[Happened, NDArray[np.uint8]]] = []
        self._pending: list[Happened] = []
        self._simulator = simulator
        if simulator.disturber.has_plans:
            simulator.disturber.listener = self._pending.append
            simulator.on_contacts(self._sample)

    def save(self, folder: Path) -> None:
        """Write `disturbances/1_push.jpg` with `1_push.json` and so on into a run's folder."""
        self._take(self._pending)
        for number, (happened, picture) in enumerate(self.happened, 1):
            path = folder / DISTURBANCES / f"{number}_{happened.kind}.jpg"
            path.parent.mkdir(exist_ok=True)
            cv2.imwrite(str(path), cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
            path.with_suffix(".json").write_text(happened.model_dump_json())

    def clear(self) -> None:
        """Forget everything, for the next run."""
        self.happened.clear()
        self._pending.clear()

    def _sample(self, sample: ContactSample) -> None:
        if self._pending:
            self._take([h for h in self._pending if not 0 <= sample.stamp - h.stamp < _AFTER])

    def _take(self, due: list[Happened]) -> None:
        for happened in list(due):
            colour, _, view = self._simulator.picture()
            picture = colour.copy()
            if happened.position is not None:
                u, v = view.project(np.array(happened.position))[:2]
                cv2.circle(picture, (round(float(u)), round(float(v))), 34, _MARK, 2, cv2.LINE_AA)
            self.happened.append((happened, picture))
            self._pending.remove(happened)


_TICK = 0.02  # simulated seconds between two looks at `until`


class MujocoWorld(TableWorld):
    """A `TableWorld` over a simulator, which it closes, and its own `Robot`. For one thread, but for `hold`.

    Joint states are never stale: they are read off the simulator. Records the states from which a video is
    drawn, and what disturbed the run.
    """

    camera: MujocoSimulator

    def __init__(self, simulator: MujocoSimulator) -> None:
        self.simulator = self.camera = simulator
        self.robot = self
        self.states: list[SimState] = []
        """State at every sample, as lived through: a reset or a restored snapshot sets the clock back."""
        self.disturbances = DisturbanceRecorder(simulator)
        self._begun = 0.0
        self._lock = threading.RLock()  # a contact listener, called while stepping, may ask to hold
        simulator.on_contacts(lambda _: self.states.append(simulator.state()))

    def now(self) -> float:
        """Return the simulated seconds since the last reset."""
        return self.simulator.time

    def state(self) -> JointState:
        """Return the state of the arm and the gripper now."""
        with self._lock:
            return self.simulator.joint_state()

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin to track a trajectory."""
        with self._lock:
            self.simulator.follow(trajectory)
            self._begun = self.simulator.time

    def begun(self) -> float:
        """Return when the last trajectory was commanded: a simulator begins at once."""
        return self._begun

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres."""
        with self._lock:
            self.simulator.command_gripper(gap)

    def hold(self) -> None:
        """Brake to a standstill."""
        with self._lock:
            self.simulator.hold()

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Step the simulator by up to `seconds`; return True as soon as `until` holds."""
        end = self.simulator.time + seconds
        while True:
            if until is not None and until(self.state()):
                return True
            left = end - self.simulator.time
            if left <= 1e-9:
                return False
            with self._lock:
                self.simulator.step(min(_TICK, left))

    def on_contacts(self, listener: Callable[[ContactSample], None]) -> Callable[[], None]:
        """Tell a listener of each sample as soon as it is taken, in the thread that waits."""
        return self.simulator.on_contacts(listener)

    def places(self, models: Iterable[str]) -> Mapping[str, Pose]:
        """See `TableWorld.places`."""
        return {model: self.simulator.object_pose(model) for model in models}

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """See `TableWorld.reset`. Raises InputError for an unknown object."""
        self.simulator.reset(layout, seed)

    def checkpoint(self) -> bytes:
        """Return physics, controllers, time and noise; plain data, see `spca_core.checkpoint`."""
        return pack(self.simulator.snapshot())

    def restore(self, state: bytes) -> None:
        """See `TableWorld.restore`. Raises ValueError for a checkpoint of another world or variation."""
        self.simulator.restore(unpack(state, SNAPSHOT_KINDS))

    def record_afresh(self) -> None:
        """See `TableWorld.record_afresh`."""
        self.states.clear()
        self.disturbances.clear()

    def save_recording(self, folder: Path) -> None:
        """Write `states.npz` and `disturbances/` into a run's folder."""
        save_states(self.states, folder / STATES)
        self.disturbances.save(folder)

    def close(self) -> None:
        """End all subscriptions."""
        self.simulator.close()
