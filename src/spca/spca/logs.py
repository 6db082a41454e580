"""Sends log lines to a file of the run, never to the terminal."""

from __future__ import annotations

from pathlib import Path

import structlog

LOG = "log/spca.log"


def log_to(folder: Path) -> None:
    """Send every structlog line of this process to `log/spca.log` in a run's folder, as JSON lines."""
    path = folder / LOG
    path.parent.mkdir(parents=True, exist_ok=True)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=str),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=path.open("a", buffering=1)),
        cache_logger_on_first_use=False,
    )
