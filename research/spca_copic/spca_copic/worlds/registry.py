"""Finds worlds by name, among all that installed packages bring (the extension point `spca.plan_worlds`)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

from spca_core.errors import InputError
from spca_programs.factories import factory_of
from spca_programs.ports.plan_world import PlanWorld

GROUP = "spca.plan_worlds"


def open_world(name: str, table: int = 1) -> PlanWorld:
    """A world by its name, or by `file.py:factory`, with one of its hidden tables, where it has several.

    Close it in the end. Raises InputError.
    """
    factory: Callable[..., PlanWorld] = factory_of(GROUP, name)
    if table == 1:
        return factory()
    if "habits" not in signature(factory).parameters:
        raise InputError(f"the world '{name}' has no hidden tables to choose from", "--tables")
    return factory(habits=table)
