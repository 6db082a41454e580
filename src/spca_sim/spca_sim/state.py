"""A moment of the simulation, enough to draw it later."""

from __future__ import annotations

from dataclasses import dataclass

from spca_core.geometry import Array


@dataclass(frozen=True)
class SimState:
    """All generalised positions `qpos` at `stamp` (simulated s), of the model with these objects in it."""

    stamp: float
    objects: tuple[str, ...]
    qpos: Array
