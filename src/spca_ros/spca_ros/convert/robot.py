"""Joint states and trajectories from and to messages.

The gripper is the joint that the 2F-85's public description moves: its driver's angle from fully open in
radians, its moment in N·m. So a joint state looks the same whichever simulator or robot sends it.

Goals and results of `control_msgs` (FollowJointTrajectory, GripperCommand), the actions that controllers of
real robots serve, take the message classes as arguments: the package is not among the wheels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from spca_core.trajectory import JointState, JointTrajectory
from spca_robot.gripper_2f85 import STROKE, driver_angle, gap_of, pad_force
from spca_ros.convert.records import duration_msg, seconds, time_msg

GRIPPER_JOINT = "robotiq_85_left_knuckle_joint"


PATH_TOLERANCE, GOAL_TOLERANCE = 0.2, 0.02
"""Largest errors of a joint in radians, on the path and at its end.

Wider than `spca_motion.execution.Tolerances`, which watches first: the controller's check is a second net.
"""
GOAL_TIME_TOLERANCE = 1.0
"""Time in seconds after the trajectory's end within which the joints must arrive."""
EFFORT = 40.0
"""Force in newtons that the pads may press with: enough for cubes of 80 g, gentle on fingers."""


def joint_state_msg(state: JointState, joints: Sequence[str]) -> JointStateMsg:
    """Return arm and gripper as a message: the arm's joints, by these names, and one more."""
    angle = driver_angle(min(max(state.gripper_gap, 0.0), STROKE))
    moment = state.gripper_force / pad_force(1.0, angle)
    return JointStateMsg(
        header=Header(stamp=time_msg(state.stamp)),
        name=[*joints, GRIPPER_JOINT],
        position=[*state.position.tolist(), angle],
        velocity=[*state.velocity.tolist(), 0.0],
        effort=[0.0] * len(joints) + [moment],
    )


def joint_state(message: JointStateMsg, joints: Sequence[str]) -> JointState:
    """Return the arm's joints, by these names, and the gripper's; the message may hold more, in any order.

    Velocities and efforts may be missing. Raises ValueError when a position is missing.
    """
    wanted, given = [*joints, GRIPPER_JOINT], list(message.name)
    if given == wanted:
        order = list(range(len(wanted)))
    else:
        try:
            order = [given.index(name) for name in wanted]
        except ValueError as error:
            raise ValueError(f"no such joint in the joint state: {error}") from None
    if len(message.position) <= max(order):
        raise ValueError(f"{len(message.position)} positions for {len(message.name)} joints")
    arm = order[:-1]
    angle = message.position[order[-1]]
    moment = message.effort[order[-1]] if len(message.effort) else 0.0
    velocity = np.array(message.velocity)[arm] if len(message.velocity) else np.zeros(len(arm))
    return JointState(
        stamp=seconds(message.header.stamp),
        position=np.array(message.position)[arm],
        velocity=velocity,
        gripper_gap=gap_of(angle),
        gripper_force=pad_force(moment, angle),
    )


def trajectory_msg(trajectory: JointTrajectory, joints: Sequence[str]) -> JointTrajectoryMsg:
    """Return a trajectory as a message; it begins when it arrives (its header's stamp is zero)."""
    points = [
        JointTrajectoryPoint(
            positions=q.tolist(), velocities=v.tolist(), time_from_start=duration_msg(float(t))
        )
        for t, q, v in zip(trajectory.times, trajectory.positions, trajectory.velocities, strict=True)
    ]
    return JointTrajectoryMsg(joint_names=list(joints), points=points)


def trajectory(message: JointTrajectoryMsg, joints: Sequence[str]) -> JointTrajectory:
    """Return the trajectory of the arm's joints, by these names, which may come in any order.

    Raises ValueError when joints, points or velocities are missing.
    """
    if sorted(message.joint_names) != sorted(joints) or not message.points:
        raise ValueError(f"a trajectory needs points for exactly the joints {', '.join(joints)}")
    order = [list(message.joint_names).index(name) for name in joints]
    if any(len(p.positions) != len(order) or len(p.velocities) != len(order) for p in message.points):
        raise ValueError("every point of a trajectory needs a position and a velocity for each joint")
    return JointTrajectory(
        times=np.array([seconds(p.time_from_start) for p in message.points]),
        positions=np.array([p.positions for p in message.points])[:, order],
        velocities=np.array([p.velocities for p in message.points])[:, order],
    )


def follow_goal(action: Any, tolerance: type, trajectory: JointTrajectory, joints: Sequence[str]) -> Any:
    """Return the goal of a FollowJointTrajectory action.

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
    """Explain why a trajectory did not end well; return "" if it did."""
    if result.error_code == action.Result.SUCCESSFUL:
        return ""
    codes = (name for name in dir(action.Result) if name.isupper())
    name = next((c for c in codes if getattr(action.Result, c) == result.error_code), str(result.error_code))
    said = f": {result.error_string}" if result.error_string else ""
    return f"the controller stopped the arm ({name.lower().replace('_', ' ')}){said}"


def gripper_goal(action: Any, command: type, gap: float) -> Any:
    """Return the goal of a GripperCommand action for pads `gap` metres apart.

    `command` is the class `control_msgs.msg.GripperCommand`. Its position is the angle of the driven joint,
    as gripper_controllers/GripperActionController takes it, not the gap. Raises InputError outside 0-0.085 m.
    """
    return action.Goal(command=command(position=driver_angle(gap), max_effort=EFFORT))
