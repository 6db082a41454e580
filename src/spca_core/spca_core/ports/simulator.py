"""Port: a simulator of the whole workspace."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

from spca_core.camera import RgbdFrame
from spca_core.contacts import ContactSample
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.trajectory import JointState, JointTrajectory


class Simulator(Protocol):
    """Physics that is stepped by its user. Equal seeds and equal calls give equal results, bit for bit."""

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        ...

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """Robot home and open, objects as in `layout` and at rest, time 0; `seed` drives sensor noise."""
        ...

    def step(self, seconds: float) -> None:
        """Advance; every `SAMPLE_PERIOD` the listeners get the contacts since the sample before."""
        ...

    def follow(self, trajectory: JointTrajectory) -> None:
        """Start to track a joint trajectory from now on, replacing any other. Does not step."""
        ...

    def hold(self) -> None:
        """Drop any trajectory and brake the arm to a standstill."""
        ...

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres between them (0-0.085), with bounded force. Does not step."""
        ...

    def joint_state(self) -> JointState:
        """The present state of arm and gripper."""
        ...

    def capture(self) -> RgbdFrame:
        """A camera frame of the present state, with sensor noise."""
        ...

    def object_pose(self, model: str) -> Pose:
        """Return an object's pose in `world`. Ground truth: for referees. KeyError if it is not there."""
        ...

    def on_contacts(self, listener: Callable[[ContactSample], None]) -> Callable[[], None]:
        """Subscribe to contact samples by model name; returns a function that ends the subscription."""
        ...

    snapshot_kinds: Collection[type]
    """The classes that a snapshot consists of, for `spca_core.checkpoint`."""

    def snapshot(self) -> Any:
        """The complete state (physics, controllers, time, noise generator), opaque and picklable."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot exactly."""
        ...

    def close(self) -> None:
        """Release all resources. Calling it twice is harmless."""
        ...
