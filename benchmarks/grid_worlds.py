"""Measure the grid worlds: GRASP and MiniGrid.

GRASP: baselines, optimum and example policy. MiniGrid: the curriculum on five seeds.

.venv/bin/python benchmarks/grid_worlds.py                       # about 10 minutes on two quiet cores
.venv/bin/python benchmarks/grid_worlds.py --data grids/         # with GRASP's released grids as well
.venv/bin/python benchmarks/grid_worlds.py --only grasp
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from spca.terminal import results, show_table
from spca_bench.engine import run_campaign
from spca_benchmarks.minigrid.bench import MinigridBench, ratios_in_view
from spca_programs.grasp.bench import GraspBench
from spca_programs.grasp.policies import example

POLICIES = {"greedy": "greedy", "exact": "exact", "example policy": str(example.__file__)}


def main(
    data: Annotated[Path | None, typer.Option(help="Folder of GRASP's released grids.")] = None,
    only: Annotated[str, typer.Option(help="grasp or minigrid.")] = "",
    seeds: Annotated[int, typer.Option(help="Seeds a MiniGrid level.")] = 5,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
) -> None:
    """Print the figures."""
    if only in ("", "grasp"):
        for name, policy in POLICIES.items():
            for folder in (None, *((data,) if data else ())):
                began = time.monotonic()
                show(GraspBench(policy=policy, data=folder), workers)
                grids = "released" if folder else "generated"
                results().print(f"{name}, {grids} grids, {time.monotonic() - began:.0f} s\n")
    if only in ("", "minigrid"):
        for line in ratios_in_view(show(MinigridBench(seeds=seeds), workers)):
            results().print(line)


def show(bench: GraspBench | MinigridBench, workers: int) -> list:
    """Run a bench and print its table; returns its results."""
    with TemporaryDirectory() as out:
        done = run_campaign(bench, Path(out) / "campaign", workers).done
    table = bench.table(done)
    show_table(table.heads, table.shown())
    return done


if __name__ == "__main__":
    typer.run(main)
