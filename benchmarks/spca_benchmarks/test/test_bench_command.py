"""A bench on the command line: exit status, what is said, and an interruption without noise."""

from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import read_campaign
from spca_benchmarks.campaigns.console import run_bench
from spca_testing.bench import ToyBench
from spca_testing.processes import python


def test_status_and_terminal_tell_what_became_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_bench(ToyBench(), tmp_path / "old", workers=1) == 0
    capsys.readouterr()
    assert run_bench(ToyBench(fails=("a/2",)), tmp_path / "new", workers=1, baseline=tmp_path / "old") == 1
    said = capsys.readouterr().out
    assert "  a/2: not solved\n" in said and "a/1:" not in said
    assert "compared with old" in said and "3 trials in common: 3 solved before, 2 now." in said
    assert run_bench(ToyBench(limit=1), tmp_path / "c", workers=1) == 1
    assert f"spca bench resume {tmp_path / 'c'}" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_is_quiet_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    script = (
        "import os, signal, sys; from pathlib import Path; from spca_benchmarks.campaigns import engine\n"
        "from spca_benchmarks.campaigns.console import run_bench; from spca_testing.bench import ToyBench\n"
        "whole, pressed = engine.append, []\n"
        "def append(folder, entry):\n"
        "    whole(folder, entry)\n"
        "    if not pressed:\n"
        "        pressed.append(os.killpg(0, signal.SIGINT))  # as a terminal does: to every process\n"
        "engine.append = append\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(run_bench(ToyBench(length=40, seconds=0.2), Path(sys.argv[1]), 2))\n"
    )
    (tmp_path / "run.py").write_text(script)
    ended = python(str(tmp_path / "run.py"), str(folder), start_new_session=True)
    assert ended.returncode == 130, ended.stderr
    assert f"spca bench resume {folder}" in ended.stderr
    assert "Traceback" not in ended.stderr
    done = len(read_campaign(ToyBench(length=40), folder).results)
    assert 0 < done < 40
