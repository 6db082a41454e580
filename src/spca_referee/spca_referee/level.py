"""Levels: the text of a task, and the contacts and places that mean success and failure.

levels/README.md describes the format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from glob import glob
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from spca_core.contacts import Pair, pair
from spca_core.errors import InputError, did_you_mean
from spca_core.geometry import Pose
from spca_core.kinds import KINDS, ObjectKind
from spca_core.layout import Layout
from spca_core.model import Part, Record
from spca_core.paths import LEVELS
from spca_core.plan import Judge, Task
from spca_core.validation import YAML_FILES, expecting, read_yaml
from spca_core.world import World, load_world
from spca_referee.states import JudgedState

Pick = Literal["any", "leftmost", "middle", "rightmost", "nearest", "farthest", "same_colour", "other_colour"]


class Role(Record):
    """Rule that tells which object a name stands for, as levels/README.md tells.

    Left is +y and near -x; `of` is a model or a role named before this one.
    """

    kind: ObjectKind
    pick: Pick
    of: str | None = None
    resting_on: ObjectKind | None = None
    colour: str | None = None

    @model_validator(mode="after")
    def _of_belongs_to_colours(self) -> Role:
        if (self.of is not None) != self.pick.endswith("_colour"):
            raise ValueError("`of` is needed by the picks same_colour and other_colour, and only by them")
        return self


class Placement(Part):
    """Start of one object: centred `on_top_of` another, `at` (x, y) on the table in metres, or `absent`.

    `yaw` in radians; without it the object keeps the yaw it had.
    """

    on_top_of: str | None = None
    at: tuple[float, float] | None = None
    absent: bool = False
    yaw: float | None = None

    @model_validator(mode="after")
    def _one_of_three(self) -> Placement:
        if (self.on_top_of is not None) + (self.at is not None) + self.absent != 1:
            raise ValueError("give exactly one of `on_top_of`, `at` and `absent`")
        return self


def starting_layout(changes: Mapping[str, Placement], world: World, layout: Layout) -> Layout:
    """`layout` (nominal or random) with a level's `changes`; what is put on another follows that.

    Raises InputError when a change names an object that is not there.
    """
    poses = dict(layout.poses)
    for model in _supports_first(changes):
        change = changes[model]
        if change.absent:
            poses.pop(model, None)
            continue
        item = world.object(model)
        yaw = change.yaw if change.yaw is not None else poses[model].yaw if model in poses else item.yaw
        if change.at is not None:
            x, y, bottom = *change.at, world.table.top
        else:
            below = str(change.on_top_of)
            if below not in poses:
                raise InputError(f"'{model}' must start on '{below}', which is not on this table")
            x, y, z = poses[below].position
            bottom = z + world.object(below).deck
        poses[model] = Pose.from_xyz_yaw(x, y, bottom + item.size[2] / 2, yaw)
    return layout.model_copy(update={"poses": poses})


def _supports_first(changes: Mapping[str, Placement]) -> list[str]:
    """Return the changed models, each after the one it is put on."""
    below = {model: {m for m in changes if m == change.on_top_of} for model, change in changes.items()}
    try:
        return [*TopologicalSorter(below).static_order()]
    except CycleError as error:
        circle = ", ".join(error.args[1])
        raise InputError("the level's layout puts objects on each other in a circle", where=circle) from None


RELEASE_GROUPS = ("pick_and_place", "place", "stack")
"""Task groups whose success counts only once the gripper has let go, unless the level says otherwise."""
SETTLE_S = 2.0
"""Simulated seconds after the last step in which things come to rest and the referee's dwell passes."""


# YAML reads an unquoted 02 as the number 2.
IdText = Annotated[str, BeforeValidator(lambda given: str(given).zfill(2) if str(given).isdigit() else given)]


class Conditions(Part):
    """Conditions of a level: unordered pairs of models or roles in contact or not, and states of things."""

    collisions_true: tuple[Pair, ...] = ()
    collisions_false: tuple[Pair, ...] = ()
    states: tuple[JudgedState, ...] = ()

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair of names, wanted or not."""
        return self.collisions_true + self.collisions_false

    @property
    def names(self) -> set[str]:
        """Every model or role name."""
        return {name for names in (*self.pairs, *(state.names for state in self.states)) for name in names}

    def bound(self, models: Mapping[str, str]) -> Conditions:
        """Return the same conditions of models, in place of roles."""

        def pairs(unbound: tuple[Pair, ...]) -> tuple[Pair, ...]:
            return tuple((models.get(a, a), models.get(b, b)) for a, b in unbound)

        return Conditions(
            collisions_true=pairs(self.collisions_true),
            collisions_false=pairs(self.collisions_false),
            states=tuple(state.bound(models) for state in self.states),
        )


Words = Annotated[str, Field(min_length=1, max_length=1000)]  # to read twice as many takes four times as long


class Level(Part):
    """A level as written in its file. Build one with `load_level`, which also checks it against a world.

    Times are simulated seconds. What is optional, and what it means, is told in levels/README.md.
    """

    task_group: str = Field(min_length=1)
    task_id: IdText = Field(min_length=1)
    title: Words
    description: Words
    difficulty: str | int
    time_limit_s: float = Field(gt=0)
    success: Conditions = Conditions()
    fail: Conditions = Conditions()
    order: tuple[JudgedState, ...] = ()
    dwell_s: float = Field(0.5, ge=0)
    release: bool | None = None
    roles: dict[str, Role] = {}
    world: str = "tabletop"
    layout: dict[str, Placement] = {}
    judge: Judge = "referee"
    conversation: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the level, `<group>_<number>`, for example `stack_01`."""
        return (
            self.task_id if self.task_id.startswith(self.task_group) else f"{self.task_group}_{self.task_id}"
        )

    @property
    def states(self) -> tuple[JudgedState, ...]:
        """Every state that the level speaks of."""
        return (*self.success.states, *self.fail.states, *self.order)

    @property
    def needs_poses(self) -> bool:
        """Contacts alone do not tell how the level stands."""
        return not all(state.by_contact for state in self.states)

    @property
    def names(self) -> set[str]:
        """Every model or role that a condition of the level names."""
        return self.success.names | self.fail.names | {name for state in self.order for name in state.names}

    def completed(self, world: World) -> Level:
        """Return the level with the failures that go without saying, unless it has a `fail` block.

        The robot touches the table or itself, or a solid that success names falls to the ground.
        """
        if "fail" in self.model_fields_set or self.judge == "look":
            return self
        robot, ground = world.robot.model, world.ground.model
        kinds = {o.model: o.kind for o in world.objects} | {n: role.kind for n, role in self.roles.items()}
        aims = {(state.thing, state.rests_on) for state in self.success.states}
        aims |= {names for a, b in self.success.collisions_true for names in ((a, b), (b, a))}
        named = (n for n in sorted(self.success.names) if n in kinds and KINDS[kinds[n]].solid)
        fallen = ((name, ground) for name in named if (name, ground) not in aims)
        never = ((robot, world.table.model), (robot, robot), *fallen)
        return self.model_copy(update={"fail": Conditions(collisions_true=never)})

    def watched(self, world: World) -> tuple[str, ...]:
        """Return the objects whose contacts matter to the conditions; all where roles tell only later."""
        movable = {thing.model for thing in world.objects}
        return tuple(sorted(movable if self.roles else self.names & movable))

    @property
    def must_release(self) -> bool:
        """Success counts only once the robot has let go of the objects that it names."""
        return self.task_group in RELEASE_GROUPS if self.release is None else self.release

    def problems(self, world: World) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with this level in that world: (what, what would be right), a sentence each."""
        yield from self._naming_problems(world)
        yield from self._contradictions(world)
        yield from self._state_problems(world)

    def _naming_problems(self, world: World) -> Iterator[tuple[str, str]]:
        models = [o.model for o in world.objects]
        for role_name, role in self.roles.items():
            if role_name in world.model_names:
                yield f"the role '{role_name}' has the name of a model", "give it another name"
            if not any(o.kind == role.kind for o in world.objects):
                yield f"the level needs a {role.kind}", f"world '{world.name}' has: {', '.join(models)}"
            earlier = list(self.roles)[: list(self.roles).index(role_name)]
            if role.of is not None and role.of not in (*earlier, *models):
                yield _unknown(role.of, (*earlier, *models), world)
        for name in sorted(self.names):
            if name not in self.roles and name not in world.model_names:
                yield _unknown(name, (*world.model_names, *self.roles), world)
            elif name in self.layout and self.layout[name].absent:
                yield f"the level needs '{name}', which its own layout takes away", "keep it on the table"
        for name, placement in self.layout.items():
            for model in (name, *([placement.on_top_of] if placement.on_top_of else [])):
                if model not in models:
                    yield _unknown(model, models, world)

    def _contradictions(self, world: World) -> Iterator[tuple[str, str]]:
        for block, contacts in (("success", self.success), ("fail", self.fail)):
            for pair_ in _common(contacts.collisions_true, contacts.collisions_false):
                yield f"{block} has {list(pair_)} as true and as false", "keep one of the two"
            for a, b in contacts.pairs:
                if a == b and a != world.robot.model:
                    yield f"{block} has a contact of '{a}' with itself", "name two different models"
        for key in ("collisions_true", "collisions_false"):
            for pair_ in _common(getattr(self.success, key), getattr(self.fail, key)):
                yield f"{list(pair_)} is a {key} of success and of fail", "keep one of the two"
        held = [p for p in self.success.collisions_true if world.robot.model in p]
        if self.must_release and held:
            yield f"success needs {list(held[0])} and a robot that has let go", "set `release: false`"
        if len(self.order) == 1:
            yield "order has a single state", "name two or more, or put it into success"
        conditions = self.success.pairs or self.success.states or self.order
        if not conditions and self.judge == "referee":
            yield "success has no condition", "name at least one pair or state, or set `judge: look`"
        if conditions and self.judge == "look":
            yield "success has conditions that nobody judges", "take `judge: look` or the conditions away"

    def _state_problems(self, world: World) -> Iterator[tuple[str, str]]:
        placeless = set(world.model_names) - {o.model for o in world.objects}
        for state in self.states:
            if len(set(state.names)) < len(state.names):
                yield f"a state compares '{state.names[-1]}' with itself", "name two different models"
            if not state.by_contact and (fixed := placeless & set(state.names)):
                yield f"a state is about where '{fixed.pop()}' is", "states are about things on the table"
        for state in self.success.states:
            if state in self.fail.states:
                yield f"a state of '{state.names[0]}' is one of success and of fail", "keep one of the two"


def load_level(
    name_or_path: str | Path, world: World | None = None, read: Callable[[str], World] = load_world
) -> Level:
    """Read a level by name (`stack_01`) or path and check it against a world, by default its own.

    Who loads many may `read` each world once. Raises InputError with one clear line.
    """
    path = find_level(name_or_path)
    with expecting("a level", path):
        if is_world(there := read_yaml(path, "the level")):
            raise InputError("this is a world, not a level", str(path), "name it after --world")
        level = level_of(there, path)
    world = read(level.world) if world is None else world
    problems = list(level.problems(world))
    for what, hint in problems:
        more = f" ({len(problems) - 1} more: `spca check` lists all)" if len(problems) > 1 else ""
        raise InputError(what, where=str(path), hint=hint + more)
    return level.completed(world)


def level_of(content: object, path: Path) -> Level:
    """Return the level in the file at `path`, unchecked; the file of a world beside it gets its whole path.

    Raises ValidationError for what is no level.
    """
    level = Level.model_validate(content)
    beside = path.parent / level.world
    if beside.suffix in YAML_FILES and beside.is_file():
        return level.model_copy(update={"world": str(beside.absolute())})
    return level


def is_world(content: object) -> bool:
    """Whether a file's content is meant as a world, not as a level."""
    return (
        isinstance(content, dict) and bool(content.keys() & {"objects", "extends"}) and "title" not in content
    )


def find_level(name_or_path: str | Path) -> Path:
    """Return the file of a level, by name or path. InputError, with similar names, where there is none."""
    path = Path(name_or_path)
    if path.suffix not in YAML_FILES:
        path = LEVELS / str(name_or_path).rpartition("_")[0] / f"{name_or_path}.yaml"
    if not os.path.isfile(path):  # unlike `Path.is_file`, False too where a name is too long
        if path.suffix in YAML_FILES and Path(name_or_path) == path:
            hint = did_you_mean(path.name, glob("*.y*ml", root_dir=path.parent))
            hint = hint or "name a level file, or a level of `spca levels`"
            raise InputError("no such file", str(path), hint)
        if own := [name for name in list_levels() if name.rpartition("_")[0] == str(name_or_path)]:
            hint = f"name one of its levels, such as '{own[0]}'; `spca bench levels {name_or_path}` runs all"
            raise InputError(f"'{name_or_path}' is a group of levels", hint=hint)
        if " " in str(name_or_path):
            raise InputError("a sentence is no level", hint=f'type `spca do "{name_or_path}"`')
        groups = ", ".join(sorted({name.rpartition("_")[0] for name in list_levels()}))
        hint = did_you_mean(Path(name_or_path).stem, list_levels(), 3) or f"groups of levels: {groups}"
        raise InputError(f"unknown level '{name_or_path}'", where=str(LEVELS), hint=hint)
    return path


def list_levels(folder: Path = LEVELS) -> tuple[str, ...]:
    """Return the names of all levels in `folder`, sorted; what else lies there, such as worlds, is none."""
    files = folder.glob("*/*.yaml")
    return tuple(sorted(path.stem for path in files if path.stem.rpartition("_")[0] == path.parent.name))


def task(level: Level) -> Task:
    """Return the task: what perception and planning may know of a level."""
    same = {"title", "description", "judge", "conversation"}
    return Task(group=level.task_group, id=level.name, **level.model_dump(include=same))


def _common(some: Iterable[Pair], others: Iterable[Pair]) -> list[Pair]:
    """Return the pairs in both, whatever order they are written in."""
    return sorted({pair(*names) for names in some} & {pair(*names) for names in others})


def _unknown(name: str, known: Iterable[str], world: World) -> tuple[str, str]:
    hint = f"{did_you_mean(name, known, 2)} world '{world.name}' has: {', '.join(world.model_names)}"
    return f"unknown model '{name}'", hint.strip()
