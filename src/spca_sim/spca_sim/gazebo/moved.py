"""Where things are in Gazebo: ground truth, for the referee and for recordings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from geometry_msgs.msg import PoseArray

from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import build_model
from spca_ros.convert.records import pose_from_msg
from spca_ros.node import SpcaNode
from spca_sim.gazebo.polled import PolledTopic
from spca_sim.gazebo.write import POSES
from spca_sim.recording import STATES, SimState, save_states


class Recorder:
    """Recording of a level, from which video, signals and log are made as of one on MuJoCo.

    A state is the configuration of the embedded simulator's model that looks like Gazebo's world; nothing is
    simulated.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._states: list[SimState] = []
        self.lay(Layout(poses={}))

    def lay(self, layout: Layout) -> None:
        """Begin anew on a table with the things of a layout."""
        self._objects = tuple(layout.poses)
        model, self._index = build_model(self._world, map(self._world.object, self._objects))
        self._data = mujoco.MjData(model)
        for name, pose in layout.poses.items():
            self._index.set_item(self._data, name, pose)
        self.record_afresh()

    def record_afresh(self) -> None:
        """Forget what was recorded."""
        self._states.clear()

    def record(self, stamp: float, robot: JointState, poses: Mapping[str, Pose]) -> None:
        """Keep a moment (simulated s); a thing that is not among `poses` (in `world`) is where it was."""
        self._index.set_arm(self._data, robot.position)
        self._index.set_gap(self._data, robot.gripper_gap)
        for name in self._objects:
            if name in poses:
                self._index.set_item(self._data, name, poses[name])
        self._states.append(SimState(stamp, self._objects, self._data.qpos.astype(np.float32)))

    def save_recording(self, folder: Path) -> None:
        """Write `states.npz` into a run's folder."""
        save_states(self._states, folder / STATES)


_NEAR = 0.03  # m from where a thing was put within which it comes to rest
_THERE = 0.001, 0.999999  # m, and product of the quaternions (0.2°), within which nothing need be moved


class Moved:
    """The poses that Gazebo tells of everything that can move, read when they are wanted.

    The bridge drops the names. Gazebo tells the poses in the order of its entities, which is that of the
    world's file: first the things, then the robot, which is spawned into it, and at last all links. Whether
    that holds is checked after each reset, when it is known where everything lies.
    """

    def __init__(self, node: SpcaNode, world: World) -> None:
        self._models = [thing.model for thing in world.objects]
        self._poses: dict[str, Pose] = {}
        self._known = True
        self._topic = PolledTopic(node.context, f"{node.get_name()}_poses", PoseArray, POSES, depth=1)

    def poses(self) -> Mapping[str, Pose]:
        """Return the newest poses in `world`, by model; none if it is not known which is whose."""
        for message in self._topic.take():
            self._poses = dict(zip(self._models, map(pose_from_msg, message.poses), strict=False))
        return self._poses if self._known else {}

    def there(self, wanted: Mapping[str, Pose]) -> bool:
        """Return whether everything lies where it is wanted, as before the first level."""
        poses = self.poses()
        return all(name in poses and _same(poses[name], pose) for name, pose in wanted.items())

    def compare(self, laid: Mapping[str, Pose]) -> str:
        """Explain which thing does not lie where it was put just now, so that no pose is told; "" if none."""
        self._known = True
        poses = self.poses()
        both = [(name, poses[name], laid[name]) for name in laid if name in poses]
        lost = [name for name, told, put in both if math.dist(told.position, put.position) > _NEAR]
        self._known = not lost
        return f"Gazebo tells other places than where {', '.join(lost)} was put" if lost else ""

    def close(self) -> None:
        """Unsubscribe."""
        self._topic.close()


def _same(one: Pose, other: Pose) -> bool:
    alike = abs(sum(a * b for a, b in zip(one.quaternion, other.quaternion, strict=True)))
    return math.dist(one.position, other.position) < _THERE[0] and alike > _THERE[1]
