"""What an RGB-D camera delivers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Pose
from spca_core.model import Record


class CameraIntrinsics(Record):
    """Pinhole parameters in pixels; pixel (0, 0) is the centre of the top left one."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float


@dataclass(frozen=True)
class RgbdFrame:
    """One registered snapshot: colour (H, W, 3) uint8 RGB; depth (H, W) float32, metres along the optical axis.

    A depth of 0 means "none". `pose` is `camera_color_optical_frame` in `world`; `stamp` is simulated seconds.
    """

    colour: NDArray[np.uint8]
    depth: NDArray[np.float32]
    intrinsics: CameraIntrinsics
    pose: Pose
    stamp: float
