"""What the solver's process is asked, and what it answers."""

from __future__ import annotations

from typing import Literal

from spca_core.model import Record

Words = tuple[str, ...]
"""A step of a plan: the action's name and its arguments."""


class Case(Record):
    """What is to be judged. `timeout_s` bounds translation and search, in seconds of wall time."""

    domain: str
    problem: str
    timeout_s: float


class Judgement(Record):
    """A proven plan, or who refused and why. Seconds of wall time, one after the other.

    The search begins with the parsing; `solve_seconds` is what it took longer.
    """

    critic: Literal["", "parse", "solve", "validate"] = ""
    message: str = ""
    timed_out: bool = False
    steps: tuple[Words, ...] = ()
    parse_seconds: float = 0.0
    solve_seconds: float = 0.0
    validate_seconds: float = 0.0


class Ahead(Record):
    """What the process does before its first case: domains to read, so that their problems are read fast."""

    domains: tuple[str, ...] = ()
