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
    """Commands return at once; `wait` lets time pass. In lockstep, waiting is what steps the simulator."""

    def now(self) -> float:
        """Simulated (or real, on a real robot) seconds."""
        ...

    def state(self) -> JointState:
        """The newest joint state. Raises MotionError('stale') when it is older than the driver allows."""
        ...

    def follow(self, trajectory: JointTrajectory) -> None:
        """Start to track a trajectory, replacing any other."""
        ...

    def begun(self) -> float:
        """When the driver began what it was told last, at the latest; now, as long as it has not said so."""
        ...

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres (0-0.085)."""
        ...

    def hold(self) -> None:
        """Stop the arm as fast as the limits allow. Safe at any time and from any thread."""
        ...

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Let up to `seconds` pass; return True as soon as `until` holds.

        The condition is checked about every 20 ms of simulated time.
        """
        ...


class Camera(Protocol):
    """A fixed, calibrated RGB-D camera."""

    intrinsics: CameraIntrinsics
    pose: Pose
    """Calibrated pose of `camera_color_optical_frame` in `world`."""

    def capture(self) -> RgbdFrame:
        """A new frame, taken now. Raises TimeoutError when none arrives."""
        ...


class TableWorld:
    """Base class of tables. What only a simulator can do is unsupported unless a table overrides it."""

    robot: Robot
    camera: Camera

    def now(self) -> float:
        """The world's own clock, in seconds."""
        raise NotImplementedError

    def wait(self, seconds: float) -> None:
        """Let that much of the world's time pass; whoever listens has been told of it when this returns."""
        raise NotImplementedError

    def on_contacts(self, listener: Callable[[ContactSample], None]) -> Callable[[], None]:
        """Subscribe to contact samples, from any thread; returns a function that ends the subscription."""
        return lambda: None

    def places(self, models: Iterable[str]) -> Mapping[str, Pose]:
        """Poses in `world` by model name. Ground truth: for referees. KeyError where one is missing."""
        raise Unsupported("nobody tells where things are")

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """Robot home and open, objects as in `layout` and at rest, time 0; `seed` drives sensor noise."""
        raise Unsupported("a real table is laid by hand")

    def checkpoint(self) -> bytes | None:
        """The complete state of this world, opaque; None where it cannot be put back."""
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
