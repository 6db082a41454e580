"""What is in the way, as facts for the planner: grasps that are blocked, places that are taken.

Geometry decides. Where no grasp of an object, or no place on or next to one, can be reached, each movable
object whose absence would change that is said to be in the way; the planner may then move one of them first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from spca_core.geometry import Pose
from spca_core.kinds import KINDS, SOLIDS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.ports.arm import Arm
from spca_core.scene import Fact, Scene, SceneObject
from spca_tabletop.act import placements
from spca_tabletop.act.contact import touching
from spca_tabletop.act.conversion import raised
from spca_tabletop.act.grasps import APPROACH, TIP_CLEARANCE, grasps

_NEAR = 0.14
"""Metres between the centres of two objects within which one can be in the way of the other's handling."""
_GAP = 0.06
"""Metres that the fingers are open when they let a cube go."""

_Possible = Callable[[Scene, tuple[str, ...]], bool]
"""Whether something can be done in a scene while the gripper may touch the named objects."""


def obstructions(scene: Scene, arm: Arm, tip_reach: float) -> tuple[Fact, ...]:
    """The facts `blocks(b, x)` and `crowds(b, x)`.

    `b` keeps the fingers from grasping `x` or leaves no room on it; `b` leaves no room next to `x`.
    """
    return tuple(_found(scene, arm, tip_reach))


def suspicions(scene: Scene, hindered: Mapping[str, str]) -> tuple[Fact, ...]:
    """The same facts about things that turned out to be hindered (name: predicate) while acting.

    Nobody can tell by what, so every neighbour is named.
    """
    return tuple(
        Fact(predicate=predicate, args=(other.id, name))
        for name, predicate in hindered.items()
        if (thing := scene.get(name)) is not None
        for other in _neighbours(scene, thing)
    )


def _found(scene: Scene, arm: Arm, tip_reach: float) -> Iterator[Fact]:
    def reachable(pose: Pose) -> bool:
        # While something is held, only the room on the table counts: the arm would plan with the held object.
        return arm.held is not None or (
            arm.reachable(pose, _GAP) and arm.reachable(raised(pose, APPROACH), _GAP)
        )

    def graspable(thing: SceneObject) -> _Possible:
        def possible(seen: Scene, touched: tuple[str, ...]) -> bool:
            with touching(arm, thing.id, *touched):
                return any(True for _ in grasps(seen, thing.id, arm, tip_reach))

        return possible

    def room(candidates: Callable[[Scene], Iterator[Pose]], base: SceneObject) -> _Possible:
        def possible(seen: Scene, touched: tuple[str, ...]) -> bool:
            with touching(arm, base.id, TABLE_SYMBOL, *touched):
                return any(map(reachable, candidates(seen)))

        return possible

    def beside(thing: SceneObject) -> _Possible:
        return room(lambda seen: (spot.pose for spot in placements.next_to(thing, hold)), thing)

    def upon(thing: SceneObject) -> _Possible:
        return room(lambda seen: placements.on_top(thing, seen, "", hold, tip_reach), thing)

    hold = placements.Hold(height=max(placements.Hold.height, tip_reach + TIP_CLEARANCE))
    for thing in scene.objects:
        if KINDS[thing.kind].room == "many":
            yield from _in_the_way("blocks", scene, thing, upon(thing))
        elif thing.kind in SOLIDS and not scene.holds("on", thing.id, GROUND_SYMBOL):
            if arm.held is None and scene.holds("clear", thing.id):
                yield from _in_the_way("blocks", scene, thing, graspable(thing))
            if scene.holds("on", thing.id, TABLE_SYMBOL):
                yield from _in_the_way("crowds", scene, thing, beside(thing))


def _in_the_way(predicate: str, scene: Scene, thing: SceneObject, possible: _Possible) -> Iterator[Fact]:
    """Nothing if it is possible as things are; else those without which it would be, or all that are near."""
    near = _neighbours(scene, thing)
    if not near or possible(scene, ()):
        return
    decisive = [o for o in near if possible(_without(scene, o.id), (o.id,))]
    for other in decisive or near:
        yield Fact(predicate=predicate, args=(other.id, thing.id))


def _neighbours(scene: Scene, thing: SceneObject) -> list[SceneObject]:
    """What could be moved and is near enough to be in the way."""
    return [
        o
        for o in scene.of_kind(*SOLIDS)
        if o.id != thing.id
        and not scene.holds("held", o.id)
        and math.dist(o.pose.position[:2], thing.pose.position[:2]) < _NEAR
    ]


def _without(scene: Scene, name: str) -> Scene:
    return scene.model_copy(
        update={
            "objects": tuple(o for o in scene.objects if o.id != name),
            "relations": tuple(f for f in scene.relations if name not in f.args),
        }
    )
