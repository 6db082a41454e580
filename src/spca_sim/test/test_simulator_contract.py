"""What users of the embedded simulator rely on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spca_core.layout import nominal_layout
from spca_core.world import World
from spca_sim.mujoco_world import MujocoWorld


@pytest.fixture(scope="module")
def plain(world: World) -> Iterator[MujocoWorld]:
    simulator = MujocoWorld(world)
    yield simulator
    simulator.close()


@pytest.fixture
def simulator(world: World, plain: MujocoWorld) -> MujocoWorld:
    plain.reset(nominal_layout(world))
    return plain
