"""Contacts between models, the only thing a referee sees."""

from __future__ import annotations

from dataclasses import dataclass

SAMPLE_PERIOD = 0.02
"""Simulated seconds between two contact samples."""

Pair = tuple[str, str]


def pair(a: str, b: str) -> Pair:
    """The unordered pair of two model names, in its one canonical order."""
    return (a, b) if a <= b else (b, a)


@dataclass(frozen=True)
class ContactSample:
    """The pairs of models in contact during the interval that ended at `stamp` (simulated seconds)."""

    stamp: float
    pairs: frozenset[Pair]
