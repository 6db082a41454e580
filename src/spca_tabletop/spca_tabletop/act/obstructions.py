"""Obstructions, as facts for the planner: grasps that are blocked, places that are taken.

Geometry decides. Where no grasp of an object, or no place on or next to one, can be reached, each movable
object whose absence would change that is said to be in the way; the planner may then move one of them first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from spca_core.geometry import Array, Pose, top_down
from spca_core.kinds import KINDS, SOLIDS, is_round
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.relation import things_of
from spca_core.scene import Fact, Scene, SceneObject
from spca_motion.manipulator import Manipulator
from spca_robot.kinematics import NOMINAL_GAP, ToolKinematics
from spca_tabletop.act import placements
from spca_tabletop.act.grasps import APPROACH, TIP_CLEARANCE, grasps
from spca_tabletop.act.skill_context import raised, touching

_GAP = 0.06
"""Gap of the fingers in metres when they let a cube go."""

Possible = Callable[[Scene], bool]
"""Function that says whether something can be done in a scene."""
Hindered = tuple[str, list[SceneObject]]
"""Way in which a thing was found to be hindered (`blocks`, `crowds`), and the things that hinder it."""


def out_of_reach(scene: Scene, tools: ToolKinematics) -> tuple[Fact, ...]:
    """Return the facts `far(x)`: in no turn does the tool, pointing down, reach `x` and the place above it.

    A tray is near if half way from its middle to one of its walls is: things are put down there, too.
    """
    ways = {
        (o.id, x, y, z, turn): [top_down(x, y, z + up, o.pose.yaw + turn).matrix() for up in (0.0, APPROACH)]
        for o in scene.objects
        if not scene.holds("held", o.id)
        for x, y, z in _places(o).tolist()
        for turn in (0.0, math.pi / 2)
    }
    if not ways:
        return ()
    reached = tools.reached(np.array([*ways.values()]), NOMINAL_GAP)
    near = {way[0] for way, both in zip(ways, reached, strict=True) if both.all()}
    return tuple(
        Fact(predicate="far", args=(name,)) for name in dict.fromkeys(w[0] for w in ways) if name not in near
    )


def _places(thing: SceneObject) -> Array:
    """Return points (N, 3) at which a thing is handled: its middle; in a tray also half way to the walls."""
    a, b, _ = thing.size
    around = [(0, 0, 0, 1), (a / 4, 0, 0, 1), (-a / 4, 0, 0, 1), (0, b / 4, 0, 1), (0, -b / 4, 0, 1)]
    wide = KINDS[thing.kind].walled and not is_round(thing.kind)
    return np.asarray((np.array(around[: 5 if wide else 1]) @ thing.pose.matrix().T)[:, :3])


def suspicions(scene: Scene, hindered: Mapping[str, Hindered]) -> tuple[Fact, ...]:
    """Return the facts `blocks` and `crowds` of things that turned out to be hindered while acting."""
    return tuple(
        Fact(predicate=predicate, args=(other.id, name))
        for name, (predicate, by) in hindered.items()
        for other in by
        if all(scene.get(thing) is not None for thing in (other.id, *things_of(name)))
    )


def in_the_way(
    scene: Scene, thing: SceneObject, arm: Manipulator, possible: Possible, row: Sequence[SceneObject] = (),
    alone: Collection[str] | None = None,
) -> list[SceneObject]:  # fmt: skip
    """Return the movable things without which something would be possible at another thing.

    If none of them is by itself (`alone`, if known, are those that can be), as few near ones as it would be
    possible without. The `row` that is to go on is not meant.
    """
    near = [o for o in neighbours(scene, thing) if o not in row and o.id != arm.held]

    def helps(others: Sequence[SceneObject]) -> bool:
        names = {o.id for o in others}
        with arm.supposing(*names):
            return possible(scene.without(names))

    decisive = [o for o in near if (alone is None or o.id in alone) and helps([o])]
    together = near if not decisive and helps(near) else []
    for o in list(together):
        if helps(fewer := [other for other in together if other is not o]):
            together = fewer
    # with what it carries, the lower one goes
    return decisive or [o for o in together if not any(scene.holds("on", o.id, b.id) for b in together)]


def obstructions(scene: Scene, arm: Manipulator, tip_reach: float) -> Iterator[Fact]:
    """Yield the facts `blocks(b, x)`, `crowds(b, x)` and `hems(b, x)`.

    `b` keeps the fingers from grasping `x` or leaves no room on it; `b` leaves no room next to `x`; `x`
    cannot be grasped, and can once it has been pushed out, and `b` with it.
    """

    def reachable(pose: Pose) -> bool:
        # While something is held, only the room on the table counts: the arm would plan with the held object.
        return bool(arm.held) or all(arm.reachable(p, _GAP) for p in (pose, raised(pose, APPROACH)))

    def graspable(thing: SceneObject) -> Possible:
        def possible(seen: Scene) -> bool:
            with touching(arm, thing.id):
                return any(True for _ in grasps(seen, thing.id, arm, tip_reach))

        return possible

    def room(candidates: Callable[[Scene], Iterator[tuple[Pose, ...]]], base: SceneObject) -> Possible:
        def possible(seen: Scene) -> bool:
            with touching(arm, base.id, TABLE_SYMBOL):
                return any(all(map(reachable, way)) for way in candidates(seen))

        return possible

    def beside(thing: SceneObject) -> Possible:
        row = row_of(scene, thing)

        def candidates(_seen: Scene) -> Iterator[tuple[Pose, ...]]:
            spots = placements.next_to(thing, hold, row)
            return ((spot.pose, spot.contact) for spot in placements.in_line(spots, thing, row))

        return room(candidates, thing)

    def upon(thing: SceneObject) -> Possible:
        return room(lambda seen: zip(placements.on_top(thing, seen, "", hold, tip_reach), strict=True), thing)

    def hindered_by(
        thing: SceneObject, possible: Possible, row: Sequence[SceneObject] = (), fixed: bool = True
    ) -> list[str] | None:
        """Return what hinders something, None if nothing does; `fixed`: poses depend on nothing else."""
        with arm.supposing() as alone:
            if not neighbours(scene, thing) or possible(scene):
                return None
        return [o.id for o in in_the_way(scene, thing, arm, possible, row, alone if fixed else None)]

    hold = placements.Hold(height=max(placements.Hold.height, tip_reach + TIP_CLEARANCE))
    stuck: dict[str, list[str]] = {}
    for thing in scene.objects:
        blocked = crowded = None
        if KINDS[thing.kind].room == "many":
            blocked = hindered_by(thing, upon(thing), fixed=False)
        elif thing.kind in SOLIDS and not scene.holds("on", thing.id, GROUND_SYMBOL):
            if arm.held is None and scene.holds("clear", thing.id):
                blocked = hindered_by(thing, graspable(thing))
                stuck |= {} if blocked is None else {thing.id: blocked}
            if scene.holds("on", thing.id, TABLE_SYMBOL):
                crowded = hindered_by(thing, beside(thing), row_of(scene, thing))
        for predicate, by in (("blocks", blocked), ("crowds", crowded)):
            yield from (Fact(predicate=predicate, args=(other, thing.id)) for other in by or ())
    for name, by in stuck.items():
        if stuck.keys() >= {*by}:  # nothing that is in its way can be taken away
            from spca_tabletop.act.pushes import pushes

            push = next(pushes(scene, name, arm, tip_reach), None)
            yield from (Fact(predicate="hems", args=(o, name)) for o in (push.things if push else ()))


def row_of(scene: Scene, thing: SceneObject) -> list[SceneObject]:
    """Return the solids that stand next to a thing."""
    return [o for o in scene.of_kind(*SOLIDS) if scene.holds("next_to", o.id, thing.id)]


def neighbours(scene: Scene, thing: SceneObject) -> list[SceneObject]:
    """Return the things that could be moved and are near enough to be in the way."""
    return [
        o
        for o in scene.of_kind(*SOLIDS)
        if o.id != thing.id
        and math.dist(o.pose.position[:2], thing.pose.position[:2]) < placements.ELBOW_ROOM
        and not scene.holds("held", o.id)
    ]
