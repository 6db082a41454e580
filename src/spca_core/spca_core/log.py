"""Notes of what happens in a run, for whoever looks for a fault: lines of JSON in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import IO

LOG = "log/spca.log"
_files: list[IO[str]] = []  # at most one
_common: ContextVar[Mapping[str, object]] = ContextVar("common", default=MappingProxyType({}))


def log_to(folder: Path) -> None:
    """Send every note of this process to `log/spca.log` in a run's folder."""
    path = folder / LOG
    path.parent.mkdir(parents=True, exist_ok=True)
    _files[:] = [path.open("a", buffering=1)]


def note(event: str, level: str = "info", **data: object) -> None:
    """Write an event with its data; outside a run it is dropped."""
    for file in _files:
        stamp = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
        line = {**data, **_common.get(), "event": event, "level": level, "timestamp": stamp}
        file.write(json.dumps(line, default=str) + "\n")


@contextmanager
def noting(**data: object) -> Iterator[None]:
    """Add data to every note of this thread, as long as the context lasts."""
    token = _common.set({**_common.get(), **data})
    try:
        yield
    finally:
        _common.reset(token)
