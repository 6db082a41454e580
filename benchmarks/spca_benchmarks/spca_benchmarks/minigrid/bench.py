"""`spca bench minigrid`: the MiniGrid curriculum on several seeds; published figures beside models' only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import ClassVar

from pydantic import Field

from spca_benchmarks.campaigns import plots
from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.published import printed
from spca_benchmarks.campaigns.statistics import Rate, groups, median_of
from spca_benchmarks.drafts import draft_cells
from spca_benchmarks.minigrid.shortest import Truth, shortest
from spca_benchmarks.runs import STAGES, RunsBench, RunSummary, keep_failed, run_cards, run_level
from spca_core.model import Record
from spca_core.options import RunOptions, Skills
from spca_core.plan import ActResult
from spca_core.result import Ending
from spca_minigrid.ending import Ended, ending_of
from spca_minigrid.kit import MinigridKit
from spca_minigrid.levels import CATEGORIES, NINE, GridLevel, select_levels
from spca_minigrid.mission import parse_mission
from spca_minigrid.referents import Referents
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import WorldMap


class Reference(Record):
    """The mission, and the length of the shortest way to fulfil it (None where things move by themselves).

    `in_view`: all that can be reached is seen at the first look; `named_in_view`: all that the mission names
    is.
    """

    mission: str
    steps: int | None
    in_view: bool
    named_in_view: bool


def reference(level: GridLevel, seed: int) -> Reference:
    """The reference for a level with a seed."""
    world = GridWorld(level.env, seed)
    truth = Truth(world)
    known = WorldMap()
    known.observe(*world.look())
    mission = parse_mission(world.mission)
    referents = Referents(known, mission)
    x, y = truth.place
    moving = level.category == "dynamic_obstacle_avoidance"
    return Reference(
        mission=world.mission,
        steps=None if moving else shortest(world, mission, level.report),
        in_view=all((px - x, py - y) in known.cells for px, py in truth.reachable()),
        named_in_view=all(referents.find(noun.symbol) for noun in mission.nouns),
    )


class MinigridTrial(Record):
    """One level with one seed."""

    level: GridLevel
    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.level.name}/{self.seed}"


class MinigridResult(RunSummary):
    """A run, how it ended, and what it is compared with. `sim` counts primitives."""

    ended: Ended
    reference: Reference

    @property
    def ratio(self) -> float | None:
        """Primitives per primitive of the reference, for successes that have one."""
        return self.sim / self.reference.steps if self.success and self.reference.steps else None


Trials = Sequence[Done[MinigridTrial, MinigridResult]]


class MinigridBench(RunsBench[MinigridTrial, MinigridResult]):
    """Levels by category or name (comma-separated beginnings, empty for all) on seeds from `first_seed`."""

    name = "minigrid"
    result_type: ClassVar[type[Record]] = MinigridResult

    levels: str = ""
    seeds: int = Field(5, ge=1)
    first_seed: int = 0
    proposer: str = "builtin"
    llm: str = ""
    """Where a language model's answers come from, as for `spca run`."""
    skills: Skills = "auto"
    library: Path | None = None
    """Folder of what is learned; `library/` in the project if None."""

    @property
    def title(self) -> str:
        """See `Bench`."""
        last = self.first_seed + self.seeds - 1
        return f"MiniGrid curriculum: seeds {self.first_seed}-{last}, proposer {self.proposer}"

    def trials(self) -> list[MinigridTrial]:
        """In the curriculum's order."""
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        return [MinigridTrial(level=level, seed=s) for level in select_levels(self.levels) for s in seeds]

    def run_trial(self, trial: MinigridTrial, folder: Path) -> MinigridResult:
        """The run's folder is kept only if it failed."""
        options = RunOptions(
            level=f"{MinigridKit.name}:{trial.level.name}", seed=trial.seed, transport="inproc",
            proposer=self.proposer, llm=self.llm,
            skills=self.skills, library=str(self.library or ""), video=False,
        )  # fmt: skip
        summary, run = run_level(options, folder, trial.key.replace("/", "_"))
        no_skill = summary.outcome is Ending.GAVE_UP and summary.reason.startswith("no skill for")
        why = summary.reason if no_skill else ""
        ended = ending_of(summary.verdict, next(reversed(run.read_stage("act", ActResult)), None), why)
        keep_failed(summary, run)
        return MinigridResult(**dict(summary), ended=ended, reference=reference(trial.level, trial.seed))

    def remark(self, done: Done[MinigridTrial, MinigridResult]) -> str:
        """See `Bench`."""
        ended = done.result.ended
        return "" if done.result.success else f"{ended.ending.value} {ended.why}"

    def table(self, done: Trials) -> PageTable:
        """By category; medians of primitives, of their ratio to the shortest way, and of wall seconds."""
        heads = (
            "category", "levels", "success", "%", "95 % interval", "primitives", "× shortest", "rounds",
            "wall s",
        )  # fmt: skip
        nine = [d for d in done if d.trial.level.category in NINE]
        parts = {**_by_category(done), "the nine published categories": nine, "all": list(done)}
        return PageTable(heads, [_row(name, own) for name, own in parts.items() if own])

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            "Primitives, their ratio to the shortest way of someone who knows the whole world, and wall "
            "seconds are medians; rounds are means."
        )
        if self.proposer == "builtin":
            page.text("The built-in proposer stands in for a model: no published figure stands beside it.")
        else:
            page.heading("Published, one seed of each of the paper's own levels")
            for number in range(1, 5):
                page.table(*printed("SPCA", f"Table {number}"))
        by_category = {"this campaign": {name: _rate(own) for name, own in _by_category(done).items()}}
        for line in ratios_in_view(done):
            page.text(line)
        page.figure(plots.rates(by_category, "share of trials with success"))
        page.heading("Success by seed")
        by_seed = groups(sorted(done, key=lambda d: d.trial.seed), lambda d: str(d.trial.seed))
        page.table(("seed", "success"), [(seed, _rate(own)) for seed, own in by_seed.items()])
        failed = [(d.trial.key, d.result) for d in done if not d.result.success]
        page.heading(f"Trials that failed ({len(failed)})")
        page.table(
            ("trial", "mission", "ending", "step", "why"),
            [(k, r.reference.mission, r.ended.ending.value, r.ended.action, r.ended.why) for k, r in failed],
        )
        page.cards(run_cards(failed))
        page.heading("Planner, coder, time")
        page.table(("", "sum"), list(_sums([d.result for d in done]).items()))
        page.heading("By level")
        page.table(
            ("level", "category", "success", "primitives by seed", "shortest by seed"),
            [_level_row(own) for own in groups(done, lambda d: d.trial.level.name).values()],
        )


def ratios_in_view(done: Trials) -> list[str]:
    """Report the ratio to the shortest way of successes that did not have to look around first."""
    lines = []
    for name, what in (("in_view", "their whole world"), ("named_in_view", "all that the mission names")):
        successes = [d.result for d in done if getattr(d.result.reference, name)]
        if ratios := [r.ratio for r in successes if r.ratio is not None]:
            lines.append(
                f"{len(ratios)} successes had {what} in view at the first look: {mean(ratios):.3f} times "
                f"the shortest way on average, {max(ratios):.2f} at most."
            )
    return lines


def _by_category(done: Trials) -> dict[str, list[Done[MinigridTrial, MinigridResult]]]:
    return {c: own for c in CATEGORIES if (own := [d for d in done if d.trial.level.category == c])}


def _rate(done: Trials) -> Rate:
    return Rate.of(d.result.success for d in done)


def _row(name: str, done: Trials) -> tuple[object, ...]:
    rate, results = _rate(done), [d.result for d in done]
    ratios = [r.ratio for r in results if r.ratio is not None]
    return (
        name, len({d.trial.level.name for d in done}), rate, rate.percent, rate.percent_interval,
        int(median_of(r.sim for r in results)), median_of(ratios) if ratios else None,
        mean(r.rounds for r in results), median_of(r.wall for r in results),
    )  # fmt: skip


def _sums(results: Sequence[MinigridResult]) -> dict[str, object]:
    usage = [u for r in results for u in r.usage.values()]
    return {
        **draft_cells(results),
        **{f"seconds, {s}": float(sum(r.stage_wall.get(s, 0.0) for r in results)) for s in STAGES},
        "tokens": sum(u.input_tokens + u.output_tokens for u in usage),
        "US dollars": float(sum(u.usd for u in usage)),
    }


def _level_row(done: Trials) -> tuple[object, ...]:
    level, results = done[0].trial.level, [d.result for d in done]
    return (
        level.name,
        level.category,
        _rate(done),
        " ".join(f"{r.sim:.0f}{'' if r.success else '✗'}" for r in results),
        " ".join("-" if r.reference.steps is None else str(r.reference.steps) for r in results),
    )
