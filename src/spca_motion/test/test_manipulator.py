"""The embedded arm keeps the contract of arms on the real simulator, and its own promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spca_core.geometry import top_down
from spca_core.layout import nominal_layout, random_layout
from spca_core.scene import Scene
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_motion.limits import EMPTY, HOLDING
from spca_motion.manipulator import Manipulator
from spca_robot.gripper_2f85 import tcp_offset
from spca_robot.kinematics import ArmKinematics
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import ABOVE, GRASP, ArmContract, over, true_scene


@pytest.fixture
def arm(world: World, simulator: MujocoWorld, scene: Scene) -> Manipulator:
    simulator.reset(nominal_layout(world))
    arm = Manipulator(world, simulator)
    arm.set_scene(scene)
    return arm


class TestEmbeddedArm(ArmContract):
    pass


def test_a_line_is_straight_and_a_motion_keeps_its_limits(
    arm: Manipulator, scene: Scene, simulator: MujocoWorld
) -> None:
    states: list[JointState] = []
    end = simulator.on_contacts(lambda _: states.append(simulator.state()))
    arm.move_to(over(scene, "cube_red", 0.2))
    assert 0.3 < np.abs([s.velocity for s in states]).max() <= EMPTY.velocity.max() + 0.05
    states.clear()
    low = over(scene, "cube_red", ABOVE)
    arm.move_linear(low)
    end()
    x, y, _ = low.position
    assert len(states) > 10
    for state in states:
        px, py = ArmKinematics(simulator.world.robot.arm).forward(state.position)[:2, 3]
        assert math.hypot(px - x, py - y) < 0.002


def test_the_pads_meet_around_the_pose_that_was_asked_for_with_open_fingers(
    arm: Manipulator, scene: Scene, simulator: MujocoWorld
) -> None:
    goal = over(scene, "cube_blue", GRASP)
    arm.move_to(over(scene, "cube_blue", ABOVE))
    arm.move_linear(goal)
    gap = arm.close()
    tip = ArmKinematics(simulator.world.robot.arm).forward(simulator.state().position)
    height = tip[2, 3] + 0.4 - tcp_offset(gap)
    assert height == pytest.approx(goal.position[2], abs=0.001)


def test_equal_tasks_move_equally(world: World, simulator: MujocoWorld, scene: Scene) -> None:
    ends = []
    for _ in range(2):
        simulator.reset(nominal_layout(world))
        arm = Manipulator(world, simulator)
        arm.set_scene(scene)
        arm.move_to(over(scene, "cube_green", ABOVE))
        arm.move_to(over(scene, "plate_red", 0.05))
        ends.append((arm.state().stamp, *arm.state().position))
    assert ends[0] == ends[1]


def test_a_held_cube_is_not_swung_about(arm: Manipulator, scene: Scene, simulator: MujocoWorld) -> None:
    arm.move_to(over(scene, "cube_blue", ABOVE))
    arm.move_linear(over(scene, "cube_blue", GRASP))
    arm.close()
    arm.attach("cube_blue")
    arm.move_linear(over(scene, "cube_blue", ABOVE))

    def in_flange() -> np.ndarray:
        flange = ArmKinematics(simulator.world.robot.arm).forward(simulator.state().position)
        return np.asarray((np.linalg.inv(flange) @ simulator.object_pose("box_blue").matrix())[:3, 3])

    held = in_flange()
    speeds = []
    end = simulator.on_contacts(lambda _: speeds.append(np.abs(simulator.state().velocity).max()))
    arm.move_to(top_down(0.40, -0.25, 0.55, 0.0))
    arm.move_to(top_down(0.60, 0.25, 0.65, 2.0))
    end()
    assert max(speeds) <= HOLDING.velocity.max() + 0.05
    # The physics itself lets a cube drift by half a millimetre in a wide swing (2 ms steps).
    assert np.linalg.norm(in_flange() - held) < 0.002


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 20))])
def test_it_stacks_two_cubes_on_a_random_table(world: World, simulator: MujocoWorld, seed: int) -> None:
    layout = random_layout(world, seed)
    simulator.reset(layout)
    arm = Manipulator(world, simulator)
    scene = true_scene(world, layout)
    arm.set_scene(scene)
    touched: set[tuple[str, str]] = set()
    end = simulator.on_contacts(lambda sample: touched.update(p for p in sample.pairs if "cobot" in p))
    begun = simulator.time

    def turned(name: str, height: float) -> list:
        thing = scene.get(name)
        assert thing is not None
        x, y, z = thing.pose.position
        return [top_down(x, y, z + height, thing.pose.yaw + k * math.pi / 2) for k in range(4)]

    pairs = zip(turned("cube_red", GRASP + ABOVE), turned("cube_red", GRASP), strict=True)
    above, grasp = next((a, g) for a, g in pairs if arm.reachable(a) and arm.reachable(g))
    arm.move_to(above)
    arm.move_linear(grasp)
    arm.close()
    assert arm.holding()
    arm.attach("cube_red")
    arm.move_linear(above)

    rest = GRASP + 0.04 + 0.002
    arm.allow_contact("cube_blue")
    pairs = zip(turned("cube_blue", rest + ABOVE), turned("cube_blue", rest), strict=True)
    above, place = next((a, p) for a, p in pairs if arm.reachable(a) and arm.reachable(p))
    arm.move_to(above)
    arm.move_linear(place)
    arm.open(0.06)
    arm.detach()
    arm.move_linear(above)
    arm.allow_contact()
    arm.move_named("home")
    end()

    red, blue = (np.array(simulator.object_pose(m).position) for m in ("box_red", "box_blue"))
    assert math.hypot(*(red - blue)[:2]) < 0.005
    assert (red - blue)[2] == pytest.approx(0.04, abs=0.001)
    assert touched == {("box_red", "cobot")}
    assert simulator.time - begun < 12.0
