"""`spca api`."""

from __future__ import annotations

from typing import Annotated

import typer

from spca.commands import MACHINE

app = typer.Typer()


@app.command(rich_help_panel=MACHINE, epilog="Example:  spca api tabletop")
def api(environment: Annotated[str, typer.Argument(help="Its name; see `spca doctor`.")]) -> None:
    """Print what skills of an environment may call, and its planning domain."""
    from spca.kits import kit_named
    from spca.reference import page
    from spca_core.errors import InputError

    if environment in ("world", "level", "plugins"):
        raise InputError(f"'{environment}' is no environment", hint=f"see docs/reference/{environment}.md")
    typer.echo(page(kit_named(environment)), nl=False)
