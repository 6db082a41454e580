"""One worker process: started in an empty environment, killed with everything it may have started."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Any

import psutil

import spca_core
from spca_core.errors import SpcaError
from spca_core.processes.channel import Channel, ChannelClosed, ChannelTimeout, Malformed
from spca_core.processes.child import PIPE, Child
from spca_core.skill import CtxApi
from spca_sandbox.level import SandboxLevel, SandboxReport
from spca_sandbox.limits import Limits
from spca_sandbox.surface import Surface

_SOURCE_ROOTS = [str(Path(file).resolve().parent.parent) for file in (__file__, spca_core.__file__)]
_START = (
    f"import sys; sys.path[:] = [*{_SOURCE_ROOTS!r}, *(p for p in sys.path if p)]; "
    "from spca_sandbox.worker.main import main; main()"
)
# Not `-I`, which ignores the fixed hash seed; without it the order of sets of strings differs between runs.
_FLAGS = ("-s", "-S", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class WorkerLost(SpcaError):
    """The worker has died, or was stopped, before it was ready; the message says how."""


class WorkerProcess:
    """A worker that starts in the background; `wait_ready` blocks until it has locked itself in.

    It dies with this process: it holds the reading end of a pipe (its lifeline) whose other end is only here.
    """

    def __init__(self, surface: Surface, limits: Limits) -> None:
        self._limits = limits
        self._surface = surface
        self.report: SandboxReport | None = None
        self.busy_s = 0.0
        """Wall time spent waiting for it: a bound on the CPU time it has used."""
        reading, self._lifeline = os.pipe()
        try:
            self._child = Child(
                [getattr(sys, "_base_executable", sys.executable), *_FLAGS, "-c", _START, str(reading)],
                env=_ENVIRONMENT,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd="/",
                pass_fds=(reading,),
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(reading)
        assert self._child.stdin and self._child.stdout
        self.channel = Channel(
            self._child.stdout.fileno(),
            self._child.stdin.fileno(),
            limits.message_bytes,
            lambda: self._child.stopped,
        )

    def wait_ready(self) -> SandboxReport:
        """Hand over the set-up and wait for the lock to fall. Raises WorkerLost, and SpcaError."""
        if self.report is not None:
            return self.report
        deadline = time.monotonic() + self._limits.start_s
        try:
            self.channel.send(self._setup(), deadline)
            message = self.channel.receive(deadline)
            features = message["features"]
        except ChannelClosed as error:
            words = self._last_words()
            raise WorkerLost(f"the sandbox did not start: {words or self.autopsy()}") from error
        except (ChannelTimeout, Malformed, KeyError) as error:
            raise SpcaError(f"the sandbox did not start: {self._last_words() or error!r}") from error
        self.report = SandboxReport.of(features)
        assert self._child.stderr
        self._child.stderr.close()
        return self.report

    def cpu_s(self) -> float:
        """Processor time that it has used so far, in seconds."""
        with contextlib.suppress(psutil.NoSuchProcess):
            guard = psutil.Process(self._child.pid)  # the process that runs the code is its child
            return sum(sum(one.cpu_times()[:2]) for one in (guard, *guard.children()))
        return 0.0

    def end(self) -> str:
        """Kill it and all that belongs to it; harmless when called twice.

        Returns how it had died by itself, or "".
        """
        how = self._child.end()
        self._cut_lifeline()
        return how

    def autopsy(self) -> str:
        """After the channel closed: how it died, waiting a moment for it."""
        how = self._child.autopsy()
        self._cut_lifeline()
        return how

    @property
    def pid(self) -> int:
        """The outer process's id, for tests and the log."""
        return self._child.pid

    def _cut_lifeline(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _setup(self) -> dict[str, Any]:
        limits = self._limits
        return {
            "methods": self._surface.methods,
            "records": self._surface.records,
            "constants": self._surface.constants,
            "modules": limits.modules,
            "memory_mb": limits.memory_mb,
            "cpu_s": limits.cpu_s,
            "message_bytes": limits.message_bytes,
            "log_lines": limits.log_lines,
            "line_chars": limits.line_chars,
        }

    def _last_words(self) -> str:
        """The last line on its error stream, if there is one."""
        stream = self._child.stderr
        if stream is None or stream.closed:
            return ""
        os.set_blocking(stream.fileno(), False)
        text = (stream.read(1 << 16) or b"").decode(errors="replace").strip()
        return text.splitlines()[-1] if text else ""


def probe() -> SandboxReport:
    """Start a worker as for real code and tell how well it was locked in."""
    try:
        worker = WorkerProcess(Surface(CtxApi(environment="none", methods=())), Limits())
    except OSError as error:
        return SandboxReport(level=SandboxLevel.NONE, features={"process": str(error)})
    try:
        return worker.wait_ready()
    except SpcaError as error:
        return SandboxReport(level=SandboxLevel.NONE, features={"process": str(error)})
    finally:
        worker.end()
