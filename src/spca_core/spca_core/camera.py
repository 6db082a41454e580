"""Data that an RGB-D camera delivers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array, Pose
from spca_core.model import Record


class CameraIntrinsics(Record):
    """Pinhole parameters in pixels; pixel (0, 0) is the centre of the top left one."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    def pixels(self, points: Array) -> Array:
        """Return the pixels (…, 2: column, row) that show points (…, 3) in the camera's optical frame."""
        x, y, z = np.moveaxis(points, -1, 0)
        return np.stack((self.fx * x / z + self.cx, self.fy * y / z + self.cy), axis=-1)


@dataclass(frozen=True)
class RgbdFrame:
    """An RGB-D frame: registered colour and depth images taken at the same instant.

    `colour` is (H, W, 3) uint8 RGB. `depth` is (H, W) float32, metres along the optical axis; 0 means no
    measurement. `pose` is that of `camera_color_optical_frame` in `world`; `stamp` is in simulated seconds.
    """

    colour: NDArray[np.uint8]
    depth: NDArray[np.float32]
    intrinsics: CameraIntrinsics
    pose: Pose
    stamp: float

    @classmethod
    def of_points(
        cls, points: Array, colours: NDArray[np.uint8], intrinsics: CameraIntrinsics, pose: Pose, stamp: float
    ) -> RgbdFrame:
        """Return what a camera would see of points (N, 3) in `world` with their colours (N, 3)."""
        matrix, size = pose.matrix(), (intrinsics.height, intrinsics.width)
        seen = (points - matrix[:3, 3]) @ matrix[:3, :3]
        pixels = np.rint(intrinsics.pixels(seen)).astype(int)[:, ::-1]
        inside = ((pixels >= 0) & (pixels < size)).all(axis=1)
        at, away, colours = tuple(pixels[inside].T), seen[inside, 2], colours[inside]
        depth, colour = np.full(size, np.inf), np.zeros((*size, 3), np.uint8)
        np.minimum.at(depth, at, away)
        nearest = away == depth[at]
        colour[tuple(pixels[inside][nearest].T)] = colours[nearest]
        depth[np.isinf(depth)] = 0.0
        return cls(colour, depth.astype(np.float32), intrinsics, pose, stamp)

    def points(self) -> Array:
        """Return each pixel's point (H, W, 3), metres in `world`; the camera's own where not measured."""
        k, pose = self.intrinsics, self.pose.matrix()
        rows, columns = np.indices(self.depth.shape)
        rays = np.stack([(columns - k.cx) / k.fx, (rows - k.cy) / k.fy, np.ones(rows.shape)], axis=2)
        return np.asarray((rays * self.depth[..., None]) @ pose[:3, :3].T + pose[:3, 3])
