"""Training in a world, from a folder and into it; what was interrupted goes on after its last whole trial."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from spca_copic.baselines.judge import ModelJudge
from spca_copic.grammar_programs import GrammarPrograms
from spca_copic.language_programs import LanguagePrograms
from spca_copic.ports import ProgramProposer, Selector
from spca_copic.recipe import Recipe
from spca_copic.selectors import make_selector
from spca_copic.store import CopicFolder
from spca_copic.training import Listener, train_task
from spca_core.errors import InputError
from spca_core.ports.chat import ChatModel
from spca_programs.ipp.dialogue import open_writer
from spca_programs.ports.plan_world import PlanWorld

PROPOSERS = (GrammarPrograms.name, LanguagePrograms.name)


def train_run(folder: CopicFolder, world: PlanWorld, listener: Listener | None = None) -> None:
    """Train every task type of a folder that is not finished. Raises InputError, ModelError."""
    run = folder.run
    if run.recipe.proposer not in PROPOSERS:
        raise InputError(
            f"unknown proposer '{run.recipe.proposer}'", hint=f"there are {', '.join(PROPOSERS)}"
        )
    asks = run.recipe.proposer == LanguagePrograms.name or run.recipe.selector == "judge"
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
    if chat is None or recipe.proposer != LanguagePrograms.name:
        return GrammarPrograms()
    known = CopicFolder.open(Path(recipe.experience)) if recipe.experience else None
    tasks = known.run.tasks if known else ()
    return LanguagePrograms(chat, [e for task in tasks if known for e in known.trained(task)[0].recent])
