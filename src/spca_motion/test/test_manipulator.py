"""The embedded arm keeps the contract of arms on the real simulator, and its own promises."""

import numpy as np
import pytest

from spca_core.geometry import top_down
from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.world import World
from spca_motion.limits import HOLDING
from spca_motion.manipulator import Manipulator
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import ABOVE, GRASP, ArmContract, over


@pytest.fixture
def arm(world: World, simulator: MujocoWorld, scene: Scene) -> Manipulator:
    simulator.reset(nominal_layout(world))
    arm = Manipulator(world, simulator)
    arm.set_scene(scene)
    return arm


class TestEmbeddedArm(ArmContract):
    pass


def test_a_held_cube_is_moved_gently(arm: Manipulator, scene: Scene, simulator: MujocoWorld) -> None:
    arm.move_to(over(scene, "cube_blue", ABOVE))
    arm.move_linear(over(scene, "cube_blue", GRASP))
    arm.close()
    arm.attach("cube_blue")
    arm.move_linear(over(scene, "cube_blue", ABOVE))

    speeds = []
    end = simulator.on_contacts(lambda _: speeds.append(np.abs(simulator.state().velocity).max()))
    arm.move_to(top_down(0.40, -0.25, 0.55, 0.0))
    arm.move_to(top_down(0.60, 0.25, 0.65, 2.0))
    end()
    assert max(speeds) <= HOLDING.velocity.max() + 0.05
