"""Resource limits of untrusted code, and the confinement that it requires."""

from __future__ import annotations

from pydantic import Field

from spca_core.model import Record
from spca_sandbox.level import SandboxLevel

SKILL_MODULES = ("math",)
PROGRAM_MODULES = (
    "math", "bisect", "collections", "copy", "dataclasses", "enum", "functools", "heapq", "itertools",
    "operator", "random", "typing",
)  # fmt: skip
"""Pure helpers for programs that plan on their own (grid worlds)."""


class Limits(Record):
    """Bounds of one sandbox. Seconds are wall time unless it is said otherwise."""

    memory_mb: int = Field(256, ge=64)
    """Address space of the worker."""
    worker_s: float = Field(10.0, gt=0)
    """Processor time that a run may spend in its own code, calls through `ctx` not counted.

    `spca_core.budgets.PATIENCE` times as much wall time is the last resort.
    """
    load_s: float = Field(5.0, gt=0)
    """Time that importing the source may take."""
    cpu_s: int = Field(600, ge=2)
    """CPU time of one worker over its life; it is replaced well before, between two runs."""
    start_s: float = Field(20.0, gt=0)
    """Time a worker may take to start and lock itself in."""
    message_bytes: int = Field(1 << 20, ge=1 << 12)
    """Longest message in either direction."""
    calls: int = Field(20_000, ge=1)
    """Calls through `ctx` in one run."""
    log_lines: int = Field(200, ge=0)
    line_chars: int = Field(500, ge=20)
    modules: tuple[str, ...] = SKILL_MODULES
    """What the code may import."""
    min_level: SandboxLevel = SandboxLevel.CONFINED
    """Below this level generated code is not run."""
