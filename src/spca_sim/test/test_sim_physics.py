"""Grasps, towers and contacts are real."""

import numpy as np
import pytest

from spca_core.contacts import ContactSample, pair
from spca_core.geometry import Pose, top_down
from spca_core.layout import Layout, nominal_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import World
from spca_robot.kinematics import ToolKinematics
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import Disturbance, SimVariation
from spca_testing.contracts.arm_contract import OVER_TABLE

COBOT, TABLE = "cobot", "table_lightgray"


@pytest.fixture
def simulator(world: World) -> MujocoWorld:
    return MujocoWorld(world)


def go(simulator: MujocoWorld, *joints: float) -> None:
    """Blend to joint positions at about 1 rad/s and wait until there, whatever is in the way."""
    start = simulator.state().position
    way, s = np.array(joints) - start, np.linspace(0, 1, 60)[:, None]
    duration = max(0.4, float(np.abs(way).max()))
    blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / duration
    simulator.follow(JointTrajectory(s[:, 0] * duration, start + blend * way, rate * way))
    simulator.step(duration + 0.1)


def lift(simulator: MujocoWorld, model: str) -> None:
    """Grasp a cube from above and raise it."""
    tools, (x, y, z) = ToolKinematics(simulator.world), simulator.object_pose(model).position
    for height in (0.15, 0.10, 0.05, 0.0, 0.15):
        now = simulator.state().position
        turns = tools.arm.nearest_turns(
            tools.branches(top_down(x, y, z + height, -np.pi / 2).matrix(), 0.04), now
        )
        go(simulator, *turns[np.nanargmin(np.abs(turns - now).max(axis=1))])
        if height == 0.0:
            simulator.command_gripper(0.01)
            simulator.step(0.8)


def watch(simulator: MujocoWorld) -> list[ContactSample]:
    samples: list[ContactSample] = []
    simulator.on_contacts(samples.append)
    return samples


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
        lift(one, high)
        ends.append((one.checkpoint(), [(s.stamp, s.pairs, s.ways) for s in heard]))
        assert asleep(one) == {low, middle}
    assert ends[0] == ends[1] == ends[2]
    assert pair(middle, high) not in ends[0][1][-1][1] and pair(low, middle) in ends[0][1][-1][1]


def test_whatever_moves_a_thing_by_hand_wakes_it_and_what_stands_on_it(world: World) -> None:
    one = Disturbance(kind="friction", at=0.7, seed=1, names=(), spare=())
    simulator = MujocoWorld(world, variation=SimVariation(disturbances=(one,)))
    low, middle, high = tower(world, simulator)
    friction = simulator.model.geom_friction.copy()
    simulator.step(0.2)
    assert not np.allclose(simulator.model.geom_friction, friction)
    simulator.step(0.002)
    assert not asleep(simulator)
    simulator.step(0.3)
    assert asleep(simulator) == {low, middle, high}
    simulator.data.qpos[simulator._scene.index.item_qpos[low]] += 0.2
    simulator.step(0.5)
    assert simulator.object_pose(high).position[2] < 0.47
    tower(world, simulator)
    assert np.allclose(simulator.model.geom_friction, friction), "it lasts until the next reset"


def test_a_collision_with_the_table_and_with_itself_shows(world: World, simulator: MujocoWorld) -> None:
    """The hand pressed down, and folded back against the arm."""
    simulator.reset(Layout(poses={}))
    samples = watch(simulator)
    go(simulator, *OVER_TABLE)
    go(simulator, *OVER_TABLE + np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0]))
    assert samples[-1].pairs == {pair(COBOT, TABLE)}
    simulator.reset(Layout(poses={}))
    go(simulator, 0.0, -1.57, 2.75, -1.57, -1.57, 0.0)
    go(simulator, 0.0, -1.57, 2.75, 1.2, 0.0, 0.0)
    assert any(pair(COBOT, COBOT) in s.pairs for s in samples)
