"""Handles Ctrl-C: the arm is stopped first."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spca_core.errors import EXIT_INTERRUPTED


@contextmanager
def stopping_on_interrupt(cancel: Callable[[], None]) -> Iterator[None]:
    """Within this context, the first Ctrl-C (or SIGTERM) calls `cancel`, which stops the arm.

    The second one ends the process at once.
    """
    presses = 0

    def on_signal(number: int, _: object) -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            sys.exit(EXIT_INTERRUPTED)
        cancel()

    try:
        previous = {s: signal.signal(s, on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: whoever owns it handles signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
