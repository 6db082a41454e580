"""Layouts: the initial poses of the movable objects of a level, and which of them touch by geometry alone.

They are ground truth, for simulators and referees only.
"""

from __future__ import annotations

import math

import numpy as np

from spca_core.contacts import Pair
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.model import Record
from spca_core.world import World, WorldObject

# Attempts before the area counts as too small. With the default spacing a third attempt is rare.
_STARTS = 100
_STRIDE = 1_000_003  # between the seeds of successive attempts, so that neighbouring layout seeds share none
_GIVE_UP = 0.002  # probability of starting over after each rejected position


class Layout(Record):
    """Poses (centre, in `world`) of the objects by model name; absent objects are not in the world."""

    poses: dict[str, Pose]
    seed: int | None = None


def nominal_layout(world: World) -> Layout:
    """Return the layout that is written in the world file."""
    return Layout(poses={o.model: _lying(world, o.model, *o.position, o.yaw) for o in world.objects})


def random_layout(world: World, seed: int, spacing: float = 0.045) -> Layout:
    """Return a layout with positions and yaws drawn by `seed` over the whole work area.

    `spacing` is the least free distance in metres between the circles around any two objects; the default
    leaves room for a finger and is reduced where the area is too small. Whole objects stay inside the area.
    Raises InputError when the area is too small, and for a negative seed.
    """
    if seed < 0:
        raise InputError(f"seed {seed} is negative", hint="seeds are 0, 1, 2 and so on")
    r = max((max(o.size[:2]) / 2 for o in world.objects), default=0.0)
    if all(low + r <= high - r for low, high in (world.work_area.x, world.work_area.y)):
        for k in range(_STARTS):
            tighter = spacing * (1.0 if k < _STARTS // 2 else 0.6)
            if (poses := _scattered(world, seed + k * _STRIDE, tighter)) is not None:
                return Layout(poses={o.model: poses[o.model] for o in world.objects}, seed=seed)
    hint = "use less spacing, or fewer objects"
    raise InputError("the work area is too small for a random table", hint=hint)


def _scattered(world: World, seed: int, spacing: float) -> dict[str, Pose] | None:
    """Return the poses of one attempt at a random layout, or None when no free position was found."""
    rng = np.random.default_rng(seed)
    area = world.work_area
    placed: list[tuple[float, float, float]] = []
    poses: dict[str, Pose] = {}
    for item in sorted(world.objects, key=lambda o: -o.radius):
        r = max(item.size[:2]) / 2
        while True:
            x = float(rng.uniform(area.x[0] + r, area.x[1] - r))
            y = float(rng.uniform(area.y[0] + r, area.y[1] - r))
            if all(math.hypot(x - px, y - py) >= item.radius + pr + spacing for px, py, pr in placed):
                break
            if rng.random() < _GIVE_UP:
                return None
        placed.append((x, y, item.radius))
        poses[item.model] = _lying(world, item.model, x, y, float(rng.uniform(-math.pi, math.pi)))
    return poses


def _lying(world: World, model: str, x: float, y: float, yaw: float) -> Pose:
    return Pose.from_xyz_yaw(x, y, world.table.top + world.object(model).size[2] / 2, yaw)


def cluttered_layout(world: World, seed: int, spacing: float = 0.014) -> Layout:
    """Return a crowded layout: little space between objects, cubes on plates, sometimes a cube on another.

    With `spacing` metres between any two on the table, the open fingers fit between two neighbours only in
    some directions. Raises InputError as `random_layout` does.
    """
    layout = random_layout(world, seed, spacing)
    rng = np.random.default_rng([seed, 0xC1])
    poses = dict(layout.poses)
    cubes = [o for o in world.objects if o.kind == "cube" and o.model in poses]
    plates = [o for o in world.objects if o.kind == "plate" and o.model in poses]
    free = list(rng.permutation(len(plates)))

    def put(top: WorldObject, base: WorldObject, off: float) -> None:
        (x, y, z), (dx, dy) = poses[base.model].position, rng.uniform(-off, off, 2)
        height = z + (base.size[2] + top.size[2]) / 2
        poses[top.model] = Pose.from_xyz_yaw(x + float(dx), y + float(dy), height, poses[top.model].yaw)

    for cube in cubes:
        draw = rng.random()
        if draw < 0.35 and free:  # on a plate, hiding part of it; not quite in its middle
            put(cube, plates[int(free.pop())], 0.02)
    if rng.random() < 0.25 and len(cubes) > 1:
        top, base = (cubes[int(i)] for i in rng.choice(len(cubes), 2, replace=False))
        put(top, base, 0.006)
    return Layout(poses=poses, seed=seed)


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


def overlapping(a: str, b: str, layout: Layout, world: World, around: bool = False) -> bool:
    """Return whether two models are inside each other, by the circles in their footprints, or `around`."""
    places, things = [layout.poses[m].position for m in (a, b)], [world.object(m) for m in (a, b)]
    apart = math.dist(places[0][:2], places[1][:2]) - sum(
        t.radius if around else min(t.size[:2]) / 2 for t in things
    )
    feet = [at[2] - thing.size[2] / 2 for at, thing in zip(places, things, strict=True)]
    decks = [at[2] + thing.deck for at, thing in zip(places, things, strict=True)]
    stands = feet[0] > decks[1] - _TOUCHING or feet[1] > decks[0] - _TOUCHING  # in a deep bowl, too
    return apart < -_TOUCHING and not stands
