"""The table as the robot knows it, drawn while it acts: no simulator is asked."""

from __future__ import annotations

import numpy as np

from spca_core.geometry import Array, Pose
from spca_core.scene import SceneObject
from spca_core.signals import MovingScene
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_robot.gripper_2f85 import STROKE
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import Item, build_model
from spca_sense.catalogue import Catalogue
from spca_tabletop.signals import drawn_shapes, poses_now

_GREY = (0.5, 0.5, 0.5)


class LiveScene:
    """The arm by its joints, things where they were seen last; what is held goes with the tool."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._colours = {colour.name: colour.rgb for colour in Catalogue.from_world(world).palette}
        self._things: tuple[SceneObject, ...] | None = None
        self._poses: dict[str, Array] = {}
        self._held: str | None = None
        self._in_tool = np.eye(4)

    def at(
        self, things: tuple[SceneObject, ...], state: JointState, held: str | None, tool: Pose
    ) -> MovingScene:
        """The scene now."""
        if things is not self._things:
            self._seen(things)
        if held != self._held and held in self._poses:
            self._in_tool = np.linalg.inv(tool.matrix()) @ self._poses[held]
        self._held = held
        if held in self._poses:
            self._poses[held] = tool.matrix() @ self._in_tool
        index, data = self._index, self._data
        index.set_arm(data, state.position)
        index.set_gap(data, min(max(state.gripper_gap, 0.0), STROKE))
        for name, pose in self._poses.items():
            index.set_item(data, name, Pose.from_matrix(pose))
        mujoco.mj_kinematics(self._model, data)
        poses = poses_now(data, self._bodies)
        return MovingScene(stamps=(state.stamp,), shapes=self._shapes, poses=(poses,))

    def _seen(self, things: tuple[SceneObject, ...]) -> None:
        items = [Item(o.id, o.kind, o.size, colour=self._colours.get(o.colour, _GREY)) for o in things]
        self._model, self._index = build_model(self._world, items)
        self._data = mujoco.MjData(self._model)
        self._bodies, self._shapes = drawn_shapes(self._model)
        self._poses = {o.id: o.pose.matrix() for o in things}
        self._things = things
