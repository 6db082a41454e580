"""Where set-up puts things: all of it inside the checkout, all of it ignored by git."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WINGS = (
    "src",
    "plugins",
    "research",
    "judges",
    "testing",
    "benchmarks",
)  # folders of packages; `bin/spca` and `scripts/test` name them, too
SOURCED = ".venv-jazzy"
LINK = ROOT / ".venv"  # a link to the default environment, for editors and for calls by hand


@dataclass(frozen=True)
class Places:
    """The folders of one kind of set-up: with ROS 2 from wheels, or with a sourced ROS 2 Jazzy."""

    ros_sourced: bool

    @property
    def version(self) -> str:
        """This Python's version as folders are named after it, such as 3.11."""
        return f"{sys.version_info[0]}.{sys.version_info[1]}"

    @property
    def venv(self) -> Path:
        """The virtual environment.

        There is one per Python version and kind of ROS, so that all may be in use at once.
        """
        return ROOT / (SOURCED if self.ros_sourced else f".venv-{self.version}")

    @property
    def default(self) -> bool:
        """Whether `.venv` stands for this environment, or will: see `environment.link`."""
        return not LINK.exists() or LINK.resolve().name in (self.venv.name, SOURCED)

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """The environment's site-packages."""
        return self.venv / "lib" / f"python{self.version}" / "site-packages"

    @property
    def stamps(self) -> Path:
        """What has been done already: one small file a step, and the log of the last set-up."""
        return self.venv / ".spca"

    @property
    def metadata(self) -> Path:
        """The metadata of the project's own packages."""
        return self.stamps / "metadata"

    @property
    def workspace(self) -> Path:
        """The colcon workspace."""
        return ROOT / "ros2_ws"

    def colcon(self, folder: str) -> Path:
        """colcon's `build`, `install` or `log` folder. (Those of the workspace are its user's own.)"""
        return self.venv / "colcon" / folder

    @property
    def lock_file(self) -> Path:
        """Held while a set-up runs, for whichever Python."""
        return self.workspace / ".setup.lock"


def here() -> Places:
    """The places for this shell: a sourced ROS 2 Jazzy wins over the wheels."""
    return Places(
        ros_sourced=os.environ.get("ROS_DISTRO") == "jazzy" and bool(os.environ.get("AMENT_PREFIX_PATH"))
    )
