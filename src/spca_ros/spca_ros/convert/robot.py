"""Joint states and trajectories from and to messages.

The gripper is the joint that the 2F-85's public description moves: its driver's angle from fully open in
radians, its moment in N·m. So a joint state looks the same whichever simulator or robot sends it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from spca_core.trajectory import JointState, JointTrajectory
from spca_robot.gripper_2f85 import STROKE, driver_angle, gap_of, pad_force
from spca_ros.convert.records import duration_msg, seconds, time_msg

GRIPPER_JOINT = "robotiq_85_left_knuckle_joint"


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
    given = list(message.name)
    order = [given.index(name) for name in (*joints, GRIPPER_JOINT)]
    if len(message.position) <= max(order):
        raise ValueError(f"{len(message.position)} positions for {len(message.name)} joints")
    *arm, gripper = order
    angle = message.position[gripper]
    moment = message.effort[gripper] if len(message.effort) else 0.0
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
