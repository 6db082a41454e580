"""The MoveIt arm fulfils the contract of arms on the real simulator.

A stand-in for MoveIt itself plans in the real process.
"""

import importlib.util
import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca_core.errors import Interrupted, MotionError, SpcaError
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.trajectory import JointState
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_motion.moveit.process import Geometry, PathRequest, PlannerProcess, Setup
from spca_motion.moveit.search import moveit_arm
from spca_motion.planner import MotionPlanner
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import ABOVE, ArmContract, over
from spca_testing.moveit import faulty
from spca_testing.processes import outliving, python

STAND_IN = "spca_testing.moveit.stand_in:backend"
HAS_MOVEIT = importlib.util.find_spec("moveit") is not None


@pytest.fixture(scope="module")
def process(world: World) -> Iterator[PlannerProcess]:
    process = PlannerProcess(Setup(world), STAND_IN)
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


def move_while(
    arm: Manipulator, goal: Pose, scene: Scene, after: float, monkeypatch: pytest.MonkeyPatch
) -> list[MotionError]:
    """Move to a goal; after some simulated seconds another thread changes the scene.

    Returns what the motion raised.

    Simulated time stands still while the change is being checked, as the simulator is much faster than real
    time.
    """
    begun = arm.state().stamp
    due, checked = threading.Event(), threading.Event()
    check, robot = MotionPlanner.fault_ahead, arm._robot
    wait = robot.wait

    def checking(*arguments: Any) -> tuple[str, str] | None:
        fault = check(*arguments)
        checked.set()
        return fault

    def pausing(seconds: float, until: Callable[[JointState], bool]) -> bool:
        def watched(state: JointState) -> bool:
            if state.stamp >= begun + after and not due.is_set():
                due.set()
                assert checked.wait(30.0)
                threading.Event().wait(0.02)  # the fault is on its way to the gate
            return until(state)

        return wait(seconds, watched)

    monkeypatch.setattr(MotionPlanner, "fault_ahead", checking)
    monkeypatch.setattr(robot, "wait", pausing)
    changer = threading.Thread(target=lambda: due.wait(60.0) and arm.set_scene(scene))
    changer.start()
    caught: list[MotionError] = []
    try:
        arm.move_linear(goal, 0.5)
    except MotionError as error:
        caught.append(error)
    changer.join(30.0)
    monkeypatch.undo()
    assert checked.is_set()
    return caught


def test_an_obstacle_that_appears_in_the_path_ends_the_motion(
    arm: Manipulator, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, goal = over(scene, "cube_green", 0.15), over(scene, "cube_red", 0.15)
    arm.move_to(start)
    middle = (np.array(start.position) + np.array(goal.position)) / 2
    blocked = with_cube_at(scene, "cube_blue", middle[0], middle[1] - 0.05, middle[2])
    caught = move_while(arm, goal, blocked, 0.3, monkeypatch)
    assert [e.kind for e in caught] == ["collision"]
    assert "cube_blue" in str(caught[0])
    assert np.abs(np.array(arm.tool_pose().position) - goal.position).max() > 0.02
    arm.set_scene(scene)
    arm.move_to(goal)  # and the arm can go on afterwards


def test_a_change_beside_the_path_lets_the_motion_go_on(
    arm: Manipulator, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, goal = over(scene, "cube_red", 0.15), over(scene, "cube_red", ABOVE)
    arm.move_to(start)
    moved = with_cube_at(scene, "cube_green", 0.40, 0.2, 0.42)
    assert move_while(arm, goal, moved, 0.1, monkeypatch) == []
    assert arm.tool_pose().position == pytest.approx(goal.position, abs=0.003)


def test_a_planner_that_cannot_start_says_why(world: World) -> None:
    with pytest.raises(SpcaError, match="No module named 'moveit'"):
        PlannerProcess(Setup(world), "spca_testing.moveit.faulty:Broken")


REQUEST = PathRequest(np.zeros(6), np.ones(6), 0.085, 0.1)


def test_a_planner_that_hangs_is_ended_and_started_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spca_motion.moveit.process._GRACE_S", 0.3)
    process = PlannerProcess(Setup(world), "spca_testing.moveit.faulty:Hanging")
    with pytest.raises(MotionError, match="no answer to 'plan'") as caught:
        process.plan(Geometry(), REQUEST)
    assert caught.value.kind == "timeout"
    assert not process.alive
    assert not process.colliding(Geometry(), np.zeros((3, 6)), 0.085).any()
    assert process.starts == 2
    process.close()


def test_a_planner_that_dies_is_started_again_and_asked_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(faulty.DIED, str(tmp_path / "died"))
    process = PlannerProcess(Setup(world), "spca_testing.moveit.faulty:DyingOnce")
    path = process.plan(Geometry(), REQUEST)
    assert path is not None
    assert process.starts == 2
    process.close()


def test_a_plan_that_is_not_wanted_any_more_is_left_at_once(world: World) -> None:
    process = PlannerProcess(Setup(world), "spca_testing.moveit.faulty:Hanging")
    polls = itertools.count()
    with pytest.raises(Interrupted):
        process.plan(Geometry(), replace(REQUEST, seconds=0.0), lambda: next(polls) > 1)
    assert not process.colliding(Geometry(), np.zeros(6), 0.085).any()  # waits for the end of the plan
    assert process.starts == 1
    process.close()


def test_the_process_ends_with_its_owner(world: World) -> None:
    program = (
        "from spca_core.world import load_world; from spca_motion.moveit.process import PlannerProcess;"
        "from spca_motion.moveit.process import Setup; import os;"
        f"p = PlannerProcess(Setup(load_world()), {STAND_IN!r}); print(p.pid, flush=True); os._exit(1)"
    )
    assert not outliving([int(python("-c", program).stdout)])


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
