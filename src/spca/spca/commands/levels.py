"""`spca levels`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spca.commands import LEVELS
from spca.commands.completion import complete_level

if TYPE_CHECKING:
    from spca_core.ports.kit import LevelInfo


def mount(app: typer.Typer) -> None:
    """Add `spca levels`."""
    app.command(
        rich_help_panel=LEVELS,
        epilog="Examples:  spca levels · spca levels stack 'touch_0*' · spca levels --json · spca levels minigrid",
    )(levels)


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
    from spca.terminal import notices, results, show_table

    found, others = _chosen(patterns or [])
    if as_json:
        import json

        typer.echo(json.dumps([level.model_dump() for level in found], indent=1, ensure_ascii=False))
        return
    rows = [(info.name, info.group, info.about, _limit(info)) for info in found]
    show_table(("level", "group", "task", "limit"), rows)
    if others and results().is_terminal:
        notices().print(f"more: spca levels {' '.join(others)}")


def _chosen(patterns: list[str]) -> tuple[list[LevelInfo], list[str]]:
    """The levels that a pattern fits, and the environments that were not asked for. InputError when one fits none."""
    from fnmatch import fnmatch

    from spca.kits import kits
    from spca_core.errors import InputError

    known = [(kit, info) for kit in kits() for info in kit.levels()]
    if not patterns:
        return [i for kit, i in known if kit.bare_names], [kit.name for kit in kits() if not kit.bare_names]
    found: dict[str, LevelInfo] = {}
    for pattern in patterns:
        fitting = [
            info
            for kit, info in known
            if pattern in ("all", kit.name, info.group)
            or fnmatch(info.name, pattern)
            or fnmatch(info.name.removeprefix(f"{kit.name}:"), pattern)
        ]
        if not fitting:
            groups = dict.fromkeys([*(info.group for _, info in known), *(kit.name for kit, _ in known)])
            raise InputError(
                f"no level matches '{pattern}'",
                hint=f"name levels, patterns like 'touch_0*', or groups: {', '.join(groups)}",
            )
        found |= {info.name: info for info in fitting}
    return list(found.values()), []


def _limit(info: LevelInfo) -> str:
    return "" if info.time_limit_s is None else f"{info.time_limit_s:g} s"
