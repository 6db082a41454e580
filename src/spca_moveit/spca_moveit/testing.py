"""A planning backend without MoveIt: the embedded planner's collision check and search behind the same interface.

With it the arm, its rules and the planning process are tested where MoveIt cannot be installed.
"""

from __future__ import annotations

import os
import time

import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array
from spca_motion.collision import OBJECT_CLEARANCE, CollisionChecker
from spca_motion.planning_scene import PlanningScene
from spca_motion.search import Effort, find_way
from spca_moveit.backend import Geometry, Setup
from spca_moveit.checker import grown

_EFFORT = Effort(np.pi, 60_000)


class EmbeddedBackend:
    """See `Backend`. The embedded check has clearances of its own, and a table."""

    def __init__(self, setup: Setup) -> None:
        self._world = setup.world
        self.load(Geometry())

    def load(self, geometry: Geometry) -> None:
        """Check against these bodies from now on."""
        bodies = tuple(grown(o, -OBJECT_CLEARANCE) for o in geometry.obstacles)  # the check adds it again
        self._checker = CollisionChecker(self._world, PlanningScene(bodies, geometry.held))
        self._without_table = geometry.table is None or geometry.table < self._world.table.top

    def colliding(self, states: Array, gap: float) -> NDArray[np.bool_]:
        """Whether each posture touches itself or a body."""
        return np.array([not self._free(joints, gap) for joints in states])

    def plan(self, start: Array, goal: Array, gap: float, seconds: float) -> Array | None:
        """A way by OMPL."""
        del seconds
        return find_way(start, goal[None], lambda q: self._free(q, gap), lambda: False, _EFFORT, 1)

    def _free(self, joints: Array, gap: float) -> bool:
        hits = self._checker.hits(joints, gap)
        return not [hit for hit in hits if not (self._without_table and hit.other == "table")]


class Broken:
    """A backend that cannot start."""

    def __init__(self, setup: Setup) -> None:
        raise ImportError("No module named 'moveit'")


class Hanging(EmbeddedBackend):
    """A backend whose plans never come."""

    def plan(self, start: Array, goal: Array, gap: float, seconds: float) -> Array | None:
        """Never returns in time."""
        time.sleep(600)
        return None


class Crashing(EmbeddedBackend):
    """A backend that takes its process down, as a segmentation fault would."""

    def plan(self, start: Array, goal: Array, gap: float, seconds: float) -> Array | None:
        """Ends the process."""
        os.abort()
