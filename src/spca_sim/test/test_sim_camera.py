"""The simulated camera: geometry, noise, looks, signs; and that it needs no graphics library."""

import os
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.layout import Layout, nominal_layout, random_layout
from spca_core.world import World, load_world
from spca_sim import ray_renderer
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import SimVariation
from spca_sim.view import CameraView
from spca_testing.contracts.arm_contract import OVER_TABLE
from spca_testing.contracts.camera_contract import CameraContract
from spca_testing.processes import python


def frame_of(world: World, layout: Layout | None = None, **options: object) -> RgbdFrame:
    simulator = MujocoWorld(world, **options)  # type: ignore[arg-type]
    simulator.reset(layout or nominal_layout(world), seed=1)
    frame = simulator.capture()
    simulator.close()
    return frame


def pixel(frame: RgbdFrame, point: tuple[float, float, float]) -> tuple[int, int, float]:
    """Row, column and depth at which the camera's calibration puts a point."""
    u, v, z = CameraView(frame.pose, frame.intrinsics).project(np.array(point))
    return round(float(v)), round(float(u)), float(z)


def mask_of(frame: RgbdFrame, channel: int) -> NDArray[np.uint8]:
    """Where a colour channel dominates both others."""
    image = frame.colour.astype(int)
    others = np.delete(image, channel, axis=2).max(axis=2)
    return ((image[..., channel] > 1.6 * others) & (image[..., channel] > 50)).astype(np.uint8)


class TestSimulatedCamera(CameraContract):
    @pytest.fixture
    def camera(self, world: World) -> Iterator[MujocoWorld]:
        simulator = MujocoWorld(world)
        yield simulator
        simulator.close()


@pytest.mark.parametrize("seed", range(3))
def test_tops_are_at_their_pixels_and_depths(world: World, seed: int) -> None:
    layout = random_layout(world, seed)
    frame = frame_of(world, layout, noise=False)
    for model, pose in layout.poses.items():
        x, y, z = pose.position
        height = world.object(model).size[2]
        row, column, depth = pixel(frame, (x, y, z + height / 2))
        assert frame.depth[row, column] == pytest.approx(depth, abs=2e-4)
        expected = np.array(world.object(model).colour)
        seen = frame.colour[row, column] / 255
        assert seen / seen.sum() == pytest.approx(expected / expected.sum(), abs=0.02)


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


def test_depth_is_lost_at_edges(world: World) -> None:
    layout = Layout(poses={"box_red": Pose.from_xyz_yaw(0.5, 0.0, 0.42)})
    frame = frame_of(world, layout)
    row, column, _ = pixel(frame, (0.5, 0.0, 0.44))
    edge = world.camera.fx * 0.02 / (world.camera.position[2] - 0.44)
    rows, columns = np.indices(frame.depth.shape)
    near_edge = np.abs(np.maximum(np.abs(rows - row), np.abs(columns - column)) - edge) < 1
    lost = (frame.depth == 0)[near_edge].mean()
    assert lost > 20 * world.camera.noise.depth_dropout


def test_calibration_error_moves_the_picture_not_the_pose(world: World) -> None:
    shift = 0.01
    layout = Layout(poses={"box_red": Pose.from_xyz_yaw(0.5, 0.0, 0.42)})
    true = frame_of(world, layout, noise=False)
    off = frame_of(world, layout, noise=False, variation=SimVariation(camera_shift=(shift, 0.0, 0.0)))
    assert off.pose == true.pose
    columns = [np.nonzero(mask_of(f, 0))[1].mean() for f in (true, off)]
    assert columns[0] - columns[1] == pytest.approx(shift * world.camera.fx / 0.81, abs=1.0)


def test_what_is_kept_of_earlier_pictures_does_not_change_later_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[tuple[object, ...], object] = {}
    monkeypatch.setattr(ray_renderer, "_backdrops", kept)
    dim, turned = SimVariation(light_scale=0.6), SimVariation(camera_turn=(0.0, 0.0, 0.02))
    variations = [SimVariation(), dim, turned]
    first = [frame_of(world, noise=False, variation=v) for v in variations]
    assert len(kept) == 3
    for before, variation in zip(first, variations, strict=True):
        after = frame_of(world, noise=False, variation=variation)
        assert np.array_equal(before.colour, after.colour) and np.array_equal(before.depth, after.depth)
    assert len(kept) == 3
    for light in np.linspace(0.5, 0.9, 5):
        frame_of(world, noise=False, variation=SimVariation(light_scale=float(light)))
    assert len(kept) == ray_renderer._KEPT


def test_depth_scale_and_light(world: World) -> None:
    plain = frame_of(world, noise=False)
    varied = frame_of(world, noise=False, variation=SimVariation(depth_scale=1.01, light_scale=0.5))
    assert np.median(varied.depth) / np.median(plain.depth) == pytest.approx(1.01, abs=1e-4)
    assert varied.colour.mean() < 0.85 * plain.colour.mean()


def test_the_arm_is_seen_when_it_is_in_the_way() -> None:
    world = load_world()
    over = world.robot.model_copy(update={"home": tuple(OVER_TABLE)})
    frame = frame_of(world.model_copy(update={"robot": over}), Layout(poses={}), noise=False)
    assert (frame.depth[240:] < 0.7).mean() > 0.2


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


SIGN = load_world("tabletop_sign")


def printed(text: str) -> World:
    objects = tuple(o.model_copy(update={"text": text}) if o.kind == "sign" else o for o in SIGN.objects)
    return SIGN.model_copy(update={"objects": objects})


def picture(world: World) -> np.ndarray:
    """The sign as the camera sees it: brightness of the pixels around it."""
    grey = frame_of(world, noise=False).colour.mean(axis=2)
    sign, camera = world.object("sign"), world.camera
    scale = camera.fx / (camera.position[2] - world.table.top)
    row = camera.cy - (sign.position[0] - camera.position[0]) * scale
    column = camera.cx - (sign.position[1] - camera.position[1]) * scale
    half = round(sign.size[0] / 2 * scale) - 4, round(sign.size[1] / 2 * scale) - 4
    return grey[
        round(row) - half[0] : round(row) + half[0], round(column) - half[1] : round(column) + half[1]
    ]


def test_the_text_is_in_the_picture_and_nothing_without_one() -> None:
    assert (picture(printed("")) < 90).mean() == 0
    assert (picture(SIGN) < 90).mean() > 0.02


def test_the_text_reads_the_right_way_up_and_not_mirrored() -> None:
    """Of an L there is ink on the left and at the bottom, and none at the upper right."""
    ink = picture(printed("L")) < 90
    rows, columns = np.nonzero(ink)
    letter = ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    height, width = letter.shape
    assert letter[:, : width // 4].mean() > 0.5 and letter[-(height // 5) :].mean() > 0.5
    assert letter[: height // 2, width // 2 :].mean() < 0.1
