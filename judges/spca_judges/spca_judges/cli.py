"""`spca judge …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import BENCHES, Command

judge_app = typer.Typer(help="Test sets and simulators that other people wrote.", no_args_is_help=True)


def mount(app: typer.Typer) -> None:
    """Add `spca judge`."""
    app.add_typer(judge_app, name="judge", rich_help_panel=BENCHES)


JUDGE = Command(mount)


@judge_app.command(name="list")
def list_judges() -> None:
    """List the judges: how each is run, what it needs, and whether it is here."""
    from spca_judges.catalogue import JUDGES

    for judge in JUDGES.values():
        brought = "; bring what it needs" * bool(judge.given)
        typer.echo(f"{judge.name:12}{judge.title}: {judge.state}{brought}")
        needs = ", ".join(filter(None, (judge.given, judge.package, judge.system)))
        for word, text in (("run", judge.bench), ("from", judge.source), ("needs", needs)):
            if text:
                typer.echo(f"{'':12}{word:6}{text}")


@judge_app.command(epilog="Example:  spca judge install robosuite")
def install(name: Annotated[str, typer.Argument(help="As in `spca judge list`.")]) -> None:
    """Make a judge's own interpreter from the package registry, pinned and hashed."""
    from spca_judges.catalogue import find
    from spca_judges.install import install as make

    make(find(name), lambda line: typer.echo(line, err=True))


@judge_app.command(epilog="Example:  spca judge page campaigns/mbm campaigns/acpbench --out docs/judges.md")
def page(
    campaigns: Annotated[list[Path], typer.Argument(help="Folders that `spca bench` has made of judges.")],
    out: Annotated[Path, typer.Option(help="The page.")],
) -> None:
    """Write a page of what judges said, from the records of campaigns."""
    from spca_core.run_folder import write_atomically
    from spca_judges.page import write

    write_atomically(out, write(campaigns).encode())
