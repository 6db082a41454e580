"""Lets Gazebo stand still while nothing is asked of it: it would use all processors for an idle table."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_IDLE_S = 5.0
"""Wall seconds without a request, and without a level under way, after which time stands still."""


class Idleness:
    """Stops simulated time when it may, and lets it go on before anything is done.

    `pause(still)` stops or continues time and returns what went wrong, or "". From any thread.
    """

    def __init__(self, pause: Callable[[bool], str], after: float = _IDLE_S) -> None:
        self._pause, self._after = pause, after
        self._lock = threading.Lock()
        self._level = self._still = False
        self._working = 0
        self._since = time.monotonic()

    @contextmanager
    def working(self) -> Iterator[None]:
        """While the context lasts, time passes."""
        with self._lock:
            self._working += 1
            if self._still:
                self._still = bool(self._pause(False))
        try:
            yield
        finally:
            with self._lock:
                self._working -= 1
                self._since = time.monotonic()

    def level_begins(self) -> None:
        """Time passes until the level ends, whether anything is asked or not: the referee counts on it."""
        self._level = True

    def level_ends(self) -> None:
        """Let time stand still at the next look: what follows, as a video, needs the processors."""
        self._level, self._since = False, -math.inf

    def look(self) -> None:
        """Stop time if nothing needs it; to be called now and then, where a moment's wait does no harm."""
        with self._lock:
            idle = not (self._level or self._working or self._still)
            if idle and time.monotonic() - self._since > self._after:
                self._still = not self._pause(True)
