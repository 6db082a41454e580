"""Waits for a call that cannot be interrupted, but gives up when the deadline passes or the user cancels."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from spca_core.errors import Cancelled

T = TypeVar("T")
_POLL_SECONDS = 0.05


class _Outcome(Generic[T]):
    value: T
    error: BaseException | None = None


def interruptible(call: Callable[[], T], cancelled: Callable[[], bool]) -> T:
    """The result of `call`, or its exception.

    Raises Cancelled as soon as `cancelled()`: the call is left to itself.
    """
    outcome: _Outcome[T] = _Outcome()
    done = threading.Event()

    def run() -> None:
        try:
            outcome.value = call()
        except BaseException as error:
            outcome.error = error
        finally:
            done.set()

    threading.Thread(target=run, name="proposer", daemon=True).start()
    while not done.wait(_POLL_SECONDS):
        if cancelled():
            raise Cancelled("planning was cancelled")
    if outcome.error is not None:
        raise outcome.error
    return outcome.value
