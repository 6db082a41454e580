"""Notices when primitives lead nowhere."""

from __future__ import annotations

from collections import deque

_WITHOUT_EFFECT = 12
"""Primitives in a row that changed nothing at all: neither pose, nor hand, nor map."""
_WINDOW = 60
_FEWEST_STATES = 8
"""Fewer different states than this in the last 60 primitives: it goes round in circles."""


class StuckDetector:
    """Looks at the whole state after each primitive: pose, hand and map.

    Walking straight ahead is never being stuck.
    """

    def __init__(self) -> None:
        self._recent: deque[object] = deque(maxlen=_WINDOW)
        self._idle = 0

    def note(self, state: object) -> str:
        """Take note of a (hashable) state; returns why it is stuck, empty if it is not."""
        self._idle = self._idle + 1 if self._recent and self._recent[-1] == state else 0
        self._recent.append(state)
        if self._idle >= _WITHOUT_EFFECT:
            return f"the last {_WITHOUT_EFFECT} primitives changed nothing"
        if len(self._recent) == _WINDOW and len(set(self._recent)) < _FEWEST_STATES:
            return (
                f"the last {_WINDOW} primitives went back and forth between {len(set(self._recent))} states"
            )
        return ""
