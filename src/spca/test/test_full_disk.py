"""A run on a full disk says so and ends with 3."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from spca.cli import main
main()
"""
"""No file may be larger than 20 kB: the first picture is."""


OPTIONS = ("--transport", "inproc", "--no-video", "--proposer", "builtin")


@pytest.mark.slow
def test_a_run_without_room_for_its_pictures(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "run", "touch_02", "--out", str(tmp_path / "run"), *OPTIONS],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 3, done.stderr
    assert "the disk is full" in done.stderr and "Traceback" not in done.stderr
    assert "make room" in done.stderr
