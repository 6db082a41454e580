"""What tests of arms share: the standard table in simulation, and what lies on it."""

from collections.abc import Iterator

import pytest

from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.world import World
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import true_scene


@pytest.fixture(scope="module")
def simulator(world: World) -> Iterator[MujocoWorld]:
    simulator = MujocoWorld(world)
    yield simulator
    simulator.close()


@pytest.fixture
def scene(world: World) -> Scene:
    return true_scene(world, nominal_layout(world))
