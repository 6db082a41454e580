"""Child processes and the messages that pass between them and their owner.

`child` starts, ends and explains any child; its `Channel` and `wire` are the two ends of one format: a 4-byte
big-endian length, then a JSON object with an operation `op`; `service` is the bounded worker on it, for the
solver, MoveIt and the sandbox. The child's side, `wire`, needs nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
from importlib import import_module

PATIENCE = 8.0
"""Seconds of wall time that may pass for each second of processor time that something is allowed.

What comes of a limited search should not depend on what else the machine does; wall time is the last resort,
against what waits and does not compute.
"""


def started(module: str) -> None:
    """Load a module and run its `main`; what is to stop before that ends the process at once, with status 0.

    A launch passes Ctrl-C on to programs that still load, and shows the whole command of one that fails.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    import_module(module).main()
