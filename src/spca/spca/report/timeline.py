"""Bars and axes of a run's time, as plain numbers for the template to draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from spca_core.model import Record
from spca_core.skill import StepReport
from spca_referee.rules import words


def step_timeline(steps: Sequence[StepReport], end: float) -> list[dict[str, Any]]:
    """One row a step, with `left` and `width` in percent of the time axis that ends at `end` seconds."""
    return [
        {
            "label": f"{step.action}({', '.join(step.args)})",
            "status": step.status,
            "seconds": step.ended - step.started,
            "wall": step.wall_seconds,
            "failure": f"{step.failure.kind}: {step.failure.message}"
            if step.failure and step.status == "failed"
            else "",
            "log": step.log,
            **_bar(step.started, step.ended, end),
        }
        for step in steps
    ]


def stage_timeline(stage_wall: Mapping[str, float]) -> list[dict[str, Any]]:
    """The stages one after the other, with `width` in percent of the wall time of all."""
    total = max(sum(stage_wall.values()), 1e-9)
    return [{"stage": s, "seconds": t, "width": 100.0 * t / total} for s, t in stage_wall.items()]


def ticks(end: float, about: int = 6) -> list[dict[str, Any]]:
    """Marks of a time axis from 0 to `end` at round numbers, with `left` in percent."""
    if end <= 0:  # nothing took any time
        return [{"label": "0", "left": 0.0}]
    rough = end / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    count = math.floor(end / step + 1e-9)
    return [{"label": f"{i * step:g}", "left": 100.0 * i * step / end} for i in range(count + 1)]


class ContactInterval(Record):
    """Two models touched each other from `start` to `end`, simulated seconds."""

    pair: tuple[str, str]
    start: float
    end: float


def contact_timeline(intervals: Sequence[ContactInterval], end: float) -> list[dict[str, Any]]:
    """One row a pair of models, in plain words, with a bar for each interval of contact."""
    rows: dict[str, list[dict[str, float]]] = {}
    for interval in intervals:
        a, b = (words(model) for model in interval.pair)
        rows.setdefault(f"{a} – {b}", []).append(_bar(interval.start, interval.end, end))
    return [{"label": label, "bars": bars} for label, bars in sorted(rows.items())]


def _bar(start: float, stop: float, end: float) -> dict[str, float]:
    scale = 100.0 / max(end, 1e-9)
    left = min(max(start, 0.0) * scale, 100.0)
    return {"left": left, "width": max(min(stop * scale, 100.0) - left, 0.3)}
