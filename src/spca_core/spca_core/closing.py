"""What is closed at its end."""

from __future__ import annotations

from typing import TypeVar

_T = TypeVar("_T")


class Closing:
    """Something to be closed; as a context manager, it closes itself."""

    def close(self) -> None:
        """Release everything; harmless when called twice."""
        raise NotImplementedError

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
