"""Finds worlds by name, among all that installed packages bring (the extension point `spca.plan_worlds`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from spca_core.errors import InputError
from spca_core.extensions import find, installed
from spca_programs.ports.plan_world import PlanWorld

GROUP = "spca.plan_worlds"


def world_names() -> list[str]:
    """Every world that can be asked for by name."""
    return list(installed(GROUP))


def open_world(name: str) -> PlanWorld:
    """A world by its name, or by `module:factory`. Close it in the end. Raises InputError."""
    factory: Callable[[], PlanWorld] = _import(name) if ":" in name else find(GROUP, name).load()
    return factory()


def _import(path: str) -> Callable[[], PlanWorld]:
    module, _, factory = path.partition(":")
    try:
        found: Callable[[], PlanWorld] = getattr(import_module(module), factory)
    except (ImportError, AttributeError) as error:
        raise InputError(f"no world '{path}'", hint=str(error)) from error
    return found
