"""Whether processes have ended, also those of others: the kernel tells, nobody looks again and again."""

from __future__ import annotations

import os
import select
from collections.abc import Iterable
from contextlib import suppress


def outliving(pids: Iterable[int], seconds: float = 60.0) -> list[int]:
    """Those of some processes that have not ended within so many seconds each; a zombie has."""
    left: list[int] = []
    for pid in pids:
        with suppress(ProcessLookupError), open(os.pidfd_open(pid)) as ending:
            left += [] if select.select([ending], [], [], seconds)[0] else [pid]
    return left
