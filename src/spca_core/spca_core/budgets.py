"""Limits on how often each loop of the supervisor is repeated."""

from __future__ import annotations

from pydantic import Field

from spca_core.model import Record

PATIENCE = 8.0
"""Seconds of wall time that may pass for each second of processor time that something is allowed.

What comes of a limited search should not depend on what else the machine does; wall time is the last resort,
against what waits and does not compute.
"""


class Budgets(Record):
    """Bounds of the supervisor's loops; the defaults are the published method's."""

    rounds: int = Field(5, ge=1)
    """Maximum number of Sense-Plan-Code-Act rounds in a level."""
    drafts: int = Field(8, ge=1)
    """Maximum number of planner drafts for one plan."""
    code_drafts: int = Field(5, ge=1)
    """Maximum number of code drafts in one call of the coder."""
    code_retries: int = Field(5, ge=0)
    """Maximum number of repairs of the code for one and the same plan."""
    rehearsal_s: float = Field(120.0, gt=0)
    """Simulated seconds after which one rehearsal begins no further try: how fast the machine is, and what
    else it does, must not decide what comes of it."""
    rehearsals_s: float = Field(600.0, gt=0)
    """Simulated seconds for all rehearsals of a level; when they are spent, plans are carried out without."""
