"""The ways in which a run can end."""

from __future__ import annotations

from enum import Enum

from spca_core.verdict import Outcome


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

    @classmethod
    def of(cls, outcome: Outcome) -> Ending:
        """The ending that a final verdict is. ValueError for a level that is still running."""
        return cls(outcome.value)

    @property
    def words(self) -> str:
        """For people: `not understood`."""
        return self.value.replace("_", " ")

    @property
    def refused(self) -> bool:
        """True if nothing was done because of what the task says."""
        return self in (Ending.NOT_UNDERSTOOD, Ending.IMPOSSIBLE)

    @property
    def judged(self) -> bool:
        """True if it is a referee's verdict."""
        return self in (Ending.SUCCESS, Ending.FAIL, Ending.TIMEOUT)
