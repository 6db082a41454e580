"""Checks of the full stack's programs: Gazebo, MoveIt, RViz, Docker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from spca.doctor.finding import Finding
from spca.doctor.ros import FULL_STACK, packages

_TIMEOUT = 20.0


def gazebo() -> Finding:
    """Gazebo Harmonic and what ties it to ROS."""
    tied = packages(
        "Gazebo Harmonic",
        ("ros_gz_sim", "ros_gz_bridge", "ros_gz_interfaces", "gz_ros2_control"),
        "apt install ros-jazzy-ros-gz ros-jazzy-gz-ros2-control ros-jazzy-ros2-controllers",
    )
    if shutil.which("gz") is None:
        found = "no gz program" if tied.state == "missing" else f"no gz program; {tied.found}"
        remedy = tied.remedy or f"apt install ros-jazzy-ros-gz ({FULL_STACK})"
        return Finding(tied.what, "missing", found, remedy)
    said = _first_line(["gz", "sim", "--versions"])
    if not re.match(r"\d+\.\d", said):  # the gz tool without gz-sim prints its help
        remedy = tied.remedy or f"apt install ros-jazzy-ros-gz ({FULL_STACK})"
        return Finding(tied.what, "partly", f"a gz program, but no gz-sim; {tied.found}", remedy)
    state = tied.state if said.startswith("8.") else "partly"
    remedy = tied.remedy or ("" if state == "ready" else "Harmonic is gz-sim 8")
    return Finding(tied.what, state, f"gz-sim {said}; {tied.found}", remedy)


def moveit() -> Finding:
    """MoveIt 2 with its Python bindings."""
    return packages(
        "MoveIt 2",
        ("moveit_py", "moveit_planners_ompl", "moveit_kinematics"),
        "apt install ros-jazzy-moveit ros-jazzy-moveit-py",
    )


def robot_descriptions() -> Finding:
    """The vendors' robot descriptions; robot:=generated needs none."""
    finding = packages(
        "robot descriptions",
        ("ur_description", "robotiq_description", "xacro"),
        "robot:=generated needs none; apt install ros-jazzy-ur-description, build "
        "robotiq_description from main",
    )
    return (
        finding if finding.state == "ready" else Finding(finding.what, "off", finding.found, finding.remedy)
    )


def rviz() -> Finding:
    """RViz 2, and a display to show it on."""
    finding = packages("RViz 2", ("rviz2", "rviz_default_plugins"), "apt install ros-jazzy-rviz2")
    if finding.state == "ready" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return Finding(
            "RViz 2",
            "partly",
            f"{finding.found}; no display",
            "set DISPLAY, or open the MCAP log in Foxglove",
        )
    return finding


def docker() -> Finding:
    """A Docker client, and an engine that answers it."""
    if shutil.which("docker") is None:
        return Finding(
            "Docker", "missing", "no docker program", "install Docker Engine with the compose plugin"
        )
    client = _first_line(["docker", "version", "--format", "{{.Client.Version}}"]) or "unknown"
    server = _first_line(["docker", "version", "--format", "{{.Server.Version}}"], must_succeed=True)
    if not server:
        return Finding(
            "Docker",
            "partly",
            f"client {client}; no engine answers",
            "start the engine (systemctl start docker)",
        )
    compose = _first_line(["docker", "compose", "version", "--short"], must_succeed=True)
    if not compose:
        return Finding(
            "Docker", "partly", f"engine {server}; no compose plugin", "install docker-compose-plugin"
        )
    return Finding("Docker", "ready", f"engine {server}, compose {compose}")


def _first_line(command: list[str], must_succeed: bool = False) -> str:
    """The first line a program prints, "" if there is none or it hangs."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if must_succeed and result.returncode != 0:
        return ""
    return next((line.strip() for line in result.stdout.splitlines() if line.strip()), "")
