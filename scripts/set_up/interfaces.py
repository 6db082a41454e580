"""Builds `spca_interfaces` (messages, services, actions) with colcon."""

from __future__ import annotations

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
    options = ["-G", "Ninja", "-DBUILD_TESTING=OFF", "-Wno-dev", f"-DPython3_EXECUTABLE={places.python}"]
    run(
        "compiling spca_interfaces",
        colcon.command(
            places,
            "build",
            *("--base-paths", SOURCE, "--packages-select", "spca_interfaces"),
            *("--event-handlers", "console_direct+", "--cmake-clean-cache"),
            *("--cmake-args", *options),
        ),
        log,
        colcon.environment(places),
    )
