"""The gripper's one commanded joint: between its angle and the gap between the pads, and how hard the pads press.

Gazebo reports no joint effort, so the force is inferred: a finger that rests short of where it is sent is held back by
something, and its motor then gives all it has.
"""

from __future__ import annotations

from dataclasses import dataclass

from spca_robot.gripper_2f85 import CLOSED_ANGLE, STROKE, driver_angle, gap_of, pad_force
from spca_robot.gripper_model import MAX_MOMENT

# Closer than this to the command, or faster than this, the pads press against nothing (rad, rad/s).
_BLOCKED, _RESTING = 0.02, 0.05


@dataclass(frozen=True)
class FingerState:
    """The gap between the pads (m) and the force of each (N)."""

    gap: float
    force: float


def command(gap: float, upper: float = CLOSED_ANGLE) -> float:
    """The joint's angle (rad) for a gap (m), within the joint's limit; a gap out of range is brought into it."""
    return min(driver_angle(min(max(gap, 0.0), STROKE)), upper)


def finger_state(angle: float, velocity: float, commanded: float) -> FingerState:
    """What the joint's angle, velocity and command (rad, rad/s, rad) say about the pads."""
    blocked = commanded - angle > _BLOCKED and abs(velocity) < _RESTING
    within = min(max(angle, 0.0), CLOSED_ANGLE)
    return FingerState(gap=max(gap_of(within), 0.0), force=pad_force(MAX_MOMENT, within) if blocked else 0.0)
