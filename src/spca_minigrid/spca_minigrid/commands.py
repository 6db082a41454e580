"""`spca bench minigrid`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_bench.command import BenchCommand, FirstSeed, Llm
from spca_core.checked import checked


def _minigrid(
    levels: Annotated[
        str, typer.Argument(help="Categories or levels (beginnings, comma-separated); all by default.")
    ] = "",
    seeds: Annotated[int, typer.Option(help="Seeds a level.", min=1)] = 5,
    first_seed: FirstSeed = 0,
    proposer: Annotated[str, typer.Option(help="`builtin` (no model needed) or `openai`.")] = "builtin",
    llm: Llm = "",
    skills: Annotated[
        str, typer.Option(help="Skills at the start: builtin, trusted, empty, or auto.")
    ] = "auto",
    library: Annotated[
        Path | None, typer.Option(help="Folder of what is learned; library/ by default.")
    ] = None,
) -> Any:
    """Run the MiniGrid curriculum: categories × seeds, next to the published figures."""
    from spca_minigrid.bench import MinigridBench

    return checked(
        MinigridBench, levels=levels, seeds=seeds, first_seed=first_seed, proposer=proposer, llm=llm,
        skills=skills, library=library,
    )  # fmt: skip


MINIGRID = BenchCommand(
    "spca_minigrid.bench:MinigridBench",
    _minigrid,
    "spca bench minigrid · spca bench minigrid hazard_avoidance,MiniGrid-DoorKey --seeds 20 "
    "· spca bench minigrid --proposer openai --skills empty",
)
