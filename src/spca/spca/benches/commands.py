"""`spca bench levels`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca.benches.command import BenchCommand, FirstSeed, Presets
from spca.commands.options import takes
from spca_core.model import checked


@takes("proposer", "transport", "robot", transport="inproc")
def _levels(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all by default.")
    ] = None,
    preset: Presets = None,
    tables: Annotated[int, typer.Option(help="Tables per level.")] = 20,
    first_seed: FirstSeed = 0,
    *,
    wanted: dict[str, Any],
) -> Any:
    """Run levels on many tables, in parallel. Exit status 0 if all were solved."""
    from spca.api import select_levels
    from spca.benches.levels import LevelsBench

    return checked(
        LevelsBench,
        levels=tuple(info.name for info in select_levels([] if levels == ["all"] else levels or [])),
        presets=preset or ["shuffled"], tables=tables, first_seed=first_seed, **wanted,
    )  # fmt: skip


LEVELS = BenchCommand(
    "spca.benches.levels:LevelsBench",
    _levels,
    "spca bench levels all --tables 20 · spca bench levels stack 'touch_0*' --preset hard · "
    "spca bench levels --out campaigns/monday   (run it again to continue)",
)
