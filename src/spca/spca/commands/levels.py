"""`spca levels`."""

from __future__ import annotations

from typing import Annotated

import typer

from spca.commands import LEVELS
from spca.commands.completion import complete_level


def mount(app: typer.Typer) -> None:
    """Add `spca levels`."""
    app.command(
        rich_help_panel=LEVELS,
        epilog="Examples:  spca levels · spca levels stack 'touch_0*' · spca levels --json · spca levels --minigrid",
    )(levels)


def levels(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Levels, patterns or groups; all by default.",
            autocompletion=complete_level,
            show_default=False,
        ),
    ] = None,
    minigrid: Annotated[bool, typer.Option("--minigrid", help="Those of the MiniGrid curriculum.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Everything about them, as JSON.")] = False,
) -> None:
    """List the levels."""
    from spca.terminal import show_table

    found = _minigrid(patterns or ["all"]) if minigrid else _tabletop(patterns or ["all"])
    if as_json:
        import json

        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
    elif minigrid:
        rows = [(level["name"], level["group"], level["description"]) for level in found]
        show_table(("level", "category", "what it is like"), rows)
    else:
        rows = [(level["name"], level["description"], f"{level['time_limit_s']:g} s") for level in found]
        show_table(("level", "task", "limit"), rows)


def _tabletop(patterns: list[str]) -> list[dict[str, object]]:
    from spca_referee.level import load_level, select_levels

    found = [load_level(name) for name in select_levels(tuple(patterns))]
    return [
        {
            "name": level.name,
            "group": level.task_group,
            "title": level.title,
            "description": level.description,
            "difficulty": level.difficulty,
            "time_limit_s": level.time_limit_s,
        }
        for level in found
    ]


def _minigrid(patterns: list[str]) -> list[dict[str, object]]:
    from spca_core.errors import InputError
    from spca_minigrid.levels import curriculum

    known = list(curriculum())
    for pattern in patterns:
        if not any(_matches(pattern, level.name, level.category) for level in known):
            groups = ", ".join(sorted({level.category for level in known}))
            raise InputError(
                f"no level matches '{pattern}'", hint=f"name levels, patterns or groups: {groups}"
            )
    return [
        {"name": f"minigrid:{level.name}", "group": level.category, "description": level.about}
        for level in known
        if any(_matches(pattern, level.name, level.category) for pattern in patterns)
    ]


def _matches(pattern: str, name: str, group: str) -> bool:
    from fnmatch import fnmatch

    return pattern in ("all", group) or fnmatch(name, pattern.removeprefix("minigrid:"))
