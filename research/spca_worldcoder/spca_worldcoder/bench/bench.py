"""`spca bench worldcoder`: how many actions learning takes, and what the learned programs are good for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import ClassVar

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.minigrid.learning.ppo import require_torch
from spca_core.errors import InputError, one_of
from spca_core.model import Record
from spca_core.run_folder import RunFolder
from spca_llm.chat import open_chat
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import Contradiction, Draft, NotLearnable, Program, TransitionLine
from spca_programs.factories import stand_in
from spca_worldcoder.agent.agent import Agent, EnvironmentResult, EpisodeResult
from spca_worldcoder.agent.planner import ModelPlanner
from spca_worldcoder.bench.baselines import ppo_played, random_actions, react
from spca_worldcoder.bench.page import learned_table, write_sections
from spca_worldcoder.bench.rows import Baselines, Learned, Solved, Spent, WorldcoderRow, WorldcoderTrial
from spca_worldcoder.bench.suites import FEW, REACT_EPISODES, SOLVING, Suite, suites
from spca_worldcoder.options import EPSILON, BenchOptions, LearnOptions, Settings, WorldOptions
from spca_worldcoder.run import laboratory, reach_model
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import World

RANDOM_EPISODES = 20
_UNSEEN = 50_000
"""Seeds of levels that no learning run uses."""
LEVEL_SECONDS = 30.0
"""What a planner may take for one level."""
_TEST_LEVELS = 10
"""On which every program of a run is tried."""
_SIZES = ((2, 7), (3, 7), (5, 10), (6, 10))
"""Boxes and cells along each side of unseen levels."""


class WorldcoderBench(BenchOptions, Bench[WorldcoderTrial, WorldcoderRow]):
    """Suites × seeds; Sokoban's programs are tried on unseen levels."""

    name: ClassVar[str] = "worldcoder"
    result_type: ClassVar[type[Record]] = WorldcoderRow

    def prepare(self, folder: Path) -> None:
        """InputError for a model that does not answer, or PPO that is not installed."""
        for model in self._writers:
            reach_model(self._options(Settings(), model))
        if self.ppo:
            require_torch()

    @property
    def _chosen(self) -> Mapping[str, Suite]:
        """The suites that are asked for, by name. InputError for an unknown one."""
        known = suites()
        if unknown := [name for name in self.suites if name not in known]:
            raise InputError(f"unknown suite '{unknown[0]}'", hint=one_of(unknown[0], known))
        return {name: known[name] for name in self.suites or known}

    @property
    def _writers(self) -> tuple[str, ...]:
        return (self.models or ("",)) if self.synthesizer == "language" else ("",)

    def _options(self, settings: Settings, model: str) -> LearnOptions:
        worlds = WorldOptions(world="bench")
        return LearnOptions(worlds=worlds, settings=settings, synthesizer=self.synthesizer, llm=model)

    def trials(self) -> Sequence[WorldcoderTrial]:
        """Seed by seed, so that an interrupted bench has something of everything."""
        return sorted(
            (
                WorldcoderTrial(suite=suite, seed=seed, model=model)
                for suite, known in self._chosen.items()
                for seed in range(self.first_seed, self.first_seed + self.seeds, known.every)
                for model in self._writers
            ),
            key=lambda trial: trial.seed,
        )

    def run_trial(self, trial: WorldcoderTrial, folder: Path) -> WorldcoderRow:
        """Learn, then use what was learned."""
        suite = suites()[trial.suite]
        own = dict(suite.settings)
        if self.synthesizer == "language":
            own |= {"epsilon": EPSILON, "curiosity": 0}
        settings = Settings(seed=trial.seed, **own)
        options = self._options(settings, trial.model)
        worlds, learned, problem = suite.make(trial.seed), [], ""
        levels: tuple[Solved, ...] = ()
        on_levels: tuple[tuple[int, float], ...] = ()
        record = folder / "runs" / trial.key.replace("/", "_")
        record.mkdir(parents=True, exist_ok=True)
        with laboratory(options, RunFolder(record), lambda: False) as lab:
            watcher = Watcher()
            agent = Agent(*lab, settings, watcher)
            for world in worlds:
                watcher.begin()
                if not settings.transfer:
                    agent.forget()
                try:
                    result = agent.learn(world)
                except (Contradiction, NotLearnable) as error:
                    problem = str(error)
                    break
                learned.append(watcher.learned(result))
            if trial.suite == "sokoban" and not problem:
                levels = self._levels(agent, trial.seed)
            if trial.suite in SOLVING and self.levels:
                on_levels = tuple(
                    (actions, _solved(program, lab[1])) for actions, program in watcher.programs.items()
                )
            usage = lab[2].usage
        others: tuple[Baselines, ...] = ()
        if trial.suite in ("sokoban", "curriculum") and (trial.seed - self.first_seed) % FEW == 0:
            others = tuple(self._baselines(world, trial, folder) for world in worlds)
        return WorldcoderRow(
            environments=tuple(learned), levels=levels, on_levels=on_levels, baselines=others,
            problem=problem, usage=usage, spent=tuple(watcher.spent),
        )  # fmt: skip

    def _levels(self, agent: Agent, seed: int) -> tuple[Solved, ...]:
        """This seed's share of the unseen levels; a fifth of them is planned in the true rules, too."""
        share = list(range((seed - self.first_seed) % self.seeds, self.levels, self.seeds))
        rules = stand_in("inductive")
        with SolverProcess() as solver:
            planner = ModelPlanner(agent.model.runner, [rules.searcher(solver, LEVEL_SECONDS)])
            return tuple(
                play(name, program, planner, number, size, [_UNSEEN + i for i in share[::step]])
                for name, program, step in (
                    ("learned", agent.model.program, 1),
                    ("true rules", rules.true_rules(), 5),
                )
                for number, size in _SIZES
            )

    def _baselines(self, world: World, trial: WorldcoderTrial, folder: Path) -> Baselines:
        asked, seed = None, trial.seed
        if model := trial.model or "".join(self.models[:1]):
            chat = open_chat(model, folder / "llm" / f"{world.name}-{Path(model).stem}-{seed}")
            asked = react(world, chat, seed, REACT_EPISODES)
        return Baselines(
            environment=world.name,
            chance=random_actions(world, seed, RANDOM_EPISODES).success,
            react=asked,
            ppo=ppo_played(world, seed, self.ppo) if self.ppo and isinstance(world, Sokoban) else None,
        )

    def success(self, result: WorldcoderRow) -> bool:
        """Return whether every environment was learned."""
        return not result.problem and all(one.result.learned for one in result.environments)

    def remark(self, done: Done[WorldcoderTrial, WorldcoderRow]) -> str:
        """Actions to the model."""
        row = done.result
        shown = ", ".join(
            f"{one.result.environment} {one.result.actions_to_model}" for one in row.environments
        )
        return row.problem or f"actions to the model: {shown}"

    def table(self, done: Sequence[Done[WorldcoderTrial, WorldcoderRow]]) -> PageTable:
        """A row for each environment of each suite."""
        return learned_table(done)

    def report(self, done: Sequence[Done[WorldcoderTrial, WorldcoderRow]], page: Page) -> None:
        """Plots, levels, ablations and baselines."""
        write_sections(done, page)


class Watcher:
    """Counts actions up to the first success, and keeps the episodes. A `Listener`."""

    def __init__(self) -> None:
        self.spent: list[Spent] = []
        self.programs: dict[int, Program] = {}
        """What was believed, by the actions from which on it was."""
        self.begin()

    def begin(self) -> None:
        """A new environment."""
        self.actions = self.first = 0
        self.episodes: list[EpisodeResult] = []
        self.ends: list[int] = []

    def step(self, line: TransitionLine) -> None:
        """Count."""
        self.actions += 1

    def draft(self, draft: Draft, adopted: bool) -> None:
        """Note what a model had been asked."""
        if adopted:
            self.programs[draft.actions] = draft.program
        used = draft.usage
        if used.questions:
            self.spent.append(
                Spent(
                    actions=draft.actions, questions=used.questions, tokens=used.tokens,
                    usd=used.usd, explained=draft.verdict.explained,
                )
            )  # fmt: skip

    def episode(self, result: EpisodeResult) -> None:
        """Remember it."""
        self.episodes.append(result)
        self.ends.append(self.actions)
        if result.success and not self.first:
            self.first = self.actions

    def learned(self, result: EnvironmentResult) -> Learned:
        """The environment's result with the lengths of its last episodes."""
        last = self.episodes[-10:]
        return Learned(
            result=result,
            first_success=self.first,
            successes=tuple(one.success for one in self.episodes),
            ends=tuple(self.ends),
            steps=median(one.steps for one in last) if last else 0.0,
        )


def _solved(program: Program, planner: ModelPlanner) -> float:
    """The share of test levels like those of learning that are solved by planning in a program."""
    found = play("then", program, planner, 2, 7, range(_UNSEEN, _UNSEEN + _TEST_LEVELS))
    return found.solved / found.levels


def play(
    name: str, program: Program, planner: ModelPlanner, number: int, size: int, seeds: Sequence[int]
) -> Solved:
    """Plan levels in a program and carry the plans out in the world."""
    world = Sokoban(number, size)
    solved, seconds = 0, []
    for seed in seeds:
        state, mission = world.reset(seed)
        before = planner.seconds
        plan = planner.plan(program, state, mission, world.actions)
        seconds.append(round(planner.seconds - before, 3))
        reward, done = 0.0, False
        for action in plan.actions if plan is not None else ():
            _, reward, done = world.step(action)
        solved += done and reward > 0
    return Solved(
        program=name, boxes=number, size=size, solved=solved, levels=len(seeds), seconds=tuple(seconds)
    )
