"""The model contains the real robot: the collision meshes that its makers publish, sampled on their surfaces.

The meshes come as wheels, those of the e-series and of the Panda in repositories. Where these are not
installed, the extents of the meshes still are compared:

    pip install --no-deps --target FOLDER example-robot-data robosuite==1.5.2
    git clone https://github.com/UniversalRobots/Universal_Robots_ROS2_Description CLONE
    git clone https://github.com/frankaemika/franka_description FRANKA
    SPCA_ROBOT_MESHES=FOLDER:CLONE:FRANKA pytest src/spca_robot/test/test_robot_meshes.py
"""

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

FOLDERS = {
    "UR": "meshes",  # of a clone of github.com/UniversalRobots/Universal_Robots_ROS2_Description
    "UR5": "cmeel.prefix/share/example-robot-data/robots/ur_description/meshes/ur5/collision",
    "GRIPPER": "robosuite/models/assets/grippers/meshes/robotiq_85_gripper",
    "FRANKA": "meshes/robot_arms/fer/collision",  # of a clone of github.com/frankaemika/franka_description
}
STEP = 0.003  # m, between samples
TOLERANCE = 1e-5  # m

X, Y, Z = np.eye(3)
TURNS = {
    "SAME": np.eye(3),
    "HALF_TURN": np.array([-X, -Y, Z]),
    "ALONG_X": np.array([-Z, -X, Y]),  # UR's links lie along z, turn about y; in DH frames along -x, about z
    "ABOUT_Y": np.array([X, -Z, Y]),
}


DEFAULTS = {"turn": "SAME", "offset": (0.0, 0.0, 0.0), "scale": 1.0}
MESHES = [
    SimpleNamespace(**DEFAULTS | row)
    for row in yaml.safe_load((Path(__file__).parent / "meshes.yaml").read_text())
]


@cache
def model_with(arm: str) -> mujoco.MjModel:
    return build_model(load_world(f"tabletop@{arm}"))[0]


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m.arm}-{Path(m.file).stem}")
def test_the_model_reaches_as_far_as_the_mesh(mesh: SimpleNamespace) -> None:
    """What runs everywhere: on each side of the mesh's box some point of the model lies outside of it."""
    model = model_with(mesh.arm)
    for direction in (*np.eye(3), *-np.eye(3)):
        corner = np.where(direction > 0, mesh.high, mesh.low)
        beyond = corner * abs(direction) + 0.0
        far = max(_support(model, geom, direction) for geom in _geoms(model, mesh.body))
        assert far >= float(direction @ beyond) - TOLERANCE


def _geoms(model: mujoco.MjModel, body: str) -> list[int]:
    name = f"cobot/{body}" if body else "cobot"
    return [int(g) for g in np.flatnonzero(model.geom_bodyid == model.body(name).id)]


def _axes(model: mujoco.MjModel, geom: int) -> Array:
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
    return axes.reshape(3, 3)


def _support(model: mujoco.MjModel, geom: int, direction: Array) -> float:
    """How far a geom reaches along a direction of the body's frame."""
    local, size = direction @ _axes(model, geom), model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        reach = size[0] * np.hypot(local[0], local[1]) + size[1] * abs(local[2])
    else:
        reach = abs(local) @ size
    return float(direction @ model.geom_pos[geom] + reach)
