"""The gripper's one commanded joint: angle versus gap between the pads, and grip force.

Its controller runs in Gazebo and presses by itself (`spca_robot.description.controllers`, decision 11).
Gazebo reports no joint effort, so the force is inferred: a finger that gets nowhere although it is short of
where it was sent is held back by something, and its motor then gives all it has.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from spca_robot.description.controllers import PRESS_GAIN
from spca_robot.gripper_2f85 import CLOSED_ANGLE, STROKE, driver_angle, gap_of, pad_force
from spca_robot.gripper_model import MAX_MOMENT

_BLOCKED = 0.02  # rad: closer than this to the goal, the pads press against nothing
_WINDOW = 0.1  # simulated s over which a finger's progress is measured: one that presses quivers


@dataclass(frozen=True)
class FingerState:
    """The gap between the pads (m) and the force of each (N)."""

    gap: float
    force: float


def command(gap: float, upper: float = CLOSED_ANGLE) -> float:
    """Return the joint's angle (rad) for a gap (m).

    A gap out of range is clamped to the joint's limit.
    """
    return min(driver_angle(min(max(gap, 0.0), STROKE)), upper)


class Finger:
    """State of the pads, as told by the joint's states."""

    def __init__(self) -> None:
        self.goal = 0.0
        """Angle to which the finger was sent, in radians."""
        self._seen: deque[tuple[float, float]] = deque()

    def state(self, stamp: float, angle: float) -> FingerState:
        """Return the state of the pads, from the newest joint state (simulated s, rad)."""
        if self._seen and stamp < self._seen[-1][0]:
            self._seen.clear()  # Gazebo was started again
        self._seen.append((stamp, angle))
        while len(self._seen) > 1 and self._seen[1][0] <= stamp - _WINDOW:
            self._seen.popleft()
        before, error = self._seen[0], self.goal - angle
        # A free finger that is short of its goal by so much closes at PRESS_GAIN · _BLOCKED at least.
        stands = angle - before[1] < (stamp - before[0]) * PRESS_GAIN * _BLOCKED / 2
        within = min(max(angle, 0.0), CLOSED_ANGLE)
        force = pad_force(MAX_MOMENT, within) if error > _BLOCKED and stands else 0.0
        return FingerState(gap=max(gap_of(within), 0.0), force=force)
