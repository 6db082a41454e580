"""`spca levels`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spca.commands import LEVELS
from spca.commands.completion import complete_level

if TYPE_CHECKING:
    from spca_core.ports.kit import LevelInfo


app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS,
    epilog=(
        "Examples:  spca levels · spca levels stack 'touch_0*' · spca levels --json · spca levels minigrid"
    ),
)
def levels(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Levels, patterns, groups or environments; by default those that need no prefix.",
            autocompletion=complete_level,
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything about them, as JSON.")] = False,
) -> None:
    """List the levels."""
    from spca.api import select_levels
    from spca.kits import kits
    from spca.terminal import notices, results, show_table

    found = select_levels(patterns or [])
    if as_json:
        import json

        typer.echo(json.dumps([level.model_dump() for level in found], indent=1, ensure_ascii=False))
        return
    rows = [(info.name, info.group, info.about, _limit(info)) for info in found]
    show_table(("level", "group", "task", "limit"), rows)
    others = [] if patterns else [kit.name for kit in kits() if not kit.bare_names]
    if others and results().is_terminal:
        notices().print(f"more: spca levels {' '.join(others)}")


def _limit(info: LevelInfo) -> str:
    return "" if info.time_limit_s is None else f"{info.time_limit_s:g} s"
