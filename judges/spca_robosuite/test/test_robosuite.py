"""robosuite behind the border, where it is installed: the contracts, and one episode of each task."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spca_core.ports.table import Robot
from spca_core.result import Ending
from spca_core.trajectory import JointTrajectory
from spca_judges.catalogue import find
from spca_judges.contract import EpisodeContract
from spca_judges.port import Episode
from spca_judges.robot import EpisodeRobot
from spca_robosuite.bench import RobosuiteBench
from spca_robosuite.episode import ROBOTS, SOLVED, STIFFNESS, judged_world, open_episode
from spca_testing.contracts.robot_contract import RobotContract

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find("robosuite").state != "installed", reason=find("robosuite").state),
]


@pytest.fixture(scope="class")
def episode() -> Iterator[Episode]:
    found = open_episode("Lift")
    yield found
    found.close()


class TestRobosuite(EpisodeContract):
    pass


class TestItsRobot(RobotContract):
    @pytest.fixture
    def robot(self, episode: Episode) -> Robot:
        episode.reset(1)
        found = EpisodeRobot(episode, STIFFNESS)
        ends = np.stack([found.state().position, judged_world().robot.out_of_view])
        found.follow(JointTrajectory(np.array([0.0, 2.0]), ends, np.zeros((2, 6))))
        found.wait(3.0)
        return found


@pytest.mark.parametrize(("task", "robot"), [*((task, ROBOTS[0]) for task in SOLVED), ("Stack", "Panda")])
def test_the_stack_solves_a_task(task: str, robot: str, tmp_path: Path) -> None:
    bench = RobosuiteBench(tasks=(task,), robot=robot, layouts=1, seeds=(0,))
    [trial] = bench.trials()
    result = bench.run_trial(trial, tmp_path)
    assert result.ending is Ending.SUCCESS, result.reason
