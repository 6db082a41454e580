"""The rules of a level on one table: its conditions with every role bound to a model, by ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spca_core.contacts import Pair, Way, pair
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.kinds import CONTAINERS
from spca_core.layout import Layout, resting_contacts
from spca_core.names import symbol_of, words_of
from spca_core.world import World
from spca_referee.level import Conditions, Level, Pick, Role
from spca_referee.states import JudgedState, Situation

TOO_CLOSE = 0.005
"""Metres along an axis by which objects differ that are equally left, near and so on: either counts."""


@dataclass(frozen=True)
class Rules:
    """One way to win the level: its conditions of models, in the order in which the level writes them.

    There is success where `success` holds, none of `released` is in contact, and each of `order` came true
    after those before it; failure where any of `fail` is so, or one of `order` comes true too early.
    """

    success: Conditions
    fail: Conditions
    order: tuple[JudgedState, ...]
    released: tuple[Pair, ...]
    robot: str
    names: Mapping[str, str]
    """Words for models that stand for any object of their role.

    For example, `box_red` is "some cube" where any cube will do.
    """

    @property
    def contacts(self) -> tuple[Pair, ...]:
        """Contacts without which there can be no success."""
        so = [state for state in self.success.states if state.by_contact and not state.lifted]
        two = [(state.thing, other) for state in so for other in state.between or ()]
        one = [(state.thing, state.other or self.robot) for state in so if state.between is None]
        return (*self.success.collisions_true, *one, *two)

    def pair_words(self, names: Pair) -> tuple[str, str]:
        """Return the two sides of a pair in plain words, the robot first."""
        a, b = names if names[1] != self.robot else (names[1], names[0])
        return self.words(a), self.words(b)

    def state_words(self, state: JudgedState) -> str:
        """Return a state in plain words."""
        return state.words({name: self.words(name) for name in state.names})

    def hold_at_start(self, layout: Layout, world: World) -> bool:
        """Return whether success holds on a table at rest, before anything is done."""
        now = at_start(layout, world)
        touching = {pair(*names) for names in self.success.collisions_true}
        apart = {pair(*names) for names in self.success.collisions_false}
        in_place = touching <= now.touching and not apart & now.touching
        return in_place and not self.order and all(state.holds(now) for state in self.success.states)

    def words(self, model: str) -> str:
        """Return plain words for a model, as this level means it."""
        return self.names.get(model) or words_of(symbol_of(model))


def at_start(layout: Layout, world: World) -> Situation:
    """Return the situation on a table on which nothing moves."""
    kinds = {o.model: str(o.kind) for o in world.objects}
    resting = resting_contacts(layout, world)
    ways: set[Way] = {("rests_on", *names) for names in resting}
    ways |= {("inside", thing, other) for thing, other in resting if kinds.get(other) in CONTAINERS}
    touching = {pair(*names) for names in resting}
    robot = world.robot
    return Situation(layout.poses, touching, ways, set(layout.poses), kinds, robot.model, robot.arm_links)


def bind_rules(level: Level, world: World, truth: Mapping[str, Pose]) -> tuple[Rules, ...]:
    """Return all ways to win this level on the table `truth` (poses by model name when the level begins).

    There is more than one when a role is `any`. Raises InputError when the table lacks an object the level
    needs.
    """
    movable = {o.model for o in world.objects}
    for name in sorted(level.names):
        if name in movable and name not in truth:
            hint = "it is not there"
            raise InputError(f"level '{level.name}' needs '{name}'", where="the table", hint=hint)
    ways = assignments(level.roles, world, truth)
    open_roles = [role for role in level.roles if len({way[role] for way in ways}) > 1]
    found = []
    for way in ways:
        success = level.success.bound(way)
        named = sorted(success.names & movable) if level.must_release else ()
        found.append(
            Rules(
                success=success,
                fail=level.fail.bound(way),
                order=tuple(state.bound(way) for state in level.order),
                released=tuple((world.robot.model, name) for name in named),
                robot=world.robot.model,
                names={way[role]: role.replace("_", " ") for role in open_roles},
            )
        )
    usable = tuple(rules for rules in found if _possible(rules, world))
    if not usable:
        hint = "its roles contradict each other"
        raise InputError(f"level '{level.name}' cannot be won on this table", hint=hint)
    return usable


def _possible(rules: Rules, world: World) -> bool:
    """Return whether a binding is free of contradictions: no cube would have to stand on itself."""
    itself = any(a == b != world.robot.model for a, b in rules.contacts)
    ruled_out = {
        pair(*names)
        for names in (*rules.success.collisions_false, *rules.released, *rules.fail.collisions_true)
    }
    return not itself and not any(pair(*names) in ruled_out for names in rules.contacts)


def assignments(roles: Mapping[str, Role], world: World, truth: Mapping[str, Pose]) -> list[dict[str, str]]:
    """Every way to bind the roles to models on a table: one, unless a role is `any` or two are `TOO_CLOSE`.

    Raises InputError when a role has no object on this table.
    """
    found: list[dict[str, str]] = [{}]
    for name, role in roles.items():
        if role.of is None and not _candidates(role, None, world, truth):
            resting = f" on a {role.resting_on}" if role.resting_on else ""
            raise InputError(
                f"no {role.kind}{resting} can be the '{name}' of this level",
                where="the table as it is when the level begins",
                hint=f"the table needs a {role.kind}{resting} for the pick '{role.pick}'",
            )
        found = [
            {**bound, name: model}
            for bound in found
            for model in _candidates(role, role.of and bound.get(role.of, role.of), world, truth)
            if model not in bound.values()
        ]
    if not found:
        raise InputError("the roles of this level cannot all be bound on this table", where=", ".join(roles))
    return found


def _candidates(role: Role, partner: str | None, world: World, truth: Mapping[str, Pose]) -> list[str]:
    models = [o.model for o in world.objects if o.kind == role.kind and o.model in truth]
    if role.colour is not None:
        models = [m for m in models if colour_of(m) == role.colour]
    if role.resting_on is not None:
        models = [m for m in models if support_kind(m, world, truth) == role.resting_on]
    if partner is not None:
        same = role.pick == "same_colour"
        return [m for m in models if (colour_of(m) == colour_of(partner)) == same]
    if role.pick == "any" or not models:
        return models
    return _extreme(role.pick, {m: truth[m] for m in models})


def _extreme(pick: Pick, poses: Mapping[str, Pose]) -> list[str]:
    """Return the models at the wanted end of an axis, or in the middle of it.

    There are several when they are too close to call.
    """
    axis = 0 if pick in ("nearest", "farthest") else 1
    along = {m: p.position[axis] for m, p in poses.items()}
    ranked = sorted(along.values())
    if pick == "middle":
        if len(ranked) % 2 == 0:
            return []
        wanted = ranked[len(ranked) // 2]
    else:
        wanted = ranked[0] if pick in ("nearest", "rightmost") else ranked[-1]
    return [m for m, value in along.items() if abs(value - wanted) < TOO_CLOSE]


def colour_of(model: str) -> str:
    """Return the colour word in a model's name: `box_red` and `box_red_2` are red."""
    return symbol_of(model).split("_")[1] if "_" in model else ""


def support_kind(model: str, world: World, truth: Mapping[str, Pose]) -> str | None:
    """Return the kind of thing that `model` rests on (`table`, `plate`, `cube`), or None."""
    below = {other for thing, other in resting_contacts(Layout(poses=dict(truth)), world) if thing == model}
    kinds = {o.model: o.kind for o in world.objects} | {world.table.model: "table"}
    return next((kind for name, kind in kinds.items() if name in below), None)
