"""`spca bench boxoban`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand
from spca_core.model import checked


def _boxoban(
    levels: Annotated[
        Path, typer.Option(help="A checkout of google-deepmind/boxoban-levels.", exists=True, file_okay=False)
    ],
    rules: Annotated[
        Path, typer.Option(help="The folder of a run of `spca learn sokoban`.", exists=True, file_okay=False)
    ],
    part: Annotated[str, typer.Option(help="The folder within it.")] = "unfiltered/test",
    count: Annotated[int, typer.Option(help="Only so many levels, the first ones.", min=1)] = 1000,
) -> Any:
    """Play Boxoban's levels by rules that `spca learn sokoban` has learned."""
    from spca_boxoban.bench import BoxobanBench

    return checked(BoxobanBench, levels=levels.resolve(), rules=rules.resolve(), part=part, count=count)


BOXOBAN = BenchCommand(
    "spca_boxoban.bench:BoxobanBench",
    _boxoban,
    "spca bench boxoban --levels boxoban-levels --rules runs/RUN · "
    "spca bench boxoban --levels boxoban-levels --rules runs/RUN --part hard --count 100",
)
