"""The tasks that programs can be written for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spca_core.errors import InputError, one_of
from spca_programs.grasp.domain import GraspDomain
from spca_programs.minigrid.domain import TASKS, MinigridDomain


def task_names() -> tuple[str, ...]:
    """All of them."""
    return (GraspDomain.name, *TASKS)


def domain_of(task: str, data: Path | None = None) -> Any:
    """The task of a name; GRASP's grids are read from `data`, or generated. InputError for an unknown one."""
    if task == GraspDomain.name:
        return GraspDomain(data)
    if task in TASKS:
        return MinigridDomain(task)
    raise InputError(f"unknown task '{task}'", hint=one_of(task, task_names()))
