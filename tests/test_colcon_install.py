"""A colcon install works without the checkout: it finds its data and writes to the working folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spca_interfaces

pytestmark = [pytest.mark.ros, pytest.mark.slow]

INSTALL = Path(spca_interfaces.__file__).parents[5]


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the workspace's install folder, so that no checkout is above it."""
    if not (INSTALL / "spca_core").is_dir():
        pytest.skip("the workspace is not built: scripts/colcon build")
    return shutil.copytree(INSTALL, tmp_path_factory.mktemp("colcon") / "install", symlinks=True)


def spca(install: Path, working: Path, *arguments: str, program: Path | None = None) -> str:
    """The output of the installed command line, as a shell has it that sourced the install folder."""
    prefixes = [p for p in sorted(install.iterdir()) if (p / "share").is_dir()]
    environment = {name: value for name, value in os.environ.items() if name != "SPCA_ROOT"} | {
        "AMENT_PREFIX_PATH": os.pathsep.join(map(str, prefixes)),
        "PYTHONPATH": os.pathsep.join(str(p) for p in install.glob("*/lib/python3*/site-packages")),
        "XDG_STATE_HOME": str(working / "state"),
        "XDG_RUNTIME_DIR": str(working),
    }
    command = [sys.executable, str(program or install / "spca" / "lib" / "spca" / "spca"), *arguments]
    done = subprocess.run(command, cwd=working, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_the_installed_code_that_runs_and_finds_its_data(install: Path, tmp_path: Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(
        "import json, spca, spca_core.paths as p\n"
        "from spca_ros.node_process import CONFIG\n"
        "print(json.dumps([spca.__file__, str(p.CHECKOUT), str(p.RUNS), str(p.state_folder()), *map(str, "
        "[p.WORLDS / 'tabletop.yaml', p.LEVELS / 'stack' / 'stack_01.yaml', CONFIG / 'nodes.yaml', "
        "p.data('launch', 'spca') / 'bringup.launch.py', p.data('launch', 'spca') / 'rviz' / 'spca.rviz'])]))"
    )
    code, checkout, runs, state, *data = json.loads(spca(install, tmp_path, program=probe))
    assert Path(code).is_relative_to(install)
    assert checkout == "None"
    assert runs == str(tmp_path / "runs")
    assert state == str(tmp_path / "state" / "spca")
    for path in map(Path, data):
        assert path.is_file() and path.is_relative_to(install)


def test_a_level_is_run_in_the_working_folder(install: Path, tmp_path: Path) -> None:
    spca(install, tmp_path, "run", "touch_02", "--no-video")
    [run] = (tmp_path / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["outcome"] == "success"
