"""Levels of confinement, from none to complete."""

from __future__ import annotations

from enum import IntEnum

from spca_core.errors import InputError
from spca_core.model import Record

NAMESPACES = ("namespaces", "empty root")


class SandboxLevel(IntEnum):
    """Each level includes the ones before it."""

    NONE = 0
    """No worker could be started."""
    PROCESS = 1
    """A process of its own, with an empty environment and no open files but its channel."""
    LIMITED = 2
    """Also bounded memory, CPU, files, processes; no privileges can be gained."""
    CONFINED = 3
    """Also Landlock (no file can be reached) or a seccomp filter (few system calls remain)."""
    STRICT = 4
    """Both, in user, network, process, IPC and mount namespaces of its own with an empty file system."""

    @classmethod
    def named(cls, name: str) -> SandboxLevel:
        """The level of that name, as users write it. Raises InputError.

        >>> SandboxLevel.named("strict").name
        'STRICT'
        """
        try:
            return cls[name.upper()]
        except KeyError:
            known = ", ".join(level.name.lower() for level in cls)
            raise InputError(f"unknown sandbox level '{name}'", hint=f"one of {known}") from None


class SandboxReport(Record):
    """The level a worker reached, and per kernel feature "" where it holds or else why it does not."""

    level: SandboxLevel
    features: dict[str, str]

    @classmethod
    def of(cls, features: dict[str, str]) -> SandboxReport:
        """The report of a worker that started with these features."""

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
        """Raises InputError, in one line, where this machine confines less than `level`."""
        if self.level < level:
            raise InputError(
                f"generated code is not run: {self}, {level.name.lower()} is required",
                hint="use a kernel that offers more, or lower the required level at your own risk",
            )
