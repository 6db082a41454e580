"""The warm process that judges drafts, as its users see it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType

from spca_core.errors import Cancelled, SpcaError
from spca_planner.solver.judgement import Ahead, Case, Judgement
from spca_planner.solver.worker import GRACE_SECONDS

_POLL_SECONDS = 0.05


class SolverProcess:
    """Judges drafts in another process. Usable from any thread, one case at a time; `close` it at the end.

    `domains` are read ahead. `start` it early: its imports take a second or so, best spent while others work.
    """

    def __init__(self, domains: Iterable[str] = ()) -> None:
        self._ahead = Ahead(domains=tuple(domains))
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._closing = False

    def start(self) -> None:
        """Start the process, without waiting for it to be ready."""
        with self._lock:
            self._running()

    def judge(self, case: Case, cancelled: Callable[[], bool] = lambda: False) -> Judgement:
        """The judgement. Raises Cancelled, and SpcaError when the process died of it twice."""
        with self._lock:
            for last_try in (False, True):
                answer = self._ask(case, cancelled)
                if answer is not None:
                    return answer
                if self._closing:
                    raise Cancelled("the solver process was closed")
                self._stop()
                if last_try:
                    break
        raise SpcaError("the solver process died while it judged a draft")

    def close(self) -> None:
        """End the process and all its children, at once, whatever it is doing. It may be started again."""
        self._closing = True
        if self._process is not None:
            _kill(self._process)
        with self._lock:
            self._stop()
            self._closing = False

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process, if it runs."""
        return self._process.pid if self._process is not None else None

    def _ask(self, case: Case, cancelled: Callable[[], bool]) -> Judgement | None:
        """One question; None when the process died of it."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(case.model_dump_json().encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return None
        deadline = time.monotonic() + case.timeout_s + 2 * GRACE_SECONDS
        line = b""
        while not line.endswith(b"\n"):
            if cancelled():
                self._stop()
                raise Cancelled("planning was cancelled")
            if time.monotonic() > deadline:
                return None
            if select.select([process.stdout], [], [], _POLL_SECONDS)[0]:
                chunk = os.read(process.stdout.fileno(), 65536)
                if not chunk:
                    return None
                line += chunk
        return Judgement.model_validate_json(line)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._scratch = tempfile.TemporaryDirectory(prefix="spca_solver_")
            self._process = subprocess.Popen(
                [sys.executable, "-m", "spca_planner.solver.worker", self._scratch.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # a group of its own: Ctrl-C is ours to handle, and all of it can be killed
                env=_environment(),
            )
            assert self._process.stdin is not None
            self._process.stdin.write(self._ahead.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        process.wait()
        if self._scratch is not None:
            self._scratch.cleanup()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """This process's own, with our packages on the path; numerical libraries shall start no threads before a fork."""
    path = os.pathsep.join(p for p in sys.path if p)
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **single, "PYTHONPATH": path}
