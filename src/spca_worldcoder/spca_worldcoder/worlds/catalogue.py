"""Worlds by name, those of other packages too.

A package offers its own worlds by an entry point of the group `spca.learnable_worlds`: a function that takes
`WorldOptions` and returns the worlds to learn one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from pydantic import Field

from spca_core.errors import InputError
from spca_core.model import Record
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import World

GROUP = "spca.learnable_worlds"


class WorldOptions(Record):
    """Which worlds. Fields that a world has no use for are ignored by it."""

    world: str
    environments: tuple[str, ...] = ()
    """Names of environments in their order; empty for the world's own curriculum."""
    boxes: int = Field(2, ge=1, le=8)
    size: int = Field(7, ge=5, le=12)


def make_worlds(options: WorldOptions) -> list[World]:
    """The worlds to learn. InputError for an unknown one or impossible sizes."""
    makers = _makers()
    if options.world not in makers:
        raise InputError(f"unknown world '{options.world}'", hint=f"one of {', '.join(sorted(makers))}")
    return makers[options.world](options)


def _makers() -> dict[str, Callable[[WorldOptions], list[World]]]:
    found: dict[str, Callable[[WorldOptions], list[World]]] = {"sokoban": _sokoban, "minigrid": _minigrid}
    for point in entry_points(group=GROUP):
        found[point.name] = point.load()
    return found


def _sokoban(options: WorldOptions) -> list[World]:
    return [Sokoban(options.boxes, options.size)]


def _minigrid(options: WorldOptions) -> list[World]:
    from spca_worldcoder.worlds.minigrid import CURRICULUM, MinigridWorld  # imports take a second

    return [MinigridWorld(name) for name in options.environments or CURRICULUM]
