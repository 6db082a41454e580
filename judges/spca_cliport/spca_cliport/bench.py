"""`spca bench cliport`: CLIPort's tasks on its own test seeds, by its own score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups, median_of
from spca_cliport.episode import COLOURS, TASKS, PickPlaceEpisode
from spca_cliport.playing import End, play
from spca_core.errors import InputError, SpcaError
from spca_core.model import Record
from spca_judges.catalogue import find
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import warm_solver
from spca_planner.trusted import TrustedDomains
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary


class EpisodeTrial(Record):
    """One task on the table that CLIPort draws with `seed`."""

    task: str
    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.task}-{self.seed}"


class EpisodeResult(Record):
    """CLIPort's score (0-1), how many actions that took, and the last sentence with why no more was done."""

    score: float
    actions: int
    end: End
    text: str
    reason: str
    wall_s: float

    @property
    def whole(self) -> bool:
        """True if all of the score was earned; it is a sum of fractions."""
        return self.score > 0.99


Trials = Sequence[Done[EpisodeTrial, EpisodeResult]]
LOST = {"lost to words": ["not_understood"], "to sight": ["refused"], "to acts": ["stopped", "acted"]}
"""How an episode ended, by what cost the points that it did not earn."""


class CliportBench(Bench[EpisodeTrial, EpisodeResult]):
    """Each of `tasks` in each of `colours`, on the first `episodes` seeds from `first_seed` on."""

    name = "cliport"
    result_type: ClassVar[type[Record]] = EpisodeResult

    repository: Path
    tasks: tuple[str, ...] = TASKS
    colours: tuple[str, ...] = COLOURS
    episodes: int = Field(100, ge=1)
    first_seed: int = Field(10_001, ge=0)

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the same wherever the checkout lies."""
        return self.model_dump(mode="json", exclude={"usd", "repository"})

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        if not (self.repository / "cliport" / "environments" / "environment.py").is_file():
            raise InputError(
                "holds no CLIPort", where=str(self.repository), hint="a checkout of cliport/cliport"
            )
        find("cliport").check()

    def trials(self) -> list[EpisodeTrial]:
        """See `Bench`; a seed of all tasks, then the next one."""
        return [
            EpisodeTrial(task=f"{task}-{colours}-colors", seed=self.first_seed + 2 * k)
            for k in range(self.episodes)
            for task in self.tasks
            for colours in self.colours
        ]

    def run_trial(self, trial: EpisodeTrial, folder: Path) -> EpisodeResult:
        """See `Bench`."""
        begun = perf_counter()
        try:
            episode = _episode(self.repository, trial.task)
            episode.reset(trial.seed)
            left = episode.instruction().left
            end, text, reason = play(episode, _planner())
            after = episode.instruction()
        except SpcaError:  # the next trial is for a new process
            _episode.cache_clear()
            raise
        return EpisodeResult(
            score=round(after.score, 4), actions=left - after.left, end=end, text=text, reason=reason,
            wall_s=round(perf_counter() - begun, 2),
        )  # fmt: skip

    def success(self, result: EpisodeResult) -> bool:
        """See `Bench`."""
        return result.whole

    def remark(self, done: Done[EpisodeTrial, EpisodeResult]) -> str:
        """See `Bench`."""
        return "" if self.success(done.result) else f"{done.result.text}: {done.result.reason}"

    def table(self, done: Trials) -> PageTable:
        """By task and colours."""
        heads = ("task", "episodes", "score", *LOST, "whole score", "95 % interval", "median s")
        return PageTable(heads, [_row(*own) for own in groups(done, lambda d: d.trial.task).items()])


def _row(task: str, done: Trials) -> tuple[object, ...]:
    results = [d.result for d in done]
    whole, seconds = Rate.of(r.whole for r in results), median_of(r.wall_s for r in results)
    lost = [100 / len(results) * sum(1 - r.score for r in results if r.end in ends) for ends in LOST.values()]
    figures = (f"{points:.1f}" for points in (100 - sum(lost), *lost))
    return task, len(results), *figures, str(whole), whole.percent_interval, seconds


@lru_cache(maxsize=8)
def _episode(checkout: Path, task: str) -> PickPlaceEpisode:
    """One process of the judge per task; it ends with this one."""
    return PickPlaceEpisode(
        find("cliport").python, Path(__file__).with_name("server.py"), [str(checkout), task]
    )


@lru_cache(maxsize=1)
def _planner() -> DraftingPlanner:
    """One for all episodes of a process; nothing is learned from one to the next."""
    nothing, words = TrustedDomains(Path(__file__).with_name("trusted")), TabletopVocabulary()
    return DraftingPlanner("tabletop", BuiltinProposer(), nothing, words, solver=warm_solver())
