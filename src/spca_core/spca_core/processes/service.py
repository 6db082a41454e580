"""A bounded worker: a child process that is told its set-up, and then asked, over one framed pipe.

`Worker` is one such process. `Service` is one that answers questions; when it has died, another one does.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spca_core.errors import SpcaError
from spca_core.processes.child import (
    PIPE,
    SILENT,
    Channel,
    ChannelClosed,
    ChannelTimeout,
    Child,
    Malformed,
    last_words,
    python_command,
)
from spca_core.stopping import Stop, never

_MAX_BYTES = 1 << 22
"""Default limit of a message between a process and its owner, in bytes."""


class ServiceDied(SpcaError):
    """The process died while handling a request, or was closed; `how` it ended, the message says more."""

    def __init__(self, message: str, how: str = "") -> None:
        super().__init__(message)
        self.how = how


class ServiceTimeout(SpcaError):
    """The process has not answered in time; it was ended."""


class ServiceFailed(SpcaError):
    """The process answers that it failed, or does not get ready."""


class Worker(Child):
    """One process, started in the background and killed with its group.

    It is told {"op": "setup", …} at once. Its first message must be {"op": "ready", …}, or "failed" with a
    `message`, within `start_s` seconds; what is said after that, over `channel`, is its owner's affair. What
    it prints goes to `log`, or to a file that goes with it. `how` it is started is as for a `Child`.
    """

    def __init__(
        self,
        command: Sequence[str],
        setup: Mapping[str, Any],
        *,
        log: Path | None = None,
        max_bytes: int = _MAX_BYTES,
        start_s: float = 60.0,
        **how: Any,
    ) -> None:
        """Start the process and send it its set-up. Raises ServiceDied where no process can be started."""
        self.start_s, self._deadline = start_s, time.monotonic() + start_s
        self._first: dict[str, Any] | None = None
        self._path = log
        self._log = tempfile.TemporaryFile() if log is None else log.open("ab")  # noqa: SIM115 - `end` closes it
        self._log_begin = self._log.seek(0, os.SEEK_END)
        try:
            super().__init__(command, stdin=PIPE, stdout=PIPE, stderr=self._log.fileno(), **how)
        except OSError as error:
            self._log.close()
            raise ServiceDied(f"cannot be started: {error}") from error
        assert self.stdin is not None and self.stdout is not None
        self.channel = Channel(self.stdout.fileno(), self.stdin.fileno(), max_bytes, lambda: self.stopped)
        with suppress(ChannelClosed, ChannelTimeout):  # `ready` tells
            self.channel.send({"op": "setup", **setup}, self._deadline)

    def ready(self, stop: Stop = never) -> dict[str, Any]:
        """Wait for the process's first message and return it; later calls return the same one.

        Raises ServiceDied with its last words, also when it is late, ServiceFailed when it says why it cannot
        start, and Interrupted when `stop` holds.
        """
        if self._first is None:
            try:
                first = self.channel.receive(self._deadline, stop)
            except ChannelTimeout as error:
                words = self._obituary(f"was not ready after {self.start_s:.0f} s")
                self.end()
                raise ServiceDied(words, "was late") from error
            except (ChannelClosed, Malformed) as error:
                raise self.died(error, "before it was ready") from error
            if first["op"] != "ready":
                raise ServiceFailed(str(first.get("message", "")))
            self._first = first
        return self._first

    def died(self, error: Exception, when: str) -> ServiceDied:
        """End the process, and return the error that explains what its channel raised."""
        spoke = isinstance(error, Malformed) and self.alive
        how = f"spoke nonsense ({error})" if spoke else super().end(1.0) or SILENT
        words = self._obituary(f"{how} {when}")
        self.end()
        return ServiceDied(words, how)

    def end(self, grace: float = 0.0) -> str:
        """See `Child.end`."""
        how = super().end(grace)
        self._log.close()
        return how

    def _obituary(self, what: str) -> str:
        words = last_words(self._path or Path(f"/proc/self/fd/{self._log.fileno()}"), self._log_begin)
        where = "" if self._path is None else f" (its log: {self._path})"
        return f"{what}{': ' if words else ''}{words}{where}"


class Service:
    """A Python module run as a worker that answers one request at a time.

    The module's side is `spca_core.processes.wire`: to {"op": …, "id": …} it answers {"op": "done", "value":
    …} or {"op": "failed", "message": …}, with the same `id`. It ends when its input does, so with its owner.
    Questions may come from several threads: they wait for each other. `how` it is started is as for a
    `Worker`.
    """

    def __init__(self, module: str, setup: Mapping[str, Any], **how: Any) -> None:
        self.setup = dict(setup)
        """Set-up that the process is told first, each time that it is started."""
        self._started = lambda: Worker(python_command(module), self.setup, **how)
        self.starts = 0
        """Number of times that the process has been started."""
        self.lock = threading.RLock()
        """Lock to hold while several questions are asked in a row."""
        self._worker: Worker | None = None
        self._number = 0
        self._busy_until = 0.0
        self.closed = False
        """`close` has been called."""

    @property
    def pid(self) -> int | None:
        """Id of the process, or None if none has been started."""
        return worker.pid if (worker := self._worker) is not None else None

    @property
    def alive(self) -> bool:
        """The process is running."""
        return (worker := self._worker) is not None and worker.alive

    def begin(self) -> Worker:
        """Start the process if it does not run, without waiting for it. Raises ServiceDied."""
        with self.lock:
            if self.closed:
                raise ServiceDied("the process was closed")
            if self._worker is None or not self._worker.alive:
                self.end()
                self.starts += 1
                self._worker = self._started()
            return self._worker

    def start(self, stop: Stop = never) -> Worker:
        """Start the process if it does not run, and wait until it is ready; one that dies is started again.

        Raises ServiceFailed when it says why it cannot start, or has died twice, and Interrupted.
        """
        with self.lock:
            for last in (False, True):  # somebody may have killed the first; MoveIt aborts or hangs at times
                try:
                    worker = self.begin()
                    worker.ready(stop)
                    return worker
                except ServiceFailed:
                    self.end()
                    raise
                except ServiceDied as error:
                    if self.closed:
                        raise
                    if last:
                        raise ServiceFailed(str(error)) from error
        raise AssertionError("unreachable")

    def tell(self, op: str, **arguments: Any) -> None:
        """Send a message that needs no answer, even before the process is ready."""
        with self.lock, suppress(ChannelClosed):  # it has died already; the next question tells
            worker = self.begin()
            worker.channel.send({"op": op, **arguments}, time.monotonic() + worker.start_s)

    def ask(self, op: str, seconds: float, stop: Stop = never, **arguments: Any) -> Any:
        """Ask one question and return its answer, within `seconds` of wall time beyond those of a start.

        Raises ServiceFailed, ServiceTimeout, ServiceDied, and Interrupted when `stop` holds; the
        process then goes on with the question, and what is asked next waits for the end of it.
        """
        with self.lock:
            worker = self.start(stop)
            self._number += 1
            deadline = max(time.monotonic(), self._busy_until) + seconds
            try:
                worker.channel.send({"op": op, "id": self._number, **arguments}, deadline)
                self._busy_until = deadline
                while True:
                    answer = worker.channel.receive(deadline, stop)
                    if answer.get("id") == self._number:
                        break
            except ChannelTimeout as error:
                self.end()
                raise ServiceTimeout(f"no answer to '{op}' in {seconds:.0f} s") from error
            except (ChannelClosed, Malformed) as error:
                raise worker.died(error, f"during '{op}'") from error
            self._busy_until = 0.0
        if answer["op"] != "done":
            raise ServiceFailed(f"'{op}' failed: {answer.get('message', '')}")
        return answer.get("value")

    def end(self) -> None:
        """End the process and everything it has started; the next question starts another one."""
        worker, self._worker, self._busy_until = self._worker, None, 0.0
        if worker is not None:
            worker.end()

    def close(self) -> None:
        """End the process for good, whatever it is doing. From any thread; harmless when called twice."""
        self.closed = True
        if (worker := self._worker) is not None:
            worker.kill()  # this wakes up threads that wait for an answer
        with self.lock:
            self.end()
