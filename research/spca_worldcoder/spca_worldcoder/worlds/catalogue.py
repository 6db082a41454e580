"""Worlds by name, those of other packages too.

A package offers its own worlds by an entry point of the group `spca.learnable_worlds`: a function that takes
`WorldOptions` and returns the worlds to learn one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

from spca_programs.factories import factory_of
from spca_worldcoder.options import WorldOptions
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import World

GROUP = "spca.learnable_worlds"


def make_worlds(options: WorldOptions) -> list[World]:
    """The worlds to learn: of an entry point, or made by `module:factory`, a class without arguments, say.

    InputError for an unknown one or impossible sizes.
    """
    if ":" in options.world:
        return [factory_of(GROUP, options.world)()]
    make: Callable[[WorldOptions], list[World]] = factory_of(GROUP, options.world)
    return make(options)


def sokoban(options: WorldOptions) -> list[World]:
    """Sokoban."""
    return [Sokoban(options.boxes, options.size)]


def minigrid(options: WorldOptions) -> list[World]:
    """MiniGrid's curriculum, or some of its environments."""
    from spca_worldcoder.worlds.minigrid import CURRICULUM, MinigridWorld  # imports take a second

    return [MinigridWorld(name) for name in options.environments or CURRICULUM]
