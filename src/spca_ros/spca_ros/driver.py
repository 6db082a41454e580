"""Drivers of the arm and the gripper: the actions of the simulators' nodes, or those of ros2_control.

`spca_ros.robot.RosRobot` stands on either.
"""

from __future__ import annotations

import importlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from rclpy.action import ActionClient
from spca_interfaces.action import CommandGripper, FollowTrajectory
from spca_interfaces.srv import LetPass
from std_srvs.srv import Trigger

from spca_core.errors import InputError, MotionError
from spca_core.trajectory import JointTrajectory
from spca_robot.gripper_2f85 import driver_angle
from spca_ros import names
from spca_ros.calls import NodeLost, ServiceCall
from spca_ros.convert.records import duration_msg, seconds
from spca_ros.convert.robot import trajectory_msg
from spca_ros.node import SpcaNode

SLICE_S = 0.04
"""Time of a simulated world in seconds that is let pass at once; an arm is stopped at most so late."""
_PASSING_S, _PASSING_AGAIN_S = 10.0, 2.0
"""Wall time in seconds for an answer when time is asked for, and after which it is asked for once more."""
PRESSING = 20.0
"""Force in newtons reported for a gripper that says it has stalled, where joint states carry no effort."""
PATH_TOLERANCE, GOAL_TOLERANCE = 0.2, 0.02
"""Largest errors of a joint in radians, on the path and at its end.

Wider than `spca_motion.execution.Tolerances`, which watches first: the controller's check is a second net.
"""
GOAL_TIME_TOLERANCE = 1.0
"""Time in seconds after the trajectory's end within which the joints must arrive."""
EFFORT = 40.0
"""Force in newtons that the pads may press with: enough for cubes of 80 g, gentle on fingers."""


class Driver(ABC):
    """The client that drives the arm."""

    arm: ActionClient
    gripper: ActionClient
    pressing = 0.0
    """Force at the pads in newtons, as far as the driver knows better than joint states do."""

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = joints

    @property
    def there(self) -> bool:
        """Somebody takes goals for arm and gripper."""
        return self.arm.server_is_ready() and self.gripper.server_is_ready()

    @abstractmethod
    def trajectory_goal(self, trajectory: JointTrajectory) -> Any:
        """Return the goal message for `arm`."""

    @abstractmethod
    def gripper_goal(self, gap: float) -> Any:
        """Return the goal message for `gripper`."""

    @abstractmethod
    def ended(self, client: ActionClient, result: Any) -> MotionError | None:
        """Return why the arm stands, by a goal's result; None if it does not. For the spinning thread."""

    @abstractmethod
    def hold(self, goal: Any, wait: bool) -> None:
        """Stop the arm; `goal` is the handle of the newest one that was accepted for it, or None.

        With `wait`, return when the driver has confirmed it; raise NodeLost if it does not.
        """

    def let_pass(self, duration: float) -> float | None:
        """Have up to so much time pass; return the clock then, or None where time is the robot's own.

        Raises MotionError('stale') when the driver refuses, NodeLost when it is gone.
        """
        return None


class SpcaDriver(Driver):
    """The node `sim`, whichever simulator stands behind it."""

    def __init__(self, node: SpcaNode, joints: Sequence[str]) -> None:
        super().__init__(joints)
        self._client = node.get_name()
        self.arm = node.action_client(FollowTrajectory, names.FOLLOW)
        self.gripper = node.action_client(CommandGripper, names.GRIPPER)
        self._hold = ServiceCall(node, Trigger, names.HOLD)
        self._pass = ServiceCall(node, LetPass, names.LET_PASS)

    def trajectory_goal(self, trajectory: JointTrajectory) -> FollowTrajectory.Goal:
        """See `Driver`."""
        path = trajectory_msg(trajectory, self._joints)
        return FollowTrajectory.Goal(client=self._client, trajectory=path)

    def gripper_goal(self, gap: float) -> CommandGripper.Goal:
        """See `Driver`."""
        return CommandGripper.Goal(client=self._client, gap=float(gap))

    def ended(self, client: ActionClient, result: Any) -> MotionError | None:
        """See `Driver`."""
        stopped = FollowTrajectory.Result.STALE, FollowTrajectory.Result.REFUSED
        if client is not self.arm or result.status not in stopped:
            return None
        return MotionError("stale", result.message or "the driver stopped the arm")

    def hold(self, goal: Any, wait: bool) -> None:
        """See `Driver`."""
        if wait:
            self._hold(Trigger.Request(), timeout=1.0)
        else:
            self._hold.send(Trigger.Request())

    def let_pass(self, duration: float) -> float:
        """See `Driver`."""
        request = LetPass.Request(client=self._client, seconds=min(duration, SLICE_S))
        answer = self._pass(request, _PASSING_S, again=_PASSING_AGAIN_S)
        if not answer.success:
            raise MotionError("stale", f"no time passes: {answer.message}")
        return seconds(answer.stamp)


class ControlDriver(Driver):
    """ros2_control's controllers: FollowJointTrajectory for the arm, GripperCommand for the gripper.

    Time is the robot's own, so nothing is asked to let it pass. A cancelled trajectory makes
    joint_trajectory_controller hold the arm where it is.
    """

    def __init__(
        self, node: SpcaNode, joints: Sequence[str], arm_controller: str, gripper_controller: str
    ) -> None:
        super().__init__(joints)
        try:
            kinds = "action", "msg"
            actions, messages = (importlib.import_module(f"control_msgs.{kind}") for kind in kinds)
        except ImportError as error:
            hint = "apt install ros-jazzy-control-msgs, or driver:=spca"
            raise InputError("control_msgs is not installed", "parameter driver", hint) from error
        self._follow, self._command = actions.FollowJointTrajectory, actions.GripperCommand
        self._messages = messages
        self.arm = node.action_client(self._follow, f"{arm_controller}/follow_joint_trajectory")
        self.gripper = node.action_client(self._command, f"{gripper_controller}/gripper_cmd")
        self._node = node

    def trajectory_goal(self, trajectory: JointTrajectory) -> Any:
        """See `Driver`."""

        def tolerances(position: float) -> list[Any]:
            return [self._messages.JointTolerance(name=name, position=position) for name in self._joints]

        return self._follow.Goal(
            trajectory=trajectory_msg(trajectory, self._joints),
            path_tolerance=tolerances(PATH_TOLERANCE),
            goal_tolerance=tolerances(GOAL_TOLERANCE),
            goal_time_tolerance=duration_msg(GOAL_TIME_TOLERANCE),
        )

    def gripper_goal(self, gap: float) -> Any:
        """See `Driver`. Raises InputError outside 0-0.085 m.

        The position is the angle of the driven joint, as gripper_controllers/GripperActionController takes
        it, not the gap.
        """
        self.pressing = 0.0
        command = self._messages.GripperCommand(position=driver_angle(gap), max_effort=EFFORT)
        return self._command.Goal(command=command)

    def ended(self, client: ActionClient, result: Any) -> MotionError | None:
        """See `Driver`. A trajectory that was replaced or cancelled ends without an error code of its own."""
        if client is self.gripper:
            self.pressing = PRESSING if result.stalled else 0.0
            return None
        if result.error_code == result.SUCCESSFUL:
            return None
        code = result.error_code
        names = (name for name in dir(result) if name.isupper() and getattr(result, name) == code)
        name = next(names, str(code)).lower().replace("_", " ")
        said = f": {result.error_string}" if result.error_string else ""
        return MotionError("stale", f"the controller stopped the arm ({name}){said}")

    def hold(self, goal: Any, wait: bool) -> None:
        """See `Driver`."""
        if goal is None:
            return
        done = threading.Event()
        self._node.loop.soon(lambda: goal.cancel_goal_async().add_done_callback(lambda _: done.set()))
        if wait and not done.wait(1.0):
            raise NodeLost("the arm's controller does not confirm that it has stopped")
