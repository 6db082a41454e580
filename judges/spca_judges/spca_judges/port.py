"""Port: an episode in somebody else's simulator. What crosses is what a robot would get, and the verdict.

Poses of objects never do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array


@dataclass(frozen=True)
class Proprioception:
    """The arm's joints (n,) in rad and rad/s, and the gripper's state, at `stamp` (s).

    `opening` is from 0 (closed) to 1; `force` (N) is what each of the pads presses with.
    """

    positions: Array
    velocities: Array
    opening: float
    force: float
    stamp: float


class Episode(Protocol):
    """One trial. Time passes only in `act`; one thread uses it."""

    text: str
    """What is to be done, in words."""
    period: float
    """Simulated seconds of one `act`."""

    def reset(self, seed: int) -> None:
        """Begin anew: the same for the same seed."""

    def look(self) -> list[RgbdFrame]:
        """One frame of every camera, with its calibration in the frame of the robot's base."""

    def feel(self) -> Proprioception:
        """The robot's own state."""

    def act(self, joints: Array, opening: float) -> None:
        """For one period, drive the arm towards `joints` (n,) and the gripper towards `opening` (0 to 1)."""

    def success(self) -> bool:
        """The judge's own verdict, now."""

    def close(self) -> None:
        """End it. Calling it twice is harmless."""
