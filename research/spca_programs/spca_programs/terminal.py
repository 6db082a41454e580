"""`spca ipp`: writes planning programs."""

from __future__ import annotations

from pathlib import Path

from spca.console import results
from spca_core.paths import RUNS
from spca_core.run_folder import RunFolder
from spca_llm.chat import open_chat
from spca_programs.ipp.develop import Recipe, develop, history_of
from spca_programs.ipp.dialogue import reach
from spca_programs.ipp.refinement import Attempt
from spca_programs.ipp.store import PROGRAMS, ProgramStore
from spca_programs.ipp.tasks import domain_of


def write_program(
    task: str, recipe: Recipe, program: str, llm: str, data: Path | None, store: Path | None
) -> None:
    """Make a program by a recipe, show how it came about, and keep it."""
    domain, programs, console = domain_of(task, data), ProgramStore(store or PROGRAMS), results()
    first = programs.find(task, program) if program else None

    def show(attempt: Attempt) -> None:
        mark = "[green]✓[/green]" if attempt.best else "[yellow]–[/yellow]"
        console.print(f"  {mark} {attempt.train.mean:.3f} in training  {attempt.program.origin.strategy}")

    reach(llm)
    chat = open_chat(llm, RunFolder.create(task, parent=RUNS).path / "llm")
    made = develop(domain, chat, recipe, first, show)
    console.print(history_of(made))
    console.print(f"kept in {programs.save(made)}", soft_wrap=True)
