"""The model reaches as far as the real robot: as the collision meshes that its makers publish."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import yaml

from spca_core.geometry import Array
from spca_core.world import load_world
from spca_robot.workspace_model import build_model

TOLERANCE = 1e-5  # m
MESHES = [
    SimpleNamespace(**row) for row in yaml.safe_load(Path(__file__).with_name("meshes.yaml").read_text())
]


@cache
def model_with(arm: str) -> mujoco.MjModel:
    return build_model(load_world(f"tabletop@{arm}"))[0]


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m.arm}-{Path(m.file).stem}")
def test_the_model_reaches_as_far_as_the_mesh(mesh: SimpleNamespace) -> None:
    """On each side of the mesh's box some point of the model lies outside of it."""
    model = model_with(mesh.arm)
    body = model.body(f"cobot/{mesh.body}" if mesh.body else "cobot").id
    for direction in (*np.eye(3), *-np.eye(3)):
        corner = np.where(direction > 0, mesh.high, mesh.low)
        far = max(reach(model, geom, direction) for geom in np.flatnonzero(model.geom_bodyid == body))
        assert far >= float(direction @ corner) - TOLERANCE


def reach(model: mujoco.MjModel, geom: int, direction: Array) -> float:
    """How far a box or a cylinder reaches along a direction of its body's frame."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
    local, size = direction @ axes.reshape(3, 3), model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        far = size[0] * np.hypot(local[0], local[1]) + size[1] * abs(local[2])
    else:
        far = abs(local) @ size
    return float(direction @ model.geom_pos[geom] + far)
