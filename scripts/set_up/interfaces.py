"""Builds `spca_interfaces` (messages, services, actions) with colcon."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import colcon
from environment import RUNTIME_LOCK
from places import ROOT, Places
from progress import run

SOURCE = ROOT / "src" / "spca_interfaces"


def sources() -> list[Path]:
    """Every file that a change of the interfaces touches."""
    return [SOURCE / "package.xml", SOURCE / "CMakeLists.txt", *sorted(SOURCE.glob("*/*.*"))]


def built_against() -> list[str]:
    """The pins whose change makes the compiled interfaces stale: ROS's wheels, and numpy for its headers."""
    lines = RUNTIME_LOCK.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith(("ros-", "numpy=="))]


def build(places: Places, log: Path) -> None:
    """Compile the interfaces against the ROS of this environment."""
    options = ["-G", "Ninja", "-DBUILD_TESTING=OFF", "-Wno-dev", "-DWITHOUT_CPP=ON"]
    options.append(f"-DPython3_EXECUTABLE={places.python}")
    for folder in ("build", "install"):  # or libraries of an earlier build would be loaded with this one's
        shutil.rmtree(places.colcon(folder) / SOURCE.name, ignore_errors=True)
    run(
        "compiling spca_interfaces",
        colcon.command(
            places,
            "build",
            *("--base-paths", SOURCE, "--packages-select", "spca_interfaces"),
            *("--event-handlers", "console_direct+"),
            *("--cmake-args", *options),
        ),
        log,
        # Left to itself, colcon compiles one file at a time while the load is above the number of cores.
        {"MAKEFLAGS": f"-j{os.cpu_count() or 1}"} | colcon.environment(places),
    )
