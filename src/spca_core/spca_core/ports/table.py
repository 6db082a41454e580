"""Port: a table that can be seen, moved in and felt; simulated or real."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.contacts import ContactSample
from spca_core.errors import Unsupported
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.trajectory import JointState, JointTrajectory


class Robot(Protocol):
    """A robot whose commands return at once; `wait` lets time pass. In lockstep, that steps the simulator."""

    def now(self) -> float:
        """Return the time in simulated seconds (in real ones on a real robot)."""

    def state(self) -> JointState:
        """Return the newest joint state. Raises MotionError('stale') if it is too old for the driver."""

    def follow(self, trajectory: JointTrajectory) -> None:
        """Start to track a trajectory, replacing any other."""

    def begun(self) -> float:
        """Return the latest time at which the driver began its last command; now, until it has said so."""

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres (0-0.085)."""

    def hold(self) -> None:
        """Stop the arm as fast as the limits allow. Safe at any time and from any thread."""

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Let up to `seconds` pass; return True as soon as `until` holds.

        The condition is checked about every 20 ms of simulated time.
        """


class Camera(Protocol):
    """A calibrated RGB-D camera, which is fixed in `world`, or to the arm's `tool0`."""

    intrinsics: CameraIntrinsics
    pose: Pose
    """Calibrated pose of the optical frame in the frame that the camera is fixed in, as frames have it."""

    def capture(self) -> RgbdFrame:
        """Take a new frame now and return it. Raises SpcaError when none arrives."""


class TableWorld:
    """Base class of tables. What only a simulator can do is unsupported unless a table overrides it."""

    robot: Robot
    camera: Camera
    wrist_camera: Camera | None = None
    """Camera that the arm carries; None where there is none."""

    def now(self) -> float:
        """Return the time on the world's own clock, which is its robot's, in seconds."""
        return self.robot.now()

    def wait(self, seconds: float) -> object:
        """Let so many seconds of the world's time pass; before this returns, all listeners have been told."""
        return self.robot.wait(seconds)

    def on_contacts(self, listener: Callable[[ContactSample], None]) -> Callable[[], None]:
        """Subscribe to contact samples, from any thread; returns a function that ends the subscription."""
        return lambda: None

    def places(self, models: Iterable[str]) -> Mapping[str, Pose]:
        """Return poses in `world` by model name. Ground truth: for referees. KeyError if one is missing."""
        raise Unsupported("nobody tells where things are")

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """Put robot home and open, objects at rest as in `layout`, time to 0; `seed` drives sensor noise."""
        raise Unsupported("a real table is laid by hand")

    def checkpoint(self) -> bytes | None:
        """Return the complete state of this world, opaque; None where it cannot be put back."""
        return None

    def restore(self, state: bytes) -> None:
        """Restore a checkpoint exactly."""
        raise Unsupported("this world cannot be put back")

    def record_afresh(self) -> None:
        """Forget what has been recorded so far."""

    def save_recording(self, folder: Path) -> None:
        """Write what was recorded into a run's folder."""

    def close(self) -> None:
        """Release all resources. Calling it twice is harmless."""
