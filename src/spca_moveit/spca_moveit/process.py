"""The planning process, seen from outside: started, asked with a deadline, and never left running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import MotionError, SpcaError
from spca_core.geometry import Array
from spca_moveit.backend import Geometry, Setup

MOVEIT = "spca_moveit.moveit_backend:MoveItBackend"
START_S, CHECK_S = 60.0, 10.0
"""How long the process may take to begin, and to answer anything but a plan (wall seconds)."""
_GRACE_S = 5.0  # beyond the planner's own limit


class PlannerProcess:
    """A `Backend` in a process of its own. May be called from several threads; calls wait for each other."""

    def __init__(self, setup: Setup, factory: str = MOVEIT, log: Path | None = None) -> None:
        """Start it and wait until it is ready. Raises SpcaError that says why it does not get ready."""
        self._lock = threading.Lock()
        self._channel, child = Pipe()
        output = subprocess.DEVNULL if log is None else log.open("ab")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "spca_moveit.worker", str(child.fileno())],
                pass_fds=[child.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # so that whatever it starts can be ended with it
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
        finally:
            child.close()
            if log is not None and not isinstance(output, int):
                output.close()
        try:
            self._channel.send((factory, setup))
            self.pid = int(self._receive(START_S, "start"))
        except MotionError as error:
            self.close()
            raise SpcaError(f"the planning process did not start: {error}") from error
        except BaseException:
            self.close()
            raise

    def load(self, geometry: Geometry) -> None:
        """See `Backend.load`."""
        self._ask("load", CHECK_S, geometry)

    def colliding(self, states: Array, gap: float) -> NDArray[np.bool_]:
        """See `Backend.colliding`."""
        return np.asarray(self._ask("colliding", CHECK_S, np.atleast_2d(states), gap), dtype=bool)

    def plan(self, start: Array, goal: Array, gap: float, seconds: float) -> Array | None:
        """See `Backend.plan`. Raises MotionError('timeout') if the process exceeds the time; it is ended then."""
        way = self._ask("plan", seconds + _GRACE_S, start, goal, gap, seconds)
        return None if way is None else np.asarray(way, dtype=float)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and everything it started; harmless when called twice."""
        self._channel.close()
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _ask(self, method: str, seconds: float, *arguments: Any) -> Any:
        with self._lock:
            if not self.alive:
                raise MotionError("timeout", "the planning process is not running any more")
            try:
                self._channel.send((method, arguments))
            except (OSError, ValueError) as error:
                raise MotionError("timeout", f"the planning process cannot be reached: {error}") from error
            return self._receive(seconds, method)

    def _receive(self, seconds: float, method: str) -> Any:
        try:
            if not self._channel.poll(seconds):
                self.close()
                raise MotionError(
                    "timeout", f"the planning process gave no answer to '{method}' in {seconds:.0f} s"
                )
            good, result = self._channel.recv()
        except (EOFError, OSError) as error:
            status = self._process.wait()
            raise MotionError(
                "timeout", f"the planning process ended (status {status}) during '{method}'"
            ) from error
        if not good:
            raise MotionError("timeout", f"the planning process failed at '{method}': {result}")
        return result
