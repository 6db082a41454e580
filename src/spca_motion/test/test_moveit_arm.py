"""The MoveIt arm fulfils the contract of arms on the real simulator.

A stand-in for MoveIt itself plans in the real process.
"""

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from spca_core.errors import MotionError, SpcaError
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_motion.collision import Obstacle, PlanningScene
from spca_motion.manipulator import Manipulator
from spca_motion.moveit.process import Geometry, PathRequest, PlannerProcess, Setup
from spca_motion.moveit.search import MoveItSearch, ProcessChecker, moveit_arm
from spca_motion.planner import MotionPlanner
from spca_motion.search import Start
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import OVER_TABLE, ArmContract, over
from spca_testing.moveit import faulty

OPEN = 0.085
HAS_MOVEIT = importlib.util.find_spec("moveit") is not None


@pytest.fixture(scope="module")
def process(world: World) -> Iterator[PlannerProcess]:
    process = PlannerProcess(Setup(world), "spca_testing.moveit.stand_in:backend")
    yield process
    process.close()


@pytest.fixture
def arm(world: World, simulator: MujocoWorld, scene: Scene, process: PlannerProcess) -> Manipulator:
    simulator.reset(nominal_layout(world))
    arm = moveit_arm(world, simulator, process)
    arm.set_scene(scene)
    return arm


@pytest.mark.slow
class TestMoveItArm(ArmContract):
    pass


def with_cube_at(scene: Scene, name: str, x: float, y: float, z: float) -> Scene:
    things = tuple(
        o.model_copy(update={"pose": Pose(position=(x, y, z))}) if o.id == name else o for o in scene.objects
    )
    return scene.model_copy(update={"objects": things})


def test_only_an_obstacle_that_appears_in_the_path_ends_the_motion(
    arm: Manipulator, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First one appears beside the path."""
    start, goal = over(scene, "cube_green", 0.15), over(scene, "cube_red", 0.15)
    arm.move_to(start)
    middle = (np.array(start.position) + np.array(goal.position)) / 2
    blocked = with_cube_at(scene, "cube_blue", middle[0], middle[1] - 0.05, middle[2])
    due = [(0.1, with_cube_at(scene, "cube_blue", 0.40, 0.2, 0.42)), (0.3, blocked)]
    begun, wait = arm.state().stamp, arm._robot.wait

    def changing(seconds: float, until: Callable[[JointState], bool]) -> bool:
        def watched(state: JointState) -> bool:
            if due and state.stamp >= begun + due[0][0]:
                arm.set_scene(due.pop(0)[1])
            return until(state)

        return wait(seconds, watched)

    with monkeypatch.context() as patch, pytest.raises(MotionError, match="cube_blue") as caught:
        patch.setattr(arm._robot, "wait", changing)
        arm.move_linear(goal, 0.5)
    assert caught.value.kind == "collision" and not due
    assert np.abs(np.array(arm.tool_pose().position) - goal.position).max() > 0.02
    arm.set_scene(scene)
    arm.move_to(goal)  # and the arm can go on afterwards


LEFT, RIGHT = OVER_TABLE + np.array([0.7, 0, 0, 0, 0, 0]), OVER_TABLE - np.array([1.1, 0, 0, 0, 0, 0])


def test_a_path_stays_in_the_workspace(world: World, process: PlannerProcess) -> None:
    """MoveIt itself keeps to it; without the box, the straight path swings the tool out of it."""
    planner = MotionPlanner(world)
    planner.box.high[0] = 0.45
    path = process.plan(Geometry(), PathRequest(LEFT, RIGHT, OPEN, 1.0, planner.box, 0.2))
    flange = planner.tools.flange(path)
    assert (flange[:, 0, 3] + 0.2 * flange[:, 0, 2]).max() <= 0.4501


def test_what_moveit_finds_is_checked_and_its_fault_is_named(world: World) -> None:
    process = PlannerProcess(Setup(world), "spca_testing.moveit.stand_in:reckless")
    wall = Obstacle("wall", Pose.from_xyz_yaw(0.5, 0.0, 0.55).matrix(), (0.3, 0.02, 0.3))
    planner = MotionPlanner(
        world, partial(ProcessChecker, process=process), MoveItSearch(process, seconds=1.0)
    )
    planner.scene = PlanningScene((wall,))
    with pytest.raises(MotionError, match=r"no path found .* rejected: .*would hit wall at \d+ %") as caught:
        planner.to_joints(Start(LEFT, OPEN), RIGHT, lambda: False)
    process.close()
    assert caught.value.kind == "collision"


def test_arrays_that_numpy_misreads_are_noticed_at_the_start(world: World) -> None:
    with pytest.raises(SpcaError, match=r"install numpy<2 .*\(joint angles came back as"):
        PlannerProcess(Setup(world), "spca_testing.moveit.stand_in:misread")


def test_a_planner_that_dies_is_started_again_and_asked_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(faulty.DIED, str(tmp_path / "died"))
    process = PlannerProcess(Setup(world), "spca_testing.moveit.faulty:DyingOnce")
    path = process.plan(Geometry(), PathRequest(np.zeros(6), np.ones(6), OPEN, 0.1))
    assert path is not None
    assert process.starts == 2
    process.close()


@pytest.mark.skipif(HAS_MOVEIT, reason="")
def test_moveit_itself() -> None:
    pytest.skip(
        "not installed: moveit_py; apt has it where ROS 2 has binaries, no package registry does "
        "(docs/full-stack.md): the arm was tested with a stand-in for it"
    )


if HAS_MOVEIT:

    class TestRealMoveIt(ArmContract):
        """The same contract with MoveIt itself (the physics stay MuJoCo's)."""

        @pytest.fixture(scope="class")
        def process(self, world: World) -> Iterator[PlannerProcess]:
            process = PlannerProcess(Setup(world))
            yield process
            process.close()
