"""One worker process: started in an empty environment, killed with everything it may have started."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import spca_core
from spca_core.errors import SpcaError
from spca_core.processes.service import Worker
from spca_core.skill import CtxApi
from spca_sandbox.limits import Limits, SandboxLevel, SandboxReport
from spca_sandbox.surface import Surface

_SOURCE_ROOTS = [str(Path(file).resolve().parent.parent) for file in (__file__, spca_core.__file__)]
_START = (
    f"import sys; sys.path[:] = [*{_SOURCE_ROOTS!r}, *(p for p in sys.path if p)]; "
    "from spca_sandbox.worker.main import main; main()"
)
# Not `-I`, which ignores the fixed hash seed; without it the order of sets of strings differs between runs.
_FLAGS = ("-s", "-S", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class WorkerProcess(Worker):
    """A worker that starts in the background; `wait_ready` blocks until it has locked itself in.

    It dies with this process: it holds the reading end of a pipe (its lifeline) whose other end is only here.
    """

    def __init__(self, surface: Surface, limits: Limits) -> None:
        self.busy_s = 0.0
        """Wall time in seconds spent waiting for the worker: a bound on the CPU time it has used."""
        reading, self._lifeline = os.pipe()
        named = ("modules", "memory_mb", "cpu_s", "message_bytes", "log_lines", "line_chars")
        try:
            super().__init__(
                [getattr(sys, "_base_executable", sys.executable), *_FLAGS, "-c", _START, str(reading)],
                {
                    "methods": surface.methods,
                    "records": surface.records,
                    "constants": surface.constants,
                    **{name: getattr(limits, name) for name in named},
                },
                env=_ENVIRONMENT,
                max_bytes=limits.message_bytes,
                start_s=limits.start_s,
                cwd="/",
                pass_fds=(reading,),
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(reading)

    def wait_ready(self) -> SandboxReport:
        """Wait until the worker has locked itself in; return how well it holds. Raises what `ready` does."""
        try:
            return SandboxReport.of(self.ready()["features"])
        except SpcaError as error:
            raise type(error)(f"the sandbox did not start: {error}") from error

    def cpu_s(self) -> float:
        """Return the processor time that the worker has used so far, in seconds."""
        import psutil

        with contextlib.suppress(psutil.NoSuchProcess):
            guard = psutil.Process(self.pid)  # the process that runs the code is its child
            return sum(sum(one.cpu_times()[:2]) for one in (guard, *guard.children()))
        return 0.0

    def end(self) -> str:
        """See `Worker`."""
        how = super().end()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        return how


def probe() -> SandboxReport:
    """Start a worker as for real code, and return how well it was locked in."""
    try:
        worker = WorkerProcess(Surface(CtxApi(environment="none", methods=())), Limits())
        try:
            return worker.wait_ready()
        finally:
            worker.end()
    except (OSError, SpcaError) as error:
        return SandboxReport(level=SandboxLevel.NONE, features={"process": str(error)})
