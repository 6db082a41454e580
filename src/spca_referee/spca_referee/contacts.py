"""A memory of contacts: which pairs are active, and when each one was."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from spca_core.contacts import ContactSample, Pair, Way, pair
from spca_core.model import Record

TTL = 0.3
"""Simulated seconds for which a contact stays active after it was last seen."""

UNBROKEN = 0.05
"""Simulated seconds within which a contact that lasts is seen again: two taps are no lasting touch."""

EPSILON = 1e-9
"""Seconds by which sums of time steps may be off."""


class ContactInterval(Record):
    """A pair of models in contact from `start` to `end`, in seconds since the level began.

    Gaps up to the TTL are bridged.
    """

    pair: Pair
    start: float
    end: float


class ContactMemory:
    """Remembers when each pair was seen. Times are simulated seconds since the level began."""

    def __init__(self, ttl: float = TTL) -> None:
        self.ttl = ttl
        self._open: dict[Pair, tuple[float, float]] = {}
        self._closed: list[ContactInterval] = []
        self._ways_seen: dict[Way, float] = {}

    def record(self, stamp: float, sample: ContactSample) -> None:
        """Take in the contacts seen at `stamp`; stamps ascend. Pairs may come in either order."""
        for names in sample.pairs:
            seen = pair(*names)
            start, end = self._open.get(seen, (stamp, stamp))
            if stamp - end > self.ttl + EPSILON:
                self._closed.append(ContactInterval(pair=seen, start=start, end=end))
                start = stamp
            self._open[seen] = (start, stamp)

        self._ways_seen |= dict.fromkeys(sample.ways, stamp)

    def lasting(self, stamp: float) -> tuple[frozenset[Pair], frozenset[Way]]:
        """Return the pairs that touch without a break, and how they do."""
        pairs = frozenset(p for p, (_, end) in self._open.items() if stamp - end <= UNBROKEN + EPSILON)
        return pairs, frozenset(h for h, end in self._ways_seen.items() if stamp - end <= UNBROKEN + EPSILON)

    def links(self, model: str, stamp: float) -> list[str]:
        """Return the robot's links that touched a model within the TTL before `stamp`."""
        recent = (way for way, end in self._ways_seen.items() if stamp - end <= self.ttl + EPSILON)
        return sorted(link for how, thing, link, *_ in recent if (how, thing) == ("touched_by", model))

    def active(self, names: Pair, stamp: float) -> bool:
        """Return whether a pair was seen within the TTL before `stamp`."""
        interval = self._open.get(pair(*names))
        return interval is not None and stamp - interval[1] <= self.ttl + EPSILON

    def timeline(self) -> tuple[ContactInterval, ...]:
        """Return all contacts so far, by their beginning."""
        running = [ContactInterval(pair=p, start=start, end=end) for p, (start, end) in self._open.items()]
        return tuple(sorted((*self._closed, *running), key=lambda i: (i.start, i.pair)))


def save_timeline(timeline: Iterable[ContactInterval], path: Path) -> None:
    """Write intervals as a JSON list."""
    path.write_text(json.dumps([interval.model_dump() for interval in timeline]))
