"""The simulated camera: geometry, noise, looks, signs; and that it needs no graphics library."""

import os
from collections.abc import Iterator

import numpy as np
import pytest

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.layout import Layout, nominal_layout
from spca_core.world import World
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import SimVariation
from spca_testing.contracts.camera_contract import CameraContract
from spca_testing.processes import python


def frame_of(world: World, layout: Layout, **options: object) -> RgbdFrame:
    simulator = MujocoWorld(world, **options)  # type: ignore[arg-type]
    simulator.reset(layout, seed=1)
    frame = simulator.capture()
    simulator.close()
    return frame


def middle_of_red(frame: RgbdFrame) -> float:
    """In which column the middle of what is red is."""
    red, green, blue = np.moveaxis(frame.colour.astype(int), 2, 0)
    return float(np.nonzero((red > 1.6 * np.maximum(green, blue)) & (red > 50))[1].mean())


class TestSimulatedCamera(CameraContract):
    @pytest.fixture
    def camera(self, world: World) -> Iterator[MujocoWorld]:
        simulator = MujocoWorld(world)
        yield simulator
        simulator.close()


def test_noise_is_as_configured(world: World) -> None:
    """Standard deviations, and the share of pixels without a depth."""
    empty = Layout(poses={})
    ideal, noisy = frame_of(world, empty, noise=False), frame_of(world, empty)
    flat = np.s_[100:300, 100:540]
    noise = world.camera.noise
    difference = noisy.colour[flat].astype(float) - ideal.colour[flat]
    assert difference.std() == pytest.approx(noise.colour_sigma, rel=0.1)
    assert abs(difference.mean()) < 0.1
    there = noisy.depth[flat] > 0
    assert 1 - there.mean() == pytest.approx(noise.depth_dropout, rel=0.5)
    error = (noisy.depth[flat] - ideal.depth[flat])[there]
    assert error.std() == pytest.approx(noise.depth_sigma * 0.85**2, rel=0.05)
    assert (ideal.depth[flat] > 0).all()


def test_who_looks_on_changes_no_frame_that_is_captured(world: World) -> None:
    taken = []
    for looks in (0, 3):
        simulator = MujocoWorld(world, noise=True)
        simulator.reset(nominal_layout(world), seed=1)
        seen = [simulator.watched(np.random.default_rng(7)) for _ in range(looks)]
        frame = simulator.capture()
        assert all((each.colour != frame.colour).any() and each.stamp == frame.stamp for each in seen)
        taken.append(frame)
        simulator.close()
    np.testing.assert_array_equal(taken[0].colour, taken[1].colour)
    np.testing.assert_array_equal(taken[0].depth, taken[1].depth)


def test_a_variation_moves_the_picture_not_the_pose_scales_depth_and_dims_the_light(world: World) -> None:
    """And what is kept of earlier pictures does not change later ones."""
    shift, layout = 0.01, Layout(poses={"box_red": Pose.from_xyz_yaw(0.5, 0.0, 0.42)})
    varied = SimVariation(camera_shift=(shift, 0.0, 0.0), depth_scale=1.01, light_scale=0.5)
    true, off, again = (
        frame_of(world, layout, noise=False, variation=v) for v in (SimVariation(), varied, SimVariation())
    )
    assert off.pose == true.pose
    moved = middle_of_red(true) - middle_of_red(off)
    assert moved == pytest.approx(shift * world.camera.fx / 0.81, abs=1.0)
    assert np.median(off.depth) / np.median(true.depth) == pytest.approx(1.01, abs=1e-4)
    assert off.colour.mean() < 0.85 * true.colour.mean()
    assert np.array_equal(true.colour, again.colour) and np.array_equal(true.depth, again.depth)


def test_no_graphics_library_is_needed() -> None:
    """A process that cannot import OpenGL still takes a picture."""
    script = """
import sys
for name in ("OpenGL", "glfw", "mujoco.egl", "mujoco.osmesa"):
    sys.modules[name] = None
from spca_core.world import load_world
from spca_sim.mujoco_world import MujocoWorld
assert MujocoWorld(load_world()).capture().colour.mean() > 30
"""
    done = python("-c", script, env=os.environ | {"MUJOCO_GL": "disabled"})
    assert done.returncode == 0, done.stderr
