"""Recorded answers solve their levels: no prompt has changed since they were recorded."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import spca
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.pddl.bench import PddlBench
from spca_core.paths import ROOT
from spca_referee.level import list_levels

REPLAYS = ROOT / "examples" / "replays"
RECORDED = {re.sub(r"_\d{4}-\w+\.json$", "", file.name) for file in REPLAYS.glob("*.json")}
LEVELS = sorted(RECORDED & {*list_levels()})


@pytest.mark.slow
@pytest.mark.parametrize(
    "level", [*LEVELS[:2], *(pytest.param(level, marks=pytest.mark.full) for level in LEVELS[2:])]
)
def test_recorded_answers_solve_their_level(level: str, tmp_path: Path) -> None:
    """From no skills where a coder was asked, too, else from the built-in ones; the library is empty."""
    coded = [*REPLAYS.glob(f"{level}_*-coder.json")]
    run = spca.run(
        level,
        report=False,
        out=tmp_path / "run",
        proposer="openai",
        llm=f"replay:{REPLAYS}",
        skills="empty" if coded else "auto",
        library=str(tmp_path / "library"),
    )
    assert run.result.success and run.result.rounds == 1, run.result.reason


def test_recorded_domains_solve_their_described_tasks(tmp_path: Path) -> None:
    tasks = ("gripper", "blocksworld", "rovers")
    bench = PddlBench(tasks=tasks, attempts=3, trials_each=1, llm=f"replay:{REPLAYS / 'pddl'}")
    trials = run_campaign(bench, tmp_path / "bench", workers=1).done
    assert [trial.result.status for trial in trials] == ["solved"] * 3
    assert [len(trial.result.attempts) for trial in trials] == [1, 1, 1]


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "ipp write grasp --refine 1 --train 40 --test 200 --store programs",
            "3.725 in training  refinement",
        ),
        ("learn sokoban --synthesizer language --out learned", "learned · 134 actions"),
        (
            "copic train build_order --task hard --published --proposer model --out trained",
            "trial 1: 100.0 % solved while learning",
        ),
    ],
)
def test_recorded_answers_solve_what_papers_ask(command: str, said: str, tmp_path: Path) -> None:
    asked = [ROOT / "bin" / "spca", *command.split(), "--llm", f"replay:{REPLAYS}"]
    ended = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said in ended.stdout + ended.stderr
