"""The events of a run, for the terminal, the event log and the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import FiniteFloat

from spca_core.model import Record

EventKind = Literal[
    "run_started", "stage_started", "stage_ended", "draft", "doubt", "plan", "code", "rehearsal",
    "question", "step", "verdict", "round_failed", "run_ended",
]  # fmt: skip


class Event(Record):
    """One event: `wall` in seconds since the run began, `sim` in simulated seconds of the level."""

    kind: EventKind
    wall: FiniteFloat
    sim: FiniteFloat
    stage: str = ""
    text: str = ""
    data: dict[str, Any] = {}


Listener = Callable[[Event], None]
