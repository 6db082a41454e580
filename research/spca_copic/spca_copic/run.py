"""A training and its folder: recipe, programs with their ancestry, the selector, and all figures.

What was interrupted goes on after its last whole trial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import cast

from spca_copic.baselines.judge import ModelJudge
from spca_copic.language_programs import LanguagePrograms
from spca_copic.ports import ProgramProposer, Selector
from spca_copic.recipe import BY_MODEL, STAND_IN, Recipe, TaskState
from spca_copic.selectors import make_selector
from spca_copic.training import Listener, train_task
from spca_core.errors import InputError, one_of
from spca_core.model import Record
from spca_core.paths import RUNS
from spca_core.ports.chat import ChatModel
from spca_core.run_folder import MANIFEST, RunFolder
from spca_programs.factories import factory_of, stand_in
from spca_programs.ipp.dialogue import open_writer
from spca_programs.ports.plan_world import PlanWorld

_STATE = "state.json"


class CopicRun(Record):
    """Parameters that a training is started with."""

    kind: str = "copic"
    world: str
    tasks: tuple[str, ...]
    recipe: Recipe
    llm: str = ""
    table: int = 1
    """Of a world with a hidden table: which one."""


class CopicFolder:
    """A training's folder: `run.json`; per task type `state.json`, the selector's weights, `programs/`."""

    def __init__(self, folder: RunFolder, run: CopicRun) -> None:
        self._folder, self.run = folder, run
        self.path = folder.path

    @classmethod
    def create(cls, run: CopicRun, path: Path | None = None) -> CopicFolder:
        """A new folder, or the one at `path` if it holds the same training.

        Raises InputError if it holds another.
        """
        if path is not None and (path / MANIFEST).is_file():
            there = cls.open(path)
            if there.run != run:
                raise InputError("holds another training", str(path), "give a new folder with --out")
            return there
        folder = RunFolder.create(f"copic_{run.world.rpartition(':')[2]}", path)
        folder.write(MANIFEST, run)
        return cls(folder, run)

    @classmethod
    def open(cls, path: Path) -> CopicFolder:
        """An existing training. Raises InputError."""
        folder = RunFolder.open(path)
        return cls(folder, folder.read(MANIFEST, CopicRun))

    @classmethod
    def newest(cls, world: str) -> CopicFolder:
        """The last training in a world. Raises InputError when there is none."""
        for manifest in sorted(RUNS.glob(f"*_copic_{world.rpartition(':')[2]}*/{MANIFEST}"), reverse=True):
            found = cls.open(manifest.parent)
            if found.run.world == world:
                return found
        raise InputError(
            f"there is no training in {world} yet", str(RUNS), f"train first: spca copic train {world}"
        )

    def save(self, state: TaskState, selector: Selector) -> None:
        """Keep a task type's state; a kill at any moment leaves this one or the one before."""
        task = self._task(state.task)
        selector.save(self.path / task / _weights(state))
        for program in state.all_programs:
            source = self.path / task / "programs" / f"{program.id}.py"
            if not source.exists():
                self._folder.write(str(source.relative_to(self.path)), program.source)
        self._folder.write(f"{task}/{_STATE}", state)
        for old in (self.path / task).glob("selector-*"):
            if old.name != _weights(state):
                old.unlink()

    def load(self, task: str) -> tuple[TaskState, Selector] | None:
        """A task type's state and selector, or None before the first. Raises InputError when damaged."""
        if not (self.path / self._task(task) / _STATE).exists():
            return None
        state = self._folder.read(f"{self._task(task)}/{_STATE}", TaskState)
        selector = make_selector(self.run.recipe.selector, self.run.recipe.seed)
        selector.load(self.path / self._task(task) / _weights(state))
        return state, selector

    def trained(self, task: str) -> tuple[TaskState, Selector]:
        """A task type's last state, for a test. Raises InputError when there is none yet."""
        loaded = self.load(task)
        if loaded is None or not loaded[0].trials:
            known = ", ".join(self.run.tasks)
            raise InputError(
                f"'{task}' has not been trained", str(self.path), f"trained task types are: {known}"
            )
        return loaded

    @staticmethod
    def _task(task: str) -> str:
        return "".join(c if c.isalnum() or c in "-_" else "_" for c in task)


def _weights(state: TaskState) -> str:
    return f"selector-{len(state.trials)}.weights"


GROUP = "spca.plan_worlds"
"""The extension point through which packages bring worlds."""
PROPOSERS = (STAND_IN, BY_MODEL)


def train_run(folder: CopicFolder, world: PlanWorld, listener: Listener | None = None) -> None:
    """Train every task type of a folder that is not finished. Raises InputError, ModelError."""
    run = folder.run
    if run.recipe.proposer not in PROPOSERS:
        name = run.recipe.proposer
        raise InputError(f"unknown proposer '{name}'", hint=one_of(name, PROPOSERS))
    asks = run.recipe.proposer == BY_MODEL or run.recipe.selector == "judge"
    chat = open_writer(run.llm, folder.path / "llm", run.recipe.temperature) if asks else None
    for task in run.tasks:
        state, selector = folder.load(task) or (None, _selector(run.recipe, task))
        if isinstance(selector, ModelJudge):
            selector.model, selector.briefing = chat, world.briefing(task)
        saving = replace(listener or Listener(), save=partial(folder.save, selector=selector))
        train_task(world, task, _proposer(chat, run.recipe), selector, run.recipe, state, saving)


def _selector(recipe: Recipe, task: str) -> Selector:
    """A new one, or the one that the recipe's other training has learned. Raises InputError."""
    if not recipe.frozen:
        return make_selector(recipe.selector, recipe.seed)
    learned = CopicFolder.open(Path(recipe.frozen))
    if learned.run.recipe.selector != recipe.selector:
        raise InputError(
            f"has a selector '{learned.run.recipe.selector}'", recipe.frozen, "name it: --selector"
        )
    return learned.trained(task)[1]


def _proposer(chat: ChatModel | None, recipe: Recipe) -> ProgramProposer:
    if chat is None or recipe.proposer != BY_MODEL:
        return cast(ProgramProposer, stand_in(STAND_IN)())
    known = CopicFolder.open(Path(recipe.experience)) if recipe.experience else None
    tasks = known.run.tasks if known else ()
    return LanguagePrograms(chat, [e for task in tasks if known for e in known.trained(task)[0].recent])


def open_world(name: str, table: int = 1) -> PlanWorld:
    """A world by its name, or by `file.py:factory`, with one of its hidden tables, where it has several.

    Close it in the end. Raises InputError.
    """
    factory: Callable[..., PlanWorld] = factory_of(GROUP, name)
    if table == 1:
        return factory()
    if "habits" not in signature(factory).parameters:
        raise InputError(f"the world '{name}' has no hidden tables to choose from", "--tables")
    return factory(habits=table)
