"""Port: the joint-level driver of arm and gripper, below motion planning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

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
