"""`spca doctor`."""

from __future__ import annotations

import typer

from spca.commands import MACHINE

app = typer.Typer()


@app.command(rich_help_panel=MACHINE)
def doctor() -> None:
    """Show what this machine can run, with versions, and what to install for the rest."""
    from spca.doctor.command import doctor as examine

    examine()
