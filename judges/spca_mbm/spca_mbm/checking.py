"""The independent check of a path: what the robot's surface, sampled, would be inside of.

It shares nothing with the planner's check: kinematics and distances are numpy's, every configuration is
looked at with all samples, and no clearance is kept. Where the makers' meshes are given, the samples lie on
these.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spca_core.errors import InputError
from spca_core.geometry import Array, Pose
from spca_core.kinds import Primitive
from spca_core.world import World
from spca_motion.collision import Obstacle
from spca_robot.kinematics import ArmKinematics
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import build_model

SPACING = 0.006
"""Metres between samples on a surface; the thinnest obstacle of the data set has 10 mm."""

_UR5 = "cmeel.prefix/share/example-robot-data/robots/ur_description/meshes/ur5/collision"
_FILES = ("shoulder", "upperarm", "forearm", "wrist1", "wrist2", "wrist3")
# UR's link frames in the DH frames' axes, and where they begin along the joint's axis (m).
_ALONG_X, _ABOUT_Y = (
    np.array([[0, 0, -1], [-1, 0, 0], [0, 1, 0]]),
    np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
)
_TURNS = (np.diag([-1, -1, 1]), _ALONG_X, _ALONG_X, _ABOUT_Y, np.eye(3), _ABOUT_Y)
_OFFSETS = (0.089159, 0.13585, 0.01615, 0.01615, 0.0, 0.0)


@dataclass(frozen=True)
class Surface:
    """Points (n, 3) on one rigid part, in the frame of arm body `link` (0 to 5), and a sphere around them."""

    name: str
    link: int
    points: Array
    centre: Array
    radius: float

    @classmethod
    def of(cls, name: str, link: int, points: Array) -> Surface:
        """Thin the points out and bound them."""
        _, kept = np.unique(np.floor(points / SPACING).astype(int), axis=0, return_index=True)
        few = points[kept]
        centre = (few.min(axis=0) + few.max(axis=0)) / 2
        return cls(name, link, few, centre, float(np.linalg.norm(few - centre, axis=1).max()))


def surfaces(world: World, gap: float, meshes: Path | None = None) -> list[Surface]:
    """The robot's surfaces: of its model, and of UR's meshes in place of the links' where these are given."""
    model, index = build_model(world)
    data = mujoco.MjData(model)
    index.set_gap(data, gap)
    mujoco.mj_kinematics(model, data)
    names = [f"{world.robot.model}/{joint.link}" for joint in world.robot.arm.joints]
    links = [model.body(name).id for name in names]
    found = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        while body and body not in links:
            body = int(model.body_parentid[body])
        own = int(model.geom_bodyid[geom])
        if not body or (meshes is not None and own in links):
            continue
        frame = np.linalg.inv(_frame(data.xpos[body], data.xmat[body])) @ _frame(
            data.geom_xpos[geom], data.geom_xmat[geom]
        )
        points = _on_geom(model, geom) @ frame[:3, :3].T + frame[:3, 3]
        found.append(Surface.of(model.body(own).name.split("/")[1], links.index(body), points))
    if meshes is not None:
        for link, (file, turn, offset) in enumerate(zip(_FILES, _TURNS, _OFFSETS, strict=True)):
            points = _on_mesh(meshes / _UR5 / f"{file}.stl") @ turn.T + np.array([0, 0, offset])
            found.append(Surface.of(world.robot.arm.joints[link].link, link, points))
    return found


def touched(world: World, robot: list[Surface], obstacles: tuple[Obstacle, ...], path: Array) -> str:
    """Return the deepest touch along a path (n, 6) as `part in obstacle, depth`; empty if there is none."""
    mount = Pose.from_xyz_yaw(*world.robot.base.position, world.robot.base.yaw).matrix()
    arm = world.robot.arm
    # A body's frame is the one behind its joint, moved back by the constant part between: (n, 6, 4, 4).
    frames = mount @ ArmKinematics(arm).link_frames(path) @ np.linalg.inv(arm.offsets[1:])
    deepest, words = -1e-6, ""
    for obstacle in obstacles:
        for part in obstacle.parts:
            pose = obstacle.pose @ Pose.from_xyz_yaw(*part.at, part.yaw).matrix()
            local = np.linalg.inv(pose) @ frames  # (n, 6, 4, 4)
            reach = float(np.linalg.norm(part.size)) / 2
            for surface in robot:
                at = local[:, surface.link]
                centre = at[:, :3, :3] @ surface.centre + at[:, :3, 3]
                for k in np.flatnonzero(np.linalg.norm(centre, axis=1) < reach + surface.radius):
                    depth = float(_outside(part, surface.points @ at[k, :3, :3].T + at[k, :3, 3]).min())
                    if depth < deepest:
                        deepest = depth
                        words = f"{surface.name} in {obstacle.id}, {-1000 * depth:.1f} mm"
    return words


def _outside(part: Primitive, points: Array) -> Array:
    """Return how far points (n, 3) are outside a box or upright cylinder at the origin; negative inside."""
    half = np.array(part.size) / 2
    if part.shape == "box":
        return np.asarray((abs(points) - half).max(axis=1))
    return np.maximum(np.hypot(points[:, 0], points[:, 1]) - half[0], abs(points[:, 2]) - half[2])


def _frame(position: Array, axes: Array) -> Array:
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = axes.reshape(3, 3), position
    return frame


def _on_geom(model: mujoco.MjModel, geom: int) -> Array:
    """Points on the surface of a box or a cylinder in its own frame."""
    size = model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        turns = np.linspace(0, 2 * np.pi, max(8, int(2 * np.pi * size[0] / SPACING) + 1))
        along = _steps(size[1])
        wall = [(size[0] * np.cos(t), size[0] * np.sin(t), z) for t in turns for z in along]
        caps = [
            (r * np.cos(t), r * np.sin(t), z)
            for r in _steps(size[0])
            for t in turns
            for z in (-size[1], size[1])
        ]
        return np.array(wall + caps)
    grid = np.stack(np.meshgrid(*(_steps(s) for s in size), indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(grid[(abs(abs(grid) - size) < 1e-9).any(axis=1)])


def _steps(half: float) -> Array:
    return np.linspace(-half, half, max(2, int(2 * half / SPACING) + 2))


def _on_mesh(path: Path) -> Array:
    """Points on the triangles of a binary STL file."""
    if not path.is_file():
        raise InputError(f"no {path}", hint="pip install --no-deps --target FOLDER example-robot-data")
    layout = [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]
    points = []
    for a, b, c in np.frombuffer(path.read_bytes(), dtype=layout, offset=84)["corners"].astype(float):
        longest = max(np.linalg.norm(b - a), np.linalg.norm(c - a), np.linalg.norm(c - b))
        count = int(np.ceil(longest / SPACING)) or 1
        i, j = (n.ravel() / count for n in np.mgrid[: count + 1, : count + 1])
        inside = i + j <= 1 + 1e-9
        points.append(a + i[inside, None] * (b - a) + j[inside, None] * (c - a))
    return np.concatenate(points)
