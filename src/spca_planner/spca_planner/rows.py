"""Where things lie, as a model is told: in rows, and on request in numbers."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import chain, combinations, pairwise

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


_MOST_MEASURED = 12


def measured(observation: Observation, names: Collection[str]) -> str:
    """Places, sizes and distances of the things of these names, in centimetres."""
    things = [t for t in observation.things if t.id in names][:_MOST_MEASURED]
    told = ["centimetres between centres; x away from the robot, y to the left, z up"]
    for thing in things:
        at, size = (" ".join(f"{100 * v:.1f}" for v in xyz) for xyz in (thing.pose.position, thing.size))
        told.append(f"{thing.id}: at {at}, size {size}, turned by {math.degrees(thing.pose.yaw):.0f} degrees")
    for a, b in combinations(things, 2):
        told.append(f"{a.id} to {b.id}: {100 * math.dist(a.pose.position[:2], b.pose.position[:2]):.1f}")
    unknown = ", ".join(sorted({*names} - {t.id for t in things}))[:200] or "nothing else"
    return "; ".join((*told, f"not measured: {unknown}"))
