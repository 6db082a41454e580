"""Checks that a machine has everything `sim:=gazebo` needs, and names what is missing."""

from __future__ import annotations

import shutil

from spca_core.paths import share
from spca_robot.description.urdf import missing_packages

PACKAGES = (
    "ros_gz_sim",
    "ros_gz_bridge",
    "ros_gz_interfaces",
    "gz_ros2_control",
    "controller_manager",
    "joint_state_broadcaster",
    "joint_trajectory_controller",
    "robot_state_publisher",
)


def missing(source: str = "generated") -> list[str]:
    """The program `gz` and the ROS packages that lack; `source` as in `spca_robot.description.names`."""
    lacking = [] if shutil.which("gz") else ["gz (Gazebo Harmonic)"]
    lacking += [name for name in PACKAGES if share(name) is None]
    return lacking + (missing_packages() if source == "vendor" else [])
