"""A referee's judgement."""

from __future__ import annotations

from enum import Enum

from spca_core.model import Record


class Outcome(str, Enum):
    """State of a level."""

    RUNNING = "running"
    SUCCESS = "success"
    FAIL = "fail"
    TIMEOUT = "timeout"


class Condition(Record):
    """One condition of a level: its words, whether it holds now, and why not."""

    text: str
    holds: bool
    reason: str = ""


class Verdict(Record):
    """The referee's judgement at `stamp` (simulated s since the level began).

    `score` is the share of conditions met, 0-1.
    """

    outcome: Outcome
    score: float
    stamp: float
    reason: str
    conditions: tuple[Condition, ...] = ()

    @property
    def final(self) -> bool:
        """True if nothing can change it any more."""
        return self.outcome is not Outcome.RUNNING
