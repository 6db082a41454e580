"""The kinds of things on a table, a row for each: their shape, what they are for, what they are called."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from spca_core.geometry import Vec3

ObjectKind = Literal[
    "cube", "cuboid", "cylinder", "ball", "plate", "mat", "bowl", "tray", "sign", "table", "unknown"
]
WALL, FLOOR = 0.007, 0.004
"""Thickness of the wall and of the floor of a bowl or a tray, metres."""

_BOWL_SIDES = 16


@dataclass(frozen=True)
class Kind:
    """What is true of every thing of a kind.

    `solid` things are grasped and moved; the others are what solids are put on or, with walls, into.
    `outline` is what it looks like from above. `room` is how many solids it carries: one, or as many as fit.
    """

    name: ObjectKind
    nouns: tuple[str, ...]
    outline: Literal["rectangle", "disc"]
    solid: bool = False
    domed: bool = False
    walled: bool = False
    room: Literal["one", "many", "none"] = "one"

    @property
    def yaw_period(self) -> float:
        """The turn about the vertical, in radians, after which it looks the same (0: after any turn)."""
        return 0.0 if self.outline == "disc" else math.pi / 2 if self.name == "cube" else math.pi


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("cube", ("cube", "block", "box", "brick"), "rectangle", solid=True),
        Kind("cuboid", ("cuboid", "bar", "slab", "block", "box", "brick"), "rectangle", solid=True),
        Kind("cylinder", ("cylinder", "can"), "disc", solid=True),
        Kind("ball", ("ball", "sphere"), "disc", solid=True, domed=True, room="none"),
        Kind("plate", ("plate", "disc", "disk", "dish", "saucer", "coaster"), "disc", room="many"),
        Kind("mat", ("mat", "pad"), "rectangle"),
        Kind("bowl", ("bowl", "basket"), "disc", walled=True),
        Kind("tray", ("tray", "crate"), "rectangle", walled=True, room="many"),
        Kind("sign", ("sign",), "rectangle", room="none"),
        Kind("table", ("table",), "rectangle", room="many"),
        Kind("unknown", ("thing",), "rectangle", room="none"),
    )
}
SOLIDS = tuple(k.name for k in KINDS.values() if k.solid)
"""What the gripper may move."""
SUPPORTS = ("plate", "mat", "bowl", "tray")
"""What lies where it is, and takes solids on or in."""
CONTAINERS = tuple(k.name for k in KINDS.values() if k.walled)
STACKABLE = tuple(k.name for k in KINDS.values() if k.solid and not k.domed)
DOMED = tuple(k.name for k in KINDS.values() if k.domed)
"""Solids with a level upper face, and without."""


def is_round(kind: str) -> bool:
    """Whether a thing of the kind is a disc seen from above."""
    return KINDS[kind].outline == "disc"


def radius(kind: str, size: Vec3) -> float:
    """Radius in metres of the circle around a thing of that size, seen from above."""
    return size[0] / 2 if is_round(kind) else math.hypot(size[0], size[1]) / 2


def deck(kind: str, height: float) -> float:
    """Height in metres above its lower face at which other things rest on, or in, a thing of that height."""
    return FLOOR if KINDS[kind].walled else height


@dataclass(frozen=True)
class Primitive:
    """A convex part of a thing: full extents `size`, place `at` in the thing's frame (metres), `yaw` (rad).

    A cylinder stands on its axis; it and a sphere have their diameter in size[0].
    """

    shape: Literal["box", "cylinder", "sphere"]
    size: Vec3
    at: Vec3 = (0.0, 0.0, 0.0)
    yaw: float = 0.0

    @property
    def volume(self) -> float:
        """Cubic metres."""
        a, b, c = self.size
        return {"box": a * b * c, "cylinder": math.pi / 4 * a * a * c, "sphere": math.pi / 6 * a**3}[
            self.shape
        ]


def primitives(kind: str, size: Vec3) -> tuple[Primitive, ...]:
    """The convex parts that a thing of that kind and size (metres) is made of, around its centre."""
    if kind == "ball":
        return (Primitive("sphere", size),)
    if not KINDS[kind].walled:
        return (Primitive("cylinder" if is_round(kind) else "box", size),)
    a, b, c = size
    # The walls begin a little above the floor's lower face, so that only the floor stands on the table.
    height, middle, floor = c - FLOOR / 2, FLOOR / 4, (FLOOR - c) / 2
    if is_round(kind):
        reach = (a - WALL) / 2
        wall = (WALL, 2 * (a / 2) * math.tan(math.pi / _BOWL_SIDES), height)
        turns = [2 * math.pi * k / _BOWL_SIDES for k in range(_BOWL_SIDES)]
        return (
            Primitive("cylinder", (a - WALL, a - WALL, FLOOR), (0.0, 0.0, floor)),
            *(Primitive("box", wall, (reach * math.cos(t), reach * math.sin(t), middle), t) for t in turns),
        )
    return (
        Primitive("box", (a - WALL, b - WALL, FLOOR), (0.0, 0.0, floor)),
        *(Primitive("box", (WALL, b, height), (s * (a - WALL) / 2, 0.0, middle)) for s in (1, -1)),
        *(Primitive("box", (a, WALL, height), (0.0, s * (b - WALL) / 2, middle)) for s in (1, -1)),
    )


def problem_with(kind: str, size: Vec3) -> str:
    """What is wrong with the size of a thing, as the end of a sentence; "" if nothing."""
    a, b, c = size
    if kind == "cube" and len(set(size)) > 1:
        return "is a cube with sides of different lengths"
    if is_round(kind) and a != b:
        return f"is a {kind} with two diameters"
    if kind == "ball" and a != c:
        return "is a ball with two diameters"
    if KINDS[kind].walled and (c <= 2 * FLOOR or min(a, b) <= 4 * WALL):
        return f"is a {kind} without room in it"
    return ""
