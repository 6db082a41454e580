"""The presets: where objects lie on a level's table, and how the world differs from its description."""

from __future__ import annotations

import math
from itertools import combinations
from typing import cast
from zlib import crc32

from spca_core.errors import InputError, OutOfReach
from spca_core.geometry import top_down
from spca_core.kinds import FLAT
from spca_core.layout import Layout, cluttered_layout, nominal_layout, overlapping, random_layout
from spca_core.names import TABLE
from spca_core.options import RunOptions
from spca_core.scene import ROLES
from spca_core.world import World, load_world
from spca_referee.level import Level, load_level, starting_layout
from spca_referee.rules import bind_rules
from spca_sim.variation import KINDS, Disturbance, Kind, SimVariation, draw_disturbances, draw_variation
from spca_sim.variation import PRESETS as VARIATIONS

DISTURBED = "disturbed"
PRESETS = ("nominal", "shuffled", "noisy", "hard", DISTURBED, *(f"{DISTURBED}-{kind}" for kind in KINDS))
"""Names of the presets; `disturbed` draws one to three disturbances, `disturbed-push` just that one."""
_TRIES = 200
_STRIDE = 100_003  # between the seeds of one table's tries, so that neighbouring tables share none


def load_table(options: RunOptions) -> tuple[World, Level]:
    """Return the world and the level that a run's options name. Raises InputError for an unknown one."""
    level = load_level(options.level, load_world(options.world) if options.world else None)
    return load_world(world_named(options, level)), level


def world_named(options: RunOptions, level: Level) -> str:
    """Return the name of a run's world, with the arm in it that the options ask for."""
    world = options.world or level.world
    return f"{world}@{options.robot}" if options.robot else world


def check_reach(options: RunOptions, world: World, level: Level) -> None:
    """Raise OutOfReach where the arm does not reach, from above, all that must be touched for success."""
    from spca_robot.kinematics import ToolKinematics
    from spca_tabletop.act.grasps import APPROACH

    layout, _ = draw_table(options.preset, options.seed, world, level)
    tools, arm = ToolKinematics(world), world.robot.arm
    needed = level.success.names | {name for state in level.order for name in state.names}
    for name in sorted(needed & set(layout.poses)):
        x, y, z = layout.poses[name].position
        if not (tools.reaches(x, y, z) and tools.reaches(x, y, z + APPROACH)):
            above = top_down(x, y, z + APPROACH, 0.0)
            away = math.dist((x, y), world.robot.base.position[:2])
            raise OutOfReach(
                f"'{name}' is out of the {arm.title}'s reach", where=f"level '{level.name}'",
                hint=f"it lies {100 * away:.0f} cm from the base; from above, the arm reaches "
                f"{100 * tools.farthest(above.matrix()):.0f} cm in that direction",
            )  # fmt: skip


def variation_of(preset: str) -> str:
    """Return the name of the world's variation that belongs to a preset: some draw only the layout."""
    return preset if preset in VARIATIONS else "nominal"


def draw_table(preset: str, seed: int, world: World, level: Level) -> tuple[Layout, SimVariation]:
    """Return the layout at the start and the simulator's variation, drawn by seed.

    Drawn again where the level's own changes would put two things into one place, where a thing has no free
    place that the level wants, where the level would be won before anything was done, or where no object fits
    its roles, or two are equally near. Raises InputError when no such table is found.
    """
    variation = draw_variation(variation_of(preset), seed)
    if preset == "nominal":
        return starting_layout(level.layout, world, nominal_layout(world)), variation
    draw = cluttered_layout if preset == "hard" else random_layout
    for k in range(_TRIES):
        layout = starting_layout(level.layout, world, draw(world, seed + k * _STRIDE))
        if not _overlapping(layout, world, level) and not _pointless(layout, world, level):
            if preset.startswith(DISTURBED):
                found = _disturbances(preset, seed, world, level)
                variation = variation.model_copy(update={"disturbances": found})
            return layout.model_copy(update={"seed": seed}), variation
    raise InputError(f"no {preset} table fits level '{level.name}'", hint="its layout leaves no room")


def _disturbances(preset: str, seed: int, world: World, level: Level) -> tuple[Disturbance, ...]:
    kind = cast("Kind | None", preset.removeprefix(DISTURBED).removeprefix("-") or None)
    named = level.success.names | set(level.layout) | {p.on_top_of for p in level.layout.values()}
    kinds = {role.kind for role in level.roles.values()}
    # A free place may be needed though no word names it, as in the towers of Hanoi.
    needed = [o.model for o in world.objects if o.model in named or o.kind in kinds or o.kind in FLAT]
    spare = [o.model for o in world.objects if o.model not in needed]
    forbidden = {name for touching in level.fail.collisions_true if TABLE in touching for name in touching}
    off_table = forbidden & {o.model for o in world.objects}  # that the robot may not touch it is no reason
    # The same seed disturbs every level in its own way, so that a campaign meets many combinations.
    return draw_disturbances(seed ^ crc32(level.name.encode()), needed, spare, kind, off_table)


def _overlapping(layout: Layout, world: World, level: Level) -> bool:
    put = {model for model, change in level.layout.items() if change.at is not None}
    pairs = combinations(layout.poses, 2)
    return any(overlapping(a, b, layout, world, around=len(put & {a, b}) == 1) for a, b in pairs)


def _pointless(layout: Layout, world: World, level: Level) -> bool:
    """Return whether nothing is left to do, or a thing that the level is about, or its place, is missing."""
    if level.judge == "look":
        return False
    try:
        ways = bind_rules(level, world, layout.poses)
    except InputError:  # no object on this table can play a role of the level
        return True
    from spca_tabletop.free_places import has_free_places  # no nominal table is asked about

    tied = len(ways) > 1 and {role.pick for role in level.roles.values()} <= {*ROLES}
    done = any(rules.hold_at_start(layout, world) for rules in ways)
    return tied or done or not any(has_free_places(rules, layout, world) for rules in ways)
