"""The camera's conventions: what is where in the image."""

from __future__ import annotations

import numpy as np
import pytest

from spca_core.world import CameraMount, load_world

WORLD = load_world()
CAMERA = WORLD.camera
TOP = WORLD.table.top


def pixel(x: float, y: float, z: float = TOP) -> tuple[float, float, float]:
    """Column, row and depth of a point in `world`, by the pinhole model and the optical frame's pose."""
    x, y, z, _ = np.linalg.inv(CAMERA.pose.matrix()) @ [x, y, z, 1.0]
    return float(CAMERA.fx * x / z + CAMERA.cx), float(CAMERA.fy * y / z + CAMERA.cy), float(z)


def test_what_is_under_the_camera_is_in_the_middle_of_the_image() -> None:
    """Pixel (0, 0) is the *centre* of the top left one: the middle of 640 columns is 319.5."""
    x, y, z = CAMERA.position
    u, v, depth = pixel(x, y)
    assert (u, v) == pytest.approx(((CAMERA.width - 1) / 2, (CAMERA.height - 1) / 2))
    assert depth == pytest.approx(z - TOP)


def test_the_optical_frame() -> None:
    """x = image right = -y, y = image down = -x, z = -z; at the camera's position."""
    m = CAMERA.pose.matrix()
    assert m[:3, :3] == pytest.approx(np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -1]]), abs=1e-12)
    assert tuple(m[:3, 3]) == CAMERA.position


def test_the_whole_work_area_is_in_the_picture_as_high_as_a_tower() -> None:
    for x in WORLD.work_area.x:
        for y in WORLD.work_area.y:
            for z in (TOP, TOP + 3 * 0.04):
                u, v, depth = pixel(x, y, z)
                assert 0 <= u <= CAMERA.width - 1 and 0 <= v <= CAMERA.height - 1
                assert CAMERA.near < depth < CAMERA.far


def test_the_intrinsics_are_the_mounts() -> None:
    names = ("width", "height", "fx", "fy", "cx", "cy")
    odd = CameraMount(
        name="c", width=7, height=5, fx=2, fy=3, cx=1, cy=4, position=(0, 0, 1), rate_hz=1, near=1, far=2
    )
    assert (
        [getattr(odd.intrinsics, n) for n in names] == [getattr(odd, n) for n in names] == [7, 5, 2, 3, 1, 4]
    )
