"""Paths by MoveIt: several goals and attempts, each path checked again by the project's rules.

The planning process only knows whether solid bodies touch. The clearances of `spca_motion.collision` are
therefore encoded in sizes. An obstacle grows by the required clearance, one that may be touched shrinks by
the allowed depth of contact, and one in contact at the start shrinks until it is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from spca_core.errors import Interrupted
from spca_core.geometry import Array
from spca_core.names import TABLE_SYMBOL
from spca_core.ports.table import Robot
from spca_core.stopping import Stop
from spca_core.world import World
from spca_motion.collision import MAX_PRESS, OBJECT_CLEARANCE, TABLE_CLEARANCE, Hit, Obstacle, PlanningScene
from spca_motion.execution import Tolerances
from spca_motion.manipulator import Manipulator
from spca_motion.moveit.process import Geometry, PathRequest, PlannerProcess
from spca_motion.paths import Piece, rounded
from spca_motion.planner import MotionPlanner
from spca_motion.search import PathNotFound, Query
from spca_robot.kinematics import ToolKinematics

# Amounts (m) by which a body in contact at the start is shrunk, in turn; if none suffices, it is ignored.
_START_SHRINK = (0.0, 0.002, 0.004, 0.008, 0.016)


class ProcessChecker:
    """See `spca_motion.search.Checker`; checks one planning scene in the planning process."""

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

        def touchable(name: str, thing: Obstacle | None = None) -> Geometry:
            """Return a thing, or the table, shrunk as far as it must be so as not to collide."""
            for shrink in _START_SHRINK:
                margin = min(_margin(name, may), -shrink) if shrink else _margin(name, may)
                geometry = Geometry((grown(thing, margin),)) if thing else Geometry(table=self._top + margin)
                if not self._collides(replace(geometry, held=self._scene.held), joints, gap):
                    return geometry
            return Geometry()

        bodies = [touchable(o.id, o) for o in self._scene.obstacles]
        table = touchable(TABLE_SYMBOL).table
        self.geometry = Geometry(tuple(o for b in bodies for o in b.obstacles), self._scene.held, table)

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
        if self.valid(joints, gap):
            return []
        if self._collides(Geometry(), joints, gap):
            return [Hit("the arm", "itself", 0.0)]
        alone = [(o.id, Geometry((o,))) for o in self.geometry.obstacles]
        if self.geometry.table is not None:
            alone.append((TABLE_SYMBOL, Geometry(table=self.geometry.table)))
        found = [Hit("the arm or gripper", name, 0.0) for name, g in alone if self._collides(g, joints, gap)]
        held = self.geometry.held
        if held is not None:
            part, others = f"the held {held.thing.id}", {hit.other for hit in found}
            if self._collides(Geometry(held=held), joints, gap):
                return [*found, Hit(part, "the arm", 0.0)]
            with_held = [(name, replace(g, held=held)) for name, g in alone if name not in others]
            found += [Hit(part, name, 0.0) for name, g in with_held if self._collides(g, joints, gap)]
        return found

    def kernel(self, gap: float, box: Array | None, reach: float, needed: bool = False) -> None:
        """See `Checker.kernel`: none knows the rules of the planning process."""

    def flange(self) -> tuple[list[float], list[float]]:
        """Return the position of `tool0` in `world` and its z axis, at the configuration checked last."""
        return self._flange[:3, 3].tolist(), self._flange[:3, 2].tolist()

    def _ruled(self, may: frozenset[str]) -> Geometry:
        """Return the bodies for a motion that begins without contact and may touch some; one per rule."""
        if may not in self._by_rule:
            bodies = tuple(grown(o, _margin(o.id, may)) for o in self._scene.obstacles)
            self._by_rule[may] = Geometry(bodies, self._scene.held, self._top + _margin(TABLE_SYMBOL, may))
        return self._by_rule[may]

    def _collides(self, geometry: Geometry, joints: Array, gap: float) -> bool:
        return bool(self._process.colliding(geometry, joints, gap)[0])


def _margin(name: str, may: frozenset[str]) -> float:
    return -MAX_PRESS if name in may else TABLE_CLEARANCE if name == TABLE_SYMBOL else OBJECT_CLEARANCE


def grown(thing: Obstacle, margin: float) -> Obstacle:
    """Return the body with every face moved outwards by `margin` metres (inwards if negative).

    It never becomes thinner than 1 mm: what is too thin for that sinks until its top is where it belongs.
    """
    x, y, z = (max(s + 2 * margin, 0.001) for s in thing.size)
    pose = np.array(thing.pose)
    pose[:3, 3] += (thing.size[2] / 2 + margin - z / 2) * pose[:3, 2]
    return replace(thing, pose=pose, size=(x, y, z))


_GOALS, _ATTEMPTS = 4, 3  # configurations of a goal that are tried, and how often, in turns
_STRAIGHT = 1e-4  # rad; a corner that bends less is none


class MoveItSearch:
    """See `spca_motion.search.PathSearch`. MoveIt's paths are not taken on trust: each is checked again."""

    def __init__(self, process: PlannerProcess, seconds: float = 5.0) -> None:
        """Limit each attempt to `seconds` of wall time."""
        self._process, self._seconds = process, seconds

    def path(self, query: Query, goals: Array, cost: Array, stop: Stop) -> list[Piece]:
        """See `PathSearch`."""
        checker = query.checker
        assert isinstance(checker, ProcessChecker)
        goals = goals[:_GOALS]
        for goal in goals:
            if (straight := query.straight(goal)) is not None:
                return straight
        start, rejected = query.start, list[str]()
        nothing = 0
        for attempt in range(_ATTEMPTS):
            # MoveIt searches several times as long where a path constraint holds, and most paths stay in the
            # workspace without one: it constrains only the further attempts.
            box = query.box if attempt else None
            for goal in goals:
                if stop():
                    raise Interrupted
                wanted = PathRequest(start.joints, goal, start.gap, self._seconds, box, query.reach)
                path = self._process.plan(checker.geometry, wanted, stop)
                if path is None:
                    nothing += 1
                    continue
                if why := _mismatch(path, start.joints, goal):
                    rejected.append(why)
                    continue
                waypoints = np.vstack([start.joints, bends(path)[1:-1], goal])
                if (pieces := query.smooth(waypoints)) is not None:
                    return pieces
                rejected.append(str(query.fault(rounded(waypoints, [0.0] * len(waypoints)))))
        tries = f"MoveIt found none in {nothing} of {nothing + len(rejected)} searches"
        raise PathNotFound(f"{tries}, and what it found was rejected: {rejected[-1]}" if rejected else tries)


def bends(path: Array) -> Array:
    """Return the ends of a path (m, n) and those points between at which it turns."""
    keep = [0]
    for i in range(1, len(path) - 1):
        along, ahead = path[i] - path[keep[-1]], path[i + 1] - path[keep[-1]]
        length = float(ahead @ ahead)
        off = along if length == 0 else along - ahead * float(along @ ahead) / length
        if np.linalg.norm(off) > _STRAIGHT:
            keep.append(i)
    return np.asarray(path[[*keep, len(path) - 1]])


def _mismatch(path: Array, start: Array, goal: Array) -> str:
    if path.ndim != 2 or path.shape[0] < 2 or path.shape[1] != len(start) or not np.isfinite(path).all():
        return f"it is no path of {len(start)} joints"
    if max(np.abs(path[0] - start).max(), np.abs(path[-1] - goal).max()) > 1e-3:
        return "it does not lead from the start to the goal"
    return ""


def moveit_arm(
    world: World, robot: Robot, process: PlannerProcess, tolerances: Tolerances | None = None,
    speed: float = 1.0,
) -> Manipulator:  # fmt: skip
    """Return the arm with MoveIt's collision checks and searches; see `Manipulator` for the rest.

    They run in `process`, which the caller must close.
    """
    planner = MotionPlanner(world, partial(ProcessChecker, process=process), MoveItSearch(process))
    return Manipulator(world, robot, tolerances, speed, planner)
