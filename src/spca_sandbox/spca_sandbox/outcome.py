"""Outcomes of loading and running untrusted code, and its text, made harmless for terminals and pages."""

from __future__ import annotations

from typing import Any, Literal

from spca_core.model import Record
from spca_core.processes.channel import Malformed
from spca_core.skill import SkillFailure


class LoadedFunction(Record):
    """A top-level function of the source, as Python itself sees it."""

    name: str
    parameters: tuple[str, ...]
    doc: str = ""
    generator: bool = False


class Loaded(Record):
    """The source was imported; `functions` by name."""

    functions: dict[str, LoadedFunction]


Status = Literal["done", "failed", "cancelled"]


class RunOutcome(Record):
    """Outcome of one run. `value` is plain JSON; `log` what it printed; `seconds` the wall time it took."""

    status: Status
    value: Any = None
    failure: SkillFailure | None = None
    log: tuple[str, ...] = ()
    seconds: float = 0.0


def clean(text: object, limit: int) -> str:
    r"""Return at most `limit` printable characters of `text`; everything else is escaped.

    >>> clean("red\x1b[31m", 20)
    'red\\x1b[31m'
    """
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text)[:limit])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def failure_of(message: dict[str, Any]) -> SkillFailure:
    """Return the failure in a `failed` message. Raises Malformed."""
    kind, text, line = message.get("kind"), message.get("message"), message.get("line")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise Malformed("not a failure")
    if not isinstance(line, int) or isinstance(line, bool):
        line = None
    return SkillFailure(kind=clean(kind, 40), message=clean(text, 600), line=line)
