"""What is asked of MoveIt, and how.

A stand-in replaces its Python bindings and behaves and fails as they do.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spca_core.errors import MotionError, SpcaError
from spca_core.geometry import Array, Pose, top_down
from spca_core.world import World
from spca_motion.collision import Obstacle, PlanningScene
from spca_motion.moveit.process import Geometry, PathRequest, PlannerProcess, Setup
from spca_motion.moveit.search import MoveItSearch, ProcessChecker
from spca_motion.paths import sampled
from spca_motion.planner import MotionPlanner
from spca_motion.search import Start
from spca_testing.contracts.arm_contract import OVER_TABLE
from spca_testing.moveit import stand_in

OPEN = 0.085
LEFT, RIGHT = top_down(0.5, 0.2, 0.5, 0.0), top_down(0.5, -0.2, 0.5, 0.0)
WALL = Obstacle("wall", Pose.from_xyz_yaw(0.5, 0.0, 0.55).matrix(), (0.3, 0.02, 0.3))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("moveit") / "moveit.log"


@pytest.fixture(scope="module")
def process(world: World, log: Path) -> Iterator[PlannerProcess]:
    process = PlannerProcess(Setup(world), f"{stand_in.__name__}:backend", log)
    yield process
    process.close()


def planner_of(world: World, process: PlannerProcess, *things: Obstacle) -> MotionPlanner:
    def checker(world: World, scene: PlanningScene) -> ProcessChecker:
        return ProcessChecker(world, scene, process)

    planner = MotionPlanner(world, checker, MoveItSearch(process, seconds=1.0))
    planner.scene = PlanningScene(things)
    return planner


def at(world: World, pose: Pose) -> Array:
    """Joints that put the tool there."""
    planner = MotionPlanner(world)
    pieces = planner.to_pose(Start(np.array(world.robot.home), OPEN), pose, lambda: False)
    return sampled(pieces, 1.0)[-1]


def test_a_path_around_a_wall_is_moveits(world: World, process: PlannerProcess, log: Path) -> None:
    start, goal = at(world, LEFT), at(world, RIGHT)
    path = process.plan(Geometry((WALL,), table=0.4), PathRequest(start, goal, OPEN, 1.0))
    assert path is not None and len(path) > 2
    assert np.allclose(path[0], start, atol=1e-6) and np.allclose(path[-1], goal, atol=1e-6)
    assert not process.colliding(Geometry((WALL,), table=0.4), path, OPEN).any()
    assert "not found in config" not in log.read_text()


def test_a_path_stays_in_the_workspace(world: World, process: PlannerProcess) -> None:
    """Without the box, the straight path in joint space swings the tool out of it."""
    left, right = OVER_TABLE + np.array([0.7, 0, 0, 0, 0, 0]), OVER_TABLE - np.array([1.1, 0, 0, 0, 0, 0])
    planner = planner_of(world, process)
    planner.box.high[0] = 0.45
    kept = sampled(planner.to_joints(Start(left, OPEN), right, lambda: False), 0.02)
    assert planner.tools.tool(kept, planner.tcp_gap(OPEN))[:, 0, 3].max() <= 0.4501
    path = process.plan(Geometry(), PathRequest(left, right, OPEN, 1.0, planner.box, 0.2))
    flange = planner.tools.flange(path)
    assert (flange[:, 0, 3] + 0.2 * flange[:, 0, 2]).max() <= 0.4501, "MoveIt itself keeps to it"


def test_what_moveit_finds_is_checked_and_its_fault_is_named(world: World) -> None:
    process = PlannerProcess(Setup(world), f"{stand_in.__name__}:reckless")
    planner = planner_of(world, process, WALL)
    with pytest.raises(MotionError, match=r"no path found .* rejected: .*would hit wall at \d+ %") as caught:
        planner.to_joints(Start(at(world, LEFT), OPEN), at(world, RIGHT), lambda: False)
    process.close()
    assert caught.value.kind == "collision"


def test_arrays_that_numpy_misreads_are_noticed_at_the_start(world: World) -> None:
    with pytest.raises(SpcaError, match=r"install numpy<2 .*\(joint angles came back as"):
        PlannerProcess(Setup(world), f"{stand_in.__name__}:misread")
