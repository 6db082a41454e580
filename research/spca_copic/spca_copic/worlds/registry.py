"""Finds worlds by name, among all that installed packages bring (the extension point `spca.plan_worlds`)."""

from __future__ import annotations

from collections.abc import Callable

from spca_core.extensions import installed
from spca_programs.factories import factory_of
from spca_programs.ports.plan_world import PlanWorld

GROUP = "spca.plan_worlds"


def world_names() -> list[str]:
    """Every world that can be asked for by name."""
    return list(installed(GROUP))


def open_world(name: str) -> PlanWorld:
    """A world by its name, or by `module:factory`. Close it in the end. Raises InputError."""
    factory: Callable[[], PlanWorld] = factory_of(GROUP, name)
    return factory()
