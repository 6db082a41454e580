"""Pairs colour and depth images of the same instant into frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class FramePairs:
    """Calls `emit(colour, depth)` for every two images with equal stamps, in whatever order they arrive."""

    def __init__(self, emit: Callable[[Any, Any], None], keep: int = 4) -> None:
        self._emit, self._keep = emit, keep
        self._waiting: dict[str, dict[tuple[int, int], Any]] = {"colour": {}, "depth": {}}

    def colour(self, message: Any) -> None:
        """Take in a colour image that has come."""
        self._add("colour", "depth", message)

    def depth(self, message: Any) -> None:
        """Take in a depth image that has come."""
        self._add("depth", "colour", message)

    def _add(self, kind: str, other: str, message: Any) -> None:
        stamp = (message.header.stamp.sec, message.header.stamp.nanosec)
        partner = self._waiting[other].pop(stamp, None)
        if partner is None:
            waiting = self._waiting[kind]
            waiting[stamp] = message
            while len(waiting) > self._keep:  # its partner was lost in transit
                del waiting[next(iter(waiting))]
            return
        colour, depth = (message, partner) if kind == "colour" else (partner, message)
        self._emit(colour, depth)
