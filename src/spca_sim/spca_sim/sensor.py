"""The RGB-D sensor: turns an ideal image and depth into what such a camera would deliver."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import RgbdFrame
from spca_core.world import World
from spca_sim.variation import SimVariation

_EDGE_STEP = 0.01  # m between neighbouring pixels that makes a depth edge


class RgbdSensor:
    """Noise as in the world's `camera.noise`, times the variation's scale; none with `noise=False`."""

    def __init__(self, world: World, variation: SimVariation, noise: bool) -> None:
        self._camera = world.camera
        self._depth_scale = variation.depth_scale
        self._level = variation.noise_scale if noise else 0.0

    def expose(
        self, colour: NDArray[np.uint8], depth: NDArray[np.float32], stamp: float, rng: np.random.Generator
    ) -> RgbdFrame:
        """One frame; the pose in it is the calibrated one. The inputs are left alone."""
        if self._level:
            colour = self._colour_noise(colour, rng)
        return RgbdFrame(
            colour=colour,
            depth=self._measured(depth, rng),
            intrinsics=self._camera.intrinsics,
            pose=self._camera.pose,
            stamp=stamp,
        )

    def _colour_noise(self, colour: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
        noisy = rng.standard_normal(colour.shape, dtype=np.float32)
        noisy *= self._camera.noise.colour_sigma * self._level
        noisy += colour
        noisy += 0.5
        np.clip(noisy, 0, 255, out=noisy)
        return noisy.astype(np.uint8)

    def _measured(self, depth: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
        """Depth with a systematic scale error, noise quadratic in distance, and holes mostly at edges."""
        noise, level = self._camera.noise, self._level
        there = (depth >= self._camera.near) & (depth <= self._camera.far)
        measured = np.where(there, depth, np.float32(0)) * np.float32(self._depth_scale)
        if level:
            grain = rng.standard_normal(depth.shape, dtype=np.float32)
            grain *= np.square(measured)
            grain *= np.float32(noise.depth_sigma * level)
            measured += grain
            lost = rng.random(depth.shape, dtype=np.float32) < np.float32(noise.depth_dropout * level)
            edge = np.flatnonzero(_edges(np.where(there, depth, np.float32(0))))
            lost.ravel()[edge] |= rng.random(len(edge)) < noise.depth_edge_dropout * level
            measured[lost | ~there] = 0
        return np.asarray(measured, dtype=np.float32)


def _edges(depth: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Pixels with a neighbour more than a step nearer or farther."""
    kernel = np.ones((3, 3), np.uint8)
    return np.asarray(cv2.dilate(depth, kernel) - cv2.erode(depth, kernel) > _EDGE_STEP)
