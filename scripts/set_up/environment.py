"""The virtual environment with the locked packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from places import ROOT, Places
from progress import run

RUNTIME_LOCK = ROOT / "requirements" / "lock.txt"
TEST_LOCK = ROOT / "requirements" / "test-lock.txt"


def create(places: Places, log: Path) -> None:
    """Make the environment unless a sound one of this Python is there already."""
    if not _sound(places):
        options = ["--system-site-packages"] if places.ros_sourced else []
        run(
            f"making {places.venv.name} with Python {sys.version.split()[0]}",
            [sys.executable, "-m", "venv", "--clear", *options, places.venv],
            log,
        )


def _sound(places: Places) -> bool:
    probe = "import sys, pip; print(sys.version_info[:2])"
    try:
        result = subprocess.run(
            [places.python, "-c", probe], capture_output=True, text=True, check=True, env=clean_environment()
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    return result.stdout.strip() == str(sys.version_info[:2])


def install(places: Places, lock: Path, log: Path) -> None:
    """Install every package of a lock file, at exactly its version; what is there already costs nothing.

    The lock is complete, so pip need not resolve anything. A sourced ROS brings its own ros-* packages.
    """
    if places.ros_sourced:
        lines = [line for line in lock.read_text().splitlines() if not line.startswith("ros-")]
        lock = places.stamps / lock.name
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text("\n".join(lines) + "\n")
    run(
        f"installing the packages of {lock.name}",
        [
            *(places.python, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check"),
            *("--prefer-binary", "--progress-bar", "off", "-r", lock),
        ],
        log,
        clean_environment(),
    )


def put_sources_on_path(places: Places) -> None:
    """Make every Python package of `src/` importable where it lies, and the built interfaces."""
    interfaces = places.colcon("install") / "spca_interfaces" / places.site_packages.relative_to(places.venv)
    folders = [*sorted(p.parent for p in (ROOT / "src").glob("*/setup.py")), interfaces]
    _write_if_changed(places.site_packages / "spca.pth", "".join(f"{folder}\n" for folder in folders))


def _write_if_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def clean_environment() -> dict[str, str]:
    """This process's environment without what another Python or another ROS has left in it."""
    foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "_ROS_WHEELS_BOOTSTRAP_COMPLETE")
    return {name: value for name, value in os.environ.items() if name not in foreign}
