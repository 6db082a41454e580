"""What is told to stop, and what closes itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

Stop = Callable[[], bool]
"""Function that says whether what is under way is to stop; asked now and then, in the thread that works."""
_T = TypeVar("_T")


def never() -> bool:
    """Return False: nothing is to stop."""
    return False


def _in_a_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=run, daemon=True).start()


def left_alone(
    call: Callable[[], _T], begin: Callable[[Callable[[], None]], object] = _in_a_thread
) -> Future[_T]:
    """Begin a call that nobody has to wait for, in a thread of its own by default; return its outcome."""
    outcome: Future[_T] = Future()
    begin(partial(_fulfil, outcome, call))
    return outcome


def _fulfil(outcome: Future[_T], call: Callable[[], _T]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:
        outcome.set_exception(error)
    finally:
        del outcome  # the error's traceback has this frame: a circle, with all that a run has open


class Flag:
    """A flag for all threads, which takes no lock: it can be set whatever has been interrupted.

    A `threading.Event` has a lock: a handler that sets it waits for ever if the signal came while the same
    thread was in one of its methods, for instance in the handler of an earlier signal.
    """

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        """Set the flag."""
        self._set = True

    def clear(self) -> None:
        """Clear the flag."""
        self._set = False

    def is_set(self) -> bool:
        """Return whether the flag is set."""
        return self._set


class Closing:
    """Something to be closed; as a context manager, it closes itself."""

    def close(self) -> None:
        """Release everything; harmless when called twice."""
        raise NotImplementedError

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
