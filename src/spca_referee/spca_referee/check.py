"""Checks a level as a whole.

All errors are reported at once with what would be right, and so is what is allowed but looks wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import getitem
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spca_core.contacts import pair
from spca_core.errors import InputError, did_you_mean
from spca_core.kinds import CONTAINERS, SUPPORTS
from spca_core.layout import Layout, nominal_layout, overlapping
from spca_core.paths import LEVELS
from spca_core.validation import MOST_COMPLAINTS, meant_key, problems, read_yaml
from spca_core.world import World, load_world
from spca_referee.level import Level, find_level, is_world, level_of, starting_layout
from spca_referee.rules import at_start, bind_rules
from spca_referee.states import Region

_SCHEMA = Level.model_json_schema()
_KEYS = {key for part in (_SCHEMA, *_SCHEMA["$defs"].values()) for key in part.get("properties", ())}


@dataclass(frozen=True)
class Findings:
    """Faults of a level file, a sentence each; `level` and `world` are None where they cannot be read.

    An error keeps the level from being run; a warning is allowed, but most likely not what was meant.
    """

    path: Path
    errors: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    level: Level | None = None
    world: World | None = None
    layout: Layout | None = None
    """Layout that the level starts from, with everything else where the world file says."""


def check_level(name_or_path: str | Path, world: World | None = None) -> Findings:
    """Examine a level against a world, by default the one it is made for; or the file of a world, by itself.

    Raises InputError if there is no such file, or for a world that cannot be.
    """
    path = find_level(name_or_path)
    content = read_yaml(path, "the level")
    if is_world(content):
        return Findings(path, (), world=load_world(path))
    errors = list[str]()
    try:
        level = level_of(content, path)
    except ValidationError as error:
        errors = problems(error, _KEYS)
        if (read := _read_on(content, path, error)) is None:
            return Findings(path, tuple(errors))
        level = read
    try:
        world = world or load_world(level.world)
    except InputError as error:
        return Findings(path, (*errors, str(error)), level=level)
    level = level.completed(world)
    errors += [f"{what}: {hint}" for what, hint in level.problems(world)]
    layout = None
    if not errors:
        try:
            layout = starting_layout(level.layout, world, nominal_layout(world))
            bind_rules(level, world, layout.poses)
        except InputError as error:
            errors.append(str(error))
    warnings = [
        *_group_warnings(level), *_impossible_contacts(level, world), *_unreachable_places(level, world),
        *_dropped_failures(level, world),
    ]  # fmt: skip
    if layout is not None and not errors:
        warnings += [*_layout_warnings(layout, world), *_start_warnings(level, world, layout)]
    return Findings(path, tuple(errors), tuple(warnings), level, world, layout)


def _read_on(content: Any, path: Path, error: ValidationError) -> Level | None:
    """Read a level with each unknown key as the one that was meant, or left out; None if it is none then."""
    with suppress(ValidationError, LookupError, TypeError):  # the last two: a place that is none of the file
        for item in (told := error.errors()[:MOST_COMPLAINTS]):
            *above, key = item["loc"] or ("",)
            if item["type"] == "extra_forbidden":
                block = reduce(getitem, above, content)
                block.setdefault(meant_key(item["loc"], told, _KEYS) or key, block[key])
                del block[key]
        return level_of(content, path)
    return None


def _group_warnings(level: Level) -> Iterator[str]:
    known = sorted(folder.name for folder in LEVELS.iterdir() if folder.is_dir())
    if level.task_group in known:
        return
    if question := did_you_mean(level.task_group, known, least=0.8):
        rule = "; in such a group the robot need not let go for a success, unless `release: true` says so"
        mind = rule if level.release is None else ""
        yield f"unknown task_group '{level.task_group}': {question}{mind}"


def _impossible_contacts(level: Level, world: World) -> Iterator[str]:
    """Yield warnings of wanted and unwanted contacts that can never be made."""
    fixed = {world.table.model, world.ground.model}
    for block, contacts in (("success", level.success), ("fail", level.fail)):
        for key, so in (("collisions_true", "can never touch"), ("collisions_false", "never touch anyway")):
            for names in (names for names in getattr(contacts, key) if set(names) <= fixed):
                yield f"{block}.{key}: {list(names)} {so}, neither of them moves"
    kinds = {thing.model: thing.kind for thing in world.objects}
    for state in level.success.states:
        if state.inside in kinds and kinds[state.inside] not in CONTAINERS:
            yield f"success.states: nothing can be inside '{state.inside}', a {kinds[state.inside]}"
    yield from _never_together(level, world)


def _never_together(level: Level, world: World) -> Iterator[str]:
    """Yield success conditions that exclude each other.

    The ground is below the table, and out of reach of what lies on it.
    """
    wanted = [pair(*names) for names in level.success.collisions_true]
    for name in sorted(level.success.names - {world.ground.model, world.table.model, world.robot.model}):
        on_ground = pair(name, world.ground.model) in wanted
        for other in (world.table.model, *(o.model for o in world.objects if o.kind in SUPPORTS)):
            if on_ground and pair(name, other) in wanted:
                yield f"success: '{name}' cannot touch '{world.ground.model}' and '{other}' at once"


def _unreachable_places(level: Level, world: World) -> Iterator[str]:
    """Yield warnings of a state's places that are not on the table."""
    table = world.table
    for state in (*level.success.states, *level.order):
        if state.at is not None and not table.contains(*state.at):
            yield f"a state wants '{state.thing}' at {list(state.at)}, which is not on the table"
        region = state.region or Region()
        for limits, centre, size in zip((region.x, region.y), table.centre, table.size, strict=False):
            if limits and (limits[0] > centre + size / 2 or limits[1] < centre - size / 2):
                yield f"a state wants '{state.thing}' in a region that is not on the table"


def _dropped_failures(level: Level, world: World) -> Iterator[str]:
    """Yield a warning where a level's own `fail` block lacks what is a failure without one."""
    robot, present = world.robot.model, {pair(*names) for names in level.fail.collisions_true}
    for other in (world.table.model, robot) if level.judge != "look" else ():
        if pair(robot, other) not in present:
            yield f"fail: takes the place of the usual failures: [{robot}, {other}] in contact is none now"


def _layout_warnings(layout: Layout, world: World) -> Iterator[str]:
    for model, pose in layout.poses.items():
        x, y, _ = pose.position
        if not world.table.contains(x, y):
            yield f"layout: '{model}' starts at ({x:g}, {y:g}), which is not on the table"
    for a, b in combinations(layout.poses, 2):
        if overlapping(a, b, layout, world):
            yield f"layout: '{a}' and '{b}' start inside each other and will fly apart"


def _start_warnings(level: Level, world: World, layout: Layout) -> Iterator[str]:
    now, ways = at_start(layout, world), bind_rules(level, world, layout.poses)
    if level.judge == "referee" and any(rules.hold_at_start(layout, world) for rules in ways):
        yield "success holds already at the start, before anything is done"
    for rules in ways:
        if early := [state for state in rules.order[1:] if state.holds(now)]:
            yield f"order: '{rules.state_words(early[0])}' holds already at the start"
        if wrong := [state for state in rules.fail.states if state.holds(now)]:
            yield f"fail: '{rules.state_words(wrong[0])}' holds already at the start"
        broken = [names for names in rules.fail.collisions_true if pair(*names) in now.touching]
        if broken:
            yield f"fail: {list(broken[0])} touch already at the start"
            return
