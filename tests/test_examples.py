"""The example package is installed as a third-party package: a world, a proposer and a skill.

Nothing in spca is edited for it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spca_core.paths import ROOT

EXAMPLE = ROOT / "examples" / "corridor"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package installed in it, and nothing else."""
    folder = tmp_path_factory.mktemp("scratch")
    source = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("source") / "corridor")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(folder), str(source)], check=True, stdin=subprocess.DEVNULL)
    return folder


def spca(scratch: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`spca` in an environment that has the package."""
    command = [sys.executable, "-m", "spca", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(scratch)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=250)


@pytest.mark.slow
def test_a_world_and_a_proposer_of_a_package_run(scratch: Path, tmp_path: Path) -> None:
    done = spca(scratch, "run", "corridor:5", "--proposer", "scribe", "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["outcome"], result["steps"]) == ("success", 4)
    assert "(at c5)" in (tmp_path / "run" / "scribe.pddl").read_text()
    refused = spca(scratch, "run", "corridor:1")
    assert refused.returncode == 2 and "corridor:2 to corridor:99" in refused.stderr


@pytest.mark.slow
def test_a_skill_of_a_package_solves_its_level(scratch: Path, tmp_path: Path) -> None:
    level = str(EXAMPLE / "levels" / "push_01.yaml")
    options = ("--transport", "inproc", "--no-video")
    done = spca(scratch, "run", level, *options, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    (act,) = (tmp_path / "run").glob("round_1/act_*.json")
    assert [step["action"] for step in json.loads(act.read_text())["steps"]] == ["push"]
    without = subprocess.run(
        [sys.executable, "-m", "spca", "run", level, *options, "--out", str(tmp_path / "without")],
        capture_output=True,
        check=False,
        timeout=250,
    )
    assert without.returncode == 1, "without the package the cube is lifted, which the level forbids"


@pytest.mark.slow
def test_the_world_keeps_the_contract(scratch: Path, tmp_path: Path) -> None:
    test = tmp_path / "test_corridor.py"
    test.write_text((EXAMPLE / "test" / "test_corridor.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        env={**os.environ, "PYTHONPATH": str(scratch)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout
