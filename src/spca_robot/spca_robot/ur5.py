"""UR5 (CB3 series): Denavit–Hartenberg parameters, masses, limits.

SI units; joints in the order of `JOINT_NAMES`.

Sources: Universal Robots, "DH Parameters for calculations of kinematics and dynamics" (DH table, masses) and
the UR5 technical specification (ranges, speed); torques as in the ROS-Industrial `ur_description` package.

Frames. The DH base frame has the arm stretched along its -x at q = 0. ROS (`base_link`, REP-103) and this
project turn it by half a turn, so that the arm stretches along +x of the mount: `T_mount_dh = BASE_TO_DH`.
`tool0` is DH frame 6, on the flange's face, z pointing out of it; with a sensor there, it is on the sensor's.
"""

from __future__ import annotations

import numpy as np

from spca_core.geometry import Array
from spca_core.rotations import about_z
from spca_core.world import WristSensor

# One row a joint: a (m), alpha (rad), d (m). T_{i-1,i} = Rz(q_i) · Tz(d_i) · Tx(a_i) · Rx(alpha_i)
DH_A: Array = np.array([0.0, -0.425, -0.39225, 0.0, 0.0, 0.0])
DH_ALPHA: Array = np.array([np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0])
DH_D: Array = np.array([0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823])

# Rotation by pi about z, from the mount (ROS `base_link`) to the DH base frame.
BASE_TO_DH: Array = np.diag([-1.0, -1.0, 1.0, 1.0])

# Lateral offsets of the upper arm and the forearm from the shoulder's axis (m, along the shoulder-lift axis).
SHOULDER_OFFSET = 0.13585
FOREARM_OFFSET = 0.01615

LINK_NAMES = (
    "shoulder_link",
    "upper_arm_link",
    "forearm_link",
    "wrist_1_link",
    "wrist_2_link",
    "wrist_3_link",
)
LINK_MASSES: Array = np.array([3.7, 8.393, 2.33, 1.219, 1.219, 0.1879])  # kg
BASE_MASS = 4.0  # kg

# Every axis turns ±360°; the elbow is kept to ±180°, beyond which no new configuration is reached.
POSITION_LIMITS: Array = (
    np.array([[-1, 1], [-1, 1], [-0.5, 0.5], [-1, 1], [-1, 1], [-1, 1]]) * 2 * np.pi
)  # rad
VELOCITY_LIMITS: Array = np.full(6, np.pi)  # rad/s: 180°/s on every axis
TORQUE_LIMITS: Array = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])  # N·m

# Not in the data sheet. 15 rad/s² is what UR's own examples brake with; the jerk limit ramps to it in 50 ms.
ACCELERATION_LIMITS: Array = np.full(6, 15.0)  # rad/s²
JERK_LIMITS: Array = np.full(6, 300.0)  # rad/s³
STOP_DECELERATION: Array = np.full(6, 25.0)
"""Deceleration (rad/s²) of an arm commanded to hold.

From full speed it stops within 0.1 s, within `TORQUE_LIMITS`.
"""


def link_transform(joint: int) -> Array:
    """The constant part of T_{i-1,i} for joint 0…5: Tz(d) · Tx(a) · Rx(alpha), 4×4."""
    a, alpha, d = DH_A[joint], DH_ALPHA[joint], DH_D[joint]
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, d], [0, 0, 0, 1.0]])


def tool0(sensor: WristSensor | None) -> Array:
    """The frame `tool0`, to which the gripper is mounted, in DH frame 6: the flange, or the sensor's face."""
    frame = np.eye(4)
    if sensor is not None:
        frame[:3, :3], frame[2, 3] = about_z(sensor.turn), sensor.length
    return frame
