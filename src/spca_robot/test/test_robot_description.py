"""The generated URDF equals the embedded simulator's robot when independent parsers read it."""

import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from spca_core.arms import GROUP
from spca_core.errors import InputError
from spca_core.extensions import installed
from spca_core.geometry import Pose
from spca_core.world import PlanarPose, load_world
from spca_robot.description.moveit_config import build_srdf, controllers, harmless_pairs
from spca_robot.description.names import (
    ARM_CONTROLLER,
    GENERATED,
    GRIPPER_CONTROLLER,
    OPTICAL_FRAME,
)
from spca_robot.description.urdf import build_urdf, build_vendor_urdf, missing_packages, write_robot
from spca_robot.gripper_2f85 import driver_angle
from spca_robot.gripper_model import BODIES
from spca_robot.kinematics import ArmKinematics
from spca_robot.workspace_model import build_model

WORLD = load_world()
MOVED = WORLD.model_copy(
    update={"robot": WORLD.robot.model_copy(update={"base": PlanarPose(position=(0.1, -0.2, 0.5), yaw=0.7)})}
)
# MuJoCo's own URDF reader, set to keep fixed bodies.
KEEP = '<mujoco><compiler fusestatic="false" discardvisual="true"/></mujoco>'


def mujoco_reads(urdf: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(urdf.replace("</robot>", KEEP + "</robot>"))


def place(model: mujoco.MjModel, joints: np.ndarray, gap: float) -> mujoco.MjData:
    data = mujoco.MjData(model)
    arm = [n for j in range(model.njnt) if (n := model.joint(j).name) not in GENERATED.joints]
    for name, value in zip(arm, joints, strict=True):
        data.joint(name).qpos = value
    angle = driver_angle(gap)
    data.joint(GENERATED.commanded).qpos = angle
    for follower, ratio in GENERATED.followers.items():
        data.joint(follower).qpos = ratio * angle
    mujoco.mj_kinematics(model, data)
    return data


def frame(data: mujoco.MjData, body: str) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = data.body(body).xmat.reshape(3, 3)
    matrix[:3, 3] = data.body(body).xpos
    return matrix


def link_of(body: str) -> str:
    """The URDF's name of a body of the embedded simulator's robot."""
    name = "base_link" if body == "cobot" else body.removeprefix("cobot/")
    return name + ("_link" if name.endswith(("driver", "inner", "tip")) else "")


@pytest.mark.parametrize(
    "world",
    [MOVED, *(load_world(f"tabletop@{arm}") for arm in sorted(installed(GROUP)))],
    ids=lambda world: world.robot.arm.name,
)
def test_forward_kinematics_agree_with_the_closed_form(world):
    model = mujoco_reads(build_urdf(world))
    mount = Pose.from_xyz_yaw(*world.robot.base.position, world.robot.base.yaw).matrix()
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, gap = rng.uniform(-3, 3, len(world.robot.home)), rng.uniform(0, 0.085)
        data = place(model, q, gap)
        flange = mount @ ArmKinematics(world.robot.arm).forward(q)
        np.testing.assert_allclose(frame(data, "tool0"), flange, atol=1e-8)


def bodies_shapes(model: mujoco.MjModel, data: mujoco.MjData, body: str) -> list[tuple[float, ...]]:
    """Kind, size and place of each of a body's shapes."""
    geoms = np.flatnonzero(model.geom_bodyid == model.body(body).id)
    rows = [[model.geom_type[g], *model.geom_size[g], *data.geom_xpos[g]] for g in geoms]
    return sorted(tuple(np.round(row, 6) + 0.0) for row in rows)


@pytest.mark.parametrize("gap", [0.0, 0.04, 0.085])
def test_every_link_and_shape_is_where_the_embedded_simulator_has_it(gap: float):
    model = mujoco_reads(build_urdf(WORLD))
    embedded, index = build_model(WORLD)
    q = np.array([0.4, -1.2, 1.7, -2.0, -1.4, 0.3])
    data = place(model, q, gap)
    reference = mujoco.MjData(embedded)
    index.set_arm(reference, q)
    index.set_gap(reference, gap)
    mujoco.mj_kinematics(embedded, reference)
    names = [embedded.body(body).name for body in range(embedded.nbody)]
    names = [name for name in names if name == "cobot" or name.startswith("cobot/")]
    for name in names:
        link = link_of(name)
        np.testing.assert_allclose(frame(data, link), frame(reference, name), atol=1e-8)
        assert model.body(link).mass[0] == pytest.approx(embedded.body(name).mass[0], rel=1e-9)
        np.testing.assert_allclose(
            np.sort(model.body(link).inertia), np.sort(embedded.body(name).inertia), rtol=1e-5, atol=1e-9
        )
        ours, theirs = bodies_shapes(model, data, link), bodies_shapes(embedded, reference, name)
        assert len(ours) == len(theirs) and (not ours or np.allclose(ours, theirs, atol=2e-6)), name
    assert len(names) == 1 + 6 + len(BODIES)
    tip = frame(data, "left_tip_link")[:3, :3]
    np.testing.assert_allclose(tip, frame(data, "tool0")[:3, :3], atol=1e-8)  # parallel at every gap


def test_only_gazebo_has_knobs_on_its_pads_and_they_touch_where_the_real_faces_do():
    def parts(urdf: str, kind: str, shape: str, size: str) -> list[tuple[str, list[float]]]:
        robot = ET.fromstring(urdf)
        found = [p for link in GENERATED.pads for p in robot.findall(f"link[@name='{link}']/{kind}")]
        shapes = [(p.find(f"geometry/{shape}"), p.find("origin").attrib["xyz"]) for p in found]
        return [(s.attrib[size], [*map(float, at.split())]) for s, at in shapes if s is not None]

    def pads(urdf: str, kind: str) -> list[tuple[str, list[float]]]:
        return [box for box in parts(urdf, kind, "box", "size") if abs(box[1][1]) > 0.02]

    plain, gazebo = build_urdf(WORLD), build_urdf(WORLD, "controllers.yaml")
    real = pads(plain, "collision")
    assert [size for size, _ in real] == ["0.022 0.008 0.0375"] * 2
    assert pads(plain, "visual") == pads(gazebo, "visual") == real
    assert [size for size, _ in pads(gazebo, "collision")] == ["0.01 0.0074 0.024"] * 2  # behind the knobs
    knobs = parts(gazebo, "collision", "sphere", "radius")
    assert [radius for radius, _ in knobs] == ["0.004"] * 4
    assert not parts(plain, "collision", "sphere", "radius")
    assert {abs(y) for _, (_, y, _) in knobs} == {abs(real[0][1][1])}
    *three, one = [(x, z) for _, (x, _, z) in knobs]
    assert one == pytest.approx(np.mean(three, axis=0))  # each of the three bears a third


def test_the_camera_frame_is_the_calibrated_one():
    data = place(mujoco_reads(build_urdf(WORLD)), np.zeros(6), 0.085)
    np.testing.assert_allclose(frame(data, OPTICAL_FRAME), WORLD.camera.pose.matrix(), atol=1e-8)


def commanded(control: ET.Element) -> set[str]:
    joints = control.findall("joint")
    return {j.attrib["name"] for j in joints if j.find("command_interface") is not None}


def test_the_wrist_cameras_frame_is_the_worlds_in_tool0_and_gazebo_draws_what_it_sees():
    world = load_world("wrist")
    data = place(mujoco_reads(build_urdf(world)), np.array([0.4, -1.2, 1.7, -2.0, -1.4, 0.3]), 0.085)
    expected = frame(data, "tool0") @ world.wrist_camera.pose.matrix()
    np.testing.assert_allclose(frame(data, f"wrist_{OPTICAL_FRAME}"), expected, atol=1e-8)

    def cameras(world, file: str) -> list[ET.Element]:
        return ET.fromstring(build_urdf(world, file)).findall("gazebo/sensor[@type='rgbd_camera']")

    assert cameras(world, "") == cameras(WORLD, "controllers.yaml") == []
    (sensor,) = cameras(world, "controllers.yaml")
    assert sensor.findtext("topic") == "/spca/gazebo/wrist_camera"
    assert sensor.findtext("camera/optical_frame_id") == f"wrist_{OPTICAL_FRAME}"
    assert float(sensor.findtext("camera/lens/intrinsics/fx")) == world.wrist_camera.fx
    assert float(sensor.findtext("update_rate")) == world.wrist_camera.rate_hz
    ahead = frame(data, f"wrist_{OPTICAL_FRAME}")[:3, 2]  # Gazebo's camera looks along +x of its link
    np.testing.assert_allclose(frame(data, "wrist_camera_link")[:3, 0], ahead, atol=1e-8)


def test_one_gripper_joint_takes_commands_and_no_mimic_joint_does():
    robot = ET.fromstring(build_urdf(WORLD, "controllers.yaml"))
    control = robot.find("ros2_control")
    assert commanded(control) == {*WORLD.robot.arm.joint_names, GENERATED.commanded}
    parameters = yaml.safe_load(controllers(GENERATED, WORLD.robot.arm.joint_names))
    for controller in (ARM_CONTROLLER, GRIPPER_CONTROLLER):  # each claims what its joints offer
        claims = parameters[controller]["ros__parameters"]
        for name in claims["joints"]:
            joint = control.find(f"joint[@name='{name}']")
            offered = {e.attrib["name"] for e in joint.findall("command_interface")}
            assert offered == set(claims["command_interfaces"])
            assert set(claims["state_interfaces"]) <= {
                e.attrib["name"] for e in joint.findall("state_interface")
            }
    mimics = {
        j.attrib["name"]: j.find("mimic").attrib
        for j in robot.findall("joint")
        if j.find("mimic") is not None
    }
    assert {n: float(m["multiplier"]) for n, m in mimics.items()} == GENERATED.followers
    assert {m["joint"] for m in mimics.values()} == {GENERATED.commanded}  # no mimic of a mimic
    assert set(mimics) <= {j.attrib["name"] for j in control.findall("joint")}


def test_harmless_pairs_are_those_that_the_embedded_simulator_leaves_out():
    embedded, _ = build_model(WORLD)
    excluded = set()
    for signature in embedded.exclude_signature:
        bodies = [embedded.body(int(b)).name for b in (signature >> 16, signature & 0xFFFF)]
        excluded.add(frozenset(bodies))
    for body in range(1, embedded.nbody):  # MuJoCo itself skips parent and child
        parent = int(embedded.body_parentid[body])
        if parent:
            excluded.add(frozenset((embedded.body(body).name, embedded.body(parent).name)))

    ours = {frozenset(p) for p in harmless_pairs(build_urdf(WORLD), GENERATED.root)}
    assert ours == {frozenset(link_of(b) for b in pair) for pair in excluded}


def test_srdf_names_only_what_the_urdf_has():
    urdf = build_urdf(WORLD)
    robot, srdf = ET.fromstring(urdf), ET.fromstring(build_srdf(urdf, WORLD, GENERATED))
    links = {e.attrib["name"] for e in robot.findall("link")}
    limits = {e.attrib["name"]: e.find("limit") for e in robot.findall("joint")}
    for pair in srdf.findall("disable_collisions"):
        assert {pair.attrib["link1"], pair.attrib["link2"]} <= links
    states = srdf.findall("group_state")
    assert {s.attrib["name"] for s in states} == {"home", "out_of_view", "open", "closed"}
    for joint in (j for s in states for j in s.findall("joint")):
        limit = limits[joint.attrib["name"]]
        assert float(limit.attrib["lower"]) <= float(joint.attrib["value"]) <= float(limit.attrib["upper"])
    chain = srdf.find("group/chain").attrib
    assert (chain["base_link"], chain["tip_link"]) == ("base_link", "tool0")


@pytest.mark.skipif(not missing_packages(), reason="the vendors' packages are installed")
def test_missing_vendor_packages_are_named(tmp_path: Path):
    with pytest.raises(InputError, match=missing_packages()[0]):
        write_robot(WORLD, tmp_path, source="vendor")


def test_an_arm_that_ur_description_does_not_have_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="ur_description has no Franka Emika Panda"):
        build_vendor_urdf(load_world("tabletop@panda"), tmp_path)


@pytest.mark.skipif(
    bool(missing_packages()),
    reason=f"not installed: {', '.join(missing_packages())}; apt or a clone has them, no package registry "
    "does (docs/full-stack.md)",
)
def test_vendor_description_has_the_same_flange_and_one_commanded_finger(tmp_path: Path):
    urdf = build_vendor_urdf(WORLD, tmp_path, "controllers.yaml")
    robot = ET.fromstring(urdf)
    for link in robot.findall(
        "link"
    ):  # the meshes are not what is compared, and MuJoCo cannot read all of them
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
    model = mujoco_reads(ET.tostring(robot, encoding="unicode"))
    mount = Pose.from_xyz_yaw(*WORLD.robot.base.position, WORLD.robot.base.yaw).matrix()
    for q in np.random.default_rng(2).uniform(-3, 3, (10, 6)):
        data = mujoco.MjData(model)
        for name, value in zip(WORLD.robot.arm.joint_names, q, strict=True):
            data.joint(name).qpos = value
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(
            frame(data, "tool0"), mount @ ArmKinematics(WORLD.robot.arm).forward(q), atol=1e-4
        )
    control = robot.find("ros2_control")
    assert commanded(control) == {*WORLD.robot.arm.joint_names, "robotiq_85_left_knuckle_joint"}
