"""`spca report` and `spca open`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import LEVELS
from spca.commands.options import a_run

app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS, epilog="Examples:  spca report · spca report runs/20260101-120000_stack_01"
)
def report(
    run_folder: Annotated[
        Path | None, a_run("The folder of a run; the newest one in runs/ by default.")
    ] = None,
) -> None:
    """Write a run's report and video again."""
    from spca.run_command import newest_run, write_report

    typer.echo(write_report(run_folder or newest_run()))


@app.command(
    "open",
    rich_help_panel=LEVELS,
    epilog="Examples:  spca open · spca open 20260101-120000_stack_01 · xdg-open $(spca open --print)",
)
def open_page(
    run_folder: Annotated[
        Path | None, a_run("The run whose report to open; the index of all runs and campaigns by default.")
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print the page's path, open nothing.")] = False,
) -> None:
    """Open the index of runs and campaigns, or a run's report, in the browser.

    Without a browser, the path is printed.
    """
    import os
    import webbrowser

    from spca.pages import write_index
    from spca.report import REPORT
    from spca.run_command import write_report
    from spca_core.run_folder import RunFolder

    if run_folder is None:
        page = write_index()
    else:
        page = RunFolder.open(run_folder).path / REPORT
        if not page.is_file():
            write_report(run_folder)
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if only_print or not display or not webbrowser.open(page.resolve().as_uri()):
        typer.echo(page)
