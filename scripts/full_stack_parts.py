"""What scripts/full_stack_check finds on a machine: the parts of the full stack, and their versions."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
GAZEBO = (
    *("ros_gz_sim", "ros_gz_bridge", "ros_gz_interfaces", "gz_ros2_control", "controller_manager"),
    *("joint_state_broadcaster", "joint_trajectory_controller", "robot_state_publisher"),
)
TESTS = ("pytest", "pytest_timeout", "xdist", "hypothesis", "psutil")
VERSIONS = {
    "Gazebo": "gz",
    "ros_gz": "ros_gz_bridge",
    "gz_ros2_control": "gz_ros2_control",
    "ros2_control": "controller_manager",
    "MoveIt": "moveit_core",
}


def share(package: str) -> Path | None:
    """The share folder of an ament package, if it is installed."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix and Path(prefix, "share/ament_index/resource_index/packages", package).is_file():
            return Path(prefix, "share", package)
    return None


def lacking(*packages: str, programs: Sequence[str] = ()) -> list[str]:
    """Those that are not installed."""
    return [name for name in programs if not shutil.which(name)] + [
        name for name in packages if not share(name)
    ]


def python() -> str:
    """The interpreter that has the project's packages."""
    for name in (".venv-jazzy", ".venv") if os.environ.get("ROS_DISTRO") == "jazzy" else (".venv",):
        if (ROOT / name / "bin/python").exists():
            return str(ROOT / name / "bin/python")
    return sys.executable


def no_launch() -> list[str]:
    """What `ros2 launch spca …` lacks."""
    return lacking("spca", programs=["ros2"])


def no_gazebo() -> list[str]:
    """What the simulator lacks."""
    return lacking(*GAZEBO, programs=["gz"])


def no_moveit() -> list[str]:
    """What the planner of motions lacks."""
    found = subprocess.run([python(), "-c", "import moveit.planning"], capture_output=True, check=False)
    return [] if found.returncode == 0 else ["moveit_py"]


def no_tests() -> list[str]:
    """What the tests lack: their plugin (`spca_testing.pytest_plugin`) and they themselves import these."""
    code = f"import importlib.util as i; print(*(n for n in {TESTS} if i.find_spec(n) is None))"
    return subprocess.run([python(), "-c", code], capture_output=True, text=True, check=False).stdout.split()


def no_wheels() -> list[str]:
    """What a ROS 2 made of wheels lacks."""
    folder = os.environ.get("SPCA_ROS2_LAUNCH", "")
    return (
        [] if Path(folder, "wheels").is_dir() and folder else ["ROS 2's launch as wheels (SPCA_ROS2_LAUNCH)"]
    )


def listed(missing: Sequence[str]) -> str:
    """The first few, and how many more."""
    few = 4
    return ", ".join(missing[:few]) + f" and {len(missing) - few} more" * (len(missing) > few)


@functools.cache
def all_missing() -> dict[Callable[[], list[str]], list[str]]:
    """What is missing, found out once."""
    return {lacks: lacks() for lacks in (no_launch, no_gazebo, no_moveit, no_tests, no_wheels)}


@functools.cache
def versions() -> str:
    """This revision, and of the real parts those that are installed."""
    revision = _said(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]) or "unknown"
    found = {title: _version(package) for title, package in VERSIONS.items()}
    return ", ".join([f"spca {revision}", *(f"{title} {v}" for title, v in found.items() if v)])


def _version(package: str) -> str:
    if package == "gz":
        return _said(["gz", "sim", "--versions"]).partition("\n")[0] if shutil.which("gz") else ""
    folder = share(package)
    found = ElementTree.parse(folder / "package.xml").findtext("version") if folder else None
    return found or ""


def _said(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
