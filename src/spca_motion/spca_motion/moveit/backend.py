"""What passes between the arm's process and the planning process, as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from spca_core.errors import InputError
from spca_core.geometry import Array
from spca_core.world import World
from spca_motion.collision import Held, Obstacle
from spca_motion.limits import WorkspaceBox
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
class PathRequest:
    """A path wanted from `start` to `goal`, joints (n,) in radians, the pads `gap` metres apart.

    `seconds` of wall time bound the search. On all of the path, the point `reach` metres from `tool0` on the
    flange's z axis stays in the `box`, if there is one.
    """

    start: Array
    goal: Array
    gap: float
    seconds: float
    box: WorkspaceBox | None = None
    reach: float = 0.0


@dataclass(frozen=True)
class Setup:
    """Parameters of the planning library. Raises InputError for a robot or a pipeline that is unknown."""

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
