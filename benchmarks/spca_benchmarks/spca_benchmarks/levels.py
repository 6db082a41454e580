"""`spca bench levels`: tabletop levels on many tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from spca.kits import checked_kit, kits
from spca_benchmarks.campaigns import plots
from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.statistics import Rate, groups, median_of
from spca_benchmarks.remedies import remedy_table
from spca_benchmarks.runs import STAGES, RunsBench, RunSummary, keep_failed, run_cards, run_level
from spca_core.errors import OutOfReach
from spca_core.model import Record
from spca_core.options import Rehearse, RunOptions, Transport
from spca_core.result import CoderCounts, Ending, Outcome, PlannerCounts, Verdict


class LevelTrial(Record):
    """One level on one table."""

    level: str
    preset: str
    seed: int

    @property
    def key(self) -> str:
        """The trial's name within the bench."""
        return f"{self.level}/{self.preset}/{self.seed}"

    @property
    def group(self) -> str:
        """The group of the level, `stack` of `stack_01`: its name without the number if no kit has it."""
        return _groups().get(self.level) or Path(self.level).stem.rpartition("_")[0]


@cache
def _groups() -> dict[str, str]:
    return {info.name: info.group for kit in kits() for info in kit.levels()}


class LevelsBench(RunsBench[LevelTrial, RunSummary]):
    """Levels × presets × tables: seeds from `first_seed` on.

    The nominal preset has one table only, but new noise.
    """

    name = "levels"
    result_type: ClassVar[type[Record]] = RunSummary

    levels: tuple[str, ...]
    """Names of the levels."""
    presets: tuple[str, ...] = ("shuffled",)
    tables: int = Field(20, ge=1)
    first_seed: int = Field(0, ge=0)
    proposer: str = "builtin"
    detector: str = "shapes"
    rehearse: Rehearse = "auto"
    transport: Transport = "inproc"
    """Transport of the runs; `ros` uses the graph of `spca up`, or starts one for each trial."""
    robot: str = ""
    """Arm of the runs, as in `RunOptions`."""

    @property
    def title(self) -> str:
        """See `Bench`."""
        arm = f", {self.robot}" if self.robot else ""
        return f"Levels: {len(self.levels)}, tables of each: {self.tables}, proposer {self.proposer}{arm}"

    def prepare(self, folder: Path) -> None:
        """Raise InputError unless every level and preset exists; reach is for each trial to check."""
        for trial in self.trials()[: len(self.levels) * len(self.presets)]:
            with suppress(OutOfReach):
                checked_kit(self._options(trial))

    def trials(self) -> list[LevelTrial]:
        """Return the trials table by table, so that an interrupted campaign has tried all equally often."""
        return [
            LevelTrial(level=level, preset=preset, seed=seed)
            for seed in range(self.first_seed, self.first_seed + self.tables)
            for preset in self.presets
            for level in self.levels
        ]

    @property
    def parallel(self) -> bool:
        """Trials may run in parallel; over ROS they run one after the other on one graph."""
        return self.transport == "inproc"

    def run_trial(self, trial: LevelTrial, folder: Path) -> RunSummary:
        """Run a trial, in lockstep unless over ROS; keep its folder, with a report, only if it failed.

        A table that is out of the arm's reach is not tried; it counts as not solved.
        """
        try:
            checked_kit(self._options(trial))
        except OutOfReach as refusal:
            verdict = Verdict(outcome=Outcome.RUNNING, score=0.0, stamp=0.0, reason=str(refusal))
            return RunSummary(
                level=trial.level, outcome=Ending.IMPOSSIBLE, verdict=verdict, reason=str(refusal), rounds=0,
                steps=0, planner=PlannerCounts(), coder=CoderCounts(), wall=0.0, sim=0.0, stage_wall={},
            )  # fmt: skip
        summary, run = run_level(self._options(trial), folder, trial.key.replace("/", "_"))
        keep_failed(summary, run)
        return summary

    def _options(self, trial: LevelTrial) -> RunOptions:
        return RunOptions(
            level=trial.level, preset=trial.preset, seed=trial.seed, video=False, transport=self.transport,
            proposer=self.proposer, detector=self.detector, rehearse=self.rehearse, robot=self.robot,
        )  # fmt: skip

    def table(self, done: Sequence[Done[LevelTrial, RunSummary]]) -> PageTable:
        """Return the rates of success and the median times by preset and group."""
        rows = [
            (preset, group, str(rate), rate.percent_interval, *_times([d.result for d in members]))
            for preset, own in groups(done, lambda d: d.trial.preset).items()
            for group, members in [*sorted(groups(own, lambda d: d.trial.group).items()), ("all", own)]
            for rate in [_rate(members)]
        ]
        stages = [f"{s} s" for s in STAGES]
        heads = ("preset", "group", "solved", "95 % interval", "wall s", *stages, "simulated s")
        return PageTable(heads, rows)

    def report(self, done: Sequence[Done[LevelTrial, RunSummary]], page: Page) -> None:
        """See `Bench`."""
        page.text("Times are medians.")
        page.heading("Success by group")
        page.figure(plots.rates(_rates(done, lambda d: d.trial.preset, lambda d: d.trial.group)))
        page.heading("Stages")
        results = [d.result for d in done]
        stages = {s: [r.stage_wall.get(s, 0.0) for r in results] for s in STAGES}
        page.figure(plots.boxes(stages, "wall time (s)", logarithmic=True))
        page.heading("Simulated time of solved trials")
        solved = [d for d in done if d.result.success]
        by_group = sorted(groups(solved, lambda d: d.trial.group).items())
        page.figure(
            plots.boxes({g: [d.result.sim for d in own] for g, own in by_group}, "simulated time (s)")
        )
        page.heading("Rounds")
        page.figure(_rounds(results))
        if any(r.disturbed for r in results):
            page.heading("Disturbances and remedies")
            page.table(*remedy_table(results))
        if failed := [d.result for d in done if not d.result.success]:
            page.heading("Why trials failed")
            page.table(("cause", "failed trials"), causes(failed)[:12])
        page.heading("Levels")
        by_level = _rates(done, lambda d: d.trial.preset, lambda d: d.trial.level)
        page.table(
            ("level", *by_level),
            [(level, *(own.get(level) for own in by_level.values())) for level in self.levels],
        )
        page.heading("Runs")
        page.cards(run_cards((d.trial.key, d.result) for d in done))

    def rows(self, done: Done[LevelTrial, RunSummary]) -> Iterable[Mapping[str, Any]]:
        """See `Bench`; with the level's group."""
        for row in super().rows(done):
            yield {**row, "group": done.trial.group}


def causes(results: Iterable[RunSummary]) -> list[tuple[str, int]]:
    """Return causes of failure and counts, most frequent first; numbers and objects are blanked out."""
    return Counter(_pattern(r.cause) for r in results if not r.success).most_common()


def _pattern(cause: str) -> str:
    cause = re.sub(r"\b(cube|plate|box)_\w+", r"\1", cause)
    cause = re.sub(r"\b(red|green|blue) (cube|plate)", r"\2", cause)
    return re.sub(r"-?\d+(\.\d+)?", "N", cause)[:160]


def _rate(done: Iterable[Done[Any, RunSummary]]) -> Rate:
    return Rate.of(d.result.success for d in done)


def _rates(
    done: Sequence[Done[LevelTrial, RunSummary]], series: Any, group: Any
) -> dict[str, dict[str, Rate]]:
    return {
        name: {g: _rate(members) for g, members in sorted(groups(own, group).items())}
        for name, own in groups(done, series).items()
    }


def _times(results: Sequence[RunSummary]) -> tuple[float, ...]:
    stages = (median_of(r.stage_wall.get(s, 0.0) for r in results) for s in STAGES)
    return (median_of(r.wall for r in results), *stages, median_of(r.sim for r in results))


def _rounds(results: Sequence[RunSummary]) -> Any:
    figure, axis = new_figure(6.4, 1.8)
    numbers = range(1, max((5, *(r.rounds for r in results))) + 1)  # one bar alone would fill the figure
    for label, colour, width in (("solved", "#3b6fd4", 0.8), ("not solved", "#b42318", 0.3)):
        heights = [sum(r.rounds == n and r.success is (label == "solved") for r in results) for n in numbers]
        axis.bar(list(numbers), heights, color=colour, label=label, width=width)
    axis.set_xticks(list(numbers))
    axis.set_xlabel("rounds")
    axis.set_yscale("symlog")  # a few runs of many rounds are not lost beside many of one
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylim(bottom=0)
    axis.set_ylabel("runs")
    plots.legend_beside(axis)
    return figure
