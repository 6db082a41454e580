"""What is installed, by its metadata; nothing heavy is imported."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from importlib import metadata


def version(distribution: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def importable(module: str) -> bool:
    """Whether a module can be found; a mere folder of that name in the current directory is none."""
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
