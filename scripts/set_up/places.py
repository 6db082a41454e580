"""Where set-up puts things: all of it inside the checkout, all of it ignored by git."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Places:
    """The folders of one kind of set-up: with ROS 2 from wheels, or with a sourced ROS 2 Jazzy."""

    ros_sourced: bool

    @property
    def venv(self) -> Path:
        """The virtual environment; one for each kind, so that both may be in use at the same time."""
        return ROOT / (".venv-jazzy" if self.ros_sourced else ".venv")

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """The environment's site-packages."""
        return self.venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"

    @property
    def stamps(self) -> Path:
        """What has been done already: one small file a step, and the log of the last set-up."""
        return self.venv / ".spca"

    @property
    def workspace(self) -> Path:
        """The colcon workspace."""
        return ROOT / "ros2_ws"

    def colcon(self, folder: str) -> Path:
        """The workspace's `build`, `install` or `log` folder."""
        return self.venv / "colcon" / folder if self.ros_sourced else self.workspace / folder

    @property
    def lock_file(self) -> Path:
        """Held while a set-up runs."""
        return self.workspace / f".setup{self.venv.name}.lock"


def here() -> Places:
    """The places for this shell: a sourced ROS 2 Jazzy wins over the wheels."""
    return Places(
        ros_sourced=os.environ.get("ROS_DISTRO") == "jazzy" and bool(os.environ.get("AMENT_PREFIX_PATH"))
    )
