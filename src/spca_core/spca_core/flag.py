"""A flag that a signal handler may set."""

from __future__ import annotations


class Flag:
    """Is set or not, for all threads. It takes no lock, so it can be set whatever has been interrupted.

    A `threading.Event` has a lock: a handler that sets it waits for ever if the signal came while the same
    thread was in one of its methods, for instance in the handler of an earlier signal.
    """

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        """Set it."""
        self._set = True

    def clear(self) -> None:
        """Take it back."""
        self._set = False

    def is_set(self) -> bool:
        """Return whether it is set."""
        return self._set
