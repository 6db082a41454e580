"""A trial of the MiniGrid bench: one run, and the row of figures that it comes to."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from spca.drive import drive
from spca.ending import Ending
from spca.logs import log_to
from spca.result import RunResult
from spca.stages import open_stages
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import MANIFEST, RunFolder
from spca_minigrid.bench import Trial, TrialRow
from spca_minigrid.ending import ending_of
from spca_minigrid.environment import MinigridEnvironment
from spca_minigrid.kit import MinigridKit
from spca_minigrid.proposer import DOMAIN
from spca_planner.solver.process import SolverProcess


def run_trial(trial: Trial, runs: Path) -> TrialRow:
    """A bench's trial, in a worker process that keeps its solver warm; the folders of failures are kept in `runs`."""
    options = RunOptions(
        level=f"{MinigridKit.name}:{trial.level.name}",
        seed=trial.seed,
        transport="inproc",
        proposer=trial.bench.proposer,
        llm=trial.bench.llm,
        skills=trial.bench.skills,
        library=str(trial.bench.library or ""),
        video=False,
    )
    with TemporaryDirectory(prefix="spca_trial_") as temporary:
        _, row = _run(options, RunFolder(Path(temporary)))
        if not row.success:
            shutil.copytree(temporary, runs / trial.key.replace("/", "_"), dirs_exist_ok=True)
    return row


@cache
def _warm_solver() -> SolverProcess:
    """This process's solver; it ends with the process."""
    solver = SolverProcess((DOMAIN,))
    solver.start()
    atexit.register(solver.close)
    return solver


def _run(options: RunOptions, folder: RunFolder) -> tuple[RunResult, TrialRow]:
    kit = MinigridKit()
    log_to(folder.path)
    folder.write(MANIFEST, manifest(options))
    with (
        open_stages(options, kit, folder, _warm_solver()) as stages,
        kit.session(options, folder) as environment,
    ):
        result = drive(environment, stages, folder, (), False)
        return result, _row(environment, result)


def _row(environment: MinigridEnvironment, result: RunResult) -> TrialRow:
    missing = (
        result.reason if result.outcome is Ending.GAVE_UP and result.reason.startswith("no skill for") else ""
    )
    world = environment.world
    return TrialRow(
        level=environment.level.name,
        category=environment.level.category,
        seed=environment.seed,
        mission=world.mission,
        ended=ending_of(result.verdict, environment.last_act, missing),
        reward=world.reward,
        primitives=len(world.primitives),
        rounds=result.rounds,
        plan_steps=result.steps,
        planner=result.planner.model_dump(),
        coder=result.coder.model_dump(),
        stage_seconds=result.stage_wall,
        seconds=result.wall,
        tokens=sum(u.input_tokens + u.output_tokens for u in result.usage.values()),
        usd=sum(u.usd for u in result.usage.values()),
    )
