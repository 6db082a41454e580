"""What the README tells a ROS user to type, in a shell that has sourced a ROS 2 made of wheels."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distributions
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import SourcedRos

pytestmark = [pytest.mark.slow, pytest.mark.ros, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = Path(sys.prefix).resolve()
COMPILED_ALREADY = """
build:
  packages-skip: [spca_interfaces, spca_extras, spca_minigrid]
"""
"""Defaults of `colcon build`: the messages, most of its time, are those that set-up has compiled already.

No launch here needs the plugins, which the test command builds.
"""
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
def followed(sourced_ros: SourcedRos, checkout: Path) -> subprocess.CompletedProcess[str]:
    """The README's commands for a ROS 2 machine, run letter by letter.

    Left out are only the simulator and the planner, which are no part of this ROS.
    """
    section = (ROOT / "README.md").read_text().split("## On a ROS 2 machine")[1]
    *before, launch = re.split("```\n?", section)[1].splitlines()
    assert launch.startswith("ros2 launch spca bringup.launch.py level:=")
    set_up_without_downloads(sourced_ros, checkout)
    defaults = checkout / "defaults.yaml"
    defaults.write_text(COMPILED_ALREADY)
    lines = "\n".join([*before, f"{launch} {EMBEDDED}"])
    return sourced_ros.run(lines, checkout, timeout=600, COLCON_DEFAULTS_FILE=str(defaults))


@pytest.fixture(scope="module")
def built(followed: subprocess.CompletedProcess[str], checkout: Path) -> Path:
    """The copy of this checkout, set up and built as the README says."""
    assert (checkout / "ros2_ws" / "install" / "setup.bash").is_file(), followed.stdout + followed.stderr
    return checkout


def test_the_sequence_of_the_readme(
    followed: subprocess.CompletedProcess[str], sourced_ros: SourcedRos, checkout: Path
) -> None:
    bare = sourced_ros.run("python3 -c 'import rclpy, launch_ros.actions; import pydantic'", checkout)
    assert "No module named 'pydantic'" in bare.stderr
    assert followed.returncode == 0, followed.stdout[-4000:] + followed.stderr[-4000:]
    assert "success" in followed.stdout
    [run] = (checkout / "runs").iterdir()
    for file in ("result.json", "report.html", "log"):
        assert (run / file).exists(), file


def launched(ros: SourcedRos, built: Path, arguments: str) -> subprocess.Popen[str]:
    """`ros2 launch` of the installed workspace in a process group of its own, as a terminal has it."""
    return ros.start(
        f"source ros2_ws/install/setup.bash\nexec ros2 launch spca bringup.launch.py {EMBEDDED} {arguments}",
        built,
    )


def test_ctrl_c_ends_a_launch_with_a_result(sourced_ros: SourcedRos, built: Path, tmp_path: Path) -> None:
    """Every process gets the signal at once, as in a terminal; what was run can be resumed."""
    folder = tmp_path / "run"
    process = launched(sourced_ros, built, f"level:=stack_01 rate:=1 record:={folder}")
    before = "".join(takewhile(lambda line: "plan  " not in line, process.stdout or ()))
    assert process.poll() is None, before
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    assert (folder / "result.json").is_file(), said
    assert json.loads((folder / "result.json").read_text())["outcome"] == "cancelled", said
    assert "Traceback" not in said and "process has died" not in said, said
    assert "resume" in said


RUN_TOUCH_02 = """
from spca_interfaces.action import RunLevel
from spca_ros.calls import ActionCall, NodeLost
from spca_ros.node import ros_session
with ros_session("onlooker") as node:
    run_level = ActionCall(node, RunLevel, "supervisor/run_level")
    for _ in range(20):
        try:
            print("outcome:", run_level(RunLevel.Goal(level="touch_02")).outcome)
            break
        except NodeLost:
            pass  # it is starting still
"""
"""In place of `ros2 action send_goal`, which needs a package that the wheels lack (rosidl_runtime_py)."""


def test_a_graph_that_waits_takes_goals_and_answers_the_tools_of_ros(
    sourced_ros: SourcedRos, built: Path
) -> None:
    graph = launched(sourced_ros, built, "level:=none")
    try:
        done = sourced_ros.run(
            f"source ros2_ws/install/setup.bash\npython3 -c '{RUN_TOUCH_02}'\n"
            "ros2 node list --no-daemon --spin-time 5\n"
            "ros2 param get --no-daemon --spin-time 5 /executor arm",
            built,
        )
        assert "outcome: success" in done.stdout, done.stderr
        assert "String value is: embedded" in done.stdout, done.stdout + done.stderr
        assert {"/sim", "/executor", "/supervisor"} <= set(done.stdout.split())
    finally:
        os.killpg(graph.pid, signal.SIGINT)
        said, _ = graph.communicate(timeout=300)
    assert "Traceback" not in said, said
    shown = said.partition("ready: say what to do")[2]  # on the launch's own terminal
    assert "plan  touch(" in shown and "success  score 1.00" in shown, said
