"""What is asked of a planning library: whether a posture is in collision, and a way between two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array
from spca_core.world import World
from spca_motion.planning_scene import Held, Obstacle


@dataclass(frozen=True)
class Geometry:
    """The bodies of a planning scene as they are to be checked: sizes already carry every clearance and allowance.

    `table` is the height of an endless horizontal surface; None for none.
    """

    obstacles: tuple[Obstacle, ...] = ()
    held: Held | None = None
    table: float | None = None


class Backend(Protocol):
    """Joints are (6,) in radians, the gap between the pads in metres. Made by a factory that takes a `Setup`."""

    def load(self, geometry: Geometry) -> None:
        """Check against these bodies from now on."""
        ...

    def colliding(self, states: Array, gap: float) -> NDArray[np.bool_]:
        """For each of the postures (n, 6), whether the robot or what it holds touches itself or a body: (n,)."""
        ...

    def plan(self, start: Array, goal: Array, gap: float, seconds: float) -> Array | None:
        """The corners (n ≥ 2, 6) of a collision-free way, straight in joint space between them; None: not found."""
        ...


@dataclass(frozen=True)
class Setup:
    """What a backend is made from."""

    world: World
    source: str = "generated"
    """Which robot description: see `spca_description.names`."""
    use_sim_time: bool = True
