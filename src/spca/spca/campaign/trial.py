"""Runs one trial in the calling process; the unit of work of a campaign."""

from __future__ import annotations

import atexit
import base64
import hashlib
import json
import shutil
from functools import cache
from pathlib import Path

import cv2

from spca.campaign.results import TrialResult
from spca.campaign.spec import CampaignSpec, Trial
from spca.report import write_report
from spca.result import RunResult
from spca_core.errors import EXIT_BROKEN, SpcaError
from spca_core.plan import ActResult
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import SolverProcess
from spca_tabletop.plan.problem import domain


def run_trial(spec: CampaignSpec, trial: Trial, campaign: str) -> TrialResult:
    """Run it in lockstep. Its folder is kept, with a report, only if it failed. Never raises for a failed run."""
    from spca.inproc import run_inproc  # heavy: imported where the work is done

    path = Path(campaign) / "runs" / trial.key.replace("/", "_")
    shutil.rmtree(path, ignore_errors=True)
    folder = RunFolder.create(trial.level, path)
    try:
        result = run_inproc(spec.options(trial), folder, solver=_warm_solver())
    except SpcaError as error:
        return _broken(trial, error, path, campaign)
    except Exception as error:  # a trial that breaks must not take the campaign with it
        return _broken(trial, error, path, campaign)
    summary = TrialResult(
        trial=trial,
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
        digest=_digest(result, path),
        run="" if result.success else str(path.relative_to(campaign)),
        thumbnail="" if result.success else _thumbnail(path),
    )
    if result.success:
        shutil.rmtree(path, ignore_errors=True)
    else:
        write_report(folder)
    return summary


@cache
def _warm_solver() -> SolverProcess:
    """One solver process for all trials of this worker: its imports take longer than a trial's planning."""
    solver = SolverProcess(domains=(domain(),))
    atexit.register(solver.close)
    return solver


def _broken(trial: Trial, error: Exception, path: Path, campaign: str) -> TrialResult:
    return TrialResult(
        trial=trial,
        outcome=f"broken ({EXIT_BROKEN})",
        score=0.0,
        cause=f"{type(error).__name__}: {error}",
        wall=0.0,
        sim=0.0,
        rounds=0,
        steps=0,
        stage_wall={},
        run=str(path.relative_to(campaign)),
    )


def _digest(result: RunResult, path: Path) -> str:
    """Over everything that must repeat exactly: the verdict and each step's simulated times, but no wall time."""
    steps = []
    for file in sorted(path.glob("round_*/act_*.json"), key=lambda f: int(f.stem.split("_")[-1])):
        act = ActResult.model_validate_json(file.read_bytes())
        steps += [[s.action, s.args, s.status, s.started, s.ended] for s in act.steps]
    content = json.dumps([result.verdict.model_dump(mode="json"), steps], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _thumbnail(path: Path) -> str:
    looks = sorted((path / "looks").glob("*.jpg"))
    image = cv2.imread(str(looks[-1])) if looks else None
    if image is None:
        return ""
    small = cv2.resize(image, (160, 120), interpolation=cv2.INTER_AREA)
    return "data:image/jpeg;base64," + base64.b64encode(cv2.imencode(".jpg", small)[1].tobytes()).decode()
