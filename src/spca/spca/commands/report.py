"""`spca report` and `spca open`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import LEVELS
from spca.commands.completion import complete_run


def mount(app: typer.Typer) -> None:
    """Add `spca report`."""
    app.command(rich_help_panel=LEVELS, epilog="Example:  spca report runs/20260101-120000_stack_01")(report)


def report(
    run_folder: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of a run; the newest one in runs/ by default.",
            autocompletion=complete_run,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a run's report (and video and MCAP log) anew."""
    from spca.run_command import newest_run, write_report

    typer.echo(write_report(run_folder or newest_run()))
