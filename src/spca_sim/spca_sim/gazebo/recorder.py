"""Records where robot and things are in Gazebo, as the embedded simulator records its states."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import Item, build_model
from spca_sim.recording import STATES, SimState, StateRecorder, save_states


class Recorder:
    """Recording of a level, from which video, signals and log are made as of one on MuJoCo.

    A state is the configuration of the embedded simulator's model that looks like Gazebo's world; nothing is
    simulated.
    """

    def __init__(self, world: World) -> None:
        self._world, self._recorder = world, StateRecorder()
        self.lay(Layout(poses={}))

    def lay(self, layout: Layout) -> None:
        """Begin anew on a table with the things of a layout."""
        self._objects = tuple(layout.poses)
        items = [Item.of(self._world.object(name)) for name in self._objects]
        model, self._index = build_model(self._world, items)
        self._data = mujoco.MjData(model)
        for name, pose in layout.poses.items():
            self._index.set_item(self._data, name, pose)
        self.clear()

    def clear(self) -> None:
        """Forget what was recorded."""
        self._recorder.states.clear()

    def record(self, stamp: float, robot: JointState, poses: Mapping[str, Pose]) -> None:
        """Keep a moment (simulated s); a thing that is not among `poses` (in `world`) is where it was."""
        self._index.set_arm(self._data, robot.position)
        self._index.set_gap(self._data, robot.gripper_gap)
        for name in self._objects:
            if name in poses:
                self._index.set_item(self._data, name, poses[name])
        self._recorder.record(SimState(stamp, self._objects, self._data.qpos))

    def save(self, folder: Path) -> None:
        """Write `states.npz` into a run's folder."""
        save_states(self._recorder.states, folder / STATES)
