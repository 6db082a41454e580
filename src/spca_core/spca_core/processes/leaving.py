"""A quick end of this process."""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """End the process with this status, without taking the interpreter apart: that takes tenths of a second.

    What is registered with `atexit` is called, and what was printed is written.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # Python has its own words for output that nobody can have; or it is closed
        sys.exit(status)
    os._exit(status)
