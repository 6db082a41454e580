"""A referee's judgement, and the ways in which a run can end."""

from __future__ import annotations

from enum import Enum

from spca_core.model import Record


class Outcome(str, Enum):
    """State of a level."""

    RUNNING = "running"
    SUCCESS = "success"
    FAIL = "fail"
    TIMEOUT = "timeout"


NOT_IN_PLACE, NOT_AT_ONCE = WAITING = ("not yet in place", "not all conditions hold at once")
"""Reasons of conditions that are judged only once the others hold."""


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
        """Nothing can change the verdict any more."""
        return self.outcome is not Outcome.RUNNING


class Ending(str, Enum):
    """The referee's final verdicts, and the ways in which a run ends without one."""

    SUCCESS = "success"
    FAIL = "fail"
    TIMEOUT = "timeout"
    GAVE_UP = "gave_up"
    """The budget is spent, or a skill is missing and there is no coder.

    The budget limits rounds, drafts, tokens, money and time.
    """
    NOT_UNDERSTOOD = "not_understood"
    """The proposer cannot make sense of the task's text."""
    IMPOSSIBLE = "impossible"
    """The proposer understands the task and cannot do it in the observed scene."""
    CANCELLED = "cancelled"
    LOST = "lost"
    """The simulator, the arm's driver or another process that the run needs has gone."""

    @classmethod
    def of(cls, outcome: Outcome) -> Ending:
        """Return the ending for a final verdict. Raises ValueError for a level that is still running."""
        return cls(outcome.value)

    @property
    def words(self) -> str:
        """The ending in words, for people: `not understood`."""
        return self.value.replace("_", " ")

    @property
    def judged(self) -> bool:
        """The ending is a referee's verdict."""
        return self in (Ending.SUCCESS, Ending.FAIL, Ending.TIMEOUT)


UNFINISHED = (Ending.CANCELLED, Ending.LOST)
"""Endings before the level's own: the run can go on where its table is there still."""
