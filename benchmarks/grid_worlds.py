"""The grid worlds' figures in one go: GRASP's baselines, optimum and example policy; the MiniGrid curriculum on five seeds.

.venv/bin/python benchmarks/grid_worlds.py                       # about 10 minutes on two quiet cores
.venv/bin/python benchmarks/grid_worlds.py --data grids/         # with GRASP's released grids as well
.venv/bin/python benchmarks/grid_worlds.py --only grasp
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spca.grid.run import run_trial
from spca_minigrid.bench import MinigridBench, run_minigrid, summarise
from spca_programs.grasp import published
from spca_programs.grasp.bench import GraspBench, run_grasp
from spca_programs.grasp.policies import example

CONSOLE = Console()
POLICIES = {"greedy": "greedy", "exact": "exact", "example policy": str(example.__file__)}


def main(
    data: Annotated[Path | None, typer.Option(help="Folder of GRASP's released grids.")] = None,
    only: Annotated[str, typer.Option(help="grasp or minigrid.")] = "",
    seeds: Annotated[int, typer.Option(help="Seeds a MiniGrid level.")] = 5,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Print the figures."""
    if only in ("", "grasp"):
        grasp(data, workers)
    if only in ("", "minigrid"):
        minigrid(seeds, workers)


def grasp(data: Path | None, workers: int) -> None:
    """Every policy over all environments there are."""
    table = Table("policy", "grids", "environments", "mean", "sd", "wall s", "published", title="GRASP")
    for name, policy in POLICIES.items():
        for grids, folder in (("generated", None), *((("released", data),) if data else ())):
            with TemporaryDirectory() as out:
                began = time.monotonic()
                summary, _ = run_grasp(GraspBench(policy=policy, data=folder), Path(out), workers)
                seconds = time.monotonic() - began
            overall = summary.overall
            known = published.OVERALL.get(name, ("", ""))[0]
            table.add_row(
                name,
                grids,
                str(overall.count),
                f"{overall.mean:.3f}",
                f"{overall.sd:.2f}",
                f"{seconds:.0f}",
                str(known),
            )
    CONSOLE.print(table)


def minigrid(seeds: int, workers: int) -> None:
    """The whole curriculum, with the builtin proposer and skills."""
    with TemporaryDirectory() as out:
        summary = summarise(run_minigrid(MinigridBench(seeds=seeds), Path(out), run_trial, workers))
    table = Table(
        "category",
        "levels",
        "success",
        "%",
        "× shortest",
        "wall s",
        title=f"MiniGrid, {seeds} seeds, medians",
    )
    for group in (*summary.categories, *([summary.nine] if summary.nine else []), summary.overall):
        ratio = "" if group.ratio is None else f"{group.ratio:.2f}"
        table.add_row(
            group.name, str(group.levels), f"{group.successes}/{group.trials}", f"{100 * group.rate:.1f}", ratio,
            f"{group.seconds:.2f}",
        )  # fmt: skip
    CONSOLE.print(table)
    for what, ratios in (("all", summary.in_view_ratios), ("what is named", summary.named_in_view_ratios)):
        if ratios:
            CONSOLE.print(
                f"{what} in view at the first look: {len(ratios)} successes, {mean(ratios):.3f} × the shortest way on "
                f"average, {max(ratios):.2f} at most"
            )


if __name__ == "__main__":
    typer.run(main)
