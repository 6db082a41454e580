"""The model contains the real robot: the collision meshes that its makers publish, sampled on their surfaces.

The meshes come as wheels, those of the e-series and of the Panda in repositories. Where these are not
installed, the extents of the meshes still are compared:

    pip install --no-deps --target FOLDER example-robot-data robosuite==1.5.2
    git clone https://github.com/UniversalRobots/Universal_Robots_ROS2_Description CLONE
    git clone https://github.com/frankaemika/franka_description FRANKA
    SPCA_ROBOT_MESHES=FOLDER:CLONE:FRANKA pytest src/spca_robot/test/test_robot_meshes.py
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

from spca_core.geometry import Array
from spca_core.world import load_world
from spca_robot.workspace_model import build_model

UR = "meshes"  # of a clone of github.com/UniversalRobots/Universal_Robots_ROS2_Description
UR5 = "cmeel.prefix/share/example-robot-data/robots/ur_description/meshes/ur5/collision"
GRIPPER = "robosuite/models/assets/grippers/meshes/robotiq_85_gripper"
STEP = 0.003  # m, between samples
TOLERANCE = 1e-5  # m

X, Y, Z = np.eye(3)
SAME, HALF_TURN = np.eye(3), np.array([-X, -Y, Z])
ALONG_X = np.array([-Z, -X, Y])  # UR's links lie along z and turn about y; in the DH frames along -x, about z
ABOUT_Y = np.array([X, -Z, Y])


@dataclass(frozen=True)
class Mesh:
    """A mesh: its file, what turns and moves it into its body's frame, and its extents there, in metres."""

    body: str
    file: str
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    turn: Array = field(default_factory=lambda: SAME)
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: float = 1.0
    arm: str = "ur5"


MILLI = 0.001
MESHES = [
    Mesh("", f"{UR5}/base.stl", (-0.0736, -0.11, 0), (0.0736, 0.0736, 0.021)),
    Mesh(
        "shoulder_link",
        f"{UR5}/shoulder.stl",
        (-0.0595, -0.0705, 0.024),
        (0.0594, 0.0597, 0.1576),
        HALF_TURN,
        (0, 0, 0.089159),
    ),
    Mesh(
        "upper_arm_link",
        f"{UR5}/upperarm.stl",
        (-0.4849, -0.0595, 0.0707),
        (0.0597, 0.0599, 0.2044),
        ALONG_X,
        (0, 0, 0.13585),
    ),
    Mesh(
        "forearm_link",
        f"{UR5}/forearm.stl",
        (-0.4313, -0.0585, -0.041),
        (0.058, 0.0579, 0.0707),
        ALONG_X,
        (0, 0, 0.01615),
    ),
    Mesh(
        "wrist_1_link",
        f"{UR5}/wrist1.stl",
        (-0.0386, -0.0475, 0.0636),
        (0.0389, 0.0572, 0.1487),
        ABOUT_Y,
        (0, 0, 0.01615),
    ),
    Mesh("wrist_2_link", f"{UR5}/wrist2.stl", (-0.0389, -0.0572, 0.0491), (0.0387, 0.0475, 0.1334)),
    Mesh("wrist_3_link", f"{UR5}/wrist3.stl", (-0.0375, -0.043, 0.0473), (0.0375, 0.0375, 0.0818), ABOUT_Y),
    Mesh(
        "gripper_base",
        f"{GRIPPER}/robotiq_arg2f_base_link.stl",
        (-0.0375, -0.0424, 0.0083),
        (0.0375, 0.0424, 0.101),
        offset=(0, 0, 0.011),
    ),
    Mesh(
        "left_driver",
        f"{GRIPPER}/robotiq_arg2f_85_outer_knuckle.stl",
        (-0.012, -0.0075, -0.0101),
        (0.012, 0.0388, 0.0129),
        scale=MILLI,
    ),
    Mesh(
        "left_driver",
        f"{GRIPPER}/robotiq_arg2f_85_outer_finger.stl",
        (-0.0135, 0.0255, -0.0065),
        (0.0135, 0.0436, 0.049),
        offset=(0, 0.0315, -0.0041),
        scale=MILLI,
    ),
    Mesh(
        "left_inner",
        f"{GRIPPER}/robotiq_arg2f_85_inner_knuckle.stl",
        (-0.0195, -0.006, -0.006),
        (0.0195, 0.0431, 0.0494),
        scale=MILLI,
    ),
    Mesh(
        "left_tip",
        f"{GRIPPER}/robotiq_arg2f_85_inner_finger.stl",
        (-0.0075, -0.0239, -0.006),
        (0.0075, 0.006, 0.0445),
        scale=MILLI,
    ),
]

FILES = ("base", "shoulder", "upperarm", "forearm", "wrist1", "wrist2", "wrist3")
TURNS = (SAME, HALF_TURN, ALONG_X, ALONG_X, ABOUT_Y, SAME, ABOUT_Y)
# Of each link of the e-series: where its mesh begins along the joint's axis, and the extents.
E_SERIES = {
    "ur3e": (
        (0, (-0.0639, -0.0639, 0.0), (0.064, 0.064, 0.0949)),
        (0.15185, (-0.0469, -0.0629, 0.0948), (0.0469, 0.047, 0.2099)),
        (0.12, (-0.2827, -0.047, 0.063), (0.0471, 0.0469, 0.178)),
        (0.027, (-0.2448, -0.0375, -0.0196), (0.0379, 0.0375, 0.0773)),
        (0.02705, (-0.0322, -0.0499, 0.0774), (0.0322, 0.0469, 0.1634)),
        (0.0, (-0.0322, -0.0465, 0.05), (0.0322, 0.0504, 0.1172)),
        (0.0, (-0.0317, -0.0375, 0.0505), (0.0314, 0.0316, 0.0921)),
    ),
    "ur5e": (
        (0, (-0.0754, -0.0755, 0.0), (0.0754, 0.0754, 0.099)),
        (0.1625, (-0.06, -0.0744, 0.0986), (0.06, 0.0601, 0.234)),
        (0.138, (-0.4845, -0.06, 0.0602), (0.0606, 0.06, 0.2098)),
        (0.007, (-0.431, -0.058, -0.0494), (0.0583, 0.0577, 0.0604)),
        (0.0063, (-0.0393, -0.0535, 0.0598), (0.0393, 0.0562, 0.1719)),
        (0.0, (-0.0393, -0.0567, 0.0536), (0.0393, 0.0531, 0.1388)),
        (0.0007, (-0.0374, -0.0435, 0.0539), (0.0376, 0.038, 0.0996)),
    ),
    "ur10e": (
        (0, (-0.0949, -0.0949, 0.0), (0.095, 0.0949, 0.0992)),
        (0.1807, (-0.0763, -0.0945, 0.099), (0.0763, 0.0763, 0.2746)),
        (0.1762, (-0.6723, -0.0763, 0.0948), (0.0766, 0.0763, 0.2693)),
        (0.0393, (-0.6176, -0.0579, -0.0188), (0.0587, 0.0579, 0.106)),
        (0.03915, (-0.0469, -0.0665, 0.1059), (0.0469, 0.0575, 0.2213)),
        (-0.00015, (-0.0469, -0.0569, 0.0665), (0.047, 0.0679, 0.1663)),
        (-0.00025, (-0.0444, -0.0515, 0.0677), (0.0443, 0.0458, 0.1164)),
    ),
}
MESHES += [
    Mesh(body, f"{UR}/{arm}/collision/{file}.stl", low, high, turn, (0, 0, offset), arm=arm)
    for arm, rows in E_SERIES.items()
    for body, file, turn, (offset, low, high) in zip(
        ("", *(m.body for m in MESHES[1:7])), FILES, TURNS, rows, strict=True
    )
]
FRANKA = "meshes/robot_arms/fer/collision"  # of a clone of github.com/frankaemika/franka_description
PANDA = (
    ((-0.1541, -0.0946, 0), (0.0716, 0.0947, 0.14)),
    ((-0.055, -0.1294, -0.192), (0.0552, 0.0552, 0.055)),
    ((-0.0552, -0.194, -0.0551), (0.055, 0.0552, 0.1295)),
    ((-0.0546, -0.0549, -0.121), (0.1376, 0.1112, 0.0552)),
    ((-0.1376, -0.0551, -0.0552), (0.0551, 0.124, 0.1111)),
    ((-0.055, -0.0551, -0.2646), (0.0551, 0.1299, 0.0522)),
    ((-0.048, -0.0514, -0.044), (0.1322, 0.0817, 0.0563)),
    ((-0.044, -0.044, 0.052), (0.0813, 0.0812, 0.1068)),
)
MESHES += [
    Mesh(f"panda_link{i}" if i else "", f"{FRANKA}/link{i}.stl", low, high, arm="panda")
    for i, (low, high) in enumerate(PANDA)
]


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


@pytest.mark.parametrize("mesh", MESHES, ids=lambda m: f"{m.arm}-{Path(m.file).stem}")
def test_the_model_contains_the_mesh(mesh: Mesh) -> None:
    model = model_with(mesh.arm)
    points = _samples(_installed(mesh.file), mesh.scale) @ mesh.turn.T + mesh.offset
    assert points.min(axis=0)[:2] == pytest.approx(mesh.low[:2], abs=1e-4)
    assert points.max(axis=0) == pytest.approx(mesh.high, abs=1e-4)
    if not mesh.body:
        points = points[points[:, 2] > 0]  # the rest is sunk in what the arm stands on
    outside = np.min([_distance(model, geom, points) for geom in _geoms(model, mesh.body)], axis=0)
    assert outside.max() <= TOLERANCE, f"sticks out at {points[outside.argmax()].round(4)}"


def _installed(file: str) -> Path:
    folders = [*os.environ.get("SPCA_ROBOT_MESHES", "").split(os.pathsep), *sys.path]
    found = next((path for folder in folders if folder and (path := Path(folder, file)).is_file()), None)
    if found is None:
        pytest.skip(f"no {Path(file).name}: see the first lines of this file")
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
