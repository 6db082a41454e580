"""Gazebo's time: it passes as far as somebody asks for it, and no farther. Whoever is gone moves nothing.

A Gazebo that hangs is ended, so that its launch ends as it does when Gazebo dies.
"""

from __future__ import annotations

import importlib
import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from spca_ros.calls import ServiceCall
from spca_ros.node import SpcaNode
from spca_sim.gazebo.write import STEP

AHEAD_S = 0.06
"""Simulated seconds that may pass beyond a wish, so that Gazebo need not wait for the next one."""

Control = Callable[[int], None]
"""Function that stops time after so many physics steps more than were granted before."""


class Passing:
    """Grants Gazebo the physics steps up to a moment.

    Time runs freely until the first wish, so that Gazebo and its controllers come up. `now` is the
    newest clock that was heard. From any thread but the one that spins.
    """

    def __init__(self, control: Control, now: Callable[[], float]) -> None:
        self._control, self._now = control, now
        self._lock = threading.Lock()
        self._granted: float | None = None

    def until(self, moment: float, anew: bool = False) -> None:
        """Let time pass until `moment`, unless that is granted; `anew` if Gazebo seems not to know of it."""
        with self._lock:
            if self._granted is None:
                self._control(0)
                self._granted = self._now()
            granted = self._now() if anew else max(self._granted, self._now())
            steps = math.ceil((moment - granted) / STEP - 1e-6)
            if steps > 0:
                self._control(steps)
            self._granted = granted + max(steps, 0) * STEP


def bridged(node: SpcaNode, service: str) -> Control:
    """Return the control of Gazebo's time by its service of that name, which `ros_gz_bridge` offers."""
    srv, msg = (importlib.import_module(f"ros_gz_interfaces.{kind}") for kind in ("srv", "msg"))
    call = ServiceCall(node, srv.ControlWorld, service)

    def control(steps: int) -> None:
        call(srv.ControlWorld.Request(world_control=msg.WorldControl(pause=True, multi_step=steps)))

    return control


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
