"""Contacts between the objects of a layout, by geometry alone, before anything moves."""

from __future__ import annotations

import math

from spca_core.contacts import Pair
from spca_core.layout import Layout
from spca_core.world import World

_TOUCHING = 1e-4
"""Metres between two faces that still touch."""


def resting_contacts(layout: Layout, world: World) -> set[Pair]:
    """Return each thing of a layout that rests on another or on the table: (upper, lower)."""
    found = set()
    for model, pose in layout.poses.items():
        x, y, z = pose.position
        item = world.object(model)
        bottom = z - item.size[2] / 2
        if abs(bottom - world.table.top) < _TOUCHING:
            found.add((model, world.table.model))
        for other, below in layout.poses.items():
            top = below.position[2] + world.object(other).deck
            if other != model and abs(bottom - top) < _TOUCHING:
                reach = world.object(other).radius + item.size[0] / 2
                if math.dist((x, y), below.position[:2]) < reach:
                    found.add((model, other))
    return found


def overlapping(a: str, b: str, layout: Layout, world: World) -> bool:
    """Return whether two models are inside each other; measured by the circles within their footprints."""
    pa, pb = layout.poses[a].position, layout.poses[b].position
    sa, sb = world.object(a), world.object(b)
    apart = math.dist(pa[:2], pb[:2]) - (sa.size[0] + sb.size[0]) / 2
    upper, lower, carrier = (pa, pb, sb) if pa[2] > pb[2] else (pb, pa, sa)
    above = upper[2] - (sa if upper is pa else sb).size[2] / 2 - lower[2]
    return apart < 0 and above < carrier.deck - 1e-6
