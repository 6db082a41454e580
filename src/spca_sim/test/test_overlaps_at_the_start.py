"""Nothing touches anything deeper than its surface when Gazebo starts, by the files that Gazebo is given.

Gazebo reports contacts also between what stands still, where MuJoCo has none: a base that reaches into its
table fails every level at its first sample.
"""

import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spca_core.arms import GROUP
from spca_core.extensions import installed
from spca_core.geometry import Array
from spca_core.paths import ROOT
from spca_core.world import load_world
from spca_robot.description.moveit_config import harmless_pairs
from spca_robot.description.names import GENERATED
from spca_sim.gazebo.write import GazeboFiles, write_all

FLUSH = 1e-5  # m: faces that only meet
WORLDS = sorted(file.stem for file in (ROOT / "worlds").glob("*.yaml"))
ARMS = sorted(f"tabletop@{arm}" for arm in installed(GROUP))


# MuJoCo's own URDF reader, set to keep fixed bodies, and of shapes those that collide.
KEEP = '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>'


def numbers(text: str | None) -> list[float]:
    return [float(part) for part in (text or "0 0 0 0 0 0").split()]


def placed(element: ET.Element) -> Array:
    """The pose of an SDF element."""
    x, y, z, *rpy = numbers(element.findtext("pose"))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), (x, y, z)
    return pose


def add_geom(spec: mujoco.MjSpec, name: str, shape: ET.Element, pose: Array, folder: Path) -> None:
    """Add a shape of an SDF file, which stands still."""

    def value(part: str) -> list[float]:
        return numbers(shape.findtext(part))

    at = {"name": name, "quat": Rotation.from_matrix(pose[:3, :3]).as_quat()[[3, 0, 1, 2]]}
    place, kinds = pose[:3, 3], mujoco.mjtGeom
    if shape.tag == "plane":
        at |= {"type": kinds.mjGEOM_BOX, "size": (5.0, 5.0, 0.5)}
        place = (0.0, 0.0, -0.5)
    elif shape.tag == "box":
        at |= {"type": kinds.mjGEOM_BOX, "size": [v / 2 for v in value("size")]}
    elif shape.tag == "cylinder":
        at |= {"type": kinds.mjGEOM_CYLINDER, "size": (*value("radius"), value("length")[0] / 2, 0.0)}
    elif shape.tag == "sphere":
        at |= {"type": kinds.mjGEOM_SPHERE, "size": (*value("radius"), 0.0, 0.0)}
    else:
        lines = [line.split() for line in (folder / shape.findtext("uri")).read_text().splitlines()]
        corners = np.array([[float(v) for v in line[1:]] for line in lines if line[0] == "v"])
        middle, convex = corners.mean(axis=0), mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        spec.add_mesh(name=f"mesh of {name}", uservert=np.ravel(corners - middle), inertia=convex)
        at |= {"type": kinds.mjGEOM_MESH, "meshname": f"mesh of {name}"}
        place = (pose @ [*middle, 1.0])[:3]
    spec.worldbody.add_geom(pos=place, **at)


def overlaps(files: GazeboFiles) -> list[str]:
    """What reaches into what, and how far, with the robot's joints where ros2_control begins."""
    urdf = files.robot.urdf.read_text()
    harmless, robot = harmless_pairs(urdf, GENERATED.root), ET.fromstring(urdf)
    spec = mujoco.MjSpec.from_string(urdf.replace("</robot>", KEEP + "</robot>"))
    for thing in ET.parse(files.world).getroot().findall("world/model"):
        for number, part in enumerate(thing.findall("link/collision")):
            (shape,) = part.find("geometry")
            name = f"{thing.attrib['name']}::link::{number}"
            add_geom(spec, name, shape, placed(thing) @ placed(part), files.world.parent)
    model = spec.compile()
    data = mujoco.MjData(model)
    for joint in robot.findall("ros2_control/joint"):
        data.joint(joint.attrib["name"]).qpos = float(joint.findtext("state_interface/param", "0"))
    mujoco.mj_kinematics(model, data)
    bodies = [model.body(body).name for body in model.geom_bodyid]
    solids = [
        tuple(model.geom(geom).name.split("::")[:2]) if body == "world" else (robot.attrib["name"], body)
        for geom, body in enumerate(bodies)
    ]
    found = []
    for (i, one), (j, other) in itertools.combinations(enumerate(solids), 2):
        if one == other or (one[0] == other[0] and tuple(sorted((one[1], other[1]))) in harmless):
            continue
        depth = -mujoco.mj_geomDistance(model, data, i, j, 0.01, None)
        if depth > FLUSH:
            found.append(f"{'::'.join(one)} in {'::'.join(other)}: {1000 * depth:.2f} mm")
    return found


@pytest.mark.parametrize("name", [*WORLDS, *ARMS])
def test_nothing_overlaps_when_gazebo_starts(name: str, tmp_path: Path) -> None:
    assert overlaps(write_all(load_world(name), tmp_path)) == []


def test_what_stands_on_the_table_for_good_reports_no_contacts(tmp_path: Path) -> None:
    """The base meets its table face to face, which is a contact too."""
    robot = ET.parse(write_all(load_world("tabletop"), tmp_path).robot.urdf).getroot()
    sensed = {tags.get("reference") for tags in robot.findall("gazebo[sensor]")}
    assert sensed and "base_link" not in sensed
