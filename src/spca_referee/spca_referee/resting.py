"""Contacts between the objects of a layout, by geometry alone, before anything moves."""

from __future__ import annotations

import math

from spca_core.contacts import Pair
from spca_core.layout import Layout
from spca_core.world import World

_TOUCHING = 1e-4
"""Distance in metres between two faces that still touch."""


def resting_contacts(layout: Layout, world: World) -> set[Pair]:
    """Return the pairs (upper, lower) of a layout in which a thing rests on another or on the table."""
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
    """Return whether two models are inside each other, by the circles within their footprints."""
    places, things = [layout.poses[m].position for m in (a, b)], [world.object(m) for m in (a, b)]
    apart = math.dist(places[0][:2], places[1][:2]) - sum(min(t.size[:2]) for t in things) / 2
    feet = [at[2] - thing.size[2] / 2 for at, thing in zip(places, things, strict=True)]
    decks = [at[2] + thing.deck for at, thing in zip(places, things, strict=True)]
    stands = feet[0] > decks[1] - _TOUCHING or feet[1] > decks[0] - _TOUCHING  # in a deep bowl, too
    return apart < -_TOUCHING and not stands
