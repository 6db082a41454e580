"""Limits of this process, within those that it was started with (`ulimit`)."""

from __future__ import annotations

import resource


def limit(kind: int, most: int) -> None:
    """Set a limit of `resource.RLIMIT_…`, hard and soft alike: `most`, or less where no more is allowed."""
    highest = resource.getrlimit(kind)[1]
    value = most if highest == resource.RLIM_INFINITY else min(most, highest)
    resource.setrlimit(kind, (value, value))
