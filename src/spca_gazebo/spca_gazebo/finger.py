"""The gripper's one commanded joint: angle versus gap between the pads, and grip force.

Gazebo reports no joint effort, so the force is inferred: a finger that rests short of where it is sent is
held back by something, and its motor then gives all it has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from spca_robot.gripper_2f85 import CLOSED_ANGLE, STROKE, driver_angle, gap_of, pad_force
from spca_robot.gripper_model import MAX_MOMENT

# Closer than this to the command, or faster than this, the pads press against nothing (rad, rad/s).
_BLOCKED, _RESTING = 0.02, 0.3
# Where a blocked finger is sent instead: this far beyond where it is (rad), when it has rested this long (s),
# and not sooner than this after its command (s).
_BEYOND, _RESTED, _STARTED = 0.002, 0.05, 0.15


@dataclass(frozen=True)
class FingerState:
    """The gap between the pads (m) and the force of each (N)."""

    gap: float
    force: float


def command(gap: float, upper: float = CLOSED_ANGLE) -> float:
    """The joint's angle (rad) for a gap (m).

    A gap out of range is clamped to the joint's limit.
    """
    return min(driver_angle(min(max(gap, 0.0), STROKE)), upper)


def finger_state(angle: float, velocity: float, commanded: float) -> FingerState:
    """What the joint's angle, velocity and command (rad, rad/s, rad) say about the pads."""
    blocked = commanded - angle > _BLOCKED and abs(velocity) < _RESTING
    within = min(max(angle, 0.0), CLOSED_ANGLE)
    return FingerState(gap=max(gap_of(within), 0.0), force=pad_force(MAX_MOMENT, within) if blocked else 0.0)


class Press:
    """Where to send a finger that something holds back.

    A joint of Gazebo that cannot get where it is sent pushes with all its force, however near that is; but
    whenever the contact is lost for a physics step it leaps at the speed that its error asks for. Sent to the
    far goal, the fingers hammer at what they hold and lose it; sent just beyond where they are, they hold it.
    """

    def __init__(self) -> None:
        self.goal = 0.0
        """Where the finger was commanded to (rad)."""
        self._near: float | None = None
        self._begun = self._since = -math.inf

    def command(self, goal: float, stamp: float) -> None:
        """The finger has been sent to `goal` at `stamp` (rad, simulated s)."""
        self.goal, self._near, self._begun, self._since = goal, None, stamp, math.inf

    def update(self, stamp: float, angle: float, velocity: float) -> float | None:
        """The finger's next target from its joint's state (simulated s, rad, rad/s).

        None leaves the target unchanged.
        """
        if self._near is not None:
            if self._near - angle > _BEYOND / 4:
                return None
            self.command(self.goal, stamp)  # the obstruction has yielded
            return self.goal
        if self.goal - angle < _BLOCKED or abs(velocity) > _RESTING or stamp < self._begun + _STARTED:
            self._since = math.inf
            return None
        self._since = min(self._since, stamp)
        if stamp - self._since < _RESTED:
            return None
        self._near = angle + _BEYOND
        return self._near
