"""`spca api`."""

from __future__ import annotations

from typing import Annotated

import typer

from spca.commands import MACHINE

app = typer.Typer()


@app.command(rich_help_panel=MACHINE, epilog="Examples:  spca api tabletop · spca api world")
def api(
    what: Annotated[str, typer.Argument(help="An environment, or `world`, `level` or `plugins`.")],
) -> None:
    """Print what an extension builds on: an environment's calls and planning domain, or a file format."""
    from spca.reference import page

    typer.echo(page(what), nl=False)
