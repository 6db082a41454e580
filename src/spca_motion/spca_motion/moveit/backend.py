"""Interface to a planning library: collision checks and paths between two configurations.

The records here pass between the arm's process and the planning process, as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.geometry import Array
from spca_core.world import World
from spca_motion.planning_scene import Held, Obstacle
from spca_robot.description.moveit_config import PIPELINES
from spca_robot.description.names import SOURCES


@dataclass(frozen=True)
class Geometry:
    """The bodies of a planning scene as they are checked.

    Their sizes include every clearance and allowance.

    `table` is the height of an endless horizontal surface; None for none.
    """

    obstacles: tuple[Obstacle, ...] = ()
    held: Held | None = None
    table: float | None = None


@dataclass(frozen=True)
class Box:
    """Bounds of a point on the flange's z axis: `reach` metres from `tool0`, corners in `world` (m)."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    reach: float


@dataclass(frozen=True)
class PathRequest:
    """A path wanted from `start` to `goal`, joints (n,) in radians, the pads `gap` metres apart.

    `seconds` of wall time bound the search; `box`, if there is one, holds on all of the path.
    """

    start: Array
    goal: Array
    gap: float
    seconds: float
    box: Box | None = None


class Backend(Protocol):
    """A planning library behind the arm. Joints are (n,) in radians, the gap between the pads in metres.

    Made by a factory that takes a `Setup`.
    """

    def load(self, geometry: Geometry) -> None:
        """Check against these bodies from now on."""
        ...

    def colliding(self, states: Array, gap: float) -> NDArray[np.bool_]:
        """Return whether the robot or what it holds is in collision, for each of the configurations (m, n).

        The result has shape (m,).
        """
        ...

    def plan(self, request: PathRequest) -> Array | None:
        """Return waypoints (m ≥ 2, n) of a collision-free path, straight in joint space between them.

        Returns None if no path was found.
        """
        ...


@dataclass(frozen=True)
class Setup:
    """Parameters of a backend. Raises InputError for a robot or a pipeline that is unknown."""

    world: World
    source: str = "generated"
    """Which robot description: see `spca_robot.description.names`."""
    pipeline: str = "ompl"
    """Which planning pipeline of MoveIt searches: one of `spca_robot.description.moveit_config.PIPELINES`."""

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise InputError(f"unknown robot '{self.source}'", "parameter robot", " or ".join(SOURCES))
        if self.pipeline not in PIPELINES:
            known = ", ".join(PIPELINES)
            raise InputError(f"unknown pipeline '{self.pipeline}'", "parameter pipeline", known)
