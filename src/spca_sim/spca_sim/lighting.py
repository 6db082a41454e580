"""The one lamp of the workspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spca_core.geometry import Array
from spca_core.world import World
from spca_sim.variation import SimVariation


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
        """The world file's light, as varied."""
        d = np.array(world.light.direction) + np.array([*variation.light_tilt, 0.0])
        return cls(d / np.linalg.norm(d), world.light.ambient, world.light.diffuse * variation.light_scale)
