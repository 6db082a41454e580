"""The generated URDF equals the embedded simulator's robot when independent parsers read it."""

import mujoco
import numpy as np
import pytest

from spca_core.arms import GROUP
from spca_core.extensions import installed
from spca_core.world import PlanarPose, load_world
from spca_robot.description.moveit_config import harmless_pairs
from spca_robot.description.names import GENERATED, OPTICAL_FRAME
from spca_robot.description.urdf import build_urdf
from spca_robot.gripper_2f85 import driver_angle
from spca_robot.gripper_model import BODIES
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


def bodies_shapes(model: mujoco.MjModel, data: mujoco.MjData, body: str) -> list[tuple[float, ...]]:
    """Kind, size and place of each of a body's shapes."""
    geoms = np.flatnonzero(model.geom_bodyid == model.body(body).id)
    rows = [[model.geom_type[g], *model.geom_size[g], *data.geom_xpos[g]] for g in geoms]
    return sorted(tuple(np.round(row, 6) + 0.0) for row in rows)


@pytest.mark.parametrize(
    "world",
    [MOVED, *(load_world(f"tabletop@{arm}") for arm in sorted(installed(GROUP)))],
    ids=lambda world: world.robot.arm.name,
)
def test_every_link_and_shape_is_where_the_embedded_simulator_has_it(world):
    """Whose flange is where the closed form has it: test_robot_model.py shows that."""
    model = mujoco_reads(build_urdf(world))
    embedded, index = build_model(world)
    q, gap = np.array([0.4, -1.2, 1.7, -2.0, -1.4, 0.3, 0.6][: len(world.robot.home)]), 0.04
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
    assert len(names) == 1 + len(q) + len(BODIES)
    tip = frame(data, "left_tip_link")[:3, :3]
    np.testing.assert_allclose(tip, frame(data, "tool0")[:3, :3], atol=1e-8)  # parallel at every gap


def test_the_cameras_frames_are_the_calibrated_ones():
    """That Gazebo has the wrist's camera there, test_full_stack.py shows."""
    world = load_world("wrist")
    data = place(mujoco_reads(build_urdf(world)), np.array([0.4, -1.2, 1.7, -2.0, -1.4, 0.3]), 0.085)
    np.testing.assert_allclose(frame(data, OPTICAL_FRAME), world.camera.pose.matrix(), atol=1e-8)
    expected = frame(data, "tool0") @ world.wrist_camera.pose.matrix()
    np.testing.assert_allclose(frame(data, f"wrist_{OPTICAL_FRAME}"), expected, atol=1e-8)


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
