"""The full stack: Gazebo by its launch file, then whole levels as a user runs them.

Skipped, and said so, without Gazebo.
"""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from spca_core.paths import ROOT
from spca_sim.gazebo.requirements import missing

LAUNCH_TEST = Path(__file__).with_name("launch_gazebo.py")
HIDDEN = Path(__file__).with_name("hidden.yaml")
BRINGUP = ROOT / "launch" / "bringup.launch.py"
MOVEIT_MISSING = shutil.which("ros2") is None or (
    subprocess.run(["ros2", "pkg", "prefix", "moveit_py"], capture_output=True, check=False).returncode != 0
)

if missing():
    pytest.skip(
        f"not installed: {', '.join(missing())}; apt has them where ROS 2 has binaries, no package registry "
        "does (docs/full-stack.md)",
        allow_module_level=True,
    )

pytestmark = [pytest.mark.gazebo, pytest.mark.slow, pytest.mark.timeout(1200)]


def run(*command: str, limit: float = 900.0) -> subprocess.CompletedProcess[str]:
    """Run a command in a process group of its own, which is ended with it."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=ROOT
    )
    try:
        output, _ = process.communicate(timeout=limit)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, output, "")


def running(name: str) -> list[str]:
    """Command lines of processes whose program has that name."""
    commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [" ".join(parts) for parts in commands if any(Path(part).name == name for part in parts[:2])]


def test_gazebo_by_its_launch_file() -> None:
    result = run("launch_test", str(LAUNCH_TEST), limit=400.0)
    assert result.returncode == 0, result.stdout[-4000:]


def test_a_hidden_cube_is_found_by_the_wrist_camera_and_the_box_stays_where_it_is(tmp_path: Path) -> None:
    result = run(
        *("ros2", "launch", str(BRINGUP), f"level:={HIDDEN}", "arm:=embedded"),
        *("video:=false", f"record:={tmp_path}/run"),
    )
    assert result.returncode == 0, result.stdout[-6000:]
    done = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (done["outcome"], done["rounds"], done["steps"]) == ("success", 1, 2)


@pytest.mark.parametrize("level", ["touch_02", "stack_01"])
@pytest.mark.parametrize(
    "arm",
    [
        "embedded",
        pytest.param("moveit", marks=pytest.mark.skipif(MOVEIT_MISSING, reason="moveit_py is not installed")),
    ],
)
def test_a_level_succeeds_and_leaves_nothing_running(level: str, arm: str) -> None:
    result = run(
        *("ros2", "launch", str(BRINGUP), f"level:={level}", "sim:=gazebo", f"arm:={arm}"),
        *("headless:=true", "rviz:=false"),
    )
    assert result.returncode == 0, result.stdout[-6000:]
    assert not running("gz") and not running("parameter_bridge")
