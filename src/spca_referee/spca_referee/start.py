"""The table a level starts from: any layout, with the changes the level asks for."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import model_validator

from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.model import Record
from spca_core.world import World


class Placement(Record):
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
    ordered: list[str] = []
    todo = list(changes)
    while todo:
        ready = [m for m in todo if changes[m].on_top_of not in todo]
        if not ready:
            raise InputError(
                "the level's layout puts objects on each other in a circle", where=", ".join(todo)
            )
        ordered += ready
        todo = [m for m in todo if m not in ready]
    return ordered
