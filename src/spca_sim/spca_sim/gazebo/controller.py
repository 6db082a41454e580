"""The arm's `joint_trajectory_controller`, commanded by its action: so it says when it has a trajectory.

A new trajectory replaces the one before. Tracking errors are monitored by the client
(`spca_motion.execution`), on the joint states.
"""

from __future__ import annotations

import importlib
import queue
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from rclpy.action import ActionClient

from spca_core.errors import SpcaError
from spca_core.trajectory import JointTrajectory
from spca_robot.description.names import ARM_CONTROLLER
from spca_ros.convert.robot import trajectory_msg
from spca_ros.node import SpcaNode

_ANSWER_S, _TRIES = 2.0, 4
"""Wall seconds to wait for an answer, and number of tries: DDS may lose it.

No time passes meanwhile, so that to hand a path over twice does no harm.
"""


class ArmController:
    """See the module. `action` is `control_msgs/FollowJointTrajectory` unless another one is given."""

    def __init__(self, node: SpcaNode, joints: Sequence[str], action: Any = None) -> None:
        self._action = action or importlib.import_module("control_msgs.action").FollowJointTrajectory
        self._node, self._joints = node, joints
        self._client = ActionClient(node, self._action, f"/{ARM_CONTROLLER}/follow_joint_trajectory")

    def follow(self, path: JointTrajectory) -> None:
        """Hand a path over, and return when the controller has it: it begins with the next physics step.

        Raises SpcaError when it refuses or does not answer. Not for the thread that spins.
        """
        answers: queue.SimpleQueue[bool] = queue.SimpleQueue()

        def send() -> None:
            self._send(path).add_done_callback(lambda answer: answers.put(answer.result().accepted))

        for _ in range(_TRIES):
            if not self._client.wait_for_server(_ANSWER_S):
                continue
            self._node.loop.soon(send)
            with suppress(queue.Empty):
                if answers.get(timeout=_ANSWER_S):
                    return
                raise SpcaError("the arm's controller refuses the trajectory")
        raise SpcaError("the arm's controller does not answer")

    def stop(self, path: JointTrajectory) -> None:
        """Send a path that brakes, without waiting for anything."""
        if self._client.server_is_ready():
            self._node.loop.soon(lambda: self._send(path))

    def _send(self, path: JointTrajectory) -> Any:
        return self._client.send_goal_async(self._action.Goal(trajectory=trajectory_msg(path, self._joints)))
