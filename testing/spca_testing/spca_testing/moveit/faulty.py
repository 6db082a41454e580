"""A planning backend that goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from spca_core.geometry import Array
from spca_motion.moveit.process import Geometry, PathRequest, Setup

DIED = "SPCA_TEST_DIED"
"""Environment variable: the file that `DyingOnce` leaves when it dies."""


class DyingOnce:
    """A backend that takes its process down with its first plan; the process started next lives."""

    def __init__(self, setup: Setup) -> None:
        self.loaded: Geometry | None = None

    def load(self, geometry: Geometry) -> None:
        """See `MoveItBackend`."""
        self.loaded = geometry

    def plan(self, request: PathRequest) -> Array | None:
        """See `MoveItBackend`; straight there. RuntimeError if nothing is loaded."""
        marker = Path(os.environ[DIED])
        if not marker.exists():
            marker.touch()
            os.abort()
        if self.loaded is None:
            raise RuntimeError("no geometry is loaded")
        return np.stack([request.start, request.goal])
