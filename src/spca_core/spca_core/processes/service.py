"""A child process that answers requests. It is started on first use and restarted after it dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spca_core.errors import SpcaError
from spca_core.processes.channel import Channel, ChannelClosed, ChannelTimeout, Malformed
from spca_core.processes.child import PIPE, Child, last_words, python_command
from spca_core.scratch import scratch

_MAX_BYTES = 1 << 22
"""Longest message between the process and its owner."""


class ServiceDied(SpcaError):
    """The process died while handling a request, or did not start; the message says how."""


class ServiceTimeout(SpcaError):
    """The process has not answered in time; it was ended."""


class ServiceFailed(SpcaError):
    """The process answers that it failed."""


def _never() -> bool:
    return False


class Service:
    """A Python module run as a child process that answers one request at a time.

    Requests and replies use `spca_core.processes.wire`.

    Its first message must be {"op": "ready"}, or "failed", after it has received `setup`; later ones {"op":
    "done", "value": …} or {"op": "failed", "message": …}, with the question's `id`. It ends when its input
    does, so with its owner. Questions may come from several threads: they wait for each other. What it prints
    goes to `log`.
    """

    def __init__(
        self,
        module: str,
        setup: Mapping[str, Any],
        *,
        env: Mapping[str, str],
        log: Path | None = None,
        start_s: float = 60.0,
    ) -> None:
        self._command = python_command(module)
        self._setup, self._env = dict(setup), dict(env)
        self._start_s = start_s
        self._scratch = scratch("service") if log is None else None
        self.log = log or Path(self._scratch.name if self._scratch else "") / "log"
        """Where its standard output and error go."""
        self.starts = 0
        """How often the process has been started."""
        self.lock = threading.RLock()
        """Hold it to ask several questions in a row."""
        self._child: Child | None = None
        self._channel: Channel | None = None
        self._number = 0
        self._log_begin = 0
        self._busy_until = 0.0
        self.closed = False
        """Whether `close` was called."""

    @property
    def pid(self) -> int | None:
        """The process's id, if one has been started."""
        child = self._child
        return None if child is None else child.pid

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        child = self._child
        return child is not None and child.alive

    def start(self) -> None:
        """Start the process if it does not run, and wait until it is ready.

        Raises ServiceFailed when it says why it cannot start, ServiceDied with its last words when it does
        not.
        """
        with self.lock:
            if self.closed:
                raise ServiceDied("the process was closed")
            if not self.alive:
                self._end()
                self._begin()

    def ask(self, op: str, seconds: float, stop: Callable[[], bool] = _never, **arguments: Any) -> Any:
        """The answer to one question, within `seconds` of wall time beyond those of a start.

        Raises ServiceFailed, ServiceTimeout, ServiceDied, and Interrupted when `stop` holds; the
        process then goes on with the question, and what is asked next waits for the end of it.
        """
        with self.lock:
            self.start()
            child, channel = self._child, self._channel
            assert child is not None and channel is not None
            self._number += 1
            deadline = max(time.monotonic(), self._busy_until) + seconds
            try:
                channel.send({"op": op, "id": self._number, **arguments}, deadline)
                self._busy_until = deadline
                while True:
                    answer = channel.receive(deadline, stop)
                    if answer.get("id") == self._number:
                        break
            except ChannelTimeout as error:
                self._end()
                raise ServiceTimeout(f"no answer to '{op}' in {seconds:.0f} s") from error
            except (ChannelClosed, Malformed) as error:
                how = child.autopsy() if isinstance(error, ChannelClosed) else f"spoke nonsense ({error})"
                self._end()
                raise ServiceDied(self._obituary(f"{how} during '{op}'")) from error
            self._busy_until = 0.0
        if answer["op"] != "done":
            raise ServiceFailed(f"'{op}' failed: {answer.get('message', '')}")
        return answer.get("value")

    def close(self) -> None:
        """End the process and everything it has started, whatever it is doing; harmless when called twice."""
        self.closed = True
        child = self._child
        if child is not None:
            child.kill()  # this wakes up threads that wait for an answer
        with self.lock:
            self._end()
            if self._scratch is not None:
                self._scratch.cleanup()

    def _begin(self) -> None:
        deadline = time.monotonic() + self._start_s
        self.starts += 1
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        try:
            child = Child(self._command, env=self._env, stdin=PIPE, stdout=PIPE, stderr=self.log)
        except OSError as error:
            raise ServiceDied(f"cannot be started: {error}") from error
        assert child.stdin is not None and child.stdout is not None
        channel = Channel(child.stdout.fileno(), child.stdin.fileno(), _MAX_BYTES, lambda: child.stopped)
        self._child, self._channel, self._busy_until = child, channel, 0.0
        try:
            channel.send({"op": "setup", **self._setup}, deadline)
            answer = channel.receive(deadline)
        except ChannelTimeout as error:
            self._end()
            raise ServiceDied(self._obituary(f"was not ready after {self._start_s:.0f} s")) from error
        except (ChannelClosed, Malformed) as error:
            how = child.autopsy()
            self._end()
            raise ServiceDied(self._obituary(f"{how} before it was ready")) from error
        if answer["op"] != "ready":
            self._end()
            raise ServiceFailed(str(answer.get("message", "")))

    def _obituary(self, what: str) -> str:
        words = last_words(self.log, self._log_begin)
        where = "" if self._scratch is not None else f" (its log: {self.log})"
        return f"{what}{': ' if words else ''}{words}{where}"

    def _end(self) -> None:
        child, self._child, self._channel = self._child, None, None
        if child is not None:
            child.end()
