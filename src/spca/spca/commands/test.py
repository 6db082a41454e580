"""`spca test`."""

from __future__ import annotations

import os
import sys

import typer

from spca.commands import MACHINE

app = typer.Typer()


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    rich_help_panel=MACHINE,
    epilog="Examples:  spca test --fast · spca test · spca test --full · spca test -k referee",
)
def test(context: typer.Context) -> None:
    """Run the test suite of a checkout; arguments go to pytest."""
    from spca_core.errors import InputError
    from spca_core.paths import ROOT

    script = ROOT / "scripts" / "test"
    if not script.is_file():
        raise InputError("the test suite needs a checkout", where=str(ROOT))
    given = [os.path.abspath(word) if os.path.exists(word) else word for word in context.args]
    os.execv(script, [str(script), sys.executable, *given])
