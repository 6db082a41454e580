"""`spca check`."""

from __future__ import annotations

from typing import Annotated

import typer

from spca.commands import LEVELS
from spca.commands.options import a_level

app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS, epilog="Examples:  spca check my_level.yaml · spca check stack_01 touch_02"
)
def check(
    levels: Annotated[list[str], a_level("Names of levels, or files of levels and worlds.")],
    world: Annotated[
        str, typer.Option(help="A world in worlds/ or a world file; by default the level's own.")
    ] = "",
) -> None:
    """List everything that is wrong with a level, and what looks wrong.

    It also says what the built-in proposer takes the text to ask for. Exit status 0 without errors, else 2.
    """
    from spca.console import results
    from spca.kits import kit_of
    from spca_core.errors import EXIT_BAD_INPUT, InputError

    console, wrong = results(), 0
    for level in levels:
        try:
            found = kit_of(level).examine(level, world)
        except InputError as error:
            wrong += 1
            console.print(f"{level}: error: {error}", markup=False)
            continue
        wrong += bool(found.errors)
        for sentence in found.sentences or ("no errors, no warnings",):
            console.print(f"{found.where}: {sentence}", markup=False)
        if found.reading:
            console.print(f"{found.where}: read as: {found.reading}", markup=False)
    raise typer.Exit(EXIT_BAD_INPUT if wrong else 0)
