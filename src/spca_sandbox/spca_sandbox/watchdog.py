"""Stops the world from outside while a call into it is running."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

_PERIOD_S = 0.05


class Watchdog:
    """Calls `stop` once when `cancelled` holds or `deadline` (monotonic s) passes.

    `reason` says which of the two it was.
    """

    def __init__(self, stop: Callable[[], None], cancelled: Callable[[], bool], deadline: float) -> None:
        self._stop, self._cancelled, self._deadline = stop, cancelled, deadline
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sandbox-watchdog", daemon=True)
        self.reason = ""

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_PERIOD_S):
            if self._cancelled():
                self.reason = "cancelled"
            elif time.monotonic() > self._deadline:
                self.reason = "timeout"
            if self.reason:
                self._stop()
                return
