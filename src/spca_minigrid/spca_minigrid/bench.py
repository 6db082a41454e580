"""`spca bench minigrid`: the curriculum on several seeds, through the same supervisor, planner and coder as the robot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Literal

from pydantic import Field

from spca_bench.jobs import run_jobs
from spca_core.model import Record
from spca_minigrid.ending import Ended, Ending
from spca_minigrid.levels import CATEGORIES, NINE, Level, select_levels
from spca_minigrid.mission import parse_mission
from spca_minigrid.referents import Referents
from spca_minigrid.shortest import Truth, shortest
from spca_minigrid.world import World
from spca_minigrid.worldmap import WorldMap


class MinigridBench(Record):
    """What to run: levels by category or name (comma-separated beginnings, empty for all) on seeds from `first_seed`."""

    levels: str = ""
    seeds: int = Field(5, ge=1)
    first_seed: int = 0
    proposer: str = "builtin"
    """`builtin`, or `openai` for the configured language models."""
    llm: str = ""
    """Where a language model's answers come from, as for `spca run`."""
    skills: Literal["auto", "builtin", "trusted", "empty"] = "auto"
    """Which skills there are at the start, as for `spca run`."""
    library: Path | None = None
    """Folder of what is learned; `library/` in the project if None."""


class Trial(Record):
    """One level with one seed."""

    level: Level
    seed: int
    bench: MinigridBench

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.level.name}/{self.seed}"


class Reference(Record):
    """What someone with full knowledge would need.

    `in_view`: all that can be come to is seen at the first look; `named_in_view`: all that the mission names is.
    """

    steps: int | None
    in_view: bool
    named_in_view: bool = False


class TrialRow(Record):
    """What a trial came to. `primitives` were carried out; seconds of wall time."""

    level: str
    category: str
    seed: int
    mission: str
    ended: Ended
    reward: float
    primitives: int
    rounds: int
    plan_steps: int
    planner: dict[str, int]
    coder: dict[str, int]
    stage_seconds: dict[str, float]
    seconds: float
    tokens: int = 0
    usd: float = 0.0
    reference: Reference = Reference(steps=None, in_view=False)

    @property
    def success(self) -> bool:
        """Whether the level was rewarded."""
        return self.ended.ending is Ending.SUCCESS

    @property
    def ratio(self) -> float | None:
        """Primitives per primitive of the reference, for successes that have one."""
        return self.primitives / self.reference.steps if self.success and self.reference.steps else None


RunTrial = Callable[[Trial, Path], TrialRow]
"""Runs one trial through sense, plan, code and act, and keeps what is worth keeping in a folder.

Must be importable, for the worker processes.
"""


def run_minigrid(
    bench: MinigridBench,
    folder: Path,
    run_trial: RunTrial,
    workers: int = 2,
    on_row: Callable[[TrialRow, int, int], None] = lambda row, done, total: None,
) -> list[TrialRow]:
    """Run every trial that the folder has no result of yet; returns all rows, in the curriculum's order."""
    seeds = range(bench.first_seed, bench.first_seed + bench.seeds)
    trials = [
        Trial(level=level, seed=seed, bench=bench) for level in select_levels(bench.levels) for seed in seeds
    ]
    done = 0

    def tell(_: str, result: dict) -> None:
        nonlocal done
        done += 1
        on_row(TrialRow.model_validate(result), done, len(trials))

    jobs = {trial.key: (run_trial, trial, folder / "runs") for trial in trials}
    description = {"benchmark": "minigrid", **bench.model_dump(mode="json")}
    results = run_jobs(folder, description, jobs, work_trial, workers, tell)
    return [TrialRow.model_validate(result) for result in results.values()]


def work_trial(job: tuple[RunTrial, Trial, Path]) -> dict:
    """One trial in a worker, with its reference."""
    run_trial, trial, runs = job
    row = run_trial(trial, runs)
    return row.model_copy(update={"reference": reference(trial)}).model_dump(mode="json")


def reference(trial: Trial) -> Reference:
    """The reference for a trial; none where things move by themselves."""
    world = World(trial.level.env, trial.seed)
    truth = Truth(world)
    known = WorldMap()
    known.observe(*world.look())
    mission = parse_mission(world.mission)
    referents = Referents(known, mission)
    named = all(referents.find(noun.symbol) for noun in mission.nouns)
    x, y = truth.place
    in_view = all((px - x, py - y) in known.cells for px, py in truth.reachable())
    if trial.level.category == "dynamic_obstacle_avoidance":
        return Reference(steps=None, in_view=in_view, named_in_view=named)
    steps = shortest(world, mission, trial.level.report)
    return Reference(steps=steps, in_view=in_view, named_in_view=named)


class Group(Record):
    """The trials of a category, or of several."""

    name: str
    levels: int
    trials: int
    successes: int
    primitives: float
    """Median."""
    seconds: float
    """Median wall time of a trial."""
    rounds: float
    """Mean."""
    ratio: float | None
    """Median of primitives per primitive of the reference."""
    endings: dict[str, int]

    @property
    def rate(self) -> float:
        """Share of successes, 0-1."""
        return self.successes / self.trials


class MinigridSummary(Record):
    """A bench's figures: by category, over the published nine, and over all."""

    categories: tuple[Group, ...]
    nine: Group | None
    overall: Group
    in_view_ratios: tuple[float, ...]
    """Primitives per primitive of the reference, of all successes whose world was in view at the first look."""
    named_in_view_ratios: tuple[float, ...]
    """The same, of all successes where what the mission names was in view at the first look."""


def summarise(rows: Sequence[TrialRow]) -> MinigridSummary:
    """The figures of some rows."""
    by_category = {c: [r for r in rows if r.category == c] for c in CATEGORIES}
    nine = [r for r in rows if r.category in NINE]
    return MinigridSummary(
        categories=tuple(_group(name, found) for name, found in by_category.items() if found),
        nine=_group("the nine published categories", nine) if nine else None,
        overall=_group("all", rows),
        in_view_ratios=tuple(r.ratio for r in rows if r.reference.in_view and r.ratio is not None),
        named_in_view_ratios=tuple(
            r.ratio for r in rows if r.reference.named_in_view and r.ratio is not None
        ),
    )


def _group(name: str, rows: Sequence[TrialRow]) -> Group:
    ratios = [r.ratio for r in rows if r.ratio is not None]
    return Group(
        name=name,
        levels=len({r.level for r in rows}),
        trials=len(rows),
        successes=sum(r.success for r in rows),
        primitives=median(r.primitives for r in rows),
        seconds=median(r.seconds for r in rows),
        rounds=mean(r.rounds for r in rows),
        ratio=median(ratios) if ratios else None,
        endings=dict(Counter(r.ended.ending.value for r in rows)),
    )
