"""What the robot's controllers are commanded: whether a path can begin, finger ramps, and stops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spca_core.geometry import Array
from spca_core.trajectory import JointState, JointTrajectory
from spca_robot.gripper_2f85 import SPEED, gap_of

_LEAST_BRAKE_S, _LEAST_RAMP_S = 0.05, 0.05
STARTS_WITHIN = 0.05  # rad: a trajectory that begins farther from where the arm is would make it jump


def brake(state: JointState, deceleration: Array) -> JointTrajectory:
    """Return a stop from a state; `deceleration` (n,) is what each joint can do, in rad/s²."""
    seconds = max(float(np.max(np.abs(state.velocity) / deceleration)), _LEAST_BRAKE_S)
    rest = state.position + state.velocity * seconds / 2
    return JointTrajectory(
        times=np.array([seconds]), positions=rest[None], velocities=np.zeros((1, len(rest)))
    )


def refusal(trajectory: JointTrajectory, state: JointState, joints: Sequence[str]) -> str:
    """Explain why a trajectory of those joints cannot begin at a state; return "" if it can."""
    if len(trajectory.times) < 1 or not np.isfinite(trajectory.positions).all():
        return "a trajectory needs finite points"
    if (np.diff(trajectory.times) <= 0).any() or trajectory.times[0] < 0:
        return "the times of a trajectory must ascend"
    off: Array = np.abs(trajectory.positions[0] - state.position)
    if off.max() > STARTS_WITHIN:
        joint = joints[int(off.argmax())]
        return f"the trajectory begins {off.max():.3f} rad from where {joint} is"
    return ""


def ramp_time(angle: float, goal: float) -> float:
    """Return the seconds for the finger from one angle to another (rad), nowhere faster than the gripper.

    The controller goes by a cubic, whose greatest speed is 1.5 times its mean.
    """
    return max(1.5 * abs(gap_of(goal) - gap_of(angle)) / SPEED, _LEAST_RAMP_S)
