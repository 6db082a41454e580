"""The client side of the warm process that judges drafts."""

from __future__ import annotations

import atexit
import contextlib
import shlex
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from spca_core.errors import Cancelled, Interrupted, SpcaError
from spca_core.processes.channel import Channel, ChannelClosed, ChannelTimeout, Malformed
from spca_core.processes.child import INHERITED, PIPE, Child, python_command, python_environment
from spca_core.scratch import scratch
from spca_planner.pddl.limits import MOST_CHARACTERS
from spca_planner.solver.cost import refused_unjudged
from spca_planner.solver.engines import DEFAULT
from spca_planner.solver.judgement import MAX_BYTES, Ahead, Case, Judgement

WORKER = "spca_planner.solver.worker"
_START_SECONDS = 60.0
"""Within which a new process must be ready, even on a machine that is busy with other things."""
_STARTS = 2


class SolverProcess:
    """Judges drafts in another process. Usable from any thread, one case at a time; `close` it at the end.

    `domains` are read ahead; `engine` searches for plans; the module `worker` is what runs. `start` it early:
    its imports take a second.
    """

    def __init__(self, domains: Iterable[str] = (), engine: str = DEFAULT, worker: str = WORKER) -> None:
        self._worker = worker
        self._ahead = Ahead(domains=tuple(domains), engine=engine)
        self._process: Child | None = None
        self._channel: Channel | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._closing = False
        self._ready = False

    def start(self, domains: Iterable[str] = ()) -> None:
        """Start the process, and have it read `domains` before its next case, without waiting for either."""
        with self._lock:
            new = tuple(d for d in domains if d not in self._ahead.domains)
            self._ahead = self._ahead.model_copy(update={"domains": (*self._ahead.domains, *new)})
            if not self._running() and new:
                self._set_up(self._ahead.model_copy(update={"domains": new}))

    def judge(self, case: Case, cancelled: Callable[[], bool] = lambda: False) -> Judgement:
        """The judgement, within the case's `wall_s`. A cold process adds its start-up time.

        A draft that takes longer, or more memory than there is, is refused with the likely cause. Raises
        Cancelled, and SpcaError when the process cannot be started.
        """
        if unfit := _unfit(case):
            return Judgement(critic="parse", message=unfit)
        with self._lock:
            self._await_ready(cancelled)
            deadline = time.monotonic() + case.wall_s
            answer = self._ask(case, deadline, cancelled)
            overdue = self._overdue(deadline)
            if answer is None and not overdue:
                # Somebody may have killed it; a draft that kills it will do so again.
                self._restart()
                self._await_ready(cancelled)
                answer = self._ask(case, deadline, cancelled)
                overdue = self._overdue(deadline)
            if answer is None:
                self._restart()
                return refused_unjudged(case, out_of_time=overdue)
            return answer

    def close(self) -> None:
        """End the process and all its children, at once, whatever it is doing. It may be started again."""
        self._closing = True
        if self._process is not None:
            self._process.kill()
        with self._lock:
            self._stop()
            self._closing = False

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(self, *failure: object) -> None:
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
        if self._ready and self._process is not None and self._process.alive:
            return
        deadline = time.monotonic() + _START_SECONDS
        ended: int | None = None
        for _ in range(_STARTS):  # somebody may have killed the first one
            self._running()
            if self._exchange(None, deadline, cancelled) is not None:
                self._ready = True
                return
            ended = self._process.wait(1.0) if self._process is not None else None
            self._stop()
        how = "it gave no answer in time" if ended is None else f"it ended with status {ended}"
        # The worker removes its folder in the end: what is typed by hand has one of its own.
        command = f'{shlex.join(python_command(self._worker))} "$(mktemp -d)"'
        raise SpcaError(f"the solver process does not start: {how}; by hand it is: {command}")

    def _ask(self, case: Case, deadline: float, cancelled: Callable[[], bool]) -> Judgement | None:
        """One question; None when the process died of it or did not answer in time."""
        question = {"op": "judge", "case": case.model_dump(mode="json")}
        answer = self._exchange(question, deadline, cancelled)
        return None if answer is None else Judgement.model_validate(answer["value"])

    def _overdue(self, deadline: float) -> bool:
        """Return whether the process took too long: wall time, or processor time, of which it has died."""
        ended = self._process.wait(0.0) if self._process is not None else None
        return time.monotonic() >= deadline or ended == -signal.SIGVTALRM

    def _exchange(
        self, message: dict[str, Any] | None, deadline: float, cancelled: Callable[[], bool]
    ) -> dict[str, Any] | None:
        """Send `message`, if there is one, and wait for the process's next."""
        channel = self._channel
        assert channel is not None

        def stop() -> bool:
            return self._closing or cancelled()

        try:
            if stop():
                raise Interrupted
            if message is not None:
                channel.send(message, deadline, stop)
            return channel.receive(deadline, stop)
        except (ChannelClosed, ChannelTimeout, Malformed, Interrupted) as error:
            if self._closing:
                raise Cancelled("the solver process was closed") from None
            if not isinstance(error, Interrupted):  # it is dead, hangs, or is stopped
                return None
            self._stop()
            raise Cancelled("planning was cancelled") from None

    def _restart(self) -> None:
        """A new process, so that the next draft finds it warm."""
        self._stop()
        self._running()

    def _running(self) -> bool:
        """Start the process unless it runs; returns whether it had to."""
        if self._process is not None and self._process.alive:
            return False
        self._stop()
        self._scratch = scratch("solver")
        command = python_command(self._worker, self._scratch.name)
        # Numerical libraries must not start threads before a fork.
        environment = python_environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        process = Child(command, env=environment, stdin=PIPE, stdout=PIPE, stderr=INHERITED)
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._channel = Channel(
            process.stdout.fileno(), process.stdin.fileno(), MAX_BYTES, lambda: process.stopped
        )
        self._set_up(self._ahead)
        return True

    def _set_up(self, ahead: Ahead) -> None:
        assert self._channel is not None
        with contextlib.suppress(ChannelClosed):  # it has died already; the next request reports it
            setup = {"op": "setup", "ahead": ahead.model_dump(mode="json")}
            self._channel.send(setup, time.monotonic() + _START_SECONDS)

    def _stop(self) -> None:
        process, self._process, self._channel = self._process, None, None
        self._ready = False
        if process is None:
            return
        process.end()
        if self._scratch is not None:
            self._scratch.cleanup()


@cache
def warm_solver(worker: str = WORKER) -> SolverProcess:
    """One solver process for all runs of this process: its imports take longer than a run's planning."""
    solver = SolverProcess(worker=worker)
    solver.start()
    atexit.register(solver.close)
    return solver


def _unfit(case: Case) -> str:
    """Explain why a text cannot even be sent, as a model may write anything; "" if it can."""
    for what, text in (("domain", case.domain), ("problem", case.problem)):
        if len(text) > MOST_CHARACTERS:
            return f"the {what} has {len(text)} characters; at most {MOST_CHARACTERS} are allowed"
        try:
            text.encode()
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            return f"{what}, line {line}: character {error.start + 1} is no valid Unicode"
    return ""
