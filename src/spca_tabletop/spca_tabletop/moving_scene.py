"""Robot, table and things over a run, as shapes and poses for the scene in its report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from spca_core.signals import DrawnShape, MovingScene
from spca_robot.windowless import mujoco
from spca_sim.state import SimState

_MOST = 250  # stamps: between them the page interpolates
_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
}


def moving_scene(model: mujoco.MjModel, states: Sequence[SimState]) -> MovingScene:
    """The scene at these states of a model, or at as many of them as can be seen."""
    data, every = mujoco.MjData(model), max(1, math.ceil(len(states) / _MOST))
    drawn = [g for g in range(model.ngeom) if int(model.geom_type[g]) in _KINDS and model.geom_rgba[g][3]]
    bodies = sorted({int(model.geom_bodyid[g]) for g in drawn})
    shapes = [_shape(model, g, bodies.index(int(model.geom_bodyid[g]))) for g in drawn]
    poses = []
    for state in (chosen := states[::every]):
        data.qpos[:] = state.qpos
        mujoco.mj_kinematics(model, data)
        row = np.hstack((1e4 * data.xpos[bodies], 1e3 * data.xquat[bodies]))
        poses.append(tuple(np.rint(row).astype(int).ravel().tolist()))
    stamps = tuple(round(state.stamp, 2) for state in chosen)
    return MovingScene(stamps=stamps, shapes=tuple(shapes), poses=tuple(poses))


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
