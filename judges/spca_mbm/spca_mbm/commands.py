"""`spca bench mbm`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand
from spca_core.model import checked


def _mbm(
    problems: Annotated[
        Path, typer.Option(help="The folder or archive of problems (FAMILY/request0001.yaml).", exists=True)
    ],
    meshes: Annotated[
        Path | None,
        typer.Option(help="Where example-robot-data is installed: check the paths with UR's own meshes."),
    ] = None,
    every: Annotated[int, typer.Option(help="Only every so many problems.", min=1)] = 1,
    ompl: Annotated[bool, typer.Option("--ompl", help="Let OMPL search each problem, too.")] = False,
) -> Any:
    """Plan MotionBenchMaker's problems for a UR5 and check every path independently."""
    from spca_mbm.bench import MbmBench

    robot = meshes.resolve() if meshes else None
    return checked(MbmBench, problems=problems.resolve(), meshes=robot, every=every, ompl=ompl)


MBM = BenchCommand(
    "spca_mbm.bench:MbmBench",
    _mbm,
    "spca bench mbm --problems ur5_problems.tar.bz2 --workers 1 · "
    "spca bench mbm --problems ur5_problems.tar.bz2 --every 10 --meshes FOLDER",
)
