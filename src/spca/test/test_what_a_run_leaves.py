"""What runs leave: output without room ends with 2 and says so; an edited folder is not resumed."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spca
from spca.run_command import follow
from spca.runs import Run
from spca.state import SavedState
from spca_core.errors import InputError
from spca_core.options import Manifest, RunOptions, manifest
from spca_core.paths import ROOT
from spca_core.result import Ending, Outcome, RunResult
from spca_core.run_folder import CHECKPOINT, MANIFEST, STATE, RunFolder
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
def test_a_run_is_kept_without_room_for_its_output_and_no_notice_ends_it(tmp_path: Path) -> None:
    arguments = ("run", "touch_02", *OPTIONS, "--out")
    with open("/dev/full", "w") as full:
        done = command(*arguments, str(tmp_path / "run"), stdout=full, stderr=subprocess.PIPE)
        noted = command(*arguments, str(tmp_path / "noted"), stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert "room is left for standard output" in done.stderr or "cannot write (standard output" in done.stderr
    assert (tmp_path / "run" / "result.json").exists()
    assert noted.returncode == 0 and "success" in noted.stdout


def command(*arguments: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    whole = [sys.executable, "-m", "spca", *arguments]
    return subprocess.run(whole, text=True, check=False, env=environment, **streams)


def test_within_a_limit_for_files_no_compiled_module_is_cut(tmp_path: Path) -> None:
    """Python (3.11, at least) writes a part of it, over which every later command would stumble."""
    command = ["bash", "-c", f"ulimit -f 4; exec {ROOT / 'bin' / 'spca'} --version"]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert not [*tmp_path.rglob("spca*.pyc")]


# --- what a run that is resumed finds in its folder ---------------------------------------------------------


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed before its result was written."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    spca.run("touch_02", out=folder, video=False, report=False)
    (folder / "result.json").unlink()
    return folder


@pytest.fixture
def ended(killed: Path, tmp_path: Path) -> RunFolder:
    """A copy of it."""
    return RunFolder.open(shutil.copytree(killed, tmp_path / "run"))


@pytest.mark.parametrize("name", [STATE, CHECKPOINT, MANIFEST])
def test_an_edited_file_is_refused(ended: RunFolder, name: str) -> None:
    content = (ended.path / name).read_bytes()
    (ended.path / name).write_bytes(content.replace(b"touch", b"tough", 1) + b" ")
    with pytest.raises(InputError, match=r"not written by this checkout|unknown level"):
        follow(Run.reopened(ended.path))


def test_the_files_of_another_run_are_refused(ended: RunFolder) -> None:
    """A success is not carried over to a level that was not solved."""
    options = ended.read(MANIFEST, Manifest).options.model_copy(update={"level": "stack_01"})
    ended.write(MANIFEST, manifest(options))
    with pytest.raises(InputError, match="not written by this checkout"):
        follow(Run.reopened(ended.path))


def test_an_end_that_the_referee_does_not_know_of_is_judged_again(ended: RunFolder) -> None:
    """The state says how it ended; the world in the checkpoint is from before the plan was carried out."""
    said = ended.read(STATE, SavedState).root
    assert said.ended is Ending.SUCCESS
    assert follow(Run.reopened(ended.path)) == 0
    result = ended.read("result.json", RunResult)
    assert result.verdict.outcome is Outcome.SUCCESS
    assert result.attempts == said.attempts + 1
