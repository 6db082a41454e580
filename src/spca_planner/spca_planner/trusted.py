"""Domains that have proven themselves: the referee said success to a plan made with them."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from spca_core.task import Task

_HEADER = "; trusted: it has solved "


class TrustedDomains:
    """One PDDL file for each environment and task group, in `folder`; written whole or not at all.

    The first line says, as a comment, which tasks the domain has solved.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, environment: str, group: str) -> str | None:
        """The trusted domain, without its header, or None."""
        path = self.path(environment, group)
        if not path.is_file():
            return None
        header, _, domain = path.read_text().partition("\n")
        return domain if header.startswith(_HEADER) else None

    def solved(self, environment: str, group: str) -> tuple[str, ...]:
        """The ids of the tasks that the trusted domain has solved."""
        path = self.path(environment, group)
        if not path.is_file():
            return ()
        header = path.read_text().partition("\n")[0]
        return tuple(header.removeprefix(_HEADER).split(", ")) if header.startswith(_HEADER) else ()

    def add(self, environment: str, task: Task, domain: str) -> None:
        """Trust a domain for a task's group. It takes the place of another one, which it was made to mend."""
        same = self.get(environment, task.group) == domain
        solved = self.solved(environment, task.group) if same else ()
        header = _HEADER + ", ".join(sorted({*solved, task.id}))
        path = self.path(environment, task.group)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".new", delete=False) as file:
            file.write(f"{header}\n{domain}")
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)

    def all(self, environment: str) -> list[str]:
        """Every trusted domain of an environment."""
        folder = self._folder / _safe(environment)
        found = [self.get(environment, path.stem) for path in sorted(folder.glob("*.pddl"))]
        return [domain for domain in found if domain is not None]

    def path(self, environment: str, group: str) -> Path:
        """Where the domain of a group is kept."""
        return self._folder / _safe(environment) / f"{_safe(group)}.pddl"


def _safe(name: str) -> str:
    """A file name for any text: a task group comes from a file that anybody may have written."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name) or "_"
