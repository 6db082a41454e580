"""Starts one child process in its own group and ends it with all its descendants."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL
_TAIL_BYTES = 1 << 14
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
                list(command),
                stdin=stdin,
                stdout=target(stdout),
                stderr=target(stderr),
                env=dict(env),
                cwd=cwd,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
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
        for stream in (self.stdin, self.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return "" if status is None else how_it_ended(status)

    def autopsy(self) -> str:
        """Return how a process that no longer answers ended: wait a moment for its death, then end it."""
        return self.end(1.0) or "closed its channel"


def how_it_ended(status: int) -> str:
    """Return an exit status in words; -9 and 128 + 9 (as shells and guards pass it on) are both SIGKILL.

    >>> how_it_ended(-9), how_it_ended(137), how_it_ended(2)
    ('was killed by SIGKILL', 'was killed by SIGKILL', 'exited with status 2')
    """
    if status == -signal.SIGSTOP:
        return "was stopped by SIGSTOP"
    number = -status if status < 0 else status - 128
    if number > 0:
        try:
            return f"was killed by {signal.Signals(number).name}"
        except ValueError:
            pass
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

    What is registered with `atexit` is called, and what was printed is written.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # Python has its own words for output that nobody can have; or it is closed
        sys.exit(status)
    os._exit(status)
