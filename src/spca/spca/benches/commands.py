"""`spca bench levels`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca.commands import ROBOT
from spca_bench.command import BenchCommand, FirstSeed, Presets
from spca_core.checked import checked


def _levels(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all by default.")
    ] = None,
    preset: Presets = None,
    tables: Annotated[int, typer.Option(help="Tables per level.")] = 20,
    first_seed: FirstSeed = 0,
    proposer: Annotated[str, typer.Option(help="As in `spca run`.")] = "builtin",
    transport: Annotated[
        str,
        typer.Option(
            help="`inproc`: lockstep; `ros`: trial after trial on the graph that `spca up` started."
        ),
    ] = "inproc",
    robot: Annotated[str, typer.Option(help=ROBOT)] = "",
) -> Any:
    """Run levels on many tables, in parallel. Exit status 0 if all were solved."""
    from spca.api import select_levels
    from spca.benches.levels import LevelsBench

    return checked(
        LevelsBench,
        levels=tuple(info.name for info in select_levels([] if levels == ["all"] else levels or [])),
        presets=preset or ["shuffled"], tables=tables, first_seed=first_seed, proposer=proposer,
        transport=transport, robot=robot,
    )  # fmt: skip


LEVELS = BenchCommand(
    "spca.benches.levels:LevelsBench",
    _levels,
    "spca bench levels all --tables 20 · spca bench levels stack 'touch_0*' --preset hard · "
    "spca bench levels --out campaigns/monday   (run it again to continue)",
)
