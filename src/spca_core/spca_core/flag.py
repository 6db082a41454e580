"""A flag that a signal handler may set."""

from __future__ import annotations


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
