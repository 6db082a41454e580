"""Differences between world as described and as simulated: light, mass, disturbances and so on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from pydantic import Field

from spca_core.errors import InputError, one_of
from spca_core.geometry import Array, Vec3
from spca_core.model import Record
from spca_core.world import World

Kind = Literal[
    "push", "turn", "pull_out", "target", "remove", "add", "hand", "freeze", "drop", "knock", "encoder",
    "friction", "dim",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)

ABOUT: dict[Kind, str] = {
    "push": "a cube is pushed aside while the arm moves",
    "turn": "a cube is turned while the arm moves",
    "pull_out": "the held cube is pulled out of the gripper and put on the table",
    "target": "a plate or cube is moved while the gripper carries another object",
    "remove": "an object is taken away; one that the task needs comes back elsewhere",
    "add": "an object that was not there is put on the table",
    "hand": "a hand hides part of the table for seconds",
    "freeze": "the camera repeats its last frame for seconds",
    "drop": "the camera loses most frames for seconds",
    "knock": "the camera is knocked by millimetres and by about a degree",
    "encoder": "a joint's encoder gets an offset",
    "friction": "objects and pads become more slippery, or less",
    "dim": "the light goes down",
}

_FROM, _FIRST_BY, _LAST_BY = 0.3, 3.5, 8.0
"""Simulated seconds: the earliest and the latest for a level's first disturbance; the latest for others."""
_MOVING: tuple[Kind, ...] = ("push", "turn", "target", "remove", "add")
_ONTO_TABLE: tuple[Kind, ...] = ("push", "pull_out", "target", "remove", "add")
"""Kinds that leave an object somewhere else on the table."""
_MOVING_FROM = 1.8
"""Simulated seconds from which objects are moved, when the robot has had a look.

What the task's words refer to ("the left cube") is decided by the table as it was at the beginning.
"""


class Disturbance(Record):
    """One disturbance: due `at` simulated seconds, it happens as soon as its occasion arises.

    `seed` draws its particulars when it happens. `names` are the objects it may concern (model names),
    and `spare` those among them that the task does not need.
    """

    kind: Kind
    at: float
    seed: int
    names: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()


class Happened(Record):
    """A disturbance that has happened, for the report: ground truth.

    `position` is where it can be seen, in `world`; None for what concerns the whole table.
    """

    kind: Kind
    stamp: float
    text: str
    position: tuple[float, float, float] | None = None


def draw_disturbances(
    seed: int, needed: Sequence[str], spare: Sequence[str], kind: Kind | None = None,
    off_table: Collection[str] = (),
) -> tuple[Disturbance, ...]:  # fmt: skip
    """Draw one to three disturbances of different kinds, or a single one of `kind`.

    `needed` and `spare` are the model names of the level's objects that its task needs and does not need.
    None puts on the table what is in `off_table`, or takes away the place that it is about to be put on:
    the level would be lost through no fault of the robot.
    """
    rng = np.random.default_rng([seed, 0xD157])
    names = (*needed, *spare)
    movable = tuple(n for n in names if n not in off_table)
    unused = tuple(n for n in spare if n not in off_table)
    possible = [k for k in KINDS if k not in _ONTO_TABLE or (unused if k == "add" else movable)]
    possible = [k for k in possible if not (off_table and k in ("target", "remove"))]
    if kind is None:
        chosen = [possible[i] for i in rng.choice(len(possible), int(rng.integers(1, 4)), replace=False)]
    else:
        chosen = [kind] if kind in possible else []
    return tuple(
        Disturbance(
            kind=one,
            at=round(
                float(rng.uniform(_MOVING_FROM if one in _MOVING else _FROM, _LAST_BY if i else _FIRST_BY)), 2
            ),
            seed=int(rng.integers(2**31)),
            names=movable if one in _ONTO_TABLE else names,
            spare=unused,
        )
        for i, one in enumerate(chosen)
    )


class SimVariation(Record):
    """One draw of the differences between the world as described and as simulated; by default, none.

    What the camera *reports* (its calibrated pose) is never changed.
    """

    friction_scale: float = Field(default=1.0, ge=0)
    mass_scale: float = Field(default=1.0, gt=0)
    pad_friction: float = Field(default=1.0, ge=0)
    light_scale: float = Field(default=1.0, gt=0)
    """Factor on the directional light; a dimmer lamp also makes relative noise larger."""
    light_tilt: tuple[float, float] = (0.0, 0.0)
    """Offset added to x and y of the light's direction, whose z is about -1."""
    camera_shift: Vec3 = (0.0, 0.0, 0.0)
    """Calibration error: true minus calibrated position, metres, along the calibrated optical axes."""
    camera_turn: Vec3 = (0.0, 0.0, 0.0)
    """Calibration error: rotation vector in radians, in calibrated optical axes."""
    depth_scale: float = Field(default=1.0, gt=0)
    """Factor on all depths: the systematic error of a depth camera."""
    noise_scale: float = Field(default=1.0, ge=0)
    """Factor on the sensor noise of the world file."""
    disturbances: tuple[Disturbance, ...] = ()
    """Disturbances of the world while the robot acts."""


# Standard deviations (uniform half widths for light, friction and mass) per preset.
_SPREADS: dict[str, dict[str, float]] = {
    "nominal": {},
    "noisy": {
        "light": 0.15, "tilt": 0.2, "friction": 0.15, "mass": 0.1,
        "shift": 0.0005, "turn": 0.0005, "depth": 0.0005,
    },
    "hard": {
        "light": 0.35, "tilt": 0.5, "friction": 0.35, "mass": 0.3,
        "shift": 0.0015, "turn": 0.0015, "depth": 0.001,
    },
}  # fmt: skip
_NOISE = {"nominal": 1.0, "noisy": 1.5, "hard": 2.5}
PRESETS = tuple(_SPREADS)


def draw_variation(preset: str, seed: int) -> SimVariation:
    """Draw a variation of that preset (`nominal`, `noisy`, `hard`) by seed."""
    if preset not in _SPREADS:
        raise InputError(f"unknown variation '{preset}'", hint=one_of(preset, PRESETS))
    spread = _SPREADS[preset]
    rng = np.random.default_rng(seed)

    def about_one(key: str) -> float:
        return 1.0 + float(rng.uniform(-1, 1)) * spread.get(key, 0.0)

    def vector(key: str) -> Vec3:
        x, y, z = (float(v) for v in rng.normal(0.0, 1.0, 3) * spread.get(key, 0.0))
        return (x, y, z)

    tilt = rng.uniform(-1, 1, 2) * spread.get("tilt", 0.0)
    return SimVariation(
        friction_scale=about_one("friction"),
        mass_scale=about_one("mass"),
        light_scale=about_one("light"),
        light_tilt=(float(tilt[0]), float(tilt[1])),
        camera_shift=vector("shift"),
        camera_turn=vector("turn"),
        depth_scale=1.0 + float(rng.normal()) * spread.get("depth", 0.0),
        noise_scale=_NOISE[preset],
    )


@dataclass(frozen=True)
class Lighting:
    """A directional light along the unit vector `direction`.

    `ambient` + `diffuse` is what a surface facing it reflects.
    """

    direction: Array
    ambient: float
    diffuse: float

    @classmethod
    def of(cls, world: World, variation: SimVariation) -> Lighting:
        """Return the world file's light, as varied."""
        d = np.array(world.light.direction) + np.array([*variation.light_tilt, 0.0])
        return cls(d / np.linalg.norm(d), world.light.ambient, world.light.diffuse * variation.light_scale)
