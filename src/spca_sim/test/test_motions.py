"""The motions of arm and gripper, until they end. The physics are real."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from spca_core.errors import MotionError
from spca_core.layout import nominal_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import load_world
from spca_sim.motions import DONE, HELD, REPLACED, TICK, Motions
from spca_sim.simulator import MujocoSimulator


@pytest.fixture(scope="module")
def shared() -> Iterator[MujocoSimulator]:
    simulator = MujocoSimulator(load_world())
    yield simulator
    simulator.close()


@pytest.fixture
def simulator(shared: MujocoSimulator) -> MujocoSimulator:
    shared.reset(nominal_layout(shared.world))
    return shared


@pytest.fixture
def motions(simulator: MujocoSimulator) -> Motions:
    return Motions(simulator)


@pytest.fixture
def ended() -> list[str]:
    return []


def move(simulator: MujocoSimulator, seconds: float = 1.0) -> JointTrajectory:
    start = simulator.joint_state().position
    s = np.linspace(0.0, 1.0, 21)[:, None]
    blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / seconds
    return JointTrajectory(s[:, 0] * seconds, start - blend * 0.3, rate * np.full(6, -0.3))


def pass_time(motions: Motions, simulator: MujocoSimulator, seconds: float) -> None:
    end = simulator.time + seconds
    while (left := end - simulator.time) > 1e-9:
        motions.advance(left)


def test_a_motion_runs_to_its_end_and_says_so(
    simulator: MujocoSimulator, motions: Motions, ended: list[str]
) -> None:
    trajectory = move(simulator)
    motions.follow(trajectory, lambda status, _: ended.append(status))
    pass_time(motions, simulator, 0.9)
    assert ended == [] and motions.begun() == pytest.approx(simulator.time - 0.9)
    pass_time(motions, simulator, 0.1)
    assert ended == [DONE] and motions.begun() is None
    pass_time(motions, simulator, 0.3)
    assert simulator.joint_state().position == pytest.approx(trajectory.positions[-1], abs=2e-3)


def test_a_hold_and_a_newer_goal_end_a_motion(
    simulator: MujocoSimulator, motions: Motions, ended: list[str]
) -> None:
    motions.follow(move(simulator), lambda status, _: ended.append(status))
    pass_time(motions, simulator, 0.2)
    motions.follow(move(simulator), lambda status, _: ended.append(status))
    assert ended == [REPLACED]
    motions.hold()
    assert ended == [REPLACED, HELD]
    pass_time(motions, simulator, 0.2)
    assert np.abs(simulator.joint_state().velocity).max() < 0.01


def test_a_refused_motion_leaves_the_one_under_way_alone(
    simulator: MujocoSimulator, motions: Motions, ended: list[str]
) -> None:
    motions.follow(move(simulator), lambda status, _: ended.append(status))
    far = move(simulator)
    with pytest.raises(MotionError):
        motions.follow(JointTrajectory(far.times, far.positions + 1.0, far.velocities), lambda *_: None)
    assert ended == [] and motions.begun() == simulator.time


def test_the_gripper_is_done_when_its_pads_rest(
    simulator: MujocoSimulator, motions: Motions, ended: list[str]
) -> None:
    motions.grip(0.03, lambda status, _: ended.append(status))
    while not ended:
        motions.advance(TICK)
        assert simulator.time < 5.0
    assert ended == [DONE]
    assert simulator.joint_state().gripper_gap == pytest.approx(0.03, abs=2e-3)


def test_a_reset_ends_motions(simulator: MujocoSimulator, motions: Motions, ended: list[str]) -> None:
    motions.follow(move(simulator), lambda status, message: ended.append(f"{status}: {message}"))
    motions.reset(nominal_layout(simulator.world), 1)
    assert ended == ["held: the world has been reset"]
    assert motions.begun() is None
