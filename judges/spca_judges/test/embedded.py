"""The embedded simulator as an episode; started as a file, it is one behind the border of a process."""

import importlib
import sys
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose
from spca_core.layout import random_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import load_world
from spca_judges.port import Proprioception
from spca_robot.gripper_2f85 import STROKE
from spca_sim.mujoco_world import MujocoWorld


class EmbeddedEpisode:
    """See `spca_judges.port.Episode`: on the project's own table, with a controller that is exact."""

    text, period = "Pick up the red cube.", 0.05

    def __init__(self) -> None:
        self._world = load_world()
        self._simulator = MujocoWorld(self._world)

    def reset(self, seed: int) -> None:
        self._simulator.reset(random_layout(self._world, seed), seed)

    def look(self) -> list[RgbdFrame]:
        frame = self._simulator.capture()
        base = self._world.robot.base
        mount = Pose.from_xyz_yaw(*base.position, base.yaw).matrix()
        pose = Pose.from_matrix(np.linalg.inv(mount) @ frame.pose.matrix())
        return [replace(frame, pose=pose)]

    def feel(self) -> Proprioception:
        state = self._simulator.state()
        opening = state.gripper_gap / STROKE
        return Proprioception(state.position, state.velocity, opening, state.gripper_force, state.stamp)

    def act(self, joints: Array, opening: float) -> None:
        now = np.array(self._simulator.state().position)
        step = np.clip(np.asarray(joints) - now, -0.15, 0.15)
        rows = np.stack([now, now + step])
        rates = np.stack([step, step]) / self.period
        self._simulator.follow(JointTrajectory(np.array([0.0, self.period]), rows, rates))
        self._simulator.command_gripper(opening * STROKE)
        self._simulator.step(self.period)

    def success(self) -> bool:
        return self._simulator.object_pose("box_red").position[2] > self._world.table.top + 0.06

    def close(self) -> None:
        self._simulator.close()


class Plain:
    """The same in plain values."""

    def __init__(self, episode: EmbeddedEpisode) -> None:
        self._episode = episode
        self.text, self.period = episode.text, episode.period

    def __getattr__(self, name: str) -> Any:
        return getattr(self._episode, name)

    def look(self) -> list[dict[str, Any]]:
        return [
            {**vars(f), "intrinsics": f.intrinsics.model_dump(), "pose": f.pose.model_dump()}
            for f in self._episode.look()
        ]

    def feel(self) -> dict[str, Any]:
        return asdict(self._episode.feel())


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    messages, serve = (importlib.import_module(name) for name in ("messages", "serve"))
    serve.serve(messages, Plain(EmbeddedEpisode()), "embedded")
