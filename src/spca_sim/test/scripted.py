"""Open-loop motions for tests of the simulator: straight tool paths by inverse kinematics, no planning."""

from __future__ import annotations

import math

import numpy as np

from spca_core.geometry import Array
from spca_core.trajectory import JointTrajectory
from spca_robot.gripper_2f85 import tcp_offset
from spca_robot.kinematics import inverse, nearest_turns
from spca_sim.simulator import MujocoSimulator

SPEED = 0.25  # m/s of the tool, rad/s of the joints' slowest


def joints_at(
    sim: MujocoSimulator, x: float, y: float, z: float, yaw: float, gap: float, near: Array
) -> Array:
    """The joints, nearest to `near`, with the tool centre point at (x, y, z) in `world`, pointing down, pads along `yaw`."""
    c, s = math.cos(yaw), math.sin(yaw)
    tool = np.array([[s, c, 0, x], [-c, s, 0, y], [0, 0, -1, z + tcp_offset(gap)], [0, 0, 0, 1.0]])
    tool[:3, 3] -= sim.world.robot.base.position
    tool[:3, 0] = np.cross(tool[:3, 1], tool[:3, 2])
    solutions = inverse(tool)
    assert len(solutions), f"({x}, {y}, {z}) is out of reach"
    turned = np.array([nearest_turns(q, near) for q in solutions])
    return np.asarray(turned[np.abs(turned - near).max(axis=1).argmin()])


def go(sim: MujocoSimulator, *joints: Array, speed: float = 1.0) -> None:
    """Pass smoothly through joint positions, stopping at each, and wait until the last."""
    for goal in joints:
        start = sim.joint_state().position
        duration = max(0.3, float(np.abs(goal - start).max()) / speed * 1.5)
        s = np.linspace(0, 1, 60)[:, None]
        blend, rate = 3 * s**2 - 2 * s**3, (6 * s - 6 * s**2) / duration
        sim.follow(JointTrajectory(s[:, 0] * duration, start + blend * (goal - start), rate * (goal - start)))
        sim.step(duration + 0.1)


def tool_line(
    sim: MujocoSimulator, start: Array, end: Array, yaw: float, gap: float, speed: float = SPEED
) -> None:
    """Move the tool centre point along a straight line between two points in `world`, at rest at both."""
    duration = max(0.3, float(np.linalg.norm(end - start)) / speed * 1.5)
    s = np.linspace(0, 1, 50)
    blend = 3 * s**2 - 2 * s**3
    near = sim.joint_state().position
    path = []
    for b in blend:
        near = joints_at(sim, *(start + b * (end - start)), yaw, gap, near)
        path.append(near)
    positions = np.array(path)
    velocities = np.gradient(positions, s * duration, axis=0)
    velocities[[0, -1]] = 0.0
    sim.follow(JointTrajectory(s * duration, positions, velocities))
    sim.step(duration + 0.1)


def pick(
    sim: MujocoSimulator, model: str, grip: float = 0.01, lift: float = 0.15, speed: float = SPEED
) -> None:
    """Fetch a cube from above with its own yaw: approach, descend, close, lift."""
    pose = sim.object_pose(model)
    centre, yaw = np.array(pose.position), pose.yaw
    above = centre + np.array([0, 0, lift])
    width = 0.04
    go(sim, joints_at(sim, *above, yaw, width, sim.joint_state().position))
    tool_line(sim, above, centre, yaw, width)
    sim.command_gripper(grip)
    sim.step(0.8)
    tool_line(sim, centre, above, yaw, width, speed)
