"""The presets: where objects lie on a level's table, and how the world differs from its description."""

from __future__ import annotations

from itertools import combinations

from spca_core.contacts import pair
from spca_core.errors import InputError
from spca_core.layout import Layout, cluttered_layout, nominal_layout, random_layout
from spca_core.options import RunOptions
from spca_core.world import World, load_world
from spca_referee.level import Level, load_level
from spca_referee.resting import overlapping, resting_contacts
from spca_referee.rules import bind_rules
from spca_referee.start import starting_layout
from spca_sim.variation import SimVariation, draw_variation

_TRIES = 200
_STRIDE = 100_003  # between the seeds of one table's tries, so that neighbouring tables share none


def load_table(options: RunOptions) -> tuple[World, Level]:
    """The world and the level that a run's options name. Raises InputError for an unknown one."""
    level = load_level(options.level, load_world(options.world) if options.world else None)
    return load_world(options.world or level.world), level


def draw_table(preset: str, seed: int, world: World, level: Level) -> tuple[Layout, SimVariation]:
    """The layout at the start and the simulator's variation, by seed.

    Drawn again where the level's own changes would put two things into one place, where the level would be
    won before anything was done, or where no object fits one of its roles. Raises InputError when no such
    table is found.
    """
    variation = draw_variation(preset if preset in ("noisy", "hard") else "nominal", seed)
    if preset == "nominal":
        return starting_layout(level.layout, world, nominal_layout(world)), variation
    draw = cluttered_layout if preset == "hard" else random_layout
    for k in range(_TRIES):
        layout = starting_layout(level.layout, world, draw(world, seed + k * _STRIDE))
        if not _overlapping(layout, world) and not _pointless(layout, world, level):
            return layout.model_copy(update={"seed": seed}), variation
    raise InputError(f"no {preset} table fits level '{level.name}'", hint="its layout leaves no room")


def _overlapping(layout: Layout, world: World) -> bool:
    return any(overlapping(a, b, layout, world) for a, b in combinations(layout.poses, 2))


def _pointless(layout: Layout, world: World, level: Level) -> bool:
    """Whether nothing is left to do, or there is nothing that the level could be about."""
    touching = resting_contacts(layout, world)
    try:
        ways = bind_rules(level, world, layout.poses)
    except InputError:  # no object on this table can play a role of the level
        return True
    return any(
        {pair(*p) for p in rules.touching} <= touching and not {pair(*p) for p in rules.apart} & touching
        for rules in ways
    )
