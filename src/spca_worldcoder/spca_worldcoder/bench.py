"""`spca bench worldcoder`: how many actions learning takes, and what the learned programs are good for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from spca_bench.bench import Bench, Done
from spca_bench.page import Page, Table
from spca_bench.plots import boxes
from spca_bench.statistics import Rate
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import SolverProcess
from spca_worldcoder.agent.agent import Agent, EnvironmentResult, EpisodeResult, Purpose
from spca_worldcoder.agent.settings import Settings
from spca_worldcoder.baselines import q_learning, random_returns
from spca_worldcoder.planning.classical import ClassicalSearch
from spca_worldcoder.planning.planner import ModelPlanner
from spca_worldcoder.records import Contradiction, Draft, NotLearnable, Transition
from spca_worldcoder.run import LearnOptions, laboratory
from spca_worldcoder.worlds.catalogue import WorldOptions
from spca_worldcoder.worlds.minigrid import CURRICULUM, MinigridWorld
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.variants import Renamed, Teleporting, odd_locks
from spca_worldcoder.worlds.world import World

Q_ACTIONS = 5000
"""Actions that the table of values is given."""
_UNSEEN = 50_000
"""Seeds of levels that no learning run uses."""
LEVEL_SECONDS = 30.0
"""What a planner may take for one level."""

SUITES: dict[str, tuple[Callable[[int], list[World]], dict[str, Any]]] = {
    "sokoban": (lambda seed: [Sokoban(2, 7)], {"curiosity": 50}),
    "sokoban renamed": (lambda seed: [Renamed(Sokoban(2, 7), seed)], {"curiosity": 50}),
    "sokoban, push over two cells": (lambda seed: [Sokoban(1, 8, reach=2)], {"curiosity": 80}),
    "sokoban with gates": (lambda seed: [Teleporting(1, 7)], {"curiosity": 80}),
    "UnlockPickup": (lambda seed: [MinigridWorld("UnlockPickup")], {}),
    "UnlockPickup renamed": (lambda seed: [Renamed(MinigridWorld("UnlockPickup"), seed)], {}),
    "UnlockPickup without optimism": (lambda seed: [MinigridWorld("UnlockPickup")], {"optimism": False}),
    "DoorKey, doors lock again": (lambda seed: [MinigridWorld("DoorKey-5x5", odd_locks(relock=True))], {}),
    "curriculum": (lambda seed: [MinigridWorld(name) for name in CURRICULUM], {}),
}
"""What is learned: worlds in their order, and settings of the agent."""


class WorldcoderTrial(Record):
    """One suite with one seed."""

    suite: str
    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.suite}/{self.seed}"


class Solved(Record):
    """Unseen levels of one size, planned in the learned program and played in the world."""

    boxes: int
    size: int
    solved: int
    levels: int
    seconds: tuple[float, ...]


class WorldcoderRow(Record):
    """What a trial came to; `problem` where the data could not be explained."""

    environments: tuple[EnvironmentResult, ...] = ()
    first_success: tuple[int, ...] = ()
    """Actions up to the end of the first success, for each environment."""
    levels: tuple[Solved, ...] = ()
    chance: float = 0.0
    """Share of episodes that random actions solve, in the last environment."""
    q_table: float = 0.0
    """Share of episodes that Q-learning solves after `Q_ACTIONS` actions, in the last environment."""
    problem: str = ""


class WorldcoderBench(Bench[WorldcoderTrial, WorldcoderRow]):
    """Suites × seeds; Sokoban's programs are tried on unseen levels."""

    name: ClassVar[str] = "worldcoder"
    result_type: ClassVar[type[Record]] = WorldcoderRow

    suites: tuple[str, ...] = ()
    seeds: int = Field(10, ge=1)
    first_seed: int = Field(0, ge=0)
    levels: int = Field(20, ge=0)
    """Unseen levels in all, for each number of boxes."""

    def prepare(self, folder: Path) -> None:
        """InputError for an unknown suite."""
        for name in self.suites:
            if name not in SUITES:
                raise InputError(f"unknown suite '{name}'", hint=f"one of {', '.join(SUITES)}")

    def trials(self) -> Sequence[WorldcoderTrial]:
        """Seed by seed, so that an interrupted bench has something of everything."""
        seeds = range(self.first_seed, self.first_seed + self.seeds)
        return [WorldcoderTrial(suite=suite, seed=seed) for seed in seeds for suite in self.suites or SUITES]

    def run_trial(self, trial: WorldcoderTrial, folder: Path) -> WorldcoderRow:
        """Learn, then use what was learned."""
        make, settings = SUITES[trial.suite]
        options = LearnOptions(
            worlds=WorldOptions(world="bench"), settings=Settings(seed=trial.seed, **settings)
        )
        counter = ActionCounter()
        done, firsts, problem = [], [], ""
        with tempfile.TemporaryDirectory() as scratch, laboratory(options, RunFolder(Path(scratch))) as lab:
            agent = Agent(*lab, options.settings, counter)
            worlds = make(trial.seed)
            for world in worlds:
                counter.begin()
                try:
                    done.append(agent.learn(world))
                except (Contradiction, NotLearnable) as error:
                    problem = str(error)
                    break
                firsts.append(counter.first)
            levels = self._levels(agent, trial.seed) if trial.suite == "sokoban" and not problem else ()
        world = worlds[-1]
        chance, _ = random_returns(world, trial.seed, 20)
        table, _ = q_learning(world, trial.seed, Q_ACTIONS)
        return WorldcoderRow(
            environments=tuple(done),
            first_success=tuple(firsts),
            levels=levels,
            chance=chance,
            q_table=table,
            problem=problem,
        )

    def _levels(self, agent: Agent, seed: int) -> tuple[Solved, ...]:
        """This seed's share of the unseen levels."""
        share = range((seed - self.first_seed) % self.seeds, self.levels, self.seeds)
        with SolverProcess() as solver:
            planner = ModelPlanner(agent.runner, [ClassicalSearch(solver, LEVEL_SECONDS)])
            return tuple(
                play(agent, planner, number, size, [_UNSEEN + i for i in share])
                for number, size in ((2, 7), (3, 7), (5, 10), (6, 10))
            )

    def success(self, result: WorldcoderRow) -> bool:
        """Whether every environment was learned."""
        return (
            bool(result.environments) and not result.problem and all(e.learned for e in result.environments)
        )

    def remark(self, done: Done[WorldcoderTrial, WorldcoderRow]) -> str:
        """Actions to the model."""
        shown = ", ".join(f"{e.environment} {e.actions_to_model}" for e in done.result.environments)
        return done.result.problem or f"actions to the model: {shown}"

    def table(self, done: Sequence[Done[WorldcoderTrial, WorldcoderRow]]) -> Table:
        """A row for each environment of each suite."""
        rows = []
        for (suite, name), found in _grouped(done).items():
            actions = [e.actions_to_model for e, _ in found]
            low, high = _interval(actions)
            seconds = median(e.synthesis_s + e.planning_s for e, _ in found)
            rows.append(
                (
                    suite,
                    name,
                    str(Rate.of(e.learned for e, _ in found)),
                    f"{median(actions):g} [{low:g}, {high:g}]",
                    f"{median(first for _, first in found):g}",
                    median(e.program_lines for e, _ in found),
                    f"{seconds:.1f}",
                    f"{median(e.seconds for e, _ in found):.1f}",
                )
            )
        heads = (
            "suite",
            "environment",
            "learned",
            "actions to the model [95 %]",
            "to the first success",
            "lines",
            "synthesis and planning s",
            "all s",
        )
        return Table(heads, rows)

    def report(self, done: Sequence[Done[WorldcoderTrial, WorldcoderRow]], page: Page) -> None:
        """Levels, baselines and a plot."""
        groups = {
            f"{s}: {n}": [e.actions_to_model for e, _ in found] for (s, n), found in _grouped(done).items()
        }
        if groups:
            page.figure(boxes(groups, "actions to the model"))
        page.heading("Unseen levels of Sokoban")
        by_size: dict[tuple[int, int], list[Solved]] = {}
        for one in (level for d in done for level in d.result.levels):
            by_size.setdefault((one.boxes, one.size), []).append(one)
        page.table(
            ("boxes", "size", "solved", "levels", "median s", "longest s"),
            [
                (
                    b,
                    s,
                    sum(x.solved for x in found),
                    sum(x.levels for x in found),
                    median([t for x in found for t in x.seconds] or [0.0]),
                    max([t for x in found for t in x.seconds] or [0.0]),
                )
                for (b, s), found in sorted(by_size.items())
            ],
        )
        page.heading("Baselines: share of episodes solved")
        suites = {d.trial.suite: [x.result for x in done if x.trial.suite == d.trial.suite] for d in done}
        page.table(
            ("suite", "random actions", f"tabular Q-learning, {Q_ACTIONS} actions"),
            [
                (s, float(np.mean([r.chance for r in rs])), float(np.mean([r.q_table for r in rs])))
                for s, rs in suites.items()
            ],
        )
        page.text(
            "Published (GPT-4, Tang, Key and Ellis 2024): Sokoban's model in 50 actions; UnlockPickup not "
            "learned by PPO in 3·10⁸ actions; ReAct solves 15 ± 8 % of basic Sokoban levels."
        )


class ActionCounter:
    """Counts actions up to the first success. A `Listener`."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A new environment."""
        self.actions = self.first = 0

    def step(
        self, environment: str, episode: int, step: int, seen: Transition, purpose: Purpose, right: bool
    ) -> None:
        """Count."""
        self.actions += 1

    def draft(self, draft: Draft, adopted: bool) -> None:
        """Nothing to count."""

    def episode(self, result: EpisodeResult) -> None:
        """Remember the first success."""
        if result.success and not self.first:
            self.first = self.actions


def play(agent: Agent, planner: ModelPlanner, number: int, size: int, seeds: Sequence[int]) -> Solved:
    """Plan levels in the learned program and carry the plans out in the world."""
    world = Sokoban(number, size)
    solved, seconds = 0, []
    for seed in seeds:
        state, mission = world.reset(seed)
        before = planner.seconds
        plan = planner.plan(agent.program, state, mission, world.actions)
        seconds.append(round(planner.seconds - before, 3))
        reward, done = 0.0, False
        for action in plan.actions if plan is not None else ():
            _, reward, done = world.step(action)
        solved += done and reward > 0
    return Solved(boxes=number, size=size, solved=solved, levels=len(seeds), seconds=tuple(seconds))


def _grouped(
    done: Sequence[Done[WorldcoderTrial, WorldcoderRow]],
) -> dict[tuple[str, str], list[tuple[EnvironmentResult, int]]]:
    found: dict[tuple[str, str], list[tuple[EnvironmentResult, int]]] = {}
    for suite in SUITES:
        for one in done:
            if one.trial.suite == suite:
                for result, first in zip(one.result.environments, one.result.first_success, strict=False):
                    found.setdefault((suite, result.environment.removesuffix("-renamed")), []).append(
                        (result, first)
                    )
    return found


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the median, by a bootstrap with a fixed seed."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(np.asarray(values), (1000, len(values))), axis=1)
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))
