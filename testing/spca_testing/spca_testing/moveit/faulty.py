"""A planning backend that goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Array
from spca_motion.moveit.process import Geometry, PathRequest, Setup

DIED = "SPCA_TEST_DIED"
"""Environment variable: the file that `DyingOnce` leaves when it dies."""


class Idle:
    """Nothing ever collides, and no path is ever found."""

    def __init__(self, setup: Setup) -> None:
        self.loaded: Geometry | None = None

    def load(self, geometry: Geometry) -> None:
        """See `MoveItBackend`."""
        self.loaded = geometry

    def colliding(self, states: Array, gap: float) -> NDArray[np.bool_]:
        """See `MoveItBackend`; RuntimeError if nothing is loaded."""
        if self.loaded is None:
            raise RuntimeError("no geometry is loaded")
        return np.zeros(len(states), dtype=bool)

    def plan(self, request: PathRequest) -> Array | None:
        """See `MoveItBackend`."""
        return None


class DyingOnce(Idle):
    """A backend that takes its process down with its first plan; the process started next lives."""

    def plan(self, request: PathRequest) -> Array | None:
        """See `MoveItBackend`; straight there."""
        marker = Path(os.environ[DIED])
        if not marker.exists():
            marker.touch()
            os.abort()
        if self.loaded is None:
            raise RuntimeError("no geometry is loaded")
        return np.stack([request.start, request.goal])
