"""Pictures of the disturbances that have happened in a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_sim.disturbances.disturbance import Happened
from spca_sim.view import CameraView

DISTURBANCES = "disturbances"
"""Folder of the pictures in a run's folder, each with a record (`Happened`) of the same name."""

_AFTER = 0.5  # simulated seconds from a disturbance to its picture
_MARK = (255, 220, 0)
Picture = tuple[NDArray[np.uint8], NDArray[np.float32], CameraView]
"""Picture as colour and depth, and from where it is taken."""


class DisturbanceRecorder:
    """Hears of disturbances, and takes the camera's picture soon after each; costs nothing without them."""

    def __init__(self, picture: Callable[[], Picture]) -> None:
        """Take pictures by that function, each with the view from which it is taken."""
        self.happened: list[tuple[Happened, NDArray[np.uint8]]] = []
        self._pending: list[Happened] = []
        self.hear, self._picture = self._pending.append, picture

    def save(self, folder: Path) -> None:
        """Write `disturbances/1_push.jpg` with `1_push.json` and so on into a run's folder."""
        self._take(self._pending)
        for number, (happened, picture) in enumerate(self.happened, 1):
            path = folder / DISTURBANCES / f"{number}_{happened.kind}.jpg"
            path.parent.mkdir(exist_ok=True)
            cv2.imwrite(str(path), cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
            path.with_suffix(".json").write_text(happened.model_dump_json())

    def clear(self) -> None:
        """Forget everything, for the next run."""
        self.happened.clear()
        self._pending.clear()

    def look(self, now: float) -> None:
        """Take the pictures that are due at simulated time `now`."""
        if self._pending:
            self._take([h for h in self._pending if not 0 <= now - h.stamp < _AFTER])

    def _take(self, due: list[Happened]) -> None:
        for happened in list(due):
            colour, _, view = self._picture()
            picture = colour.copy()
            if happened.position is not None:
                u, v = view.project(np.array(happened.position))[:2]
                cv2.circle(picture, (round(float(u)), round(float(v))), 34, _MARK, 2, cv2.LINE_AA)
            self.happened.append((happened, picture))
            self._pending.remove(happened)
