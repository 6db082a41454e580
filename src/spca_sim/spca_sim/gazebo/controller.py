"""What the robot's controllers are commanded: paths of the arm, finger ramps, and stops.

The arm's `joint_trajectory_controller` is commanded by its action: so it says when it has a trajectory. A new
one replaces the one before. Tracking errors are monitored by the client (`spca_motion.execution`), on the
joint states.
"""

from __future__ import annotations

import importlib
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spca_core.errors import SpcaError
from spca_core.geometry import Array
from spca_core.trajectory import JointState, JointTrajectory
from spca_robot.description.moveit_config import PRESS_GAIN
from spca_robot.description.names import ARM_CONTROLLER
from spca_robot.gripper_2f85 import CLOSED_ANGLE, SPEED, STROKE, driver_angle, gap_of, pad_force
from spca_robot.gripper_model import MAX_MOMENT
from spca_ros.convert.robot import trajectory_msg
from spca_ros.node import SpcaNode

_BLOCKED = 0.02  # rad: closer than this to the goal, the pads press against nothing
_WINDOW = 0.1  # simulated s over which a finger's progress is measured: one that presses quivers


def command(gap: float, upper: float = CLOSED_ANGLE) -> float:
    """Return the joint's angle (rad) for a gap (m).

    A gap out of range is clamped to the joint's limit.
    """
    return min(driver_angle(min(max(gap, 0.0), STROKE)), upper)


class Finger:
    """State of the pads, as told by the states of the gripper's one commanded joint.

    Its controller runs in Gazebo and presses by itself (`spca_robot.description.moveit_config`, decision 11).
    Gazebo reports no joint effort, so the force is inferred: a finger that gets nowhere although it is short
    of where it was sent is held back by something, and its motor then gives all it has.
    """

    def __init__(self) -> None:
        self.goal = 0.0
        """Angle to which the finger was sent, in radians."""
        self._seen: deque[tuple[float, float]] = deque()

    def felt(self, state: JointState, angle: float) -> JointState:
        """Return the newest state with what the pads do, told from the joint's angle (rad) in it."""
        stamp = state.stamp
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
        return replace(state, gripper_gap=max(gap_of(within), 0.0), gripper_force=force)


_ANSWER_S, _TRIES = 2.0, 4
"""Wall seconds to wait for an answer, and number of tries: DDS may lose it.

No time passes meanwhile, so that to hand a path over twice does no harm.
"""


class ArmController:
    """See the module. `action` is `control_msgs/FollowJointTrajectory` unless another one is given."""

    def __init__(self, node: SpcaNode, joints: Sequence[str], action: Any = None) -> None:
        self._action = action or importlib.import_module("control_msgs.action").FollowJointTrajectory
        self._node, self._joints = node, joints
        self._client = node.action_client(self._action, f"/{ARM_CONTROLLER}/follow_joint_trajectory")

    def follow(self, path: JointTrajectory) -> None:
        """Hand a path over, and return when the controller has it: it begins with the next physics step.

        Raises SpcaError when it refuses or does not answer. Not for the thread that spins.
        """
        accepted: list[bool] = []
        answered, loop = threading.Event(), self._node.loop

        def take(answer: Any) -> None:
            accepted.append(answer.result().accepted)
            answered.set()

        for _ in range(_TRIES):
            if loop.wait(self._client.server_is_ready, _ANSWER_S):
                loop.soon(lambda: self._send(path).add_done_callback(take))
                if loop.wait(answered.is_set, _ANSWER_S, pause=answered.wait):
                    break
        if not accepted:
            raise SpcaError("the arm's controller does not answer")
        if not accepted[0]:
            raise SpcaError("the arm's controller refuses the trajectory")

    def stop(self, path: JointTrajectory) -> None:
        """Send a path that brakes, without waiting for anything."""
        if self._client.server_is_ready():
            self._node.loop.soon(lambda: self._send(path))

    def _send(self, path: JointTrajectory) -> Any:
        return self._client.send_goal_async(self._action.Goal(trajectory=trajectory_msg(path, self._joints)))


_LEAST_BRAKE_S, _LEAST_RAMP_S = 0.05, 0.05


def brake(state: JointState, deceleration: Array) -> JointTrajectory:
    """Return a stop from a state; `deceleration` (n,) is what each joint can do, in rad/s²."""
    seconds = max(float(np.max(np.abs(state.velocity) / deceleration)), _LEAST_BRAKE_S)
    rest = state.position + state.velocity * seconds / 2
    return JointTrajectory(
        times=np.array([seconds]), positions=rest[None], velocities=np.zeros((1, len(rest)))
    )


def ramp_time(angle: float, goal: float) -> float:
    """Return the seconds for the finger from one angle to another (rad), nowhere faster than the gripper.

    The controller goes by a cubic, whose greatest speed is 1.5 times its mean.
    """
    return max(1.5 * abs(gap_of(goal) - gap_of(angle)) / SPEED, _LEAST_RAMP_S)
