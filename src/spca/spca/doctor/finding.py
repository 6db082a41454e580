"""The finding of one check, and what is installed, by its metadata: nothing heavy is imported."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
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


def version(distribution: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def importable(module: str) -> bool:
    """Return whether a module can be found; a mere folder of that name in the current directory is none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def listed(distributions: Iterable[str]) -> tuple[str, list[str]]:
    """`name version, …` of those installed, and the names of those that are not."""
    versions = {name: version(name) for name in distributions}
    have = ", ".join(f"{name} {found}" for name, found in versions.items() if found)
    return have, [name for name, found in versions.items() if not found]
