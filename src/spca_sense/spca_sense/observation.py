"""A scene as any environment's observation."""

from __future__ import annotations

from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.scene import Scene


def observation_of(scene: Scene) -> Observation:
    """Return a scene as an observation: symbols with their kinds, facts and sentences.

    The table is always a symbol, the ground only when something lies on it.
    The scene itself, with its notes and numbers, is for programs; no prompt shows it.
    """
    objects: dict[str, str] = {o.id: o.kind for o in scene.objects}
    objects[TABLE_SYMBOL] = "table"
    if any(GROUND_SYMBOL in f.args for f in scene.relations):
        objects[GROUND_SYMBOL] = "ground"
    return Observation(
        stamp=scene.stamp,
        objects=objects,
        facts=scene.relations,
        sentences=scene.sentences,
        hidden=tuple(o.id for o in scene.objects if not o.visible and not scene.holds("held", o.id)),
        scene=scene,
        restated=True,
    )
