"""The arm's joints, the gripper's opening and the moving scene: of a run, for its report, and live."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from spca_core.geometry import Array, Pose
from spca_core.options import RunOptions
from spca_core.result import SIGNALS, DrawnShape, MovingScene, Plot, Signals
from spca_core.run_folder import RunFolder
from spca_core.scene import SceneObject
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_robot.gripper_2f85 import STROKE
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import WorkspaceIndex, build_model
from spca_sim.recording import SimState, recorded_states
from spca_tabletop.presets import load_table

_MOST = 600  # stamps: more than a page has pixels for
_MOST_POSES = 250  # stamps: between them the page interpolates
_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_MESH): "box",  # MuJoCo gives a part of a mesh the size of the box around it
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
}


def write_signals(folder: RunFolder, options: RunOptions) -> Path:
    """Write `signals.json` from the recorded states; return its path."""
    world, _ = load_table(options)

    @cache
    def built(objects: tuple[str, ...]) -> tuple[mujoco.MjModel, mujoco.MjData, WorkspaceIndex]:
        model, found = build_model(world, map(world.object, objects))
        return model, mujoco.MjData(model), found

    states = recorded_states(folder.path)
    if not states:
        return folder.write(SIGNALS, Signals(stamps=(), plots=()))
    states = states[:: max(1, math.ceil(len(states) / _MOST))]
    rows = []
    for state in states:
        _, data, where = built(state.objects)
        data.qpos[:] = state.qpos
        rows.append([*np.degrees(data.qpos[where.arm_qpos]), 1000 * where.gap(data)])
    *joints, gap = (tuple(round(float(v), 1) for v in column) for column in zip(*rows, strict=True))
    names = (name.removesuffix("_joint").replace("_", " ") for name in world.robot.arm.joint_names)
    plots = (
        Plot(title="joints", unit="°", lines=dict(zip(names, joints, strict=True))),
        Plot(title="gripper", unit="mm", lines={"opening": gap}),
    )
    there = states[-1].objects
    scene = moving_scene(built(there)[0], [state for state in states if state.objects == there])
    stamps = tuple(round(state.stamp, 2) for state in states)
    return folder.write(SIGNALS, Signals(stamps=stamps, plots=plots, scene=scene))


def moving_scene(model: mujoco.MjModel, states: Sequence[SimState]) -> MovingScene:
    """Return the scene at these states of a model, or at as many of them as can be seen."""
    data, every = mujoco.MjData(model), max(1, math.ceil(len(states) / _MOST_POSES))
    bodies, shapes = drawn_shapes(model)
    poses = []
    for state in (chosen := states[::every]):
        data.qpos[:] = state.qpos
        mujoco.mj_kinematics(model, data)
        poses.append(poses_now(data, bodies))
    stamps = tuple(round(state.stamp, 2) for state in chosen)
    return MovingScene(stamps=stamps, shapes=shapes, poses=tuple(poses))


def drawn_shapes(model: mujoco.MjModel) -> tuple[list[int], tuple[DrawnShape, ...]]:
    """The bodies that are drawn, and their shapes."""
    drawn = [g for g in range(model.ngeom) if int(model.geom_type[g]) in _KINDS and model.geom_rgba[g][3]]
    bodies = sorted({int(model.geom_bodyid[g]) for g in drawn})
    return bodies, tuple(_shape(model, g, bodies.index(int(model.geom_bodyid[g]))) for g in drawn)


def poses_now(data: mujoco.MjData, bodies: list[int]) -> tuple[int, ...]:
    """Where these bodies are, as `MovingScene` has it."""
    row = np.hstack((1e4 * data.xpos[bodies], 1e3 * data.xquat[bodies]))
    return tuple(np.rint(row).astype(int).ravel().tolist())


def _shape(model: mujoco.MjModel, geom: int, body: int) -> DrawnShape:
    kind, size = _KINDS[int(model.geom_type[geom])], model.geom_size[geom].tolist()
    radius, half = size[:2]
    sizes = {"cylinder": (radius, radius, half), "sphere": (radius, radius, radius)}
    return DrawnShape.model_validate(
        {
            "body": body,
            "kind": kind,
            "size": [round(v, 4) for v in sizes.get(kind, size)],
            "colour": np.rint(255 * model.geom_rgba[geom][:3]).astype(int).tolist(),
            "position": model.geom_pos[geom].round(4).tolist(),
            "wxyz": model.geom_quat[geom].round(4).tolist(),
        }
    )


class LiveScene:
    """The arm by its joints, things where they were seen last; what is held goes with the tool.

    It is what the robot knows: no simulator is asked.
    """

    def __init__(self, world: World) -> None:
        from spca_tabletop.rehearsal.world import SeenWorld

        self._world = SeenWorld(world)
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
        self._model, self._index = build_model(self._world.bare, map(self._world.item, things))
        self._data = mujoco.MjData(self._model)
        self._bodies, self._shapes = drawn_shapes(self._model)
        self._poses = {o.id: o.pose.matrix() for o in things}
        self._things = things
