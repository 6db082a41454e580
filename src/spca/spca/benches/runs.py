"""Whole runs as trials of a benchmark, in one process or on a node graph, and summed up."""

from __future__ import annotations

import atexit
import base64
import hashlib
import json
import shutil
from functools import cache
from pathlib import Path

from spca.ending import Ending
from spca.result import CoderCounts, PlannerCounts, RunResult, SkillCounts, Usage
from spca_bench.page import Card
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.plan import ActResult
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import SolverProcess

STAGES = ("sense", "plan", "code", "act")


class RunSummary(Record):
    """What a run came to; seconds are of wall time, `sim` on the level's own clock."""

    outcome: str
    score: float
    cause: str = ""
    """Why it was not solved, in one line."""
    wall: float
    sim: float
    rounds: int
    steps: int
    stage_wall: dict[str, float] = {}
    planner: PlannerCounts = PlannerCounts()
    coder: CoderCounts = CoderCounts()
    usage: dict[str, Usage] = {}
    skills: SkillCounts = SkillCounts()
    digest: str = ""
    """Hash over verdict, steps and simulated times: equal for a bit-for-bit repetition."""
    run: str = ""
    """The run's folder within the campaign's, where it was kept."""
    thumbnail: str = ""
    """The last camera image of a run that failed, as a small JPEG in a data URI."""

    @property
    def success(self) -> bool:
        """Whether the referee said so."""
        return self.outcome == "success"


def run_level(options: RunOptions, campaign: Path, name: str) -> tuple[RunSummary, RunFolder, RunResult]:
    """Run a level in `campaign`/runs/`name`. The caller deletes the folder, or keeps it (`keep_failed`).

    Raises what the run raises, and KeyboardInterrupt if the user stopped it.
    """
    path = campaign / "runs" / name
    shutil.rmtree(path, ignore_errors=True)
    folder = RunFolder.create(name, path)
    result = _run(options, folder)
    if result.outcome is Ending.CANCELLED:
        raise KeyboardInterrupt
    summary = RunSummary(
        outcome=result.outcome.value,
        score=result.verdict.score,
        cause="" if result.success else result.reason,
        wall=result.wall,
        sim=result.sim,
        rounds=result.rounds,
        steps=result.steps,
        stage_wall=result.stage_wall,
        planner=result.planner,
        coder=result.coder,
        usage=result.usage,
        skills=result.skills,
        digest=_digest(result, acts(folder)),
        run="" if result.success else str(path.relative_to(campaign)),
        thumbnail="" if result.success else _thumbnail(path),
    )
    return summary, folder, result


def _run(options: RunOptions, folder: RunFolder) -> RunResult:
    if options.transport == "ros":
        from spca.ros.run import run_ros  # heavy, as the other: imported where the work is done

        return run_ros(options, folder)
    from spca.inproc import run_inproc

    return run_inproc(options, folder, solver=_warm_solver())


def keep_failed(summary: RunSummary, folder: RunFolder) -> None:
    """Delete the folder of a success; write the report of a failure."""
    from spca.report import write_report

    if summary.success:
        shutil.rmtree(folder.path, ignore_errors=True)
    else:
        write_report(folder)


def acts(folder: RunFolder) -> list[ActResult]:
    """Every time that a plan was carried out in a run."""
    files = sorted(folder.path.glob("round_*/act_*.json"), key=lambda f: int(f.stem.split("_")[-1]))
    return [ActResult.model_validate_json(file.read_bytes()) for file in files]


def failed_cards(runs: list[tuple[str, RunSummary]]) -> list[Card]:
    """Runs that failed, by name, for a page."""
    return [
        Card(name, f"{r.outcome}: {r.cause}", f"{r.run}/report.html" if r.run else "", r.thumbnail)
        for name, r in runs
        if not r.success
    ]


@cache
def _warm_solver() -> SolverProcess:
    """One solver process for all trials of this worker: its imports take longer than a trial's planning."""
    solver = SolverProcess()
    solver.start()
    atexit.register(solver.close)
    return solver


def _digest(result: RunResult, acts: list[ActResult]) -> str:
    """A hash of everything that must repeat exactly: the verdict and each step's simulated times.

    Wall times are left out.
    """
    steps = [[s.action, s.args, s.status, s.started, s.ended] for act in acts for s in act.steps]
    content = json.dumps([result.verdict.model_dump(mode="json"), steps], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _thumbnail(path: Path) -> str:
    import cv2

    looks = sorted((path / "looks").glob("*.jpg"))
    image = cv2.imread(str(looks[-1])) if looks else None
    if image is None:
        return ""
    small = cv2.resize(image, (160, 120), interpolation=cv2.INTER_AREA)
    return "data:image/jpeg;base64," + base64.b64encode(cv2.imencode(".jpg", small)[1].tobytes()).decode()
