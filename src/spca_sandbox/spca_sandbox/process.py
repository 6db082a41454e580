"""One worker process: started in an empty environment, killed with everything it may have started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from spca_core.errors import SpcaError
from spca_sandbox.channel import Channel, ChannelClosed, ChannelTimeout, Malformed
from spca_sandbox.level import SandboxReport
from spca_sandbox.limits import Limits
from spca_sandbox.surface import Surface

_SOURCE_ROOT = str(Path(__file__).resolve().parent.parent)
_START = (
    f"import sys; sys.path[:] = [{_SOURCE_ROOT!r}, *(p for p in sys.path if p)]; "
    "from spca_sandbox.worker.main import main; main()"
)
# Not `-I`, which would ignore the fixed hash seed: without it, sets of strings differ from run to run.
_FLAGS = ("-s", "-S", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


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
            self._process = subprocess.Popen(
                [getattr(sys, "_base_executable", sys.executable), *_FLAGS, "-c", _START, str(reading)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_ENVIRONMENT,
                cwd="/",
                pass_fds=(reading,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(reading)
        assert self._process.stdin and self._process.stdout
        self.channel = Channel(
            self._process.stdout.fileno(), self._process.stdin.fileno(), limits.message_bytes
        )

    def wait_ready(self) -> SandboxReport:
        """Hand over the set-up and wait for the lock to fall. Raises SpcaError when it does not start."""
        if self.report is not None:
            return self.report
        deadline = time.monotonic() + self._limits.start_s
        try:
            self.channel.send(self._setup(), deadline)
            message = self.channel.receive(deadline)
            features = message["features"]
        except (ChannelClosed, ChannelTimeout, Malformed, KeyError) as error:
            raise SpcaError(f"the sandbox did not start: {self._last_words() or error!r}") from error
        self.report = SandboxReport.of(features)
        assert self._process.stderr
        self._process.stderr.close()
        return self.report

    def end(self) -> str:
        """Kill it and all that belongs to it; harmless when called twice. Returns how it had died by itself, or ""."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.0)
        died = self._process.returncode
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if died is None:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return "" if died is None else _how(died)

    def autopsy(self) -> str:
        """After the channel closed: how it died, waiting a moment for it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        return self.end() or "closed its channel"

    @property
    def pid(self) -> int:
        """The outer process's id, for tests and the log."""
        return self._process.pid

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
        stream = self._process.stderr
        if stream is None or stream.closed:
            return ""
        os.set_blocking(stream.fileno(), False)
        text = (stream.read(1 << 16) or b"").decode(errors="replace").strip()
        return text.splitlines()[-1] if text else ""


def _how(returncode: int) -> str:
    """`-9` or `128 + 9` as words; the worker's guard passes on a signal in the second form."""
    number = -returncode if returncode < 0 else returncode - 128
    if number > 0:
        try:
            return f"was killed by {signal.Signals(number).name}"
        except ValueError:
            pass
    return f"exited with status {returncode}"
