"""Roles: names such as `left_cube` that are bound to a model when a level begins, from ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.kinds import ObjectKind
from spca_core.layout import Layout, resting_contacts
from spca_core.model import Record
from spca_core.names import symbol_of
from spca_core.world import World

TOO_CLOSE = 0.005
"""Metres along an axis by which objects differ that are equally left, near and so on: either counts."""

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
