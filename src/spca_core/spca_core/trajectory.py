"""Joint-space states and trajectories. Radians, rad/s, seconds; joints in the order of the arm's file."""

from __future__ import annotations

from dataclasses import dataclass

from spca_core.geometry import Array


@dataclass(frozen=True)
class JointState:
    """State of arm and gripper at `stamp` (simulated s).

    `position` and `velocity` have shape (n,); `gripper_gap` is the distance between the pads in m.
    """

    stamp: float
    position: Array
    velocity: Array
    gripper_gap: float
    gripper_force: float = 0.0


@dataclass(frozen=True)
class JointTrajectory:
    """A time-stamped path in joint space.

    `times` (N,) are seconds from its start, ascending from 0; `positions` and `velocities` are (N, n).
    """

    times: Array
    positions: Array
    velocities: Array

    @property
    def duration(self) -> float:
        """Seconds from the first to the last point."""
        return float(self.times[-1])
