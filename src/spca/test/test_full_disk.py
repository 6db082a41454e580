"""A run on a full disk says so and ends with 3."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spca.run_command import follow
from spca.runs import Run
from spca_core.errors import SpcaError
from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder

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
    with pytest.raises(SpcaError, match=r"make room, then make the report with: .* report "):
        follow(Run(RunOptions(level="touch_02"), folder))


OPTIONS = ("--no-video", "--proposer", "builtin")


@pytest.mark.slow
def test_a_run_without_room_for_its_pictures(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "run", "touch_02", "--out", str(tmp_path / "run"), *OPTIONS],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 3, done.stderr
    assert "the disk is full" in done.stderr and "Traceback" not in done.stderr
    assert "make room" in done.stderr
