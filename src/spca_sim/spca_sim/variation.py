"""Differences between world as described and as simulated: light, friction, mass, calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from spca_core.errors import InputError, one_of
from spca_core.geometry import Array, Vec3
from spca_core.model import Record
from spca_core.world import World
from spca_sim.disturbances.disturbance import Disturbance


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
