"""`spca doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from spca.commands import MACHINE

if TYPE_CHECKING:
    from spca.doctor import Finding

app = typer.Typer()
_STYLES = {"ready": "green", "partly": "yellow", "missing": "red", "off": "dim"}


@app.command(rich_help_panel=MACHINE)
def doctor() -> None:
    """Show what this machine can run, with versions, and what to install for the rest."""
    from spca.console import results
    from spca.doctor import examine, examine_plugins

    console = results()
    show(examine(), console)
    console.print("\n[bold]Extensions[/bold]")
    show_findings(examine_plugins(), console)


def show(findings: list[Finding], console: Console) -> None:
    """Print the findings as a table, then which ways to run are open."""
    from spca.doctor import ways
    from spca_core.paths import as_typed

    show_findings(findings, console)
    console.print()
    for command, lacking in ways(findings):
        why = f"   [dim]lacks {', '.join(lacking)}[/dim]" if lacking else ""
        mark = "[red]no[/red] " if lacking else "[green]yes[/green]"
        typed = as_typed(command.removeprefix("spca ")) if command.startswith("spca ") else command
        console.print(f"{mark}  {typed}{why}", highlight=False)


def show_findings(findings: list[Finding], console: Console) -> None:
    """Print findings as a table, with the remedy of each below it."""
    from spca.console import show_table

    rows: list[tuple[str | Text, ...]] = []
    for finding in findings:
        rows.append((finding.what, Text(finding.state, style=_STYLES[finding.state]), finding.found))
        rows += [("", "", Text(f"→ {finding.remedy}", style="dim"))] * bool(finding.remedy)
    show_table((), rows, console)
