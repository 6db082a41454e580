"""When simulated time advances, and what happens to the arm when its client goes silent.

The physics are real; the wall clock is set by the tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.layout import nominal_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import load_world
from spca_sim.simulation_clock import DONE, HELD, REPLACED, STALE, TICK, SimulationClock
from spca_sim.simulator import MujocoSimulator

LEAD, PATIENCE = 0.08, 1.0
FULL_SPEED = 2.6  # rad/s: as fast as any joint is ever moved


class Wall:
    """A wall clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


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
def wall() -> Wall:
    return Wall()


@pytest.fixture
def clock(simulator: MujocoSimulator, wall: Wall) -> SimulationClock:
    return SimulationClock(simulator, idle_rate=0.0, lead=LEAD, patience=PATIENCE, wall=wall)


@pytest.fixture
def ended() -> list[str]:
    return []


def move(simulator: MujocoSimulator, seconds: float = 1.0) -> JointTrajectory:
    start = simulator.joint_state().position
    s = np.linspace(0.0, 1.0, 21)[:, None]
    blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / seconds
    return JointTrajectory(s[:, 0] * seconds, start + blend * 0.3, rate * np.full(6, 0.3))


def attend(clock: SimulationClock, simulator: MujocoSimulator, until: float, wait: bool = True) -> None:
    """A client that sees everything at once."""
    while simulator.time < until - 1e-9:
        clock.lease("client", simulator.time, until if wait else 0.0)
        clock.advance()


def test_without_wishes_time_stands_still_or_runs_at_the_idle_rate(
    simulator: MujocoSimulator, wall: Wall
) -> None:
    still, slow = (
        SimulationClock(simulator, idle_rate=0.0, wall=wall),
        SimulationClock(simulator, idle_rate=0.5, wall=wall),
    )
    for _ in range(20):
        assert still.advance() > 0
    assert simulator.time == 0.0
    begun = wall.now
    for _ in range(50):
        wall.now += slow.advance()
    assert simulator.time == pytest.approx(0.5 * (wall.now - begun), abs=2 * TICK)
    assert simulator.time > 0.3


def test_a_waiting_client_gets_its_time_and_no_more(
    simulator: MujocoSimulator, clock: SimulationClock
) -> None:
    clock.lease("client", 0.0, 0.5)
    attend(clock, simulator, 0.5)
    for _ in range(10):
        clock.advance()
    assert simulator.time == pytest.approx(0.5, abs=1e-6)


def test_a_rate_slows_what_is_wanted(simulator: MujocoSimulator, wall: Wall) -> None:
    clock = SimulationClock(simulator, rate=2.0, idle_rate=0.0, wall=wall)
    begun = wall.now
    while simulator.time < 1.0 - 1e-9:
        clock.lease("client", simulator.time, 1.0)
        wall.now += clock.advance()
    assert wall.now - begun == pytest.approx(0.5, abs=0.05)


def test_time_never_leaves_a_client_behind(simulator: MujocoSimulator, clock: SimulationClock) -> None:
    clock.lease("client", 0.0, 5.0)
    for _ in range(50):
        clock.advance()
    assert simulator.time == pytest.approx(LEAD, abs=1e-6)
    clock.lease("slow", 0.0, 5.0)
    clock.lease("client", simulator.time, 5.0)
    for _ in range(50):
        clock.advance()
    assert simulator.time == pytest.approx(LEAD, abs=1e-6)


def test_a_motion_runs_to_its_end_and_says_so(
    simulator: MujocoSimulator, clock: SimulationClock, ended: list[str]
) -> None:
    trajectory = move(simulator)
    clock.follow("client", trajectory, lambda status, _: ended.append(status))
    attend(clock, simulator, 1.0, wait=False)
    assert ended == [DONE]
    assert not clock.active
    attend(clock, simulator, 1.3)
    assert simulator.joint_state().position == pytest.approx(trajectory.positions[-1], abs=2e-3)


def test_the_arm_holds_when_the_client_of_its_motion_falls_silent(
    simulator: MujocoSimulator, clock: SimulationClock, wall: Wall, ended: list[str]
) -> None:
    trajectory = move(simulator, 2.0)
    clock.follow("client", trajectory, lambda status, message: ended.append(f"{status} {message}"))
    attend(clock, simulator, 0.8, wait=False)
    assert np.abs(simulator.joint_state().velocity).min() > 0.1
    for _ in range(200):
        clock.advance()
        wall.now += 0.02
    assert ended[0].startswith(STALE) and "client" in ended[0]
    assert simulator.time < 0.8 + LEAD + 1.0
    stopped = simulator.joint_state()
    assert np.abs(stopped.velocity).max() < 0.01
    assert np.abs(stopped.position - trajectory.positions[-1]).min() > 0.05


def swing(simulator: MujocoSimulator, goal: Array) -> JointTrajectory:
    """To a joint goal (6,), the fastest joint reaching full speed half way."""
    start, share = simulator.joint_state().position, np.linspace(0.0, 1.0, 101)[:, None]
    way = goal - start
    seconds = float(1.5 * np.abs(way).max() / FULL_SPEED)
    return JointTrajectory(
        share[:, 0] * seconds,
        start + (3 * share**2 - 2 * share**3) * way,
        (6 * share - 6 * share**2) * way / seconds,
    )


@pytest.mark.parametrize("pose", [(0.0, -1.6, 1.6, -1.6, -1.5, 0.0), (0.0, -0.6, 0.3, -1.3, -1.5, 0.0)])
def test_at_full_speed_the_arm_stands_soon_after_its_client_was_last_heard(
    simulator: MujocoSimulator, wall: Wall, pose: tuple[float, ...]
) -> None:
    """Folded and stretched out: after 0.2 simulated seconds, in which time first ran ahead of the client."""
    clock = SimulationClock(simulator, idle_rate=0.0, wall=wall)
    clock.follow("client", swing(simulator, np.array(pose)), lambda *_: None)
    attend(clock, simulator, 2.0)
    trajectory = swing(simulator, np.array(pose) + 2.0 * np.eye(6)[0])
    clock.follow("client", trajectory, lambda *_: None)
    attend(clock, simulator, simulator.time + trajectory.duration / 2, wait=False)
    heard = simulator.time
    assert simulator.joint_state().velocity[0] > 0.95 * FULL_SPEED
    while np.abs(simulator.joint_state().velocity).max() > 0.05:
        clock.advance()
        wall.now += 0.02
        assert simulator.time - heard <= 0.2 + 1e-6


def test_a_silent_waiter_stops_nobody(
    simulator: MujocoSimulator, clock: SimulationClock, wall: Wall, ended: list[str]
) -> None:
    clock.lease("silent", 0.0, 10.0)
    clock.follow("client", move(simulator), lambda status, _: ended.append(status))
    for _ in range(300):
        clock.lease("client", simulator.time, 0.0)
        clock.advance()
        wall.now += 0.01
    assert ended == [DONE]


def test_a_hold_and_a_newer_goal_end_a_motion(
    simulator: MujocoSimulator, clock: SimulationClock, ended: list[str]
) -> None:
    clock.follow("client", move(simulator), lambda status, _: ended.append(status))
    attend(clock, simulator, 0.2, wait=False)
    clock.follow("client", move(simulator), lambda status, _: ended.append(status))
    assert ended == [REPLACED]
    clock.hold()
    assert ended == [REPLACED, HELD]


def test_a_hold_is_carried_through_although_nobody_wants_time(
    simulator: MujocoSimulator, clock: SimulationClock
) -> None:
    clock.follow("client", move(simulator, 2.0), lambda *_: None)
    attend(clock, simulator, 0.8, wait=False)
    clock.hold()
    for _ in range(100):
        clock.advance()
    assert np.abs(simulator.joint_state().velocity).max() < 0.01
    assert 0.8 < simulator.time < 1.8
    assert not clock.active


def test_a_refused_motion_leaves_the_one_under_way_alone(
    simulator: MujocoSimulator, clock: SimulationClock, ended: list[str]
) -> None:
    clock.follow("client", move(simulator), lambda status, _: ended.append(status))
    far = move(simulator)
    with pytest.raises(MotionError):
        clock.follow(
            "client", JointTrajectory(far.times, far.positions + 1.0, far.velocities), lambda *_: None
        )
    assert ended == [] and clock.elapsed() == 0.0


def test_the_gripper_is_done_when_its_pads_rest(
    simulator: MujocoSimulator, clock: SimulationClock, ended: list[str]
) -> None:
    clock.grip("client", 0.03, lambda status, _: ended.append(status))
    while not ended:
        clock.lease("client", simulator.time, 0.0)
        clock.advance()
    assert ended == [DONE]
    assert simulator.joint_state().gripper_gap == pytest.approx(0.03, abs=2e-3)


def test_a_pause_stops_time_whatever_is_wanted(simulator: MujocoSimulator, clock: SimulationClock) -> None:
    clock.lease("client", 0.0, 1.0)
    clock.paused = True
    for _ in range(5):
        assert clock.advance() > 0
    assert simulator.time == 0.0
    clock.paused = False
    clock.advance()
    assert simulator.time > 0


def test_a_reset_ends_motions_and_wishes(
    simulator: MujocoSimulator, clock: SimulationClock, ended: list[str]
) -> None:
    clock.follow("client", move(simulator), lambda status, message: ended.append(f"{status}: {message}"))
    clock.lease("client", 0.0, 5.0)
    clock.reset(nominal_layout(simulator.world), 1)
    assert ended == ["held: the world has been reset"]
    assert not clock.active


def test_a_wish_from_before_a_reset_counts_no_more(
    simulator: MujocoSimulator, clock: SimulationClock
) -> None:
    clock.lease("client", 0.0, 0.04)
    while clock.active:
        clock.advance()
    clock.reset(nominal_layout(simulator.world), 0)
    clock.lease("client", 0.04, 5.0)  # was under way when the world began anew
    assert not clock.active
    clock.advance()
    assert simulator.time == 0.0
    clock.lease("client", 0.0, TICK)
    clock.advance()
    assert simulator.time == pytest.approx(TICK)
