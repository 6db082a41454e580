"""The finding of one check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["ready", "partly", "missing", "off"]
"""`off`: nothing is wrong, it is just not configured or not wanted."""


@dataclass(frozen=True)
class Finding:
    """One row of the table: the component, whether it can be used, what was found, and a remedy if needed."""

    what: str
    state: State
    found: str
    remedy: str = ""


Check = Callable[[], Finding]


def guarded(what: str, check: Check) -> Finding:
    """The check's finding; a check that breaks is itself a finding, never the end of the doctor."""
    try:
        return check()
    except Exception as error:
        return Finding(what, "missing", f"the check failed: {type(error).__name__}: {error}")
