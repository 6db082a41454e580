"""The recorded states of a run, from which a video is made when the run is over, at no cost to the run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spca_core.checkpoint import read_arrays
from spca_core.validation import expecting

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
