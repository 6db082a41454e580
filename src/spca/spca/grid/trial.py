"""One MiniGrid level from the first look to the verdict."""

from __future__ import annotations

import atexit
import shutil
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from spca.events import Listener
from spca.grid.stages import open_minigrid_stages
from spca.interrupt import stopping_on_interrupt
from spca.result import RunResult
from spca.run_folder import RunFolder
from spca.supervisor import Supervisor
from spca_core.ports.stages import Coder, Planner
from spca_gridworlds.minigrid.bench import Trial, TrialRow
from spca_gridworlds.minigrid.ending import ending_of
from spca_gridworlds.minigrid.environment import MinigridEnvironment
from spca_gridworlds.minigrid.levels import Level


def run_level(
    level: Level,
    seed: int,
    planner: Planner,
    coder: Coder,
    folder: RunFolder,
    listeners: tuple[Listener, ...] = (),
) -> tuple[RunResult, TrialRow]:
    """Run a level; its folder then holds every attempt."""
    with closing(MinigridEnvironment(level, seed)) as environment:
        supervisor = Supervisor(environment, planner, coder, folder, listeners=listeners)
        with stopping_on_interrupt(supervisor.cancel):
            result = supervisor.run(environment.builtin_skills.read_text())
        return result, _row(environment, result)


def run_trial(trial: Trial, runs: Path) -> TrialRow:
    """A bench's trial, in a worker process that keeps its planner warm; the folders of failures are kept in `runs`."""
    planner, coder = _warm(trial.bench.proposer)
    with TemporaryDirectory(prefix="spca_trial_") as temporary:
        folder = RunFolder(Path(temporary))
        _, row = run_level(trial.level, trial.seed, planner, coder, folder)
        if not row.success:
            shutil.copytree(temporary, runs / trial.key.replace("/", "_"), dirs_exist_ok=True)
    return row


@cache
def _warm(proposer: str) -> tuple[Planner, Coder]:
    """This process's planner and coder."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(open_minigrid_stages(proposer))


def _row(environment: MinigridEnvironment, result: RunResult) -> TrialRow:
    missing = (
        result.reason if result.outcome == "gave_up" and result.reason.startswith("no skill for") else ""
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
