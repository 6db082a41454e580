"""Resource limits of untrusted code, and the confinement that it requires."""

from __future__ import annotations

from enum import IntEnum

from pydantic import Field

from spca_core.errors import InputError
from spca_core.model import Record

NAMESPACES = ("namespaces", "empty root")


class SandboxLevel(IntEnum):
    """Level of confinement; each includes the ones before it."""

    NONE = 0
    """No confinement: no worker could be started."""
    PROCESS = 1
    """A process of its own, with an empty environment and no open files but its channel."""
    LIMITED = 2
    """A process whose memory, CPU, files and processes are bounded, too; it can gain no privileges."""
    CONFINED = 3
    """A limited process behind Landlock (no file can be reached) or seccomp (few system calls remain)."""
    STRICT = 4
    """A process behind both, in own user, network, process, IPC and mount namespaces, its root empty."""


class SandboxReport(Record):
    """The level a worker reached, and per kernel feature "" where it holds or else why it does not."""

    level: SandboxLevel
    features: dict[str, str]

    @classmethod
    def of(cls, features: dict[str, str]) -> SandboxReport:
        """Return the report of a worker that started with these features."""

        def holds(*names: str) -> bool:
            return all(features.get(name, "missing") == "" for name in names)

        level = SandboxLevel.PROCESS
        if holds("limits", "no new privileges"):
            level = SandboxLevel.LIMITED
            if holds("landlock") or holds("seccomp"):
                level = SandboxLevel.CONFINED
                if holds("landlock", "seccomp", *NAMESPACES):
                    level = SandboxLevel.STRICT
        return cls(level=level, features=features)

    def __str__(self) -> str:
        lacking = "; ".join(f"{name}: {why}" for name, why in self.features.items() if why)
        return f"sandbox level {self.level.name.lower()}" + (f" ({lacking})" if lacking else "")

    def require(self, level: SandboxLevel) -> None:
        """Raise InputError, in one line, where this machine confines less than `level`."""
        if self.level < level:
            raise InputError(
                f"generated code is not run: {self}, {level.name.lower()} is required",
                hint="use a kernel that offers more, or lower the required level at your own risk",
            )


SKILL_MODULES = ("math",)
PROGRAM_MODULES = (
    "math", "bisect", "collections", "copy", "dataclasses", "enum", "functools", "heapq", "itertools",
    "operator", "random", "typing",
)  # fmt: skip
"""Modules of pure helpers for programs that plan on their own (grid worlds)."""


class Limits(Record):
    """Bounds of one sandbox. Seconds are wall time unless it is said otherwise."""

    memory_mb: int = Field(256, ge=64)
    """Address space of the worker in MiB."""
    worker_s: float = Field(10.0, gt=0)
    """Processor time in seconds that a run may spend in its own code, calls through `ctx` not counted.

    `spca_core.processes.PATIENCE` times as much wall time is the last resort.
    """
    load_s: float = Field(5.0, gt=0)
    """Time in seconds that importing the source may take."""
    cpu_s: int = Field(600, ge=2)
    """CPU time in seconds of one worker over its life; it is replaced well before, between two runs."""
    start_s: float = Field(20.0, gt=0)
    """Time in seconds that a worker may take to start and lock itself in."""
    message_bytes: int = Field(1 << 20, ge=1 << 12)
    """Maximum length in bytes of a message in either direction."""
    calls: int = Field(20_000, ge=1)
    """Maximum number of calls through `ctx` in one run."""
    log_lines: int = Field(200, ge=0)
    line_chars: int = Field(500, ge=20)
    modules: tuple[str, ...] = SKILL_MODULES
    """Modules that the code may import."""
    min_level: SandboxLevel = SandboxLevel.CONFINED
    """Level below which generated code is not run."""
