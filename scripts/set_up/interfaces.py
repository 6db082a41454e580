"""Builds `spca_interfaces` (messages, services, actions) with colcon."""

from __future__ import annotations

import os
from pathlib import Path

from environment import clean_environment
from places import ROOT, Places
from progress import run

SOURCE = ROOT / "src" / "spca_interfaces"


def sources() -> list[Path]:
    """Every file that a change of the interfaces touches."""
    return [SOURCE / "package.xml", SOURCE / "CMakeLists.txt", *sorted(SOURCE.glob("*/*.*"))]


def build(places: Places, log: Path) -> None:
    """Compile the interfaces against the ROS of this environment."""
    environment = clean_environment()
    environment["PATH"] = f"{places.venv / 'bin'}{os.pathsep}{environment['PATH']}"
    options = ["-G", "Ninja", "-DBUILD_TESTING=OFF", "-Wno-dev", f"-DPython3_EXECUTABLE={places.python}"]
    if places.ros_sourced:
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    else:
        for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH"):
            environment[variable] = str(places.venv)
    run(
        "compiling spca_interfaces",
        [
            *(places.venv / "bin" / "colcon", "--log-base", places.colcon("log"), "build"),
            *("--base-paths", SOURCE, "--packages-select", "spca_interfaces"),
            *("--build-base", places.colcon("build"), "--install-base", places.colcon("install")),
            *("--event-handlers", "console_direct+", "--cmake-clean-cache"),
            *("--cmake-args", *options),
        ],
        log,
        environment,
    )
