"""The SDF world and the embedded simulator's model describe the same workspace."""

import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spca_core.layout import random_layout
from spca_core.world import load_world
from spca_robot.description.urdf import build_urdf
from spca_robot.workspace_model import build_model
from spca_sim.gazebo.write import STEP, build_world, linear

WORLD = load_world()
LAYOUT = random_layout(WORLD, 7)


def parse(layout=None, world=WORLD) -> ET.Element:
    return ET.fromstring(build_world(world, layout)).find("world")


def model(world: ET.Element, name: str) -> ET.Element:
    (found,) = [m for m in world.findall("model") if m.attrib["name"] == name]
    return found


def values(element: ET.Element, path: str) -> np.ndarray:
    text = element.findtext(path)
    assert text is not None, path
    return np.array([float(v) for v in text.split()])


def pose(element: ET.Element) -> np.ndarray:
    x, y, z, roll, pitch, yaw = values(element, "pose")
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("xyz", (roll, pitch, yaw)).as_matrix()
    matrix[:3, 3] = x, y, z
    return matrix


def test_poses_sizes_masses_and_friction_agree_with_mujoco():
    world = parse(LAYOUT)
    embedded, index = build_model(WORLD, WORLD.objects)
    data = mujoco.MjData(embedded)
    for thing, where in LAYOUT.poses.items():
        index.set_item(data, thing, where)
    mujoco.mj_kinematics(embedded, data)
    for thing in (WORLD.table, *WORLD.objects):
        sdf, geom = model(world, thing.model), index.geom_models.index(thing.model)
        np.testing.assert_allclose(pose(sdf)[:3, 3], data.geom_xpos[geom], atol=1e-9)
        np.testing.assert_allclose(pose(sdf)[:3, :3], data.geom_xmat[geom].reshape(3, 3), atol=1e-9)
        size = embedded.geom_size[geom]
        for part in ("link/collision/geometry", "link/visual/geometry"):
            if getattr(thing, "kind", "") == "plate":
                measures = [values(sdf, f"{part}/cylinder/{of}")[0] for of in ("radius", "length")]
                assert measures == pytest.approx([size[0], 2 * size[1]])
            else:
                np.testing.assert_allclose(values(sdf, f"{part}/box/size"), 2 * size)
        if thing is WORLD.table:
            continue
        mass, friction = embedded.body(thing.model).mass, embedded.geom_friction[geom][0]
        assert values(sdf, "link/inertial/mass") == pytest.approx(mass)
        moments = [values(sdf, f"link/inertial/inertia/{i}")[0] for i in ("ixx", "iyy", "izz")]
        np.testing.assert_allclose(moments, embedded.body(thing.model).inertia, rtol=1e-6)
        for mu in ("mu", "mu2"):
            assert values(sdf, f"link/collision/surface/friction/ode/{mu}") == pytest.approx(friction)
        colour = values(sdf, "link/visual/material/diffuse")[:3]
        np.testing.assert_allclose(colour, linear(embedded.geom_rgba[geom][:3]), atol=1e-6)
    ground = model(world, WORLD.ground.model)
    assert model(world, WORLD.table.model).findtext("static") == ground.findtext("static") == "true"
    assert pose(ground)[2, 3] == 0.0 and values(world, "physics/max_step_size") == pytest.approx(STEP)


def test_each_thing_reports_its_contacts_in_one_message_a_step_and_what_stands_still_reports_none():
    """A bowl has a dozen shapes, and `sim` reads the newest messages only: at most one of each thing."""
    bowls = load_world("bowls")
    scene = parse(world=bowls)
    for fixed in (bowls.table.model, bowls.ground.model):
        assert model(scene, fixed).find("link/sensor") is None
    robot = ET.fromstring(build_urdf(bowls, "controllers.yaml"))
    sensed = {tags.get("reference") for tags in robot.findall("gazebo[sensor]")}
    assert sensed and "base_link" not in sensed, "the base meets its table face to face"
    for thing in bowls.objects:
        link = model(scene, thing.model).find("link")
        (sensor,) = link.findall("sensor[@type='contact']")
        collisions = [shape.get("name") for shape in link.findall("collision")]
        assert [e.text for e in sensor.findall("contact/collision")] == collisions
        assert sensor.findtext("contact/topic") == "/spca/gazebo/contacts"
    moves = [m.attrib["name"] for m in scene.findall("model") if m.findtext("static") != "true"]
    assert moves == [thing.model for thing in bowls.objects], "the order in which their poses are told"
