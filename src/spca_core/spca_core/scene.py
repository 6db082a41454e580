"""The typed scene that Sense makes from images, and the report of every environment to the planner.

Frame `world`, metres, radians.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from spca_core.geometry import Pose, Vec3, wrap_angle
from spca_core.kinds import KINDS, ObjectKind, Upright
from spca_core.model import Record
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL

_TOLERANCE, _TURN = 0.005, 0.08
"""Largest changes, in metres and in radians, that may be errors of perception."""


class SceneObject(Upright, Record):
    """A perceived thing. `id` is its planning symbol (`cube_red`) and stays the same from look to look.

    `pose` is its centre (a cube's yaw lies in [-π/4, π/4)); `visible` is False for one remembered but not
    seen now.
    """

    id: str
    kind: ObjectKind
    colour: str
    pose: Pose
    size: Vec3
    confidence: float
    visible: bool = True
    last_seen: float = 0.0

    def stands_like(self, other: SceneObject) -> bool:
        """Return whether it is seen as it was, up to its symmetry; how certain it is does not count."""
        a, b = self, other
        period, square = KINDS[a.kind].yaw_period, abs(a.size[0] - a.size[1]) < _TOLERANCE
        period = math.pi / 2 if square and period == math.pi else period or _TURN
        return (
            (a.id, a.kind, a.colour, a.visible) == (b.id, b.kind, b.colour, b.visible)
            and np.allclose((*a.size, *a.pose.position), (*b.size, *b.pose.position), rtol=0, atol=_TOLERANCE)
            and np.allclose(a.pose.matrix()[:3, 2], b.pose.matrix()[:3, 2], rtol=0, atol=_TURN)
            and abs(wrap_angle(a.pose.yaw - b.pose.yaw, period)) < _TURN
        )


class Fact(Record):
    """A ground atom such as on(cube_red, table). Predicates are listed in `spca_core.scene.RELATIONS`."""

    predicate: str
    args: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.args)})"

    @property
    def pddl(self) -> str:
        """The fact as PDDL writes it, which is how models are told: `(on cube_red table)`."""
        return f"({' '.join((self.predicate, *self.args))})"


# What Sense says about objects, besides rows' relations, as the camera sees it: left is +y, near is small x.
RELATIONS = {
    "on": "?a rests on ?b (an object or the table)",
    "next_to": "?a and ?b stand side by side and touch",
    "held": "?a is in the gripper",
    "clear": "nothing rests on ?a",
    "leftmost": "?a is the leftmost of its kind",
    "rightmost": "?a is the rightmost of its kind",
    "middle": "?a is in the middle of its kind",
    "nearest": "?a is the nearest to the robot of its kind",
    "farthest": "?a is the farthest from the robot of its kind",
    "far": "?a lies farther away than the arm reaches from above",
    "blocks": "?a keeps the fingers away from ?b, or leaves no room on it",
    "hems": "?b cannot be grasped, but pushed out, and ?a moves with it",
    "crowds": "?a leaves no room for another thing next to ?b",
    "larger": "?a is clearly larger than ?b, of the same kind",
}
ROLES = ("leftmost", "rightmost", "middle", "nearest", "farthest")
"""Predicates that single out one of all its kind: they change hands whenever anything moves."""
TIE = 0.003
"""Difference in metres within which two things count as equally far left or near."""


class Scene(Record):
    """The objects on the table at `stamp` (simulated s), their relations, and a description in sentences.

    The description has 4-8 sentences and no numbers.
    """

    stamp: float
    objects: tuple[SceneObject, ...]
    relations: tuple[Fact, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """Disagreements and doubts worth recording; never shown to a planner."""

    def get(self, object_id: str) -> SceneObject | None:
        """Return the object of that id, or None."""
        return next((o for o in self.objects if o.id == object_id), None)

    def of_kind(self, *kinds: str) -> list[SceneObject]:
        """Return all objects of these kinds, in the scene's order."""
        return [o for o in self.objects if o.kind in kinds]

    def holds(self, predicate: str, *args: str) -> bool:
        """Return whether a relation is among the perceived ones."""
        return any(fact.predicate == predicate and fact.args == args for fact in self.relations)

    def without(self, names: Collection[str]) -> Scene:
        """Return the scene without things of these names, and what relates to them."""
        objects = tuple(o for o in self.objects if o.id not in names)
        relations = tuple(f for f in self.relations if not {*names}.intersection(f.args))
        return self.model_copy(update={"objects": objects, "relations": relations})

    def replacing(self, things: Mapping[str, SceneObject]) -> Scene:
        """Return the scene with these things in place of those of their names; relations are as they were."""
        return self.model_copy(update={"objects": tuple(things.get(o.id, o) for o in self.objects)})


OBSTRUCTED = "something high above the table hides part of the view"
"""Note in a scene that part of the view is hidden: what lies there has not been seen."""

CHECKPOINT_KINDS = (Scene, SceneObject, Fact, Pose)
"""Classes of which a scene consists, for `spca_core.checkpoint`."""


REMARK = "Remark of "
"""Beginning of a sentence that quotes somebody, such as an image model."""
GUESSED = 0.5
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

    def looks_like(self, other: Observation) -> bool:
        """Return whether both show the same things in the same places, within perception's error.

        Facts count only where an environment reports neither a scene nor a record of its own.
        """
        if self.scene is not None and other.scene is not None:
            same = map(SceneObject.stands_like, self.things, other.things)
            return len(self.things) == len(other.things) and all(same)
        return self.detail == other.detail if self.detail else {*self.facts} == {*other.facts}

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
            if thing.visible and thing.confidence >= GUESSED
        }

    def holds(self, predicate: str, *args: str) -> bool:
        """Return whether a ground atom is among the facts."""
        return Fact(predicate=predicate, args=args) in self.facts
