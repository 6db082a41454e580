"""Whether processes have ended, also those of others: the kernel tells, nobody looks again and again."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any


def outliving(pids: Iterable[int], seconds: float = 60.0) -> list[int]:
    """Those of some processes that have not ended within so many seconds each; a zombie has."""
    left: list[int] = []
    for pid in pids:
        with suppress(ProcessLookupError), open(os.pidfd_open(pid)) as ending:
            left += [] if select.select([ending], [], [], seconds)[0] else [pid]
    return left


def python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments in a process of its own; returns its status and what it said."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)
