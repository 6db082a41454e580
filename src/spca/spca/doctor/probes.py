"""Probes of what is installed, by metadata: nothing heavy is imported in this process."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from importlib import metadata

from spca_core.paths import share

Probe = Callable[[], tuple[list[str], list[str]]]
"""Function that returns what is there, with versions, and what is lacking; its errors are reported, too."""
_TIMEOUT = 30.0


def modules(*names: str) -> Probe:
    """Return a probe for Python modules, which does not count a mere folder of that name."""
    return lambda: _sorted((n, (distribution(n) or "") if _importable(n) else None) for n in names)


def packages(*names: str, **tried: str) -> Probe:
    """Return a probe for ROS packages; it tells the version that was tried beside one that differs."""

    def probe() -> tuple[list[str], list[str]]:
        there = {name: package(name) for name in (*names, *tried)}
        return _sorted((name, _beside(version, tried.get(name))) for name, version in there.items())

    return probe


def runs(code: str, found: str) -> Probe:
    """Return a probe that runs Python code in its own process; its last words say what is lacking."""

    def probe() -> tuple[list[str], list[str]]:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return ([], [said[-1]]) if done.returncode else ([found], [])

    return probe


def program(what: str, command: str, wanted: str = ".", tried: str | None = None) -> Probe:
    """Return a probe for a program whose first line must begin with pattern `wanted`; see `packages`."""

    def probe() -> tuple[list[str], list[str]]:
        try:
            done = subprocess.run(
                command.split(), capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return [], [what]
        said = "" if done.returncode else next(iter(done.stdout.strip().splitlines()), "").strip()
        if re.match(wanted, said):
            return [f"{what} {_beside(said, tried)}"], []
        return [], [f"{what} (there is {said})" if re.match(r"\d+\.\d", said) else what]

    return probe


def variable(what: str, *names: str) -> Probe:
    """Return a probe for environment variables, any of which will do."""
    return lambda: ([], [] if any(map(os.environ.get, names)) else [what])


def every(*probes: Probe) -> Probe:
    """Return a probe that joins the results of all these probes."""

    def probe() -> tuple[list[str], list[str]]:
        results = [one() for one in probes]
        return [f for found, _ in results for f in found], [x for _, lacking in results for x in lacking]

    return probe


def distribution(name: str) -> str | None:
    """Return the version of an installed Python distribution, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def package(name: str) -> str | None:
    """Return the version in an installed ROS package's manifest, or None."""
    folder = share(name)
    if folder is None or not (folder / "package.xml").is_file():
        return None
    return ET.parse(folder / "package.xml").getroot().findtext("version") or "unknown version"


def _beside(there: str | None, tried: str | None) -> str | None:
    return there if None in (there, tried) or there == tried else f"{there} (tried: {tried})"


def _importable(module: str) -> bool:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def _sorted(versions: Iterable[tuple[str, str | None]]) -> tuple[list[str], list[str]]:
    known = list(versions)
    return [f"{n} {v}".strip() for n, v in known if v is not None], [n for n, v in known if v is None]
