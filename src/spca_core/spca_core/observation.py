"""Report of every environment to the planner: symbols, facts and sentences."""

from __future__ import annotations

from typing import Any

from spca_core.geometry import Vec3
from spca_core.model import Record
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.scene import ROLES, Fact, Scene, SceneObject

REMARK = "Remark of "
"""Beginning of a sentence that quotes somebody, such as an image model."""
_CLEARLY = 0.5
"""Confidence of perception below which the place of a thing is a guess."""


class Observation(Record):
    """An environment's state in words and symbols.

    `objects` maps each symbol to its kind; `facts` are the ground atoms that hold now; `sentences` say the
    same in plain words without numbers.
    """

    stamp: float
    objects: dict[str, str]
    facts: tuple[Fact, ...]
    sentences: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Objects that are remembered but not in sight: the facts about them may be out of date."""
    scene: Scene | None = None
    """The perceived scene with poses and sizes; None where there is no camera. Never in prompts."""
    detail: dict[str, Any] = {}
    """The environment's own record: no other package reads it, no prompt shows it, it does not cross ROS."""
    restated: bool = False
    """The sentences only say the facts again, except for those that begin with `REMARK`."""

    @classmethod
    def of(cls, scene: Scene) -> Observation:
        """Return a scene as an observation: symbols with their kinds, facts and sentences.

        The table is always a symbol, the ground only when something lies on it.
        """
        objects: dict[str, str] = {o.id: o.kind for o in scene.objects}
        objects[TABLE_SYMBOL] = "table"
        if any(GROUND_SYMBOL in f.args for f in scene.relations):
            objects[GROUND_SYMBOL] = "ground"
        return cls(
            stamp=scene.stamp,
            objects=objects,
            facts=scene.relations,
            sentences=scene.sentences,
            hidden=tuple(o.id for o in scene.objects if not o.visible and not scene.holds("held", o.id)),
            scene=scene,
            restated=True,
        )

    @property
    def things(self) -> tuple[SceneObject, ...]:
        """The objects of the scene; none where the environment has no scene."""
        return self.scene.objects if self.scene is not None else ()

    @property
    def told(self) -> tuple[Fact, ...]:
        """The facts by which a failure is told: all but those of `ROLES`, such as which cube is leftmost."""
        return tuple(f for f in self.facts if f.predicate not in ROLES)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The sentences that say more than the facts do."""
        return tuple(s for s in self.sentences if not self.restated or s.startswith(REMARK))

    @property
    def positions(self) -> dict[str, Vec3]:
        """Centres (metres, in `world`) of the things clearly in sight; empty where nothing is measured."""
        return {
            thing.id: thing.pose.position
            for thing in self.things
            if thing.visible and thing.confidence >= _CLEARLY
        }

    def holds(self, predicate: str, *args: str) -> bool:
        """Return whether a ground atom is among the facts."""
        return Fact(predicate=predicate, args=args) in self.facts
