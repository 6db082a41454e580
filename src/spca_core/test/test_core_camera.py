"""The camera's conventions: what is where in the image."""

import numpy as np
import pytest

from spca_core.world import load_world

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
