"""The SDF world and the embedded simulator's model describe the same workspace."""

import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spca_core.layout import nominal_layout, random_layout
from spca_core.world import load_world
from spca_referee.level import load_level
from spca_robot.workspace_model import build_model
from spca_sim.gazebo.write import STEP, bridge_config, build_world, linear

WORLD = load_world()
LAYOUTS = {"nominal": nominal_layout(WORLD), "random": random_layout(WORLD, 7)}


def parse(layout=None) -> ET.Element:
    return ET.fromstring(build_world(WORLD, layout)).find("world")


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


@pytest.mark.parametrize("name", LAYOUTS)
def test_poses_sizes_masses_and_friction_agree_with_mujoco(name):
    layout = LAYOUTS[name]
    world = parse(layout)
    embedded, index = build_model(WORLD, WORLD.objects)
    data = mujoco.MjData(embedded)
    for thing, where in layout.poses.items():
        index.set_item(data, thing, where)
    mujoco.mj_kinematics(embedded, data)
    for thing in WORLD.objects:
        sdf, body = model(world, thing.model), data.body(thing.model)
        np.testing.assert_allclose(pose(sdf)[:3, 3], body.xpos, atol=1e-9)
        np.testing.assert_allclose(pose(sdf)[:3, :3], body.xmat.reshape(3, 3), atol=1e-9)
        link = sdf.find("link")
        assert values(link, "inertial/mass") == pytest.approx(embedded.body(thing.model).mass)
        moments = [values(link, f"inertial/inertia/{i}")[0] for i in ("ixx", "iyy", "izz")]
        np.testing.assert_allclose(moments, embedded.body(thing.model).inertia, rtol=1e-6)
        geom = index.geom_models.index(thing.model)
        for part in ("collision", "visual"):
            if thing.kind == "plate":
                assert values(link, f"{part}/geometry/cylinder/radius") == pytest.approx(
                    embedded.geom_size[geom][0]
                )
                assert values(link, f"{part}/geometry/cylinder/length") == pytest.approx(
                    2 * embedded.geom_size[geom][1]
                )
            else:
                np.testing.assert_allclose(
                    values(link, f"{part}/geometry/box/size"), 2 * embedded.geom_size[geom]
                )
        for mu in ("mu", "mu2"):
            friction = values(link, f"collision/surface/friction/ode/{mu}")
            assert friction == pytest.approx(embedded.geom_friction[geom][0])
        np.testing.assert_allclose(
            values(link, "visual/material/diffuse")[:3], linear(embedded.geom_rgba[geom][:3]), atol=1e-6
        )


def test_table_and_ground_agree_with_mujoco():
    world = parse()
    embedded, index = build_model(WORLD)
    data = mujoco.MjData(embedded)
    mujoco.mj_kinematics(embedded, data)
    table = model(world, WORLD.table.model)
    geom = index.geom_models.index(WORLD.table.model)
    assert table.findtext("static") == "true"
    np.testing.assert_allclose(pose(table)[:3, 3], data.geom_xpos[geom], atol=1e-9)
    np.testing.assert_allclose(
        values(table, "link/collision/geometry/box/size"), 2 * embedded.geom_size[geom]
    )
    ground = model(world, WORLD.ground.model)
    assert ground.findtext("static") == "true" and pose(ground)[2, 3] == 0.0
    assert values(world, "physics/max_step_size") == pytest.approx(STEP)


def test_the_camera_sees_a_point_at_the_same_pixel():
    """A point projected with Gazebo's body frame and field of view, and with the pinhole model."""
    camera = model(parse(), WORLD.camera.name)
    optics = camera.find("link/sensor/camera")
    width, height = (int(values(optics, f"image/{k}")[0]) for k in ("width", "height"))
    focal = width / 2 / np.tan(values(optics, "horizontal_fov")[0] / 2)
    intrinsics = WORLD.camera.intrinsics
    for point in ([0.5, 0.0, 0.4], [0.62, 0.16, 0.41], [0.35, -0.25, 0.44]):
        forward, left, up = (np.linalg.inv(pose(camera)) @ [*point, 1.0])[:3]
        # Gazebo: the image's middle is at (width/2, height/2) from the corner of the first pixel.
        seen = width / 2 - focal * left / forward, height / 2 - focal * up / forward
        x, y, z = (np.linalg.inv(WORLD.camera.pose.matrix()) @ [*point, 1.0])[:3]
        u, v = intrinsics.fx * x / z + intrinsics.cx, intrinsics.fy * y / z + intrinsics.cy
        assert seen == pytest.approx((u + 0.5, v + 0.5), abs=1e-6)
        assert forward == pytest.approx(z)
    for name, value in (("fx", 600), ("fy", 600), ("cx", 320), ("cy", 240)):
        assert values(optics, f"lens/intrinsics/{name}") == pytest.approx(value)
    assert (width, height) == (intrinsics.width, intrinsics.height)
    assert values(camera, "link/sensor/update_rate") == pytest.approx(WORLD.camera.rate_hz)


def test_the_bridge_passes_a_wrist_cameras_pictures_on_where_the_world_has_one():
    def pictures(world) -> set[str]:
        topics = [topic for topic in bridge_config(world) if "camera" in topic["ros_topic_name"]]
        assert all(topic["lazy"] for topic in topics), "what nobody watches is not drawn"
        return {topic["gz_topic_name"].removeprefix("/spca/gazebo/") for topic in topics}

    fixed = {f"camera/{kind}" for kind in ("image", "depth_image", "points")}
    assert pictures(WORLD) == fixed
    assert pictures(load_world("wrist")) == fixed | {f"wrist_{topic}" for topic in fixed}


def test_light_and_shadow_are_as_bright_as_in_the_embedded_simulator():
    """Image brightness of a white level surface under ogre2's ambient and lamp light (world_sdf)."""
    world, light = parse(), WORLD.light
    slant = -values(world, "light/direction")[2]
    shadow = values(world, "scene/ambient")[0] / np.pi
    lit = shadow + values(world, "light/intensity")[0] * slant * 0.81
    assert shadow == pytest.approx(float(linear(light.ambient)))
    assert lit == pytest.approx(float(linear(light.ambient + light.diffuse * slant)))


def test_the_depth_noise_is_the_cameras_at_the_tables_distance():
    noise = model(parse(), WORLD.camera.name).find("link/sensor/camera/noise")
    distance = WORLD.camera.position[2] - WORLD.table.top
    assert values(noise, "stddev") == pytest.approx(WORLD.camera.noise.depth_sigma * distance**2)


def test_every_object_has_a_contact_sensor_on_the_shared_topic_and_what_stands_still_none():
    """A pair is reported if either side has a sensor; reports of both sides would only double the load."""
    world = parse()
    for fixed in (WORLD.table.model, WORLD.ground.model):
        assert model(world, fixed).find("link/sensor") is None
    for name in (thing.model for thing in WORLD.objects):
        sensor = model(world, name).find("link/sensor")
        assert sensor.attrib["type"] == "contact"
        collision = model(world, name).find("link/collision").attrib["name"]
        assert sensor.findtext("contact/collision") == collision
        assert sensor.findtext("contact/topic") == "/spca/gazebo/contacts"
        # (Each system is a thread of Gazebo that waits for the others at every step.)
        assert model(world, name).find("plugin") is None


def test_things_stand_in_the_worlds_file_in_the_order_in_which_their_poses_are_told():
    moves = [m.attrib["name"] for m in parse().findall("model") if m.findtext("static") != "true"]
    assert moves == [thing.model for thing in WORLD.objects]


def test_each_thing_reports_its_contacts_in_one_message_a_step():
    """A bowl has a dozen shapes, and `sim` reads the newest messages only: at most one of each thing."""
    scene = ET.fromstring(build_world(load_world("bowls"))).find("world")
    several = 0
    for link in scene.findall("model/link"):
        sensors, shapes = link.findall("sensor[@type='contact']"), link.findall("collision")
        assert len(sensors) <= 1
        for sensor in sensors:
            assert [e.text for e in sensor.findall("contact/collision")] == [s.get("name") for s in shapes]
            several += len(shapes) > 1
    assert several


@pytest.mark.parametrize("name", ["stack_01", "bowls_02"])
def test_contacts_are_reported_of_what_a_level_asks_about_and_of_nothing_else(name: str):
    level = load_level(name)
    world = load_world(level.world)
    watched = tuple(sorted(level.names & {thing.model for thing in world.objects}))
    scene = ET.fromstring(build_world(world, watched=watched)).find("world")
    sensed = {
        m.attrib["name"] for m in scene.findall("model") if m.find("link/sensor[@type='contact']") is not None
    }
    assert sensed == set(watched)
    asked = {model for pair in (*level.success.pairs, *level.fail.pairs) for model in pair}
    assert asked & {thing.model for thing in world.objects} <= sensed != set(world.model_names)


def test_an_object_that_the_layout_lacks_is_absent():
    layout = nominal_layout(WORLD)
    poses = {name: where for name, where in layout.poses.items() if name != "box_red"}
    names = {m.attrib["name"] for m in parse(layout.model_copy(update={"poses": poses})).findall("model")}
    assert "box_red" not in names and "box_blue" in names
