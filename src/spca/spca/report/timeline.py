"""Bars over simulated time, as plain numbers for the template to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spca_core.skill import StepReport


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


def contact_timeline(intervals: Sequence[dict[str, Any]], end: float) -> list[dict[str, Any]]:
    """One row a pair of models, with a bar for each interval of contact."""
    rows: dict[str, list[dict[str, float]]] = {}
    for interval in intervals:
        a, b = interval["pair"]
        rows.setdefault(f"{a} – {b}", []).append(_bar(interval["start"], interval["end"], end))
    return [{"label": label, "bars": bars} for label, bars in sorted(rows.items())]


def _bar(start: float, stop: float, end: float) -> dict[str, float]:
    scale = 100.0 / max(end, 1e-9)
    left = min(max(start, 0.0) * scale, 100.0)
    return {"left": left, "width": max(min(stop * scale, 100.0) - left, 0.3)}
