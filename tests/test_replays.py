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
    run = spca.run(
        level,
        report=False,
        out=tmp_path / "run",
        proposer="openai",
        llm=f"replay:{REPLAYS}",
        skills="empty",
        library=str(tmp_path / "library"),
    )
    assert run.result.success and run.result.rounds == 1, run.result.reason


def test_a_recorded_domain_solves_its_described_task(tmp_path: Path) -> None:
    bench = PddlBench(tasks=("gripper",), attempts=3, trials_each=1, llm=f"replay:{REPLAYS / 'pddl'}")
    (trial,) = run_campaign(bench, tmp_path / "bench", workers=1).done
    assert trial.result.status == "solved" and len(trial.result.attempts) == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "ipp write grasp --refine 1 --train 40 --test 200 --store programs",
            "3.725 in training  refinement",
        ),
        ("learn sokoban --synthesizer language --out learned", "learned · 134 actions"),
    ],
)
def test_recorded_answers_solve_what_papers_ask(command: str, said: str, tmp_path: Path) -> None:
    asked = [ROOT / "bin" / "spca", *command.split(), "--llm", f"replay:{REPLAYS}"]
    ended = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said in ended.stdout + ended.stderr
