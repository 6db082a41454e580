"""`spca bench copic`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca_bench.command import BenchCommand
from spca_core.checked import checked


def _copic(
    worlds: Annotated[list[str] | None, typer.Argument(help="Worlds; build_order by default.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="Task type; repeatable, all by default.")] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each task type.", min=1)] = 5,
    cases: Annotated[int, typer.Option(help="Test cases of each task type.", min=1)] = 20,
) -> Any:
    """Train with several seeds and test on unseen cases.

    Baselines are random choice, single programs and an oracle.
    """
    from spca_copic.bench import CopicBench

    return checked(CopicBench, worlds=worlds or ["build_order"], tasks=task or [], seeds=seeds, cases=cases)


COPIC = BenchCommand(
    "spca_copic.bench:CopicBench",
    _copic,
    "spca bench copic build_order --seeds 5 · spca bench copic tabletop --task lift --cases 20",
)
