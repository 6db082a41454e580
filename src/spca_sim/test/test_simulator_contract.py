"""The embedded simulator keeps the Simulator contract, with and without a changed world."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spca_core.world import World, load_world
from spca_sim.simulator import MujocoSimulator
from spca_sim.variation import draw_variation
from spca_testing.contracts.simulator_contract import SimulatorContract


@pytest.fixture(scope="module")
def world() -> World:
    return load_world()


class TestMujocoSimulator(SimulatorContract):
    @pytest.fixture
    def simulator(self, world: World) -> Iterator[MujocoSimulator]:
        simulator = MujocoSimulator(world)
        yield simulator
        simulator.close()


class TestMujocoSimulatorVaried(SimulatorContract):
    @pytest.fixture
    def simulator(self, world: World) -> Iterator[MujocoSimulator]:
        simulator = MujocoSimulator(world, variation=draw_variation("hard", 3))
        yield simulator
        simulator.close()
