"""What a run measured over time, for the plots of its report."""

from __future__ import annotations

from spca_core.model import Record

SIGNALS = "signals.json"
"""In a run's folder, where its environment has any."""


class Plot(Record):
    """One plot: its lines by name, each with a value for every stamp, in `unit`."""

    title: str
    unit: str
    lines: dict[str, tuple[float, ...]]


class Signals(Record):
    """Plots over one time axis: `stamps` of the run's clock, in the order they were lived through."""

    stamps: tuple[float, ...]
    plots: tuple[Plot, ...]
