"""`spca bench robosuite`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand
from spca_core.errors import InputError, one_of
from spca_core.model import checked
from spca_robosuite.episode import ROBOTS, TASKS


def _robosuite(
    task: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(TASKS)}; repeatable; all by default.")
    ] = None,
    robot: Annotated[str, typer.Option(help=f"{' or '.join(ROBOTS)}, with the Robotiq 85.")] = ROBOTS[0],
    layouts: Annotated[int, typer.Option(help="Layouts of each seed.", min=1)] = 20,
    seed: Annotated[
        list[int] | None,
        typer.Option(help="Seeds of layouts, repeatable; 1, 2 and 3 by default. 0 is for development."),
    ] = None,
) -> Any:
    """Solve robosuite's tasks with its UR5e or Panda, seen by its camera and judged by its own rule."""
    from spca_robosuite.bench import RobosuiteBench

    if unknown := sorted(set(task or ()) - set(TASKS)):
        raise InputError(f"there is no task '{unknown[0]}'", hint=one_of(unknown[0], TASKS))
    if robot not in ROBOTS:
        raise InputError(f"there is no robot '{robot}'", hint=one_of(robot, ROBOTS))
    seeds = tuple(seed or (1, 2, 3))
    return checked(RobosuiteBench, tasks=tuple(task or TASKS), robot=robot, layouts=layouts, seeds=seeds)


ROBOSUITE = BenchCommand(
    "spca_robosuite.bench:RobosuiteBench",
    _robosuite,
    "spca bench robosuite --workers 1 · spca bench robosuite --task Lift --layouts 5 --seed 0",
)
