"""`spca levels`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spca.commands import LEVELS
from spca.commands.options import a_level

if TYPE_CHECKING:
    from spca_core.ports.kit import LevelInfo


app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS,
    epilog="Examples:  spca levels · spca levels stack 'touch_0*' · spca levels minigrid --json · "
    "spca levels --html levels.html",
)
def levels(
    patterns: Annotated[
        list[str] | None,
        a_level("Levels, patterns, groups or environments; by default those that need no prefix."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything about them, as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with a picture of each to this file.")
    ] = None,
) -> None:
    """List the levels."""
    from spca.api import select_levels
    from spca.console import notices, results, show_table
    from spca.kits import PLAIN, kits
    from spca_core.paths import as_typed

    found = select_levels(patterns or [])
    if html is not None:
        typer.echo(_gallery(found, html))
        return
    if as_json:
        import json

        typer.echo(json.dumps([level.model_dump() for level in found], indent=1, ensure_ascii=False))
        return
    show_table(("level", "task"), [(info.name, info.title or info.about) for info in found])
    others = [] if patterns else [kit.name for kit in kits() if kit.name != PLAIN]
    if others and results().is_terminal:
        notices().print(f"more: {as_typed(' '.join(['levels', *others]))}")


def _gallery(levels: list[LevelInfo], path: Path) -> Path:
    """Write a page of levels, each with a picture of what it begins with; return its path."""
    from rich.progress import track

    from spca.console import notices
    from spca.kits import kit_of
    from spca.pages import Card, Page
    from spca.report import small_picture

    cards = []
    hidden = not notices().is_terminal  # it would leave an empty line
    for info in track(levels, "drawing …", console=notices(), transient=True, disable=hidden):
        start = kit_of(info.name).start_picture(info.name)
        limit = "" if info.time_limit_s is None else f" {info.time_limit_s:g} s."
        cards.append(Card(info.name, f"{info.about}{limit}", picture=small_picture(start, 320)))
    page = Page("Levels", f"{len(levels)}; `spca run NAME` runs one")
    page.cards(cards)
    return page.write(path)
