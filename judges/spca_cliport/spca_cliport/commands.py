"""`spca bench cliport`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand
from spca_cliport.episode import COLOURS, TASKS
from spca_core.errors import InputError, one_of
from spca_core.model import checked


def _cliport(
    repository: Annotated[
        Path, typer.Option(help="A checkout of cliport/cliport.", exists=True, file_okay=False)
    ],
    task: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(TASKS)}; repeatable; all by default.")
    ] = None,
    colours: Annotated[list[str] | None, typer.Option(help="seen or unseen; both by default.")] = None,
    episodes: Annotated[int, typer.Option(help="Episodes of each task.", min=1)] = 100,
    first_seed: Annotated[
        int, typer.Option(help="Even: training seeds; odd: below 10001 validation, from there on test.")
    ] = 10_001,
) -> Any:
    """Do CLIPort's pick-and-place tasks, seen by its cameras and judged by its own score."""
    from spca_cliport.bench import CliportBench

    for chosen, there in ((task, TASKS), (colours, COLOURS)):
        if unknown := sorted(set(chosen or ()) - set(there)):
            raise InputError(f"there is no '{unknown[0]}'", hint=one_of(unknown[0], there))
    return checked(
        CliportBench, repository=repository.resolve(), tasks=tuple(task or TASKS),
        colours=tuple(colours or COLOURS), episodes=episodes, first_seed=first_seed,
    )  # fmt: skip


CLIPORT = BenchCommand(
    "spca_cliport.bench:CliportBench",
    _cliport,
    "spca bench cliport --repository cliport --workers 1 · "
    "spca bench cliport --repository cliport --task put-block-in-bowl --episodes 5 --first-seed 1",
)
