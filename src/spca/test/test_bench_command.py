"""A bench on the command line: exit status, what is said, and an interruption without noise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spca.benches.command import run_bench
from spca_bench.campaign import RESULTS, read_campaign
from spca_testing.bench import ToyBench


def test_exit_status_tells_what_became_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_bench(ToyBench(), tmp_path / "a", workers=1) == 0
    assert run_bench(ToyBench(fails=("a/1",)), tmp_path / "b", workers=1) == 1
    assert run_bench(ToyBench(limit=1), tmp_path / "c", workers=1) == 1
    assert f"spca bench resume {tmp_path / 'c'}" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_is_quiet_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    script = (
        "import sys; from pathlib import Path; from spca.benches.command import run_bench; from "
        "spca_testing.bench import ToyBench\nif __name__ == '__main__': "
        "sys.exit(run_bench(ToyBench(length=40, seconds=0.2), Path(sys.argv[1]), 2))"
    )
    (tmp_path / "run.py").write_text(script)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "run.py"), str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not (folder / RESULTS).is_file() and time.monotonic() < until:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"spca bench resume {folder}" in errors
    assert "Traceback" not in errors
    done = len(read_campaign(ToyBench(length=40), folder).results)
    assert 0 < done < 40
