"""What the README tells a ROS user to type, in a shell that has sourced a ROS 2 made of wheels."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import SourcedRos

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = Path(sys.prefix).resolve()
COMPILED_ALREADY = """
build:
  packages-skip: [spca_interfaces]
"""
"""Defaults of `colcon build`: the messages, most of its time, are those that set-up has compiled already."""
EMBEDDED = "sim:=mujoco arm:=embedded"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout in which nothing is set up or built."""
    left_out = shutil.ignore_patterns(
        ".git", ".venv*", "build", "install", "log", "runs", "__pycache__", ".*_cache"
    )
    return shutil.copytree(ROOT, tmp_path_factory.mktemp("user") / "spca", symlinks=True, ignore=left_out)


def set_up_without_downloads(ros: SourcedRos, checkout: Path) -> None:
    """Make the environment of a sourced ROS from links to what is installed here, but for ROS itself."""
    environment = checkout / ".venv-jazzy"
    ros.run(
        f"python3 -m venv --without-pip --system-site-packages {environment}", checkout
    ).check_returncode()
    [packages] = environment.glob("lib/python3*/site-packages")
    here = ENVIRONMENT / packages.relative_to(environment)
    for distribution in distributions(path=[str(here)]):
        if not distribution.metadata["Name"].startswith("ros-"):
            for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
                if (here / top).exists() and not (packages / top).exists():
                    (packages / top).symlink_to(here / top)
    (environment / ".spca").mkdir()
    for step in ("venv", "packages", "interfaces"):
        shutil.copy(ENVIRONMENT / ".spca" / step, environment / ".spca" / step)
    (environment / "colcon").symlink_to(ENVIRONMENT / "colcon")
    compiled = Path("install", "spca_interfaces")
    shutil.copytree(ENVIRONMENT / "colcon" / compiled, checkout / "ros2_ws" / compiled, symlinks=True)


@pytest.fixture(scope="module")
def readme() -> list[str]:
    """The commands of the README for a ROS 2 machine."""
    section = (ROOT / "README.md").read_text().split("## On a ROS 2 machine")[1]
    return re.split("```\n?", section)[1].splitlines()


def test_without_set_up_the_build_says_so_in_one_line(sourced_ros: SourcedRos, checkout: Path) -> None:
    done = sourced_ros.run("cd ros2_ws && colcon build", checkout)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("spca: ")]
    assert any("not set up" in line and "bin/spca doctor" in line for line in said), done.stderr
    assert "Traceback" not in done.stderr


def test_the_sequence_of_the_readme(sourced_ros: SourcedRos, checkout: Path, readme: list[str]) -> None:
    """Letter by letter, but for the simulator and the planner, which are no part of this ROS."""
    set_up_without_downloads(sourced_ros, checkout)
    *before, launch = readme
    assert launch.startswith("ros2 launch spca bringup.launch.py level:=")
    bare = sourced_ros.run("python3 -c 'import rclpy, launch_ros.actions; import pydantic'", checkout)
    assert "No module named 'pydantic'" in bare.stderr
    defaults = checkout / "defaults.yaml"
    defaults.write_text(COMPILED_ALREADY)
    lines = "\n".join([*before, f"{launch} {EMBEDDED}"])
    done = sourced_ros.run(lines, checkout, timeout=500, COLCON_DEFAULTS_FILE=str(defaults))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "success" in done.stdout
