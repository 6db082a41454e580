"""The simulated table in this process keeps the contract of tables, and the lockstep robot that of robots."""

from collections.abc import Iterator

import pytest

from spca_core.layout import Layout, nominal_layout
from spca_core.world import World, load_world
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.robot_contract import RobotContract
from spca_testing.contracts.table_contract import TableContract


class TestItsTable(TableContract):
    @pytest.fixture
    def table(self, world: World) -> Iterator[MujocoWorld]:
        table = MujocoWorld(world)
        table.reset(nominal_layout(world))
        yield table
        table.close()


class TestItsRobot(RobotContract):
    @pytest.fixture
    def robot(self) -> MujocoWorld:
        simulator = MujocoWorld(load_world())
        simulator.reset(Layout(poses={}))
        return simulator
