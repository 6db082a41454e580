"""Where a run stands between two stages; with the environment's checkpoint, all that is needed to go on."""

from __future__ import annotations

from typing import Literal

from spca.result import CoderCounts, PlannerCounts
from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import Draft, Plan

Phase = Literal["sense", "plan", "code", "act", "ended"]


class RunState(Record):
    """The supervisor's memory: which round, which phase is next, and what the phases before it made."""

    phase: Phase = "sense"
    round: int = 1
    attempt: int = 0
    """Counts every plan, coding and acting attempt; its text goes into every message, so that no late answer counts."""
    code_retry: int = 0
    observation: Observation | None = None
    plan: Plan | None = None
    library: str = ""
    previous: Draft | None = None
    failure: str = ""
    suspects: tuple[str, ...] = ()
    planner: PlannerCounts = PlannerCounts()
    coder: CoderCounts = CoderCounts()
    written: tuple[str, ...] = ()
    """Skills that the coder has written so far."""
    steps: int = 0
    stage_wall: dict[str, float] = {}
    wall: float = 0.0
    ended: str = ""
    reason: str = ""
