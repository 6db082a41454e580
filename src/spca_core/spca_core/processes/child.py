"""Starts one child process in its own group, talks to it, and ends it with all its descendants.

All messages that come over its pipes are untrusted.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from spca_core.errors import Interrupted
from spca_core.stopping import Stop, never

PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL
_TAIL_BYTES = 1 << 14
SILENT = "closed its channel"
"""How a process ended that runs on and answers no more."""
_START = (
    "import gc, sys; gc.set_threshold(100_000, 5, 5); sys.path[:] = filter(None, sys.path); del sys.argv[0]; "
    "from runpy import run_module; run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
"""Code that runs a module, as bin/spca does. Looking for garbage took a tenth of a run: it is rare now."""


class Child:
    """A child process that leads a session and a process group.

    It does not receive Ctrl-C from the terminal; its owner decides whether to pass it on.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: int = NOTHING,
        stdout: int | Path = NOTHING,
        stderr: int | Path = NOTHING,
        cwd: str | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start the process.

        Outputs may be `PIPE`, `NOTHING`, a descriptor, or a log file, which is appended to. Raises OSError.
        """
        with contextlib.ExitStack() as files:

            def target(where: int | Path) -> int | IO[bytes]:
                return files.enter_context(where.open("ab")) if isinstance(where, Path) else where

            self._process = subprocess.Popen(
                list(command), stdin=stdin, stdout=target(stdout), stderr=target(stderr),
                env=dict(env), cwd=cwd, pass_fds=tuple(pass_fds), start_new_session=True,
            )  # fmt: skip
        self.stdin, self.stdout = self._process.stdin, self._process.stdout

    @property
    def pid(self) -> int:
        """Id of the process, which is also its group's."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """The process is running."""
        return self._process.poll() is None

    @property
    def stopped(self) -> bool:
        """Somebody has stopped the process (SIGSTOP)."""
        look = os.WEXITED | os.WSTOPPED | os.WNOWAIT | os.WNOHANG
        with contextlib.suppress(ChildProcessError):
            news = os.waitid(os.P_PID, self.pid, look)
            return news is not None and news.si_code == os.CLD_STOPPED
        return False

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end and return the exit status (-n: killed or stopped by signal n), or None."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout)
        return -signal.SIGSTOP if self.stopped else None

    def terminate(self) -> None:
        """Ask the process to end now; after a Ctrl-C, nodes would wait for whoever may still need them."""
        if self.alive:
            self._process.terminate()

    def kill(self) -> None:
        """Kill the process's group now, without waiting. May be called from any thread."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self, grace: float = 0.0) -> str:
        """Kill the process and all its descendants, after `grace` seconds in which it may end, if it runs.

        Calling it again is harmless.

        Returns how it had ended by itself, or "" if it was killed here.
        """
        status = self.wait(0.0 if self.stopped else grace)
        self.kill()
        self._process.wait()
        for stream in filter(None, (self.stdin, self.stdout)):
            with contextlib.suppress(OSError):
                stream.close()
        return "" if status is None else how_it_ended(status)


def how_it_ended(status: int) -> str:
    """Return an exit status in words; -9 and 128 + 9 (as shells and guards pass it on) are both SIGKILL.

    >>> how_it_ended(-9), how_it_ended(137), how_it_ended(2)
    ('was killed by SIGKILL', 'was killed by SIGKILL', 'exited with status 2')
    """
    if status == -signal.SIGSTOP:
        return "was stopped by SIGSTOP"
    number = -status if status < 0 else status - 128
    if number > 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(number).name}"
    return f"exited with status {status}"


def last_words(log: Path, begin: int = 0) -> str:
    """Return the last line of a log, from byte `begin` on, that is not blank; "" if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(begin, file.tell() - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].strip() if lines else ""


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module as `python -m` does, but without the working folder's modules.

    `python -m` looks there first: a `secrets.py` that somebody has left in it would be executed. (`-P` does
    this from Python 3.11 on.)
    """
    return [sys.executable, "-c", _START, module, *arguments]


def python_environment(**more: str) -> dict[str, str]:
    """Return this process's environment with `more`, in which a child's Python finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **more}


def leave(status: int) -> NoReturn:
    """End the process with this status, without taking the interpreter apart: that takes tenths of a second.

    What is registered with `atexit` is called, and what was printed is written where somebody can have it.
    """
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


_SLICE_S = 0.02
_CHUNK = 1 << 16


class ChannelClosed(Exception):
    """The child has closed its end, most likely by dying, or counts as dead."""


class ChannelTimeout(Exception):
    """The child has not answered, or not read, in time."""


class Malformed(Exception):
    """The message violates the protocol."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number that is not finite")
    return value


class Channel:
    """Length-prefixed JSON objects over non-blocking pipes.

    Every wait has a deadline in `time.monotonic` seconds, and ends when `gone` holds: the process at the
    other end does not run any more, though it has not closed its end (see `Child.stopped`).
    """

    def __init__(self, read_fd: int, write_fd: int, max_bytes: int, gone: Stop = never) -> None:
        self._in, self._out, self._max, self._gone = read_fd, write_fd, max_bytes, gone
        self._buffer = bytearray()
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(read_fd, select.POLLIN)
        self._writable.register(write_fd, select.POLLOUT)

    def send(self, message: Any, deadline: float) -> None:
        """Send one message. Raises ValueError (too long, or no JSON), ChannelTimeout, ChannelClosed."""
        body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        if len(body) > self._max:
            raise ValueError(f"too much data at once: {len(body)} bytes, {self._max} allowed")
        data = memoryview(len(body).to_bytes(4, "big") + body)
        while data:
            try:
                data = data[os.write(self._out, data) :]
            except BlockingIOError:
                self._wait(self._writable, deadline, never)
            except OSError as error:
                raise ChannelClosed(str(error)) from error

    def receive(self, deadline: float, stop: Stop = never) -> dict[str, Any]:
        """Wait for the next message and return it.

        Raises ChannelTimeout, ChannelClosed, Malformed, or Interrupted when `stop` holds.
        """
        while True:
            end = 4 + int.from_bytes(self._buffer[:4], "big")
            if len(self._buffer) >= 4 and end - 4 > self._max:
                raise Malformed(f"a message of {end - 4} bytes, {self._max} allowed")
            if len(self._buffer) >= end:  # until then the header stays: the wait for the rest may end
                body = bytes(self._buffer[4:end])
                del self._buffer[:end]
                return _parse(body)
            try:
                chunk = os.read(self._in, _CHUNK)
            except BlockingIOError:
                self._wait(self._readable, deadline, stop)
                continue
            except OSError as error:
                raise ChannelClosed(str(error)) from error
            if not chunk:
                raise ChannelClosed("end of file")
            self._buffer += chunk

    def quiet(self) -> bool:
        """Return whether the other end is open and has sent nothing unsolicited."""
        return not self._buffer and not self._readable.poll(0) and not self._gone()

    def _wait(self, poll: select.poll, deadline: float, stop: Stop) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ChannelTimeout
        if stop():
            raise Interrupted
        if self._gone():
            raise ChannelClosed("the process does not run")
        poll.poll(1000 * (left if stop is self._gone is never else min(left, _SLICE_S)))


def _parse(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body, parse_float=_finite, parse_constant=_finite)
        if b"\\u" in body or b"\xed" in body:
            json.dumps(message, ensure_ascii=False).encode()  # lone surrogates cannot be printed
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not a message: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise Malformed("not a message: no operation")
    return message
