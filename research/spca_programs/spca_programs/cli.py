"""`spca ipp …`: programs that plan for every instance of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import BENCHES, Command
from spca_benchmarks.campaigns.command import Llm
from spca_core.model import checked
from spca_programs.commands import Data

ipp_app = typer.Typer(
    help="Programs that plan for every instance of a task, written by a language model.", no_args_is_help=True
)

Task = Annotated[
    str, typer.Argument(help="grasp, minigrid-unlock, minigrid-doorkey or minigrid-unlockpickup.")
]


def mount(app: typer.Typer) -> None:
    """Add `spca ipp`."""
    app.add_typer(ipp_app, name="ipp", rich_help_panel=BENCHES)


IPP = Command(mount)


@ipp_app.command(epilog="Example:  spca ipp write grasp --strategy steps --refine 10 --llm llm.yaml")
def write(
    task: Task,
    strategy: Annotated[str, typer.Option(help="direct, pseudocode or steps.")] = "direct",
    refine: Annotated[int, typer.Option(help="Rounds of refinement at most.", min=0)] = 10,
    patience: Annotated[int, typer.Option(help="Rounds without improvement before it ends.", min=1)] = 1,
    program: Annotated[
        str, typer.Option(help="Refine this one (id or file) instead of writing a new one.")
    ] = "",
    train: Annotated[int, typer.Option(help="Training cases.", min=1)] = 160,
    test: Annotated[int, typer.Option(help="Test cases.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Draws the cases.")] = 0,
    llm: Llm = "",
    data: Data = None,
    store: Annotated[
        Path | None, typer.Option(help="Where programs are kept; library/programs by default.")
    ] = None,
) -> None:
    """Have a language model write a program, refine it, test it and keep it."""
    from spca_programs.ipp.develop import Recipe
    from spca_programs.terminal import write_program

    recipe = checked(
        Recipe, strategy=strategy, refine=refine, patience=patience, train=train, test=test, seed=seed
    )
    write_program(task, recipe, program, llm, data, store)
