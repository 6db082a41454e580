"""Handles Ctrl-C: the arm is stopped first."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from spca_core.errors import EXIT_INTERRUPTED

STOPPED = "stopped by the user"
_AGAIN_S = 0.02


def interrupt_between_imports() -> None:
    """Have Ctrl-C raise KeyboardInterrupt in the main thread, but not inside an import: a moment later.

    Compiled modules that are interrupted while they load say ImportError, or end the process (SIGABRT). One
    that came before, while `bin/spca` held it off, comes now.
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    def on_unraisable(dropped: sys.UnraisableHookArgs) -> None:
        if dropped.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            sys.__unraisablehook__(dropped)

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGALRM, on_signal)
    sys.unraisablehook = on_unraisable  # a destructor's or a callback's exception is dropped
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))


@contextmanager
def stopping_on_interrupt(
    cancel: Callable[[], None], again: Callable[[], object] = lambda: sys.exit(EXIT_INTERRUPTED)
) -> Iterator[None]:
    """Have the first Ctrl-C (or SIGTERM) call `cancel`, which stops the arm, as long as the context lasts.

    Every further one calls `again`: the second one ends the process at once, unless something else is given.
    """
    pressed = False

    def on_signal(number: int, _: object) -> None:
        nonlocal pressed
        if pressed:
            again()
        else:
            pressed = True
            # in a thread: what a signal interrupts may hold a lock of rclpy's that stopping the arm needs
            threading.Thread(target=cancel, daemon=True).start()

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
