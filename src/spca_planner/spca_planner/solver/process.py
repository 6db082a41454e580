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
from spca_planner.pddl.limits import MOST_CHARACTERS
from spca_planner.solver.cost import refused_unjudged
from spca_planner.solver.engines import DEFAULT
from spca_planner.solver.judgement import GRACE_SECONDS, Ahead, Case, Judgement

_POLL_SECONDS = 0.05
_START_SECONDS = 60.0
"""Within which a new process must be ready, even on a machine that is busy with other things."""
_STARTS = 2


class SolverProcess:
    """Judges drafts in another process. Usable from any thread, one case at a time; `close` it at the end.

    `domains` are read ahead; `engine` searches for plans. `start` it early: its imports take a
    second or so, best spent while others work.
    """

    def __init__(self, domains: Iterable[str] = (), engine: str = DEFAULT) -> None:
        self._ahead = Ahead(domains=tuple(domains), engine=engine)
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._closing = False
        self._ready = False

    def start(self) -> None:
        """Start the process, without waiting for it to be ready."""
        with self._lock:
            self._running()

    def judge(self, case: Case, cancelled: Callable[[], bool] = lambda: False) -> Judgement:
        """The judgement, at the latest `GRACE_SECONDS` after the case's own time limit; a cold process adds its start.

        A draft that takes longer, or more memory than there is, is refused with the likely cause. Raises Cancelled,
        and SpcaError when the process cannot be started.
        """
        if unfit := _unfit(case):
            return Judgement(critic="parse", message=unfit)
        with self._lock:
            self._await_ready(cancelled)
            deadline = time.monotonic() + case.timeout_s + GRACE_SECONDS
            answer = self._ask(case, deadline, cancelled)
            if answer is None and (left := deadline - time.monotonic() - GRACE_SECONDS) > 0:
                # Somebody may have killed it; a draft that kills it will do so again.
                self._restart()
                self._await_ready(cancelled)
                again = case.model_copy(update={"timeout_s": left})
                answer = self._ask(again, time.monotonic() + left + GRACE_SECONDS, cancelled)
            if answer is None:
                overdue = time.monotonic() >= deadline
                self._restart()
                return refused_unjudged(case, out_of_time=overdue)
            return answer

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
    def engine(self) -> str:
        """The name of the planning engine."""
        return self._ahead.engine

    @property
    def pid(self) -> int | None:
        """The process, if it runs."""
        return self._process.pid if self._process is not None else None

    def _await_ready(self, cancelled: Callable[[], bool]) -> None:
        if self._ready and self._process is not None and self._process.poll() is None:
            return
        deadline = time.monotonic() + _START_SECONDS
        for _ in range(_STARTS):  # somebody may have killed the first one
            self._running()
            if self._exchange(b"", deadline, cancelled) is not None:
                self._ready = True
                return
            self._stop()
        raise SpcaError("the solver process does not start; its messages are above")

    def _ask(self, case: Case, deadline: float, cancelled: Callable[[], bool]) -> Judgement | None:
        """One question; None when the process died of it or did not answer in time."""
        line = self._exchange(case.model_dump_json().encode() + b"\n", deadline, cancelled)
        return None if line is None else Judgement.model_validate_json(line)

    def _exchange(self, message: bytes, deadline: float, cancelled: Callable[[], bool]) -> bytes | None:
        """Send `message` and wait for a line, without being bound to either."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        source, sink = process.stdout.fileno(), process.stdin.fileno()
        line = b""
        while not line.endswith(b"\n"):
            if self._closing:
                raise Cancelled("the solver process was closed")
            if cancelled():
                self._stop()
                raise Cancelled("planning was cancelled")
            if time.monotonic() > deadline:
                return None
            readable, writable, _ = select.select([source], [sink] if message else [], [], _POLL_SECONDS)
            if writable:
                try:
                    message = message[os.write(sink, message[: select.PIPE_BUF]) :]
                except BrokenPipeError:
                    return None
            if readable:
                chunk = os.read(source, 65536)
                if not chunk:
                    if self._closing:
                        raise Cancelled("the solver process was closed")
                    return None
                line += chunk
        return line

    def _restart(self) -> None:
        """A new process, so that the next draft finds it warm."""
        self._stop()
        self._running()

    def _running(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
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

    def _stop(self) -> None:
        process, self._process = self._process, None
        self._ready = False
        if process is None:
            return
        _kill(process)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        process.wait()
        if self._scratch is not None:
            self._scratch.cleanup()


def _unfit(case: Case) -> str:
    """Why a text cannot even be sent: a model may write anything."""
    for what, text in (("domain", case.domain), ("problem", case.problem)):
        if len(text) > MOST_CHARACTERS:
            return f"the {what} has {len(text)} characters; at most {MOST_CHARACTERS} are allowed"
        try:
            text.encode()
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            return f"{what}, line {line}: character {error.start + 1} is no valid Unicode"
    return ""


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """This process's own, with our packages on the path; numerical libraries shall start no threads before a fork."""
    path = os.pathsep.join(p for p in sys.path if p)
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **single, "PYTHONPATH": path}
