"""Checks of ROS 2: rclpy, our interfaces, and the parts of the full stack."""

from __future__ import annotations

import os
import subprocess
import sys

from spca.doctor.embedded import SET_UP
from spca.doctor.finding import Finding, State, importable, version
from spca_core.paths import share

_TIMEOUT = 30.0
FULL_STACK = "docs/full-stack.md"


def rclpy() -> Finding:
    """Return whether rclpy imports, and where it comes from."""
    if not importable("rclpy"):
        return Finding("ROS 2", "missing", "no rclpy", SET_UP)
    problem = _import_problem("import rclpy.node")
    if problem:
        return Finding("ROS 2", "missing", f"rclpy does not load: {problem}", SET_UP)
    distro = os.environ.get("ROS_DISTRO")
    source = f"{distro}, sourced" if distro else "Jazzy from wheels"
    middleware = os.environ.get("RMW_IMPLEMENTATION", "default middleware")
    return Finding(
        "ROS 2", "ready", f"rclpy {version('rclpy') or version('ros-rclpy') or ''} ({source}; {middleware})"
    )


def interfaces() -> Finding:
    """Return whether spca_interfaces is built and loads."""
    problem = _import_problem("import spca_ros, spca_interfaces.msg; spca_interfaces.msg.Scene()")
    if problem:
        return Finding("spca_interfaces", "missing", problem, "run bin/spca once: it builds them with colcon")
    return Finding("spca_interfaces", "ready", "built; messages load")


def launch() -> Finding:
    """Return whether `ros2 launch` can be used."""
    lacking = [name for name in ("launch", "launch_ros", "ros2launch") if not importable(name)]
    if lacking:
        return Finding(
            "ros2 launch",
            "off",
            f"lacking {', '.join(lacking)}; bin/spca run starts the same nodes without it",
            "apt install ros-jazzy-launch-ros ros-jazzy-ros2launch on Ubuntu 24.04",
        )
    return Finding(
        "ros2 launch", "ready", f"launch {version('launch') or ''}, launch_ros {version('launch_ros') or ''}"
    )


def package_version(package: str) -> str | None:
    """The version in an installed ROS package's manifest, or None if it is not installed."""
    import xml.etree.ElementTree as ET

    folder = share(package)
    if folder is None or not (folder / "package.xml").is_file():
        return None
    return ET.parse(folder / "package.xml").getroot().findtext("version") or "unknown version"


def packages(what: str, names: tuple[str, ...], install: str) -> Finding:
    """A finding about a set of ROS packages that belong together."""
    versions = {name: package_version(name) for name in names}
    lacking = [name for name, found in versions.items() if found is None]
    have = ", ".join(f"{name} {found}" for name, found in versions.items() if found)
    if not lacking:
        return Finding(what, "ready", have)
    state: State = "partly" if have else "missing"
    found = f"lacking {', '.join(lacking)}" + (f"; have {have}" if have else "")
    return Finding(what, state, found, f"{install} ({FULL_STACK})")


def _import_problem(code: str) -> str:
    """The last line of what the code says in a process of its own; empty if it runs."""
    try:
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_TIMEOUT:.0f} s"
    if result.returncode == 0:
        return ""
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit status {result.returncode}"
