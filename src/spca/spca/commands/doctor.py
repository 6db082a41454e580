"""`spca doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca.commands import MACHINE

if TYPE_CHECKING:
    from spca.doctor.checks import Finding

app = typer.Typer()
_STYLES = {"ready": "green", "partly": "yellow", "missing": "red", "off": "dim"}


@app.command(rich_help_panel=MACHINE)
def doctor() -> None:
    """Show what this machine can run, with versions, and what to install for the rest."""
    from spca.console import results
    from spca.doctor.checks import examine
    from spca.doctor.plugins import examine_plugins

    console = results()
    show(examine(), console)
    console.print("\n[bold]Extensions[/bold]")
    show_findings(examine_plugins(), console)


def show(findings: list[Finding], console: Console) -> None:
    """Print the findings as a table, then which ways to run are open."""
    from spca.console import as_typed
    from spca.doctor.checks import ways

    show_findings(findings, console)
    console.print()
    for command, lacking in ways(findings):
        why = f"   [dim]lacks {', '.join(lacking)}[/dim]" if lacking else ""
        mark = "[red]no[/red] " if lacking else "[green]yes[/green]"
        typed = as_typed(command.removeprefix("spca ")) if command.startswith("spca ") else command
        console.print(f"{mark}  {typed}{why}", highlight=False)


def show_findings(findings: list[Finding], console: Console) -> None:
    """Print findings as a table; in a pipe, print one line for each and one for each remedy."""
    if not console.is_terminal:
        width = max((len(finding.what) for finding in findings), default=0)
        for finding in findings:
            console.print(f"{finding.what:<{width}}  {finding.state:<7}  {finding.found}", markup=False)
            if finding.remedy:
                console.print(f"{'':<{width}}  → {finding.remedy}", markup=False)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        remedy = (f"\n→ {finding.remedy}", "dim") if finding.remedy else ""
        state = Text(finding.state, style=_STYLES[finding.state])
        table.add_row(finding.what, state, Text.assemble(finding.found, remedy))
    console.print(table)
