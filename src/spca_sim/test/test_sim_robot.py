"""The lockstep robot keeps the Robot contract."""

from __future__ import annotations

import pytest

from spca_core.layout import Layout
from spca_core.world import load_world
from spca_sim.mujoco_world import SimRobot
from spca_sim.simulator import MujocoSimulator
from spca_testing.contracts.robot_contract import RobotContract


class TestSimRobot(RobotContract):
    @pytest.fixture
    def robot(self) -> SimRobot:
        simulator = MujocoSimulator(load_world())
        simulator.reset(Layout(poses={}))
        return SimRobot(simulator)
