"""The log of a run: what spca says by the standard library's `logging`, as JSON lines in the run's folder."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType

LOG = "log/spca.log"
"""Name of the log in a run's folder."""
log = logging.getLogger("spca")
"""The logger of spca: `log.info("step", {"status": "done"})` writes an event with its data."""
log.setLevel(logging.INFO)
log.propagate = False
# Outside of a run, what is logged is dropped.
log.addHandler(logging.NullHandler())
_context: ContextVar[Mapping[str, object]] = ContextVar("context", default=MappingProxyType({}))
_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


class _JsonLines(logging.Formatter):
    """Writes an event as a line of JSON: its data, the data of its context, what happened, and when."""

    def format(self, record: logging.LogRecord) -> str:
        data = record.args if isinstance(record.args, Mapping) else {}
        stamp = datetime.fromtimestamp(record.created, timezone.utc).isoformat().replace("+00:00", "Z")
        about = {"event": record.msg, "level": record.levelname.lower(), "timestamp": stamp}
        return json.dumps({**data, **_context.get(), **about}, default=str)


class _File(logging.FileHandler):
    """A file of a log, on which a full disk ends the run like any other file of it."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Raise what has gone wrong; `logging` itself would print it."""
        if (error := sys.exc_info()[1]) is not None:
            raise error


@contextmanager
def logging_to(folder: Path) -> Iterator[None]:
    """Write what a run logs to its folder, as long as the context lasts; another run has a log of its own."""
    (folder / LOG).parent.mkdir(parents=True, exist_ok=True)
    file = _File(folder / LOG)
    file.setFormatter(_JsonLines())
    file.addFilter(lambda _: _folder.get() in (None, folder))
    log.addHandler(file)
    token = _folder.set(folder)
    log.disabled = False  # another library may have disabled it by `logging.config`
    try:
        yield
    finally:
        _folder.reset(token)
        log.removeHandler(file)
        file.close()


@contextmanager
def logged_with(**data: object) -> Iterator[None]:
    """Add data to all that this thread logs, as long as the context lasts."""
    token = _context.set({**_context.get(), **data})
    try:
        yield
    finally:
        _context.reset(token)
