"""What users of the embedded simulator rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from spca_core.contacts import ContactSample
from spca_core.errors import InputError
from spca_core.layout import Layout, nominal_layout, random_layout
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import World
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import draw_variation

SAMPLE_PERIOD = 0.02


def move(simulator: MujocoWorld, delta: float = 0.3, seconds: float = 1.0) -> JointTrajectory:
    """A smooth motion of all joints by `delta` radians from where the arm is."""
    start = simulator.state().position
    s = np.linspace(0.0, 1.0, 21)[:, None]
    blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / seconds
    return JointTrajectory(s[:, 0] * seconds, start + blend * delta, rate * np.full(6, delta))


def equal(a: JointState, b: JointState) -> bool:
    """Return whether two joint states are the same to the last bit."""
    return (
        (a.stamp, a.gripper_gap, a.gripper_force) == (b.stamp, b.gripper_gap, b.gripper_force)
        and np.array_equal(a.position, b.position)
        and np.array_equal(a.velocity, b.velocity)
    )


@pytest.fixture(scope="module")
def plain(world: World) -> Iterator[MujocoWorld]:
    simulator = MujocoWorld(world)
    yield simulator
    simulator.close()


@pytest.fixture
def simulator(world: World, plain: MujocoWorld) -> MujocoWorld:
    plain.reset(nominal_layout(world))
    return plain


@pytest.fixture(params=["nominal", "hard"])
def varied(world: World, request: pytest.FixtureRequest) -> Iterator[MujocoWorld]:
    """With and without a changed world."""
    simulator = MujocoWorld(world, variation=draw_variation(request.param, 3))
    yield simulator
    simulator.close()


def test_time_is_what_was_stepped(world: World, simulator: MujocoWorld) -> None:
    """Also in steps that the physics cannot divide."""
    simulator.reset(nominal_layout(world))
    for _ in range(100):
        simulator.step(0.0033)
    assert simulator.time == pytest.approx(0.33, abs=0.0021)


def test_a_trajectory_is_tracked_and_its_end_held(world: World, simulator: MujocoWorld) -> None:
    """Within a hundredth of a radian on the way, and a thousandth at the end."""
    simulator.reset(nominal_layout(world))
    trajectory = move(simulator, -0.3, 1.0)
    simulator.follow(trajectory)
    simulator.step(0.5)
    assert simulator.state().position == pytest.approx(trajectory.positions[10], abs=0.01)
    assert simulator.state().velocity == pytest.approx(trajectory.velocities[10], abs=0.05)
    simulator.step(1.0)
    assert simulator.state().position == pytest.approx(trajectory.positions[-1], abs=1e-3)
    assert simulator.state().velocity == pytest.approx(np.zeros(6), abs=1e-3)


def test_hold_brakes(world: World, simulator: MujocoWorld) -> None:
    """From full motion to a standstill, well before the trajectory's end, and no jump back."""
    simulator.reset(nominal_layout(world))
    trajectory = move(simulator, 0.6, 1.0)
    simulator.follow(trajectory)
    simulator.step(0.5)
    moving = simulator.state()
    simulator.hold()
    simulator.step(0.4)
    still = simulator.state()
    assert np.abs(moving.velocity).max() > 0.5
    assert np.abs(still.velocity).max() < 1e-2
    assert (still.position - moving.position > -0.01).all()
    assert (still.position < trajectory.positions[-1] - 0.1).all()


@pytest.mark.parametrize("gap", [-0.01, 0.2, float("nan")])
def test_an_impossible_gap_is_refused(simulator: MujocoWorld, gap: float) -> None:
    """The stroke is 0 to 85 mm."""
    with pytest.raises(InputError):
        simulator.command_gripper(gap)


def test_equal_calls_give_equal_results(world: World, varied: MujocoWorld) -> None:
    """Bit for bit, the sensor's noise included; another seed gives other noise."""

    def run(seed: int) -> tuple[JointState, bytes, bytes, list[ContactSample]]:
        samples: list[ContactSample] = []
        varied.reset(random_layout(world, 3), seed=seed)
        end = varied.on_contacts(samples.append)
        varied.follow(move(varied))
        varied.command_gripper(0.03)
        varied.step(0.73)
        end()
        frame = varied.capture()
        return varied.state(), frame.colour.tobytes(), frame.depth.tobytes(), samples

    first, again, other = run(5), run(5), run(6)
    assert equal(first[0], again[0])
    assert first[1:] == again[1:]
    assert equal(first[0], other[0])
    assert first[1] != other[1]
    assert first[2] != other[2]


def test_a_snapshot_is_exact(world: World, varied: MujocoWorld) -> None:
    """A snapshot taken during a motion and a grasp reproduces the same future after a reset."""

    def future(run: Callable[[float], None]) -> tuple[JointState, bytes, list[ContactSample]]:
        samples: list[ContactSample] = []
        end = varied.on_contacts(samples.append)
        run(0.311)
        end()
        return varied.state(), varied.capture().colour.tobytes(), samples

    varied.reset(random_layout(world, 4), seed=1)
    varied.follow(move(varied))
    varied.command_gripper(0.01)
    varied.capture()
    varied.step(0.207)
    now = varied.state()
    saved = varied.checkpoint()
    expected = future(varied.step)
    only = world.objects[1].model
    varied.reset(Layout(poses={only: nominal_layout(world).poses[only]}), seed=9)
    varied.step(0.5)
    varied.restore(saved)
    assert equal(varied.state(), now)
    got = future(varied.step)
    assert equal(got[0], expected[0])
    assert got[1:] == expected[1:]
