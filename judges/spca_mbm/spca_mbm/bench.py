"""`spca bench mbm`: MotionBenchMaker's problems, each planned on one core and checked independently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups
from spca_core.model import Record
from spca_mbm.checking import Surface, surfaces, touched
from spca_mbm.planning import Outcome, plan
from spca_mbm.problems import problem_names, read_problem, ur5_world
from spca_robot.gripper_2f85 import STROKE


class MbmTrial(Record):
    """One problem, `family/number`, for the compiled kernel or for OMPL."""

    problem: str
    ompl: bool = False

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return self.problem + self.by

    @property
    def family(self) -> str:
        """The kind of scene, and who searches."""
        return self.problem.split("/")[-2] + self.by

    @property
    def by(self) -> str:
        """Who searches, unless it is the stack's own."""
        return ", OMPL" if self.ompl else ""


Trials = Sequence[Done[MbmTrial, Outcome]]


class MbmBench(Bench[MbmTrial, Outcome]):
    """Bench over all problems in `problems`, or over every `every`-th of them, `ompl` in turns with OMPL."""

    name = "mbm"
    title: ClassVar[str] = "MotionBenchMaker, UR5"
    result_type: ClassVar[type[Record]] = Outcome

    problems: Path
    meshes: Path | None = None
    every: int = Field(1, ge=1)
    ompl: bool = False

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the same wherever the data lie."""
        return {**super().identity(), "problems": self.problems.name, "meshes": self.meshes is not None}

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        problem_names(self.problems)
        _robot(self.meshes)

    def trials(self) -> list[MbmTrial]:
        """See `Bench`."""
        names = problem_names(self.problems)[:: self.every]
        return [MbmTrial(problem=n, ompl=ompl) for n in names for ompl in (False, True)[: 1 + self.ompl]]

    def run_trial(self, trial: MbmTrial, folder: Path) -> Outcome:
        """See `Bench`."""
        problem = read_problem(self.problems, trial.problem)
        outcome, path = plan(problem, trial.ompl)
        if path is None:
            return outcome
        words = touched(ur5_world(), _robot(self.meshes), problem.scene.obstacles, path)
        return outcome.model_copy(update={"touches": words})

    def success(self, result: Outcome) -> bool | None:
        """Solved without a touch; nothing can be said of a problem that begins or ends in one."""
        return None if result.status == "invalid" else result.status == "solved" and not result.touches

    def remark(self, done: Done[MbmTrial, Outcome]) -> str:
        """See `Bench`."""
        return done.result.touches or done.result.message

    def table(self, done: Trials) -> PageTable:
        """By family: solved, of the valid ones; times of planning on one core; lengths; touches."""
        heads = (
            "family", "problems", "refused", "solved", "95 % interval", "median ms", "95 % ms", "slowest ms",
            "scene ms", "length / straight", "touch",
        )  # fmt: skip
        rows = groups(done, lambda d: d.trial.family) | groups(done, lambda d: f"all{d.trial.by}")
        return PageTable(heads, [_row(name, own) for name, own in rows.items()])

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            "Times are processor seconds of one core, from a compiled scene to the smoothed path. Refused: "
            "start or goal is nearer to something than the planner's clearances (3 mm to things, 2 mm to the "
            "robot itself) allow. Touch: paths in which a sample of the robot's surface lies inside an "
            "obstacle, at a configuration every 0.01 rad."
        )
        page.heading("Refused, not found, touching")
        bad = [d for d in done if d.result.status != "solved" or d.result.touches]
        page.table(
            ("problem", "status", "why"), [(d.trial.key, d.result.status, self.remark(d)) for d in bad]
        )

    def rows(self, done: Done[MbmTrial, Outcome]) -> Iterable[Mapping[str, Any]]:
        """See `Bench`."""
        yield {"family": done.trial.family, **done.trial.model_dump(), **done.result.model_dump()}


def _row(family: str, done: Trials) -> tuple[object, ...]:
    results = [d.result for d in done]
    valid = [r for r in results if r.status != "invalid"]
    solved = [r for r in valid if r.status == "solved"]
    rate = Rate.of(r.status == "solved" and not r.touches for r in valid)
    times = 1000 * np.array([r.planning_s for r in solved] or [np.nan])
    return (
        family, len(results), len(results) - len(valid), str(rate), rate.percent_interval,
        float(np.median(times)), float(np.percentile(times, 95)), float(times.max()),
        float(1000 * np.median([r.scene_s for r in results])),
        float(np.median([r.length / r.straight for r in solved] or [np.nan])),
        sum(bool(r.touches) for r in solved),
    )  # fmt: skip


@lru_cache(maxsize=2)
def _robot(meshes: Path | None) -> list[Surface]:
    return surfaces(ur5_world(), STROKE, meshes)
