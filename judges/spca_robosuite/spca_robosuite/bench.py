"""`spca bench robosuite`: its tasks on layouts that it draws, by pictures and the built-in proposer."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from spca.runs import Run
from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups, median_of
from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.result import Ending
from spca_core.run_folder import RunFolder
from spca_judges.catalogue import find
from spca_judges.environment import JudgedTabletop
from spca_judges.remote import RemoteEpisode
from spca_robosuite.bins import BinsDetector
from spca_robosuite.episode import LIMIT_S, PICK_PLACE, ROBOTS, STIFFNESS, TASKS, judged_world, open_episode

SEED_STRIDE = 1000
"""Between the layouts of one seed and those of the next; layouts below it are for development."""
_OPENED: dict[tuple[str, str], RemoteEpisode] = {}


class EpisodeTrial(Record):
    """One task on the layout that robosuite draws with `layout`."""

    task: str
    layout: int
    robot: str = ROBOTS[0]

    @property
    def row(self) -> str:
        """Task and robot, as the table names them."""
        return self.task if self.robot == ROBOTS[0] else f"{self.task}, {self.robot}"

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.task}-{self.layout}" + (f"-{self.robot}" if self.robot != ROBOTS[0] else "")


class EpisodeResult(Record):
    """Outcome of a run; `simulated_s` from the reset to the verdict."""

    ending: Ending
    reason: str
    simulated_s: float
    wall_s: float
    rounds: int
    version: str
    """Of the judge."""


Trials = Sequence[Done[EpisodeTrial, EpisodeResult]]


class RobosuiteBench(Bench[EpisodeTrial, EpisodeResult]):
    """Each of `tasks` on `layouts` layouts of each of `seeds`, for one robot."""

    name = "robosuite"
    result_type: ClassVar[type[Record]] = EpisodeResult

    tasks: tuple[str, ...] = TASKS
    robot: str = ROBOTS[0]
    layouts: int = Field(20, ge=1)
    seeds: tuple[int, ...] = (1, 2, 3)

    @property
    def title(self) -> str:
        """See `Bench`."""
        return f"robosuite, {self.robot}"

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        find("robosuite").check()

    def trials(self) -> list[EpisodeTrial]:
        """See `Bench`."""
        return [
            EpisodeTrial(task=task, layout=seed * SEED_STRIDE + k, robot=self.robot)
            for seed in self.seeds
            for task in self.tasks
            for k in range(self.layouts)
        ]

    def run_trial(self, trial: EpisodeTrial, folder: Path) -> EpisodeResult:
        """See `Bench`; the folders of runs that failed stay."""
        path = folder / "runs" / trial.key
        shutil.rmtree(path, ignore_errors=True)
        episode = _episode(trial.task, self.robot)
        try:
            episode.reset(trial.layout)
        except SpcaError:  # it died in the trial before
            _OPENED.popitem()[1].close()
            episode = _episode(trial.task, self.robot)
            episode.reset(trial.layout)
        options = RunOptions(level=trial.task, transport="inproc", seed=trial.layout, video=False)
        bins = trial.task in PICK_PLACE
        world = judged_world(bins, self.robot)
        detector = BinsDetector(world) if bins else None
        judged = JudgedTabletop(trial.task, episode, world, STIFFNESS, LIMIT_S, detector)
        with closing(judged) as environment:
            result = Run(options, RunFolder.create(trial.key, path)).advance(environment=environment)
        if result.outcome is Ending.CANCELLED:
            raise KeyboardInterrupt
        if result.success:
            shutil.rmtree(path)
        return EpisodeResult(
            ending=result.outcome, reason=result.reason, simulated_s=result.verdict.stamp,
            wall_s=result.wall, rounds=result.rounds, version=episode.version,
        )  # fmt: skip

    def success(self, result: EpisodeResult) -> bool | None:
        """See `Bench`."""
        return result.ending is Ending.SUCCESS

    def remark(self, done: Done[EpisodeTrial, EpisodeResult]) -> str:
        """See `Bench`."""
        return "" if self.success(done.result) else done.result.reason

    def table(self, done: Trials) -> PageTable:
        """By task and robot, and by the seed of the layouts."""
        heads = ("task", "solved", "95 % interval", "by seed", "rounds", "median simulated s", "median s")
        return PageTable(
            heads, [self._row(task, own) for task, own in groups(done, lambda d: d.trial.row).items()]
        )

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            "Pictures with depth of one of the judge's cameras, its calibration, joint states and a sentence "
            "come in; joint positions and the fingers' opening go out. Solved: the judge's own rule holds "
            "after the plan has ended and the arm has been still for a second."
        )
        page.heading("Not solved")
        bad = [(d.trial.key, d.result.ending.value, self.remark(d)) for d in done if self.remark(d)]
        page.table(("episode", "ended", "why"), bad)

    def rows(self, done: Done[EpisodeTrial, EpisodeResult]) -> Iterable[Mapping[str, Any]]:
        """See `Bench`."""
        yield {**done.trial.model_dump(), **done.result.model_dump(mode="json")}

    def _row(self, task: str, done: Trials) -> tuple[object, ...]:
        by_seed = groups(done, lambda d: str(d.trial.layout // SEED_STRIDE)).values()
        rates = [Rate.of(d.result.ending is Ending.SUCCESS for d in own) for own in (done, *by_seed)]
        return (
            task, str(rates[0]), rates[0].percent_interval, ", ".join(map(str, rates[1:])),
            sum(d.result.rounds for d in done) / len(done),
            median_of(d.result.simulated_s for d in done), median_of(d.result.wall_s for d in done),
        )  # fmt: skip


def _episode(task: str, robot: str) -> RemoteEpisode:
    """Return the judge's process for a task. Each takes seconds to come up, and 0.9 GB: another one ends."""
    if (task, robot) not in _OPENED:
        while _OPENED:
            _OPENED.popitem()[1].close()
        _OPENED[task, robot] = open_episode(task, robot)
    return _OPENED[task, robot]
