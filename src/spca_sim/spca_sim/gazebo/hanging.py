"""A Gazebo that hangs is ended, so that its launch ends as it does when Gazebo dies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

# Wall seconds. It works through every moment: at a load of 14 on two cores the longest pause was 0.4 s.
_HANGS_S = 2.5
_PARTITION = "GZ_PARTITION"


def gazebo_process() -> psutil.Process | None:
    """Return the server of the Gazebo that was launched with this process, which its partition tells."""
    for process in psutil.process_iter() if _PARTITION in os.environ else ():
        with suppress(psutil.Error):
            server = "gz sim -s" in " ".join(process.cmdline())
            if server and process.environ().get(_PARTITION) == os.environ[_PARTITION]:
                return process
    return None


class Hanging:
    """Tells a process that hangs from a slow one: it uses no processor time."""

    def __init__(self, process: psutil.Process, clock: Callable[[], float] = time.monotonic) -> None:
        self._process, self._clock = process, clock
        self._used, self._since = -1.0, 0.0

    def end_it(self) -> bool:
        """Kill the process if it hangs, and return whether it did."""
        with suppress(psutil.Error):  # it has ended
            used, now = sum(self._process.cpu_times()[:2]), self._clock()
            if used != self._used:
                self._used, self._since = used, now
            elif now - self._since > _HANGS_S:
                self._process.kill()
                return True
        return False
