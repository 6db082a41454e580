"""Views: a pinhole camera at a pose; the sensor's own, with its noise, and one for people to watch from.

And what disturbs a picture: a hand in view, less light.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Array, Pose, Vec3, matrix_of_vector
from spca_core.world import CameraMount, World
from spca_sim.disturber import Disturbed
from spca_sim.variation import SimVariation


@dataclass(frozen=True)
class CameraView:
    """A camera's view: `pose` is the optical frame (x right, y down, z forward) in `world`."""

    pose: Pose
    intrinsics: CameraIntrinsics

    def rays(self) -> Array:
        """Return one direction in `world` per pixel, (H·W, 3), of length 1 along the optical axis.

        The distance to a hit is therefore its depth.
        """
        c = self.intrinsics
        x = (np.arange(c.width) - c.cx) / c.fx
        y = (np.arange(c.height) - c.cy) / c.fy
        right, down, forward = self.pose.matrix()[:3, :3].T
        return np.asarray((x[None, :, None] * right + y[:, None, None] * down + forward).reshape(-1, 3))

    def project(self, points: Array) -> Array:
        """Return the pixel coordinates and depth (…, 3) of points (…, 3) in `world`."""
        m = self.pose.matrix()
        local = (points - m[:3, 3]) @ m[:3, :3]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.concatenate((self.intrinsics.pixels(local), local[..., 2:]), axis=-1)


def sensor_view(mount: CameraMount, variation: SimVariation, carrier: Array | None = None) -> CameraView:
    """Return a camera's true view: its calibrated pose, off by the variation's calibration error.

    `carrier` (4, 4) is the frame in `world` that the camera is fixed in; `world` itself by default.
    """
    pose = mount.pose if carrier is None else Pose.from_matrix(carrier @ mount.pose.matrix())
    return moved(CameraView(pose, mount.intrinsics), variation.camera_shift, variation.camera_turn)


def moved(view: CameraView, shift: Vec3, turn: Vec3) -> CameraView:
    """Return the view after a shift (m) and a turn (rotation vector, rad), both in its own optical axes."""
    error = np.eye(4)
    error[:3, :3] = matrix_of_vector(turn)
    error[:3, 3] = shift
    return CameraView(Pose.from_matrix(view.pose.matrix() @ error), view.intrinsics)


def overview(world: World, width: int = 480, height: int = 360) -> CameraView:
    """Return a level view from front left and above, work area and arm in sight: for videos and reports."""
    eye, target = (np.array([x, y, world.table.top + up]) for x, y, up in (_EYE, _TARGET))
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right = right / np.linalg.norm(right)
    m = np.eye(4)
    m[:3, :3] = np.column_stack([right, np.cross(forward, right), forward])
    m[:3, 3] = eye
    f = height / 2 / np.tan(_FIELD / 2)
    lens = CameraIntrinsics(width=width, height=height, fx=f, fy=f, cx=(width - 1) / 2, cy=(height - 1) / 2)
    return CameraView(Pose.from_matrix(m), lens)


_EYE, _TARGET = (1.45, 0.80, 0.72), (0.30, 0.0, 0.15)  # m, above the table's top
_FIELD = 0.62  # rad, of the overview's height
_EDGE_STEP = 0.01  # m between neighbouring pixels that makes a depth edge


class RgbdSensor:
    """A sensor with the noise of its mount, times the variation's scale, or with none."""

    def __init__(self, mount: CameraMount, variation: SimVariation, noise: bool) -> None:
        self._camera = mount
        self._depth_scale = variation.depth_scale
        self._level = variation.noise_scale if noise else 0.0

    def expose(
        self, colour: NDArray[np.uint8], depth: NDArray[np.float32], stamp: float, rng: np.random.Generator
    ) -> RgbdFrame:
        """Return one frame; its pose is the calibrated one. The inputs are left alone."""
        if self._level:
            colour = self._colour_noise(colour, rng)
        measured = self._measured(depth, rng)
        return RgbdFrame(colour, measured, self._camera.intrinsics, self._camera.pose, stamp)

    def _colour_noise(self, colour: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
        noisy = rng.standard_normal(colour.shape, dtype=np.float32)
        noisy *= self._camera.noise.colour_sigma * self._level
        noisy += colour
        noisy += 0.5
        np.clip(noisy, 0, 255, out=noisy)
        return noisy.astype(np.uint8)

    def _measured(self, depth: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
        """Return depth with a scale error, noise quadratic in distance, and holes mostly at edges."""
        noise, level = self._camera.noise, self._level
        there = (depth >= self._camera.near) & (depth <= self._camera.far)
        measured = np.where(there, depth, np.float32(0)) * np.float32(self._depth_scale)
        if level:
            grain = rng.standard_normal(depth.shape, dtype=np.float32)
            grain *= np.square(measured)
            grain *= np.float32(noise.depth_sigma * level)
            measured += grain
            lost = rng.random(depth.shape, dtype=np.float32) < np.float32(noise.depth_dropout * level)
            seen, around = np.where(there, depth, np.float32(0)), np.ones((3, 3), np.uint8)
            edge = np.flatnonzero(cv2.dilate(seen, around) - cv2.erode(seen, around) > _EDGE_STEP)
            lost.ravel()[edge] |= rng.random(len(edge)) < noise.depth_edge_dropout * level
            measured[lost | ~there] = 0
        return np.asarray(measured, dtype=np.float32)


_HAND_HEIGHT = 0.22  # m above the table: above everything that stands on it
_SKIN = np.array([196, 150, 122], np.uint8)
# Outlines in metres, the hand pointing along +x: arm and palm, then four fingers and a thumb.
_PALM = np.array([(-0.60, -0.035), (-0.06, -0.03), (-0.05, -0.045), (0.05, -0.045), (0.05, 0.045),
                  (-0.05, 0.045), (-0.06, 0.03), (-0.60, 0.035)])  # fmt: skip
_FINGERS = ((0.05, -0.034, 0.115), (0.05, -0.011, 0.13), (0.05, 0.012, 0.125), (0.05, 0.034, 0.10))


def disturb(
    colour: NDArray[np.uint8], depth: NDArray[np.float32], now: Disturbed, time: float, world: World,
    view: CameraView,
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:  # fmt: skip
    """Return the picture with the hand in view and the light that is left. The inputs are left alone."""
    if now.light != 1.0:
        colour = (colour * np.float32(now.light)).astype(np.uint8)
    if now.hand is not None and time < now.hand[0]:
        colour, depth = colour.copy(), depth.copy()
        _draw_hand(colour, depth, now.hand[1:], now.light, world, view)
    return colour, depth


def _draw_hand(
    colour: NDArray[np.uint8], depth: NDArray[np.float32], place: tuple[float, float, float], light: float,
    world: World, view: CameraView,
) -> None:  # fmt: skip
    """Draw a hand that reaches in from the far edge of the table, above everything there."""
    x, y, heading = place
    z = world.table.top + _HAND_HEIGHT
    c, s = np.cos(heading + np.pi), np.sin(heading + np.pi)
    mask = np.zeros(depth.shape, np.uint8)

    def pixels(outline: NDArray[np.float64]) -> NDArray[np.int32]:
        points = outline @ np.array([[c, s], [-s, c]]) + (x, y)
        spots = view.project(np.column_stack((points, np.full(len(points), z))))[:, :2]
        return np.rint(spots).astype(np.int32)

    cv2.fillPoly(mask, [pixels(_PALM)], 1)
    for base, side, tip in _FINGERS:
        ends = pixels(np.array([(base, side), (tip, side)]))
        cv2.line(mask, ends[0].tolist(), ends[1].tolist(), 1, 24)
    inside = mask > 0
    distance = np.float32(view.pose.position[2] - z)
    inside &= (depth == 0) | (depth > distance)
    shade = np.linspace(0.85, 1.0, depth.shape[1], dtype=np.float32)[None, :, None]
    painted = (_SKIN * shade * light).astype(np.uint8)
    colour[inside] = np.broadcast_to(painted, colour.shape)[inside]
    depth[inside] = distance
