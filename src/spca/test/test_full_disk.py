"""A command whose output finds no room says so and ends with 2, as where it may not write."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spca.run_command import follow
from spca.runs import Run
from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.paths import ROOT
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder
from spca_testing.processes import python

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from spca.cli import main
main()
"""
"""No file may be larger than 20 kB: the first picture is."""


def test_a_run_that_has_ended_is_not_to_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full only after the verdict."""

    def full(run: Run, *_: object) -> RunResult:
        run.files.write("result.json", "{}")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Run, "carry_out", full)
    folder = RunFolder.create("touch_02", tmp_path)
    with pytest.raises(InputError, match=r"make room, then make the report with: .* report "):
        follow(Run(RunOptions(level="touch_02"), folder))


OPTIONS = ("--no-video", "--proposer", "builtin")


@pytest.mark.slow
def test_a_run_without_room_for_its_pictures(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = ("run", "touch_02", "--out", str(tmp_path / "run"), *OPTIONS)
    done = python("-c", LIMITED, *arguments, env=environment)
    assert done.returncode == 2, done.stderr
    assert "the disk is full" in done.stderr and "make room" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("levels",), ("run", "touch_02", *OPTIONS)])
def test_standard_output_without_room(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """The run is kept, with its result."""
    out = ("--out", str(tmp_path / "run")) if arguments[0] == "run" else ()
    with open("/dev/full", "w") as full:
        done = spca(*arguments, *out, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert "room is left for standard output" in done.stderr or "cannot write (standard output" in done.stderr
    assert not out or (tmp_path / "run" / "result.json").exists()


@pytest.mark.slow
def test_notices_without_room_end_nothing(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"), *OPTIONS)
    with open("/dev/full", "w") as full:
        done = spca("run", "touch_02", *out, stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == 0 and "success" in done.stdout


def spca(*arguments: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "spca", *arguments]
    return subprocess.run(command, text=True, check=False, env=environment, **streams)


def test_within_a_limit_for_files_no_compiled_module_is_cut(tmp_path: Path) -> None:
    """Python (3.11, at least) writes a part of it, over which every later command would stumble."""
    command = ["bash", "-c", f"ulimit -f 4; exec {ROOT / 'bin' / 'spca'} --version"]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert not [*tmp_path.rglob("spca*.pyc")]
