"""Signals that a run measured over time, for the plots of its report and the moving scene in it."""

from __future__ import annotations

from typing import Literal

from spca_core.model import Record

SIGNALS = "signals.json"
"""Name of the signals' file in a run's folder, where the environment has any signals."""


class Plot(Record):
    """One plot: its lines by name, each with a value for every stamp, in `unit`."""

    title: str
    unit: str
    lines: dict[str, tuple[float, ...]]


class DrawnShape(Record):
    """A part of a body: its half sizes along x, y, z (m), RGB (0 to 255), and its pose in the body's frame.

    Cylinders stand along z.
    """

    body: int
    kind: Literal["box", "cylinder", "sphere"]
    size: tuple[float, float, float]
    colour: tuple[int, int, int]
    position: tuple[float, float, float]
    wxyz: tuple[float, float, float, float]


class MovingScene(Record):
    """Robot and things over time, to be drawn.

    For each stamp, `poses` has the position (0.1 mm) and the orientation (w, x, y, z in 1/1000) of one body
    after the other in the frame `world`.
    """

    stamps: tuple[float, ...]
    shapes: tuple[DrawnShape, ...]
    poses: tuple[tuple[int, ...], ...]


class Signals(Record):
    """Plots over one time axis: `stamps` of the run's clock, in the order they were lived through."""

    stamps: tuple[float, ...]
    plots: tuple[Plot, ...]
    scene: MovingScene | None = None
