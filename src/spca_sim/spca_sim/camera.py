"""The embedded simulator's camera as a `Camera` port."""

from __future__ import annotations

from typing import Protocol

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Pose
from spca_core.world import World


class FrameSource(Protocol):
    """A simulator, as far as a camera needs one."""

    world: World

    def capture(self) -> RgbdFrame:
        """The frame now."""
        ...


class SimulatedCamera:
    """Sees a simulator's world.

    Its `pose` is the calibrated one of the world file, as a real camera's would be.
    """

    intrinsics: CameraIntrinsics
    pose: Pose

    def __init__(self, simulator: FrameSource) -> None:
        self._simulator = simulator
        self.intrinsics = simulator.world.camera.intrinsics
        self.pose = simulator.world.camera.pose

    def capture(self) -> RgbdFrame:
        """A new frame, taken now."""
        return self._simulator.capture()
