"""`spca pip`."""

from __future__ import annotations

import os
import sys

import typer

from spca.commands import MACHINE

app = typer.Typer()


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    rich_help_panel=MACHINE,
    epilog="Example:  spca pip install --no-deps -e ./my_skill",
)
def pip(context: typer.Context) -> None:
    """Run pip in the environment that spca uses, such as to install a package of your own."""
    os.execv(sys.executable, [sys.executable, "-m", "pip", *context.args])
