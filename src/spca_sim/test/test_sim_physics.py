"""Grasps, towers, falls and contacts are real."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spca_core.contacts import ContactSample, pair
from spca_core.geometry import Array, Pose, Vec3
from spca_core.layout import Layout, nominal_layout, random_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import World, load_world
from spca_robot.gripper_2f85 import tcp_offset
from spca_robot.kinematics import ArmKinematics
from spca_sim.disturbances.disturbance import Disturbance
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import SimVariation

COBOT, TABLE, GROUND = "cobot", "table_lightgray", "ground_plane"


@pytest.fixture
def simulator(world: World) -> MujocoWorld:
    return MujocoWorld(world)


def tool_at(simulator: MujocoWorld, point: Vec3, yaw: float, gap: float) -> Array:
    """Joints nearest to the present ones that put the tool at `point`, pointing down, pads along `yaw`."""
    tool = np.eye(4)
    tool[:3, 0] = (math.sin(yaw), -math.cos(yaw), 0)
    tool[:3, 1] = (-math.cos(yaw), -math.sin(yaw), 0)
    tool[:3, 2] = (0, 0, -1)
    tool[:3, 3] = np.subtract(point, simulator.world.robot.base.position)
    tool[2, 3] += tcp_offset(gap)
    now = simulator.state().position
    arm = ArmKinematics(simulator.world.robot.arm)
    solutions = arm.nearest_turns(arm.inverse_branches(tool), now)
    return np.asarray(solutions[np.nanargmin(np.abs(solutions - now).max(axis=1))])


def go(simulator: MujocoWorld, joints: Array, speed: float = 1.0) -> None:
    """Blend to joint positions at about `speed` rad/s and wait until there."""
    start = simulator.state().position
    duration = max(0.4, float(np.abs(joints - start).max()) / speed)
    s = np.linspace(0, 1, 60)[:, None]
    blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / duration
    simulator.follow(
        JointTrajectory(s[:, 0] * duration, start + blend * (joints - start), rate * (joints - start))
    )
    simulator.step(duration + 0.1)


def grasp(simulator: MujocoWorld, model: str, gap: float = 0.01) -> None:
    """Descend on a cube from 15 cm above and close; ends with the tool where it closed."""
    pose = simulator.object_pose(model)
    x, y, z = pose.position
    for height in (0.15, 0.10, 0.05, 0.0):
        go(simulator, tool_at(simulator, (x, y, z + height), pose.yaw, 0.04))
    simulator.command_gripper(gap)
    simulator.step(0.8)


def raise_tool(simulator: MujocoWorld, model: str, speed: float = 1.0) -> None:
    """Go up to 15 cm over where the cube now is."""
    pose = simulator.object_pose(model)
    x, y, z = pose.position
    go(simulator, tool_at(simulator, (x, y, z + 0.15), pose.yaw, 0.04), speed)


def watch(simulator: MujocoWorld) -> list[ContactSample]:
    samples: list[ContactSample] = []
    simulator.on_contacts(samples.append)
    return samples


@pytest.mark.parametrize("seed", range(2))
def test_a_cube_is_lifted_by_friction_alone(world: World, simulator: MujocoWorld, seed: int) -> None:
    simulator.reset(random_layout(world, seed))
    samples = watch(simulator)
    z = simulator.object_pose("box_red").position[2]
    grasp(simulator, "box_red")
    state = simulator.state()
    assert state.gripper_gap == pytest.approx(0.04, abs=0.001)
    assert state.gripper_force == pytest.approx(46, abs=3)
    raise_tool(simulator, "box_red")
    simulator.step(2.0)
    assert simulator.object_pose("box_red").position[2] == pytest.approx(z + 0.15, abs=0.003)
    assert [p for p in samples[-1].pairs if "box_red" in p] == [pair("box_red", COBOT)]
    simulator.command_gripper(0.085)
    simulator.step(0.6)
    assert pair("box_red", TABLE) in samples[-1].pairs
    assert simulator.object_pose("box_red").position[2] == pytest.approx(z, abs=0.001)


def test_a_held_cube_survives_a_fast_swing(world: World, simulator: MujocoWorld) -> None:
    simulator.reset(nominal_layout(world))
    grasp(simulator, "box_blue")
    raise_tool(simulator, "box_blue")
    swing = simulator.state().position + np.array([1.2, 0, 0, 0, 0, 1.5])
    go(simulator, swing, speed=2.0)
    samples = watch(simulator)
    simulator.step(0.1)
    assert pair("box_blue", COBOT) in samples[-1].pairs
    assert simulator.state().gripper_gap == pytest.approx(0.04, abs=0.001)


@pytest.mark.parametrize("base", [TABLE, "plate_red"])
def test_a_tower_of_three_stands(world: World, simulator: MujocoWorld, base: str) -> None:
    poses = dict(nominal_layout(world).poses)
    x, y, floor = (0.5, -0.14, 0.4) if base == TABLE else (*world.object(base).position, 0.408)
    tower = ("box_red", "box_green", "box_blue")
    for level, (model, shift) in enumerate(zip(tower, (0.0, 0.004, -0.003), strict=True)):
        poses[model] = Pose.from_xyz_yaw(x + shift, y, floor + 0.02 + 0.04 * level, 0.3 * level)
    simulator.reset(Layout(poses=poses))
    samples = watch(simulator)
    simulator.step(10.0)
    for model in tower:
        assert simulator.object_pose(model).position == pytest.approx(poses[model].position, abs=5e-4)
    standing = {pair("box_red", base), pair("box_red", "box_green"), pair("box_blue", "box_green")}
    assert all(standing <= s.pairs for s in samples)


def tower(world: World, simulator: MujocoWorld) -> tuple[str, ...]:
    """Three cubes on each other, alone on the table, once they sleep."""
    names = ("box_red", "box_green", "box_blue")
    x, y, _ = nominal_layout(world).poses["box_blue"].position
    poses = {name: Pose.from_xyz_yaw(x, y, 0.42 + 0.04 * i) for i, name in enumerate(names)}
    simulator.reset(Layout(poses=poses))
    simulator.step(0.5)
    assert asleep(simulator) == {*names} and simulator.data.ncon == 0
    return names


def asleep(simulator: MujocoWorld) -> set[str]:
    model, trees = simulator.model, simulator.data.tree_asleep
    return {name for name in simulator.moment().objects if trees[model.body_treeid[model.body(name).id]] >= 0}


def test_what_sleeps_touches_what_it_did_until_the_arm_wakes_it(world: World, simulator: MujocoWorld) -> None:
    """Also after a checkpoint, with which all goes on to the last bit."""
    low, middle, high = tower(world, simulator)
    standing = {pair(low, TABLE), pair(low, middle), pair(middle, high)}
    carried = {("rests_on", low, TABLE), ("rests_on", middle, low), ("rests_on", high, middle)}
    samples = watch(simulator)
    simulator.step(0.3)
    assert all(s.pairs == standing and carried <= s.ways for s in samples)
    kept = simulator.checkpoint()
    ends = []
    for number, one in enumerate((simulator, simulator, MujocoWorld(world))):
        if number:
            one.restore(kept)
        heard = watch(one)
        grasp(one, high)
        raise_tool(one, high)
        ends.append((one.checkpoint(), [(s.stamp, s.pairs, s.ways) for s in heard]))
        assert asleep(one) == {low, middle}
    assert ends[0] == ends[1] == ends[2]
    assert pair(middle, high) not in ends[0][1][-1][1] and pair(low, middle) in ends[0][1][-1][1]


def test_whatever_moves_a_thing_by_hand_wakes_it_and_what_stands_on_it(world: World) -> None:
    one = Disturbance(kind="friction", at=0.7, seed=1, names=(), spare=())
    simulator = MujocoWorld(world, variation=SimVariation(disturbances=(one,)))
    low, middle, high = tower(world, simulator)
    simulator.step(0.2)
    assert simulator.disturber.now.friction != 1.0
    simulator.step(0.002)
    assert not asleep(simulator)
    simulator.step(0.3)
    assert asleep(simulator) == {low, middle, high}
    simulator.data.qpos[simulator._scene.index.item_qpos[low]] += 0.2
    simulator.step(0.5)
    assert simulator.object_pose(high).position[2] < 0.47


def test_a_tower_off_its_balance_falls(world: World, simulator: MujocoWorld) -> None:
    """The counterpart of the test above: contacts do not act as glue."""
    poses = {
        "box_red": Pose.from_xyz_yaw(0.5, -0.1, 0.42),
        "box_blue": Pose.from_xyz_yaw(0.5, -0.1 + 0.022, 0.46),
    }
    simulator.reset(Layout(poses=poses))
    simulator.step(1.0)
    assert simulator.object_pose("box_blue").position[2] < 0.44


@pytest.mark.parametrize(("beyond", "touching"), [(0.0, True), (0.008, True), (0.019, False)])
def test_only_what_carries_weight_carries(beyond: float, touching: bool) -> None:
    """A cube over two that stand flush; and on the middle of one, over the edge of the other."""
    world = load_world("blocks")
    simulator = MujocoWorld(world)
    samples: list[ContactSample] = []
    simulator.on_contacts(samples.append)
    z = world.table.top + 0.02
    simulator.reset(
        Layout(
            poses={
                "box_red": Pose.from_xyz_yaw(0.46, 0.0, z),
                "box_green": Pose.from_xyz_yaw(0.50, 0.0, z),
                "box_blue": Pose.from_xyz_yaw(0.48 - beyond, 0.0, z + 0.04),
            }
        )
    )
    simulator.step(0.5)
    seen = {way for sample in samples[-15:] for way in sample.ways}
    assert ("rests_on", "box_blue", "box_red") in seen
    assert (("rests_on", "box_blue", "box_green") in seen) is touching
    assert ("beside", "box_green", "box_red") in seen


def test_the_table_is_finite(world: World, simulator: MujocoWorld) -> None:
    """A cube over the edge falls to the ground and touches it; one on the inner side of the edge stays."""
    edge = world.table.centre[0] + world.table.size[0] / 2
    poses = {
        "box_red": Pose.from_xyz_yaw(edge + 0.005, 0.0, 0.42),
        "box_blue": Pose.from_xyz_yaw(edge - 0.025, 0.2, 0.42),
    }
    simulator.reset(Layout(poses=poses))
    samples = watch(simulator)
    simulator.step(1.5)
    assert samples[-1].pairs == {pair("box_red", GROUND), pair("box_blue", TABLE)}


def test_a_cube_pushed_off_the_table_falls(world: World, simulator: MujocoWorld) -> None:
    """The closed fingers sweep it over the side's edge."""
    side = world.table.centre[1] - world.table.size[1] / 2
    simulator.reset(Layout(poses={"box_green": Pose.from_xyz_yaw(0.4, side + 0.06, 0.42)}))
    samples = watch(simulator)
    simulator.command_gripper(0.0)
    simulator.step(0.8)
    for y in (0.16, 0.12, 0.08, 0.04, 0.0, -0.03):
        go(simulator, tool_at(simulator, (0.4, side + y, 0.435), 0.0, 0.0))
    simulator.step(1.0)
    touched = {p for s in samples for p in s.pairs}
    assert pair("box_green", COBOT) in touched
    assert pair("box_green", GROUND) in samples[-1].pairs
    assert pair(COBOT, TABLE) not in touched


@pytest.mark.parametrize("gap", [0.0, 0.04, 0.085])
def test_a_free_robot_touches_nothing(world: World, simulator: MujocoWorld, gap: float) -> None:
    """Neither its neighbouring links, nor its closed fingers, nor its base on the table count."""
    simulator.reset(Layout(poses={}))
    samples = watch(simulator)
    simulator.command_gripper(gap)
    go(simulator, np.array(world.robot.out_of_view))
    go(simulator, np.array(world.robot.home))
    assert {s.pairs for s in samples} == {frozenset()}


def test_a_collision_with_the_table_shows(world: World, simulator: MujocoWorld) -> None:
    simulator.reset(Layout(poses={}))
    samples = watch(simulator)
    for z in (0.5, 0.45, 0.40):
        go(simulator, tool_at(simulator, (0.5, 0.1, z), 0.0, 0.085))
    assert samples[-1].pairs == {pair(COBOT, TABLE)}


def test_a_self_collision_shows(world: World, simulator: MujocoWorld) -> None:
    """The hand folded back against the arm."""
    simulator.reset(Layout(poses={}))
    samples = watch(simulator)
    go(simulator, np.array([0.0, -1.57, 2.75, -1.57, -1.57, 0.0]))
    go(simulator, np.array([0.0, -1.57, 2.75, 1.2, 0.0, 0.0]))
    assert any(pair(COBOT, COBOT) in s.pairs for s in samples)


def test_an_empty_gripper_closes_fully_at_its_speed(world: World, simulator: MujocoWorld) -> None:
    simulator.reset(Layout(poses={}))
    simulator.command_gripper(0.0)
    simulator.step(0.3)
    assert simulator.state().gripper_gap == pytest.approx(0.085 - 0.3 * 0.15, abs=0.01)
    simulator.step(0.5)
    assert simulator.state().gripper_gap == pytest.approx(0.0, abs=5e-4)
    assert abs(simulator.state().gripper_force) < 1.0


def test_a_grip_is_not_lost_when_told_to_close_on(world: World, simulator: MujocoWorld) -> None:
    simulator.reset(nominal_layout(world))
    grasp(simulator, "box_blue", gap=0.01)
    raise_tool(simulator, "box_blue")
    for gap in (0.0, 0.015, 0.005):
        simulator.command_gripper(gap)
        simulator.step(0.3)
    samples = watch(simulator)
    simulator.step(0.1)
    assert pair("box_blue", COBOT) in samples[-1].pairs
