"""Collision checks by the planning process, with the clearances of `spca_motion.collision`.

The process only knows whether solid bodies touch. The rules are therefore encoded in sizes. An obstacle grows
by the required clearance, one that may be touched shrinks by the allowed depth of contact, and one in contact
at the start shrinks until it is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from spca_core.geometry import Array
from spca_core.names import TABLE_SYMBOL
from spca_core.world import World
from spca_motion.collision import MAX_PRESS, OBJECT_CLEARANCE, TABLE_CLEARANCE, Hit
from spca_motion.moveit.backend import Geometry
from spca_motion.moveit.process import PlannerProcess
from spca_motion.planning_scene import Obstacle, PlanningScene
from spca_motion.tool import ToolKinematics

# Amounts (m) by which a body in contact at the start is shrunk, in turn; if none suffices, it is ignored.
_START_SHRINK = (0.0, 0.002, 0.004, 0.008, 0.016)


class ProcessChecker:
    """See `spca_motion.query.Checker`; checks one planning scene in the planning process."""

    def __init__(self, world: World, scene: PlanningScene, process: PlannerProcess) -> None:
        self._process, self._scene = process, scene
        self._tools = ToolKinematics(world)
        self._top = world.table.top
        self._flange: Array = np.eye(4)
        self._by_rule: dict[frozenset[str], Geometry] = {}
        self.geometry = self._ruled(frozenset())
        """Bodies as they are checked by the rules of the present motion."""

    def begin(self, joints: Array, gap: float, allowed: Iterable[str] = ()) -> None:
        """Set the rules for the motion that starts at `joints`: see `Checker.begin`."""
        self._flange = self._tools.flange(joints)
        may = frozenset(allowed)
        self.geometry = self._ruled(may)
        if not self._collides(self.geometry, joints, gap):
            return
        bodies = [self._touchable(o, _margin(o.id, may), joints, gap) for o in self._scene.obstacles]
        table = self._touchable_table(_table_margin(may), joints, gap)
        self.geometry = Geometry(tuple(b for b in bodies if b is not None), self._scene.held, table)

    def valid(self, joints: Array, gap: float) -> bool:
        """Return whether nothing is nearer than the rules of the motion allow."""
        self._flange = self._tools.flange(joints)
        return not self._collides(self.geometry, joints, gap)

    def first_invalid(self, path: Array, gap: float, inside: Callable[[], bool]) -> int | None:
        """See `Checker.first_invalid`. The process is asked only once for the whole path."""
        colliding = self._process.colliding(self.geometry, path, gap)
        for i, flange in enumerate(self._tools.flange(path)):
            self._flange = flange
            if colliding[i] or not inside():
                return i
        return None

    def hits(self, joints: Array, gap: float) -> list[Hit]:
        """Return the hits to blame, found by checking the bodies one by one. Depths are not known."""
        return [] if self.valid(joints, gap) else self._blame(joints, gap)

    def flange(self) -> tuple[list[float], list[float]]:
        """Return the position of `tool0` in `world` and its z axis, at the configuration checked last."""
        return self._flange[:3, 3].tolist(), self._flange[:3, 2].tolist()

    def _ruled(self, may: frozenset[str]) -> Geometry:
        """Return the bodies for a motion that begins without contact and may touch some; one per rule."""
        if may not in self._by_rule:
            bodies = tuple(grown(o, _margin(o.id, may)) for o in self._scene.obstacles)
            self._by_rule[may] = Geometry(bodies, self._scene.held, self._top + _table_margin(may))
        return self._by_rule[may]

    def _blame(self, joints: Array, gap: float) -> list[Hit]:
        if self._collides(Geometry(), joints, gap):
            return [Hit("the arm", "itself", 0.0)]
        alone = [(o.id, Geometry((o,))) for o in self.geometry.obstacles]
        if self.geometry.table is not None:
            alone.append((TABLE_SYMBOL, Geometry(table=self.geometry.table)))
        found = [Hit("the arm or gripper", name, 0.0) for name, g in alone if self._collides(g, joints, gap)]
        held = self.geometry.held
        if not found and held is not None:
            part = f"the held {held.thing.id}"
            with_held = [(name, replace(g, held=held)) for name, g in alone]
            found = [Hit(part, name, 0.0) for name, g in with_held if self._collides(g, joints, gap)]
            found = found or [Hit(part, "the arm", 0.0)]
        return found

    def _touchable(self, thing: Obstacle, margin: float, joints: Array, gap: float) -> Obstacle | None:
        for shrink in _START_SHRINK:
            body = grown(thing, min(margin, -shrink) if shrink else margin)
            if not self._collides(Geometry((body,), self._scene.held), joints, gap):
                return body
        return None

    def _touchable_table(self, margin: float, joints: Array, gap: float) -> float | None:
        for shrink in _START_SHRINK:
            top = self._top + (min(margin, -shrink) if shrink else margin)
            if not self._collides(Geometry(held=self._scene.held, table=top), joints, gap):
                return top
        return None

    def _collides(self, geometry: Geometry, joints: Array, gap: float) -> bool:
        return bool(self._process.colliding(geometry, joints, gap)[0])


def _margin(name: str, may: frozenset[str]) -> float:
    return -MAX_PRESS if name in may else OBJECT_CLEARANCE


def _table_margin(may: frozenset[str]) -> float:
    return -MAX_PRESS if TABLE_SYMBOL in may else TABLE_CLEARANCE


def grown(thing: Obstacle, margin: float) -> Obstacle:
    """Return the body with every face moved outwards by `margin` metres (inwards if negative).

    It never becomes thinner than 1 mm: what is too thin for that sinks until its top is where it belongs.
    """
    x, y, z = (max(s + 2 * margin, 0.001) for s in thing.size)
    pose = np.array(thing.pose)
    pose[:3, 3] += (thing.size[2] / 2 + margin - z / 2) * pose[:3, 2]
    return replace(thing, pose=pose, size=(x, y, z))
