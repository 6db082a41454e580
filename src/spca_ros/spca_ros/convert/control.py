"""Goals and results of `control_msgs`, the actions that controllers of real robots serve.

The message classes are arguments: `control_msgs` is not among the wheels, so nothing here imports it. Fields
and constants are those of control_msgs/action/FollowJointTrajectory and GripperCommand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spca_core.trajectory import JointTrajectory
from spca_robot.gripper_2f85 import driver_angle
from spca_ros.convert.robot import trajectory_msg
from spca_ros.convert.time import duration_msg

PATH_TOLERANCE, GOAL_TOLERANCE = 0.2, 0.02
"""rad.

Wider than `spca_motion.execution.Tolerances`, which watches first: the controller's check is a second net.
"""
GOAL_TIME_TOLERANCE = 1.0
"""Seconds after the trajectory's end within which the joints must arrive."""
EFFORT = 40.0
"""Newtons that the pads may press with: enough for cubes of 80 g, gentle on fingers."""


def follow_goal(action: Any, tolerance: type, trajectory: JointTrajectory, joints: Sequence[str]) -> Any:
    """The goal of a FollowJointTrajectory action.

    `tolerance` is the class `control_msgs.msg.JointTolerance`, `joints` are the arm's by name.
    """

    def tolerances(position: float) -> list[Any]:
        return [tolerance(name=name, position=position) for name in joints]

    return action.Goal(
        trajectory=trajectory_msg(trajectory, joints),
        path_tolerance=tolerances(PATH_TOLERANCE),
        goal_tolerance=tolerances(GOAL_TOLERANCE),
        goal_time_tolerance=duration_msg(GOAL_TIME_TOLERANCE),
    )


def follow_problem(action: Any, result: Any) -> str:
    """Why a trajectory did not end well, in words; "" if it did."""
    if result.error_code == action.Result.SUCCESSFUL:
        return ""
    codes = (
        "INVALID_GOAL",
        "INVALID_JOINTS",
        "OLD_HEADER_TIMESTAMP",
        "PATH_TOLERANCE_VIOLATED",
        "GOAL_TOLERANCE_VIOLATED",
    )
    name = next((c for c in codes if getattr(action.Result, c) == result.error_code), str(result.error_code))
    said = f": {result.error_string}" if result.error_string else ""
    return f"the controller stopped the arm ({name.lower().replace('_', ' ')}){said}"


def gripper_goal(action: Any, command: type, gap: float) -> Any:
    """The goal of a GripperCommand action for pads `gap` metres apart.

    `command` is the class `control_msgs.msg.GripperCommand`. Its position is the angle of the driven joint,
    as gripper_controllers/GripperActionController takes it, not the gap. Raises InputError outside 0-0.085 m.
    """
    return action.Goal(command=command(position=driver_angle(gap), max_effort=EFFORT))
