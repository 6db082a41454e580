"""What is recorded of a run: its states, from which a video is made, and pictures of disturbances."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.checkpoint import read_arrays
from spca_core.validation import expecting
from spca_sim.variation import Happened
from spca_sim.view import CameraView

STATES = "states.npz"
"""Name of the recording in a run's folder."""


@dataclass(frozen=True)
class SimState:
    """A moment of the simulation: all generalised positions `qpos` at `stamp` (simulated s).

    They are those of the model with these objects in it, in single precision: about 10 kB a simulated second.
    """

    stamp: float
    objects: tuple[str, ...]
    qpos: NDArray[np.float32]


def save_states(states: list[SimState], path: Path) -> None:
    """Write states to an `.npz` file."""
    sets = sorted({s.objects for s in states})
    np.savez_compressed(
        path,
        sets=np.array(json.dumps(sets)),
        stamps=np.array([s.stamp for s in states]),
        which=np.array([sets.index(s.objects) for s in states], dtype=np.int32),
        lengths=np.array([len(s.qpos) for s in states], dtype=np.int32),
        qpos=np.concatenate([s.qpos for s in states]) if states else np.zeros(0),
    )


def recorded_states(folder: Path) -> list[SimState]:
    """Return the states of a run; none where none were recorded, as on Gazebo and on a real cell."""
    return load_states(folder / STATES) if (folder / STATES).is_file() else []


def load_states(path: Path) -> list[SimState]:
    """Read what `save_states` wrote. Raises InputError for anything else."""
    what = "a recording of states"
    saved = read_arrays(path, what)
    with expecting(what, path):
        sets = [tuple(names) for names in json.loads(str(saved["sets"]))]
        rows = np.split(saved["qpos"], np.cumsum(saved["lengths"])[:-1]) if len(saved["lengths"]) else []
        return [
            SimState(float(t), sets[int(w)], row)
            for t, w, row in zip(saved["stamps"], saved["which"], rows, strict=True)
        ]


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
