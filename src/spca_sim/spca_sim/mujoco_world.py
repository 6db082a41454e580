"""The simulated table in this process: time passes when asked to, repeatable bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from spca_core.checkpoint import pack, unpack
from spca_core.contacts import ContactSample
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.ports.table import TableWorld
from spca_sim.disturbances.recorder import DisturbanceRecorder
from spca_sim.recording import STATES, StateRecorder, save_states
from spca_sim.robot import SimRobot
from spca_sim.simulator import SNAPSHOT_KINDS, MujocoSimulator, SimulatedCamera


class MujocoWorld(TableWorld):
    """A `TableWorld` over a simulator, which it closes; not to be used from two threads, but for a stop.

    Records the states from which a video is drawn, and what disturbed the run.
    """

    robot: SimRobot
    camera: SimulatedCamera

    def __init__(self, simulator: MujocoSimulator) -> None:
        self.simulator = simulator
        self.robot, self.camera = SimRobot(simulator), SimulatedCamera(simulator)
        self.states, self.disturbances = StateRecorder(), DisturbanceRecorder()
        simulator.on_sample(self.states.record)
        self.disturbances.attach(simulator)

    def now(self) -> float:
        """Simulated seconds since the last reset."""
        return self.simulator.time

    def wait(self, seconds: float) -> None:
        """Step the simulator."""
        self.robot.step(seconds)

    def on_contacts(self, listener: Callable[[ContactSample], None]) -> Callable[[], None]:
        """Tell a listener of each sample as soon as it is taken, in the thread that waits."""
        return self.simulator.on_contacts(listener)

    def places(self, models: Iterable[str]) -> Mapping[str, Pose]:
        """See `TableWorld.places`."""
        return {model: self.simulator.object_pose(model) for model in models}

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """See `TableWorld.reset`. InputError for an unknown object."""
        self.simulator.reset(layout, seed)

    def checkpoint(self) -> bytes:
        """Physics, controllers, time and noise; plain data, see `spca_core.checkpoint`."""
        return pack(self.simulator.snapshot())

    def restore(self, state: bytes) -> None:
        """See `TableWorld.restore`. ValueError for a checkpoint of another world or variation."""
        self.simulator.restore(unpack(state, SNAPSHOT_KINDS))

    def record_afresh(self) -> None:
        """See `TableWorld.record_afresh`."""
        self.states.states.clear()
        self.disturbances.clear()

    def save_recording(self, folder: Path) -> None:
        """Write `states.npz` and `disturbances/`."""
        save_states(self.states.states, folder / STATES)
        self.disturbances.save(folder)

    def close(self) -> None:
        """Release graphics contexts and subscriptions."""
        self.simulator.close()
