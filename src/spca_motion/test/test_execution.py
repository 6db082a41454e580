"""A motion that does not go as planned is stopped, and the error says what went wrong."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from spca_core.errors import MotionError
from spca_core.layout import Layout, nominal_layout
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import World
from spca_motion.execution import Tolerances
from spca_motion.manipulator import Manipulator
from spca_sim.mujoco_world import MujocoWorld
from spca_testing.contracts.arm_contract import over, true_scene


class Faulty(MujocoWorld):
    """The real simulated robot behind a driver that can be made to misbehave."""

    bend: Callable[[JointTrajectory], JointTrajectory] = staticmethod(lambda trajectory: trajectory)
    report: Callable[[JointState], JointState] = staticmethod(lambda state: state)
    held = 0
    late = 0.0
    due: tuple[float, Callable[[], None]] | None = None
    says_when = True

    def follow(self, trajectory: JointTrajectory) -> None:
        self._later(lambda: super(Faulty, self).follow(self.bend(trajectory)))

    def command_gripper(self, gap: float) -> None:
        self._later(lambda: super(Faulty, self).command_gripper(gap))

    def _later(self, command: Callable[[], None]) -> None:
        self.due, self._begun = (self.now() + self.late, command), self.now()
        self.state()

    def begun(self) -> float:
        return self.now() if self.due is not None and self.says_when else super().begun()

    def state(self) -> JointState:
        if self.due is not None and self.now() >= self.due[0]:
            (_, command), self.due = self.due, None
            command()
            self._begun = self.now()
        return self.report(super().state())

    def hold(self) -> None:
        self.held += 1
        super().hold()


@pytest.fixture
def robot(world: World) -> Faulty:
    robot = Faulty(world)
    robot.reset(Layout(poses={}))
    return robot


@pytest.fixture
def arm(world: World, robot: Faulty) -> Manipulator:
    return Manipulator(world, robot)


def goal(world: World) -> np.ndarray:
    return np.array(world.robot.home) + np.array([0.8, -0.3, 0.3, 0.0, 0.0, 0.5])


def fails(robot: Faulty, kind: str, motion: Callable[..., object], *args: object) -> str:
    """The motion raises that kind of error and leaves the robot held and at rest; returns the message."""
    with pytest.raises(MotionError) as caught:
        motion(*args)
    assert caught.value.kind == kind, str(caught.value)
    assert robot.held >= 1
    robot.wait(0.5)
    assert np.abs(MujocoWorld.state(robot).velocity).max() < 0.02
    return str(caught.value)


def test_a_joint_that_drifts_off_its_path_stops_the_arm(
    robot: Faulty, arm: Manipulator, world: World
) -> None:
    def drift(trajectory: JointTrajectory) -> JointTrajectory:
        off = np.zeros_like(trajectory.positions)
        off[:, 4] = 0.3 * trajectory.times / trajectory.duration
        return replace(trajectory, positions=trajectory.positions + off)

    robot.bend = drift
    message = fails(robot, "deviation", arm.move_joints, goal(world))
    assert message.startswith("wrist_2_joint left its path by 0.0")
    assert np.abs(robot.state().position[4] - world.robot.home[4]) < 0.15  # noticed early


def test_states_that_stop_coming_stop_the_arm(robot: Faulty, arm: Manipulator, world: World) -> None:
    begun, last = robot.now(), [robot.state()]

    def frozen(state: JointState) -> JointState:
        last.append(state if state.stamp <= begun + 0.4 else last[-1])
        return last[-1]

    robot.report = frozen
    message = fails(robot, "stale", arm.move_joints, goal(world), 0.3)
    assert "s old" in message
    assert robot.now() - begun < 2.0
    fails(robot, "stale", arm.move_joints, goal(world))


def test_an_interrupted_wait_stops_the_arm(robot: Faulty, arm: Manipulator, world: World) -> None:
    begun = robot.now()

    def ctrl_c(state: JointState) -> JointState:
        if state.stamp > begun + 0.3:
            raise KeyboardInterrupt
        return state

    robot.report = ctrl_c
    with pytest.raises(KeyboardInterrupt):
        arm.move_joints(goal(world))
    assert robot.held == 1
    robot.report = lambda state: state
    robot.wait(0.5)
    assert np.abs(robot.state().velocity).max() < 0.02


@pytest.mark.parametrize("of", ["arm", "gripper"])
def test_no_motion_begins_or_ends_while_something_swings(
    robot: Faulty, arm: Manipulator, world: World, of: str
) -> None:
    before = robot.state().position
    if of == "arm":
        robot.report = lambda state: replace(state, velocity=state.velocity + 0.5)
        motion = lambda: arm.move_joints(goal(world))  # noqa: E731
    else:
        robot.report = lambda state: replace(state, gripper_gap=0.04 + 0.01 * np.sin(40 * state.stamp))
        motion = arm.close
    with pytest.raises(MotionError) as caught:
        motion()
    assert caught.value.kind == "timeout"
    assert MujocoWorld.state(robot).position == pytest.approx(before, abs=1e-3)


def test_a_stop_during_planning_cancels(robot: Faulty, arm: Manipulator, world: World) -> None:
    arm.set_scene(true_scene(world, nominal_layout(world)))
    valid = arm._planner._looked_at(arm._planner.scene)[0].valid

    def stopping(joints: np.ndarray, gap: float) -> bool:
        arm.stop()
        return valid(joints, gap)

    arm._planner._looked_at(arm._planner.scene)[0].valid = stopping  # type: ignore[method-assign]
    before = robot.state()
    fails(robot, "cancelled", arm.move_joints, goal(world))
    assert robot.state().position == pytest.approx(before.position, abs=1e-3)


def test_an_arm_or_a_gripper_is_late_only_from_when_its_driver_has_begun(robot: Faulty, world: World) -> None:
    """As over Gazebo on a busy machine: a command takes longer than the arm may lag behind its path."""
    arm = Manipulator(world, robot, tolerances=Tolerances(lag=0.05))
    robot.late = 1.0
    arm.move_joints(goal(world))
    assert np.abs(robot.state().position - goal(world)).max() < 0.01
    for gap in (0.06, 0.085):
        arm.open(gap)
        assert robot.state().gripper_gap == pytest.approx(gap, abs=2e-3)
    robot.says_when = False
    fails(robot, "deviation", arm.move_joints, world.robot.home)


def test_what_never_rests_between_pads_that_press_it_is_held(world: World) -> None:
    """The simulator's cube is taken; the pads only seem to move on, as about what rolls or yields."""
    robot, scene = Faulty(world), true_scene(world, nominal_layout(world))
    arm = Manipulator(world, robot)
    arm.set_scene(scene)
    arm.move_to(over(scene, "cube_red", 0.09))
    arm.move_linear(over(scene, "cube_red", 0.004))
    robot.report = lambda state: replace(
        state, gripper_gap=state.gripper_gap + 3e-3 * np.sin(40 * state.stamp)
    )
    arm.close()
    assert arm.holding()
