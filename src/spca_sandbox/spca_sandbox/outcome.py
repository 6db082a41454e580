"""How loading and running untrusted code ended."""

from __future__ import annotations

from typing import Any, Literal

from spca_core.model import Record
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


class RunOutcome(Record):
    """How one run ended. `value` is plain JSON; `log` what it printed; `seconds` the wall time it took."""

    status: Literal["done", "failed", "cancelled"]
    value: Any = None
    failure: SkillFailure | None = None
    log: tuple[str, ...] = ()
    seconds: float = 0.0
