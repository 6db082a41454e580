"""Views: a pinhole camera at a pose. The sensor's own view, and one for people to watch from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spca_core.camera import CameraIntrinsics
from spca_core.geometry import Array, Pose, Vec3
from spca_core.rotations import matrix_of_vector
from spca_core.world import World
from spca_sim.variation import SimVariation


@dataclass(frozen=True)
class CameraView:
    """`pose` is the optical frame (x right, y down, z forward) in `world`."""

    pose: Pose
    intrinsics: CameraIntrinsics

    def rays(self) -> Array:
        """One direction in `world` per pixel, (H·W, 3), of length 1 along the optical axis.

        The distance to a hit is therefore its depth.
        """
        c = self.intrinsics
        x = (np.arange(c.width) - c.cx) / c.fx
        y = (np.arange(c.height) - c.cy) / c.fy
        right, down, forward = self.pose.matrix()[:3, :3].T
        return np.asarray((x[None, :, None] * right + y[:, None, None] * down + forward).reshape(-1, 3))

    def project(self, points: Array) -> Array:
        """Pixel coordinates and depth (…, 3) of points (…, 3) in `world`."""
        c, m = self.intrinsics, self.pose.matrix()
        local = (points - m[:3, 3]) @ m[:3, :3]
        z = local[..., 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([c.fx * local[..., 0] / z + c.cx, c.fy * local[..., 1] / z + c.cy, z], axis=-1)


def sensor_view(world: World, variation: SimVariation) -> CameraView:
    """Return the camera's true view: its calibrated pose, off by the variation's calibration error."""
    return moved(
        CameraView(world.camera.pose, world.camera.intrinsics), variation.camera_shift, variation.camera_turn
    )


def moved(view: CameraView, shift: Vec3, turn: Vec3) -> CameraView:
    """The view after a shift (m) and a turn (rotation vector, rad), both in its own optical axes."""
    error = np.eye(4)
    error[:3, :3] = matrix_of_vector(turn)
    error[:3, 3] = shift
    return CameraView(Pose.from_matrix(view.pose.matrix() @ error), view.intrinsics)


def overview(world: World, width: int = 480, height: int = 360) -> CameraView:
    """From the front left and above, the whole work area and the arm in sight: for videos and reports."""
    top = world.table.top
    return look_at((1.45, 0.80, top + 0.72), (0.30, 0.0, top + 0.15), width, height, fov_y=0.62)


def look_at(eye: Vec3, target: Vec3, width: int, height: int, fov_y: float) -> CameraView:
    """A level view from `eye` towards `target`; `fov_y` is its vertical field of view in radians."""
    forward = np.subtract(target, eye)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right = right / np.linalg.norm(right)
    m = np.eye(4)
    m[:3, :3] = np.column_stack([right, np.cross(forward, right), forward])
    m[:3, 3] = eye
    f = height / 2 / np.tan(fov_y / 2)
    return CameraView(
        Pose.from_matrix(m),
        CameraIntrinsics(width=width, height=height, fx=f, fy=f, cx=(width - 1) / 2, cy=(height - 1) / 2),
    )
