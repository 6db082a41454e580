"""Gripper figures, and the MuJoCo model built from the figures: it agrees with the closed-form kinematics."""

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.arms import GROUP
from spca_core.errors import InputError
from spca_core.extensions import installed
from spca_core.geometry import Pose
from spca_core.world import World, load_world
from spca_robot import gripper_2f85 as gripper
from spca_robot.gripper_model import BODIES
from spca_robot.kinematics import ArmKinematics
from spca_robot.workspace_model import WorkspaceIndex, build_model

gaps = st.floats(0.0, gripper.STROKE)
joints = st.tuples(*[st.floats(-np.pi, np.pi)] * 7)  # an arm takes as many of them as it has


@pytest.fixture(scope="module", params=sorted(installed(GROUP)))
def world(request: pytest.FixtureRequest) -> World:
    """With each arm that is installed."""
    return load_world(f"tabletop@{request.param}")


@pytest.fixture(scope="module")
def workspace(world: World) -> tuple[mujoco.MjModel, WorkspaceIndex]:
    return build_model(world, world.objects)


def test_published_figures_come_out() -> None:
    """Closed at 0.8 rad; 11 mm longer after closing by 45 mm; 162.8 mm long closed (Robotiq manual)."""
    assert pytest.approx(0.8, abs=0.01) == gripper.CLOSED_ANGLE
    assert gripper.tcp_offset(0.04) - gripper.tcp_offset(0.085) == pytest.approx(0.0115, abs=0.001)
    length = gripper.tcp_offset(0.0) + gripper.PAD_TIP - gripper.ADAPTER
    assert length == pytest.approx(0.1628, abs=0.001)


@pytest.mark.parametrize("gap", [-0.001, 0.09, math.nan])
def test_an_impossible_gap_is_refused(gap: float) -> None:
    with pytest.raises(InputError):
        gripper.driver_angle(gap)


@given(q=joints, gap=gaps)
def test_the_model_agrees_with_the_kinematics(
    world: World, workspace: tuple[mujoco.MjModel, WorkspaceIndex], q: tuple[float, ...], gap: float
) -> None:
    """Flange, tool centre point and gap of the compiled model, anywhere."""
    model, index = workspace
    data = mujoco.MjData(model)
    q = q[: len(index.arm_qpos)]
    index.set_arm(data, np.array(q))
    index.set_gap(data, gap)
    mujoco.mj_kinematics(model, data)

    base = Pose(position=world.robot.base.position).matrix()
    flange = base @ ArmKinematics(world.robot.arm).forward(q)
    site = data.site("tool0")
    assert site.xpos == pytest.approx(flange[:3, 3], abs=1e-9)
    assert site.xmat == pytest.approx(flange[:3, :3].ravel(), abs=1e-9)

    left, right = data.geom("left_pad").xpos, data.geom("right_pad").xpos
    assert (left + right) / 2 == pytest.approx(
        flange[:3, 3] + gripper.tcp_offset(gap) * flange[:3, 2], abs=1e-9
    )
    across = (left - right) @ flange[:3, 1]
    assert across - gripper.PAD_THICKNESS == pytest.approx(gap, abs=1e-9), "the left finger is at +y"
    assert index.gap(data) == pytest.approx(gap, abs=1e-9)


def test_masses_and_limits_are_those_of_the_arms_file(
    world: World, workspace: tuple[mujoco.MjModel, WorkspaceIndex]
) -> None:
    model, index = workspace
    for joint in world.robot.arm.joints:
        assert model.body(f"{world.robot.model}/{joint.link}").mass[0] == pytest.approx(joint.mass)
    hand = [model.body(b) for b in range(model.nbody)]
    assert sum(b.mass[0] for b in hand if b.name.endswith(BODIES)) == pytest.approx(gripper.MASS)
    assert model.jnt_range[: len(index.arm_qpos)] == pytest.approx(world.robot.arm.column("range"))
    assert model.actuator_forcerange[:-1, 1] == pytest.approx(world.robot.arm.column("torque"))
    assert list(index.arm_qpos) == list(range(len(world.robot.home)))
