"""Nothing touches anything deeper than its surface when Gazebo starts, by the files that Gazebo is given.

Gazebo reports contacts also between what stands still, where MuJoCo has none: a base that reaches into its
table fails every level at its first sample.
"""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spca_core.arms import GROUP
from spca_core.extensions import installed
from spca_core.geometry import Array
from spca_core.layout import random_layout
from spca_core.paths import ROOT
from spca_core.world import load_world
from spca_robot.description.moveit_config import harmless_pairs
from spca_robot.description.names import GENERATED
from spca_sim.gazebo.write import GazeboFiles, write_all

FLUSH = 1e-5  # m: faces that only meet
WORLDS = sorted(file.stem for file in (ROOT / "worlds").glob("*.yaml"))
ARMS = sorted(f"tabletop@{arm}" for arm in installed(GROUP))


@dataclass(frozen=True)
class Solid:
    """A collision shape of a link of a model, at its pose in the world."""

    model: str
    link: str
    geometry: ET.Element
    pose: Array


def numbers(text: str | None) -> list[float]:
    return [float(part) for part in (text or "0 0 0").split()]


def transform(xyz: list[float], rpy: list[float]) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), xyz
    return pose


def origin(element: ET.Element) -> Array:
    """Of a URDF element."""
    found = element.find("origin")
    return np.eye(4) if found is None else transform(numbers(found.get("xyz")), numbers(found.get("rpy")))


def placed(element: ET.Element) -> Array:
    """The pose of an SDF element."""
    values = numbers(element.findtext("pose", "0 0 0 0 0 0"))
    return transform(values[:3], values[3:])


def robot_solids(files: GazeboFiles) -> list[Solid]:
    """Of the URDF, with its joints where ros2_control begins."""
    robot = ET.parse(files.robot.urdf).getroot()
    begin = {
        joint.attrib["name"]: float(joint.findtext("state_interface/param", "0"))
        for joint in robot.findall("ros2_control/joint")
    }
    frames = {"world": np.eye(4)}
    joints = robot.findall("joint")
    while joints:
        joint = next(j for j in joints if j.find("parent").attrib["link"] in frames)
        joints.remove(joint)
        pose = frames[joint.find("parent").attrib["link"]] @ origin(joint)
        if joint.attrib["type"] == "revolute":
            turn = begin[joint.attrib["name"]] * np.array(numbers(joint.find("axis").attrib["xyz"]))
            pose[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec(turn).as_matrix()
        frames[joint.find("child").attrib["link"]] = pose
    return [
        Solid(
            robot.attrib["name"],
            link.attrib["name"],
            part.find("geometry"),
            frames[link.attrib["name"]] @ origin(part),
        )
        for link in robot.findall("link")
        for part in link.findall("collision")
    ]


def world_solids(files: GazeboFiles) -> list[Solid]:
    """Of the SDF."""
    return [
        Solid(model.attrib["name"], link.attrib["name"], part.find("geometry"), placed(model) @ placed(part))
        for model in ET.parse(files.world).getroot().findall("world/model")
        for link in model.findall("link")
        for part in link.findall("collision")
    ]


def add_geom(spec: mujoco.MjSpec, solid: Solid, folder: Path) -> None:
    (shape,) = solid.geometry

    def value(name: str) -> list[float]:
        return numbers(shape.get(name) or shape.findtext(name))

    at = {"pos": solid.pose[:3, 3], "quat": Rotation.from_matrix(solid.pose[:3, :3]).as_quat()[[3, 0, 1, 2]]}
    kinds = mujoco.mjtGeom
    if shape.tag == "plane":
        spec.worldbody.add_geom(type=kinds.mjGEOM_BOX, size=(5.0, 5.0, 0.5), pos=(0.0, 0.0, -0.5))
    elif shape.tag == "box":
        spec.worldbody.add_geom(type=kinds.mjGEOM_BOX, size=[v / 2 for v in value("size")], **at)
    elif shape.tag == "cylinder":
        size = (*value("radius"), value("length")[0] / 2, 0.0)
        spec.worldbody.add_geom(type=kinds.mjGEOM_CYLINDER, size=size, **at)
    elif shape.tag == "sphere":
        spec.worldbody.add_geom(type=kinds.mjGEOM_SPHERE, size=(*value("radius"), 0.0, 0.0), **at)
    else:
        lines = [line.split() for line in (folder / shape.findtext("uri")).read_text().splitlines()]
        corners = np.array([[float(v) for v in line[1:]] for line in lines if line[0] == "v"])
        name, middle = f"mesh_{len(spec.meshes)}", corners.mean(axis=0)
        spec.add_mesh(
            name=name,
            uservert=np.ravel(corners - middle),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
        )
        at["pos"] = (solid.pose @ [*middle, 1.0])[:3]
        spec.worldbody.add_geom(type=kinds.mjGEOM_MESH, meshname=name, **at)


def overlaps(files: GazeboFiles) -> list[str]:
    """What reaches into what, and how far."""
    solids = [*world_solids(files), *robot_solids(files)]
    harmless = harmless_pairs(files.robot.urdf.read_text(), GENERATED.root)
    spec = mujoco.MjSpec()
    for solid in solids:
        add_geom(spec, solid, files.world.parent)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = []
    for (i, one), (j, other) in itertools.combinations(enumerate(solids), 2):
        links = tuple(sorted((one.link, other.link)))
        if one.model == other.model and (one.link == other.link or links in harmless):
            continue
        depth = -mujoco.mj_geomDistance(model, data, i, j, 0.01, None)
        if depth > FLUSH:
            found.append(f"{one.model}::{one.link} in {other.model}::{other.link}: {1000 * depth:.2f} mm")
    return found


@pytest.mark.parametrize("name", [*WORLDS, *ARMS])
def test_nothing_overlaps_when_gazebo_starts(name: str, tmp_path: Path) -> None:
    assert overlaps(write_all(load_world(name), tmp_path)) == []


def test_nothing_overlaps_on_a_drawn_table(tmp_path: Path) -> None:
    world = load_world("tabletop")
    assert overlaps(write_all(world, tmp_path, random_layout(world, 7))) == []


def test_what_stands_on_the_table_for_good_reports_no_contacts(tmp_path: Path) -> None:
    """The base meets its table face to face, which is a contact too."""
    robot = ET.parse(write_all(load_world("tabletop"), tmp_path).robot.urdf).getroot()
    sensed = {tags.get("reference") for tags in robot.findall("gazebo[sensor]")}
    assert sensed and "base_link" not in sensed
