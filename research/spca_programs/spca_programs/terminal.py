"""`spca ipp`: writes and compares planning programs, and plans without one as a baseline."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from rich.console import Console

from spca_core.errors import InputError
from spca_core.paths import RUNS
from spca_core.ports.chat import Role
from spca_llm.chat import Chat
from spca_llm.connect import open_chat
from spca_programs.ipp.develop import Recipe, develop, history_of
from spca_programs.ipp.refinement import Attempt
from spca_programs.ipp.store import PROGRAMS, ProgramStore
from spca_programs.ipp.tasks import domain_of
from spca_programs.ipp.thinking import METHODS, think


def write_program(
    task: str, recipe: Recipe, program: str, llm: str, data: Path | None, store: Path | None
) -> None:
    """Make a program by a recipe, show how it came about, and keep it."""
    domain, programs, console = (
        domain_of(task, data),
        ProgramStore(store or PROGRAMS),
        Console(highlight=False),
    )
    first = programs.find(task, program) if program else None

    def show(attempt: Attempt) -> None:
        mark = "[green]✓[/green]" if attempt.best else "[yellow]–[/yellow]"
        console.print(f"  {mark} {attempt.train.mean:.3f} in training  {attempt.program.origin.strategy}")

    with _chat(llm, task, "coder") as chat:
        made = develop(domain, chat, recipe, first, show)
    console.print(history_of(made))
    console.print(f"kept in {programs.save(made)}", soft_wrap=True)


def think_about(task: str, method: str, cases: int, seed: int, llm: str, data: Path | None) -> None:
    """Plan for some cases without a program, and show what that came to."""
    if method not in METHODS:
        raise InputError(f"unknown method '{method}'", where="--method", hint=f"one of {', '.join(METHODS)}")
    domain = domain_of(task, data)
    with _chat(llm, task, "planner_big") as chat:
        thought = think(method, domain, chat, domain.split(1, cases, seed)[1])
    figures, usage = thought.evaluation, thought.usage
    Console(highlight=False).print(
        f"{method}: {figures.mean:.3f} ± {figures.sd:.3f} over {figures.cases} cases, possible "
        f"{figures.reference:.3f}{figures.completed}, {figures.problems} without a "
        f"plan; {usage.input_tokens} + {usage.output_tokens} tokens, "
        f"{thought.usd_per_case:.4f} US dollars a case"
    )


def _chat(llm: str, task: str, role: Role) -> Chat:
    """The configured model in a role, recording into a folder of its own.

    Raises InputError unless it answers.
    """
    folder = RUNS / f"{datetime.now():%Y%m%d-%H%M%S}_{task}"
    try:
        chat = open_chat(llm, folder / "llm")
        chat.preflight([role])
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return chat
