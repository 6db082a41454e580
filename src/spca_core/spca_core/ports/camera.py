"""Port: an RGB-D camera."""

from __future__ import annotations

from typing import Protocol

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Pose


class Camera(Protocol):
    """A fixed, calibrated RGB-D camera."""

    intrinsics: CameraIntrinsics
    pose: Pose
    """Calibrated pose of `camera_color_optical_frame` in `world`."""

    def capture(self) -> RgbdFrame:
        """A new frame, taken now. Raises SpcaError when none arrives."""
        ...
