"""The model contains the real robot: the collision meshes that its makers publish, sampled on their surfaces.

The meshes come as wheels, those of the e-series and of the Panda in repositories. Where these are not
installed, the extents of the meshes still are compared:

    pip install --no-deps --target FOLDER example-robot-data robosuite==1.5.2
    git clone https://github.com/UniversalRobots/Universal_Robots_ROS2_Description CLONE
    git clone https://github.com/frankaemika/franka_description FRANKA
    SPCA_ROBOT_MESHES=FOLDER:CLONE:FRANKA pytest src/spca_robot/test/test_robot_meshes.py
"""

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


@dataclass(frozen=True)
class Mesh:
    """A mesh: whose, its file, what turns and moves it into its body's frame, and its extents there, in m."""

    body: str
    source: str
    file: str
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    turn: Array
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: float = 1.0
    arm: str = "ur5"


def _meshes() -> list[Mesh]:
    """The rows of meshes.yaml."""
    found = []
    for row in yaml.safe_load((Path(__file__).parent / "meshes.yaml").read_text()):
        folder, _, name = row["file"].partition("/")
        turn = TURNS[row.get("turn", "SAME")]
        found.append(Mesh(**row | {"source": folder, "file": f"{FOLDERS[folder]}/{name}", "turn": turn}))
    return found


MESHES = _meshes()


@cache
def model_with(arm: str) -> mujoco.MjModel:
    return build_model(load_world(f"tabletop@{arm}"))[0]


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m.arm}-{Path(m.file).stem}")
def test_the_model_reaches_as_far_as_the_mesh(mesh: Mesh) -> None:
    """What runs everywhere: on each side of the mesh's box some point of the model lies outside of it."""
    model = model_with(mesh.arm)
    for direction in (*np.eye(3), *-np.eye(3)):
        corner = np.where(direction > 0, mesh.high, mesh.low)
        beyond = corner * abs(direction) + 0.0
        far = max(_support(model, geom, direction) for geom in _geoms(model, mesh.body))
        assert far >= float(direction @ beyond) - TOLERANCE


@pytest.mark.parametrize("source", FOLDERS)
def test_the_model_contains_the_meshes(source: str) -> None:
    """All of a package or repository."""
    meshes = [mesh for mesh in MESHES if mesh.source == source]
    assert meshes
    for mesh in meshes:
        model = model_with(mesh.arm)
        points = _samples(_installed(mesh.file), mesh.scale) @ mesh.turn.T + mesh.offset
        assert points.min(axis=0)[:2] == pytest.approx(mesh.low[:2], abs=1e-4), mesh.file
        assert points.max(axis=0) == pytest.approx(mesh.high, abs=1e-4), mesh.file
        if not mesh.body:
            points = points[points[:, 2] > 0]  # the rest is sunk in what the arm stands on
        outside = np.min([_distance(model, geom, points) for geom in _geoms(model, mesh.body)], axis=0)
        where = f"{mesh.file} sticks out at {points[outside.argmax()].round(4)}"
        assert outside.max() <= TOLERANCE, where


def _installed(file: str) -> Path:
    folders = [*os.environ.get("SPCA_ROBOT_MESHES", "").split(os.pathsep), *sys.path]
    found = next((path for folder in folders if folder and (path := Path(folder, file)).is_file()), None)
    if found is None:
        name = Path(file).name
        pytest.skip(f"not there: {name}; if no wheel has it, a clone does: see the first lines of this file")
    return found


def _samples(path: Path, scale: float) -> Array:
    """Points (n, 3) on the triangles of a binary STL file, at most about `STEP` apart."""
    raw = path.read_bytes()
    rows = np.frombuffer(
        raw, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")], offset=84
    )
    points = []
    for a, b, c in rows["corners"].astype(float) * scale:
        count = (
            int(np.ceil(max(np.linalg.norm(b - a), np.linalg.norm(c - a), np.linalg.norm(c - b)) / STEP)) or 1
        )
        i, j = (n.ravel() / count for n in np.mgrid[: count + 1, : count + 1])
        inside = i + j <= 1 + 1e-9
        points.append(a + i[inside, None] * (b - a) + j[inside, None] * (c - a))
    return np.concatenate(points)


def _geoms(model: mujoco.MjModel, body: str) -> list[int]:
    name = f"cobot/{body}" if body else "cobot"
    return [int(g) for g in np.flatnonzero(model.geom_bodyid == model.body(name).id)]


def _axes(model: mujoco.MjModel, geom: int) -> Array:
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
    return axes.reshape(3, 3)


def _distance(model: mujoco.MjModel, geom: int, points: Array) -> Array:
    """How far points (n, 3) in the body's frame lie outside of a box or a cylinder; negative inside."""
    local, size = (points - model.geom_pos[geom]) @ _axes(model, geom), model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        over = np.stack([np.hypot(local[:, 0], local[:, 1]) - size[0], abs(local[:, 2]) - size[1]], axis=1)
    else:
        over = abs(local) - size
    return np.asarray(np.linalg.norm(over.clip(0), axis=1) + over.max(axis=1).clip(max=0))


def _support(model: mujoco.MjModel, geom: int, direction: Array) -> float:
    """How far a geom reaches along a direction of the body's frame."""
    local, size = direction @ _axes(model, geom), model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        reach = size[0] * np.hypot(local[0], local[1]) + size[1] * abs(local[2])
    else:
        reach = abs(local) @ size
    return float(direction @ model.geom_pos[geom] + reach)
