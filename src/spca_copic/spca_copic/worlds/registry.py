"""Finds worlds by name: our own, and those that other packages bring through the entry points `spca.plan_worlds`."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points

from spca_core.errors import InputError
from spca_core.ports.plan_world import PlanWorld

GROUP = "spca.plan_worlds"
_OWN = {
    "build_order": "spca_copic.worlds.build_order.world:BuildOrderWorld",
    "tabletop": "spca_copic.worlds.tabletop.world:TabletopWorld",
    "minigrid": "spca_copic.worlds.minigrid.world:MinigridWorld",
}


def world_names() -> list[str]:
    """Every world that can be asked for by name; some need packages that may be missing."""
    return sorted({*_OWN, *(point.name for point in entry_points(group=GROUP))})


def open_world(name: str) -> PlanWorld:
    """A world by its name, or by `module:factory`. Close it in the end. Raises InputError."""
    own = _OWN.get(name, name if ":" in name else "")
    point = next((p for p in entry_points(group=GROUP) if p.name == name), None)
    if point is None and not own:
        near = difflib.get_close_matches(name, world_names(), n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(world_names())}"
        raise InputError(f"unknown world '{name}'", hint=hint)
    try:
        factory: Callable[[], PlanWorld] = point.load() if point is not None else _load(own)
    except (ImportError, AttributeError) as error:
        raise InputError(f"the world '{name}' cannot be used here", hint=str(error)) from error
    return factory()


def _load(path: str) -> Callable[[], PlanWorld]:
    module, _, factory = path.partition(":")
    found: Callable[[], PlanWorld] = getattr(import_module(module), factory)
    return found
