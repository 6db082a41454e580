"""The things of a scene in rows, which is how a model is told what lies left and near of what."""

from __future__ import annotations

from itertools import chain, pairwise

from spca_core.observation import Observation
from spca_core.scene import TIE


def rows(observation: Observation) -> dict[str, str]:
    """All things that rest somewhere, from left to right (-y) and from near to far (x).

    They say more than who is the first of its kind; none are told of what else than a scene is observed.
    """
    held = {f.args[0] for f in observation.facts if f.predicate == "held"}
    things = [t for t in observation.things if t.id not in held] if observation.restated else []
    if len(things) < 2:
        return {}
    found = {}
    for words, axis, sign in (("from left to right", 1, -1), ("from near to far", 0, 1)):
        places = sorted((sign * t.pose.position[axis], t.id) for t in things)
        marks = (" = " if b - a < TIE else ", " for (a, _), (b, _) in pairwise(places))
        found[words] = "".join(
            chain.from_iterable(zip((name for _, name in places), (*marks, ""), strict=True))
        )
    return found
