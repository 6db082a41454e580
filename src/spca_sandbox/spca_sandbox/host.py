"""Runs untrusted skills and programs in a sandboxed worker. This is the entry point of the package.

A CtxServer answers the calls of a skill while its limits are enforced; a pure program has none.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spca_core.errors import Cancelled, Interrupted, MotionError
from spca_core.ports.environment import CtxServer
from spca_core.processes import PATIENCE
from spca_core.processes.child import ChannelClosed, ChannelTimeout, Malformed
from spca_core.skill import SkillFailure
from spca_core.stopping import Closing, Stop, never
from spca_sandbox.limits import SandboxReport
from spca_sandbox.process import Cell, RunOutcome, Status, clean, failure_of
from spca_sandbox.surface import NO_CTX

_TICK_S = 0.02
"""Shortest extra time in seconds that is waited: processor times are known to a hundredth of a second."""
_OF_ARGUMENTS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""Errors that arguments can make an environment raise, however they were chosen."""
_PERIOD_S = 0.05
_AT_ONCE = 64  # calls per message: few enough to repeat cheaply if a worker dies
_CANCELLED = SkillFailure(kind="cancelled", message="cancelled")


class SkillHost(Cell):
    """One source text in one worker. Not for use from two threads at a time.

    The worker starts in the background with the host, so make the host early. When code has to be killed, a
    new worker takes over and loads the source again. Use it as a context manager, or `close` it. Every run
    and call finds the module as freshly imported: nothing is carried from one to the next. Pure programs need
    no Ctx: leave `api` out.
    """

    @property
    def report(self) -> SandboxReport:
        """Report on how well the worker is confined. Raises SpcaError when none can be started."""
        return self.started().wait_ready()

    def run(
        self,
        function: str,
        args: Sequence[str],
        server: CtxServer,
        deadline_s: float = 60.0,
        wall_timeout_s: float = 600.0,
        cancelled: Stop = never,
    ) -> RunOutcome:
        """Run one skill to its end in a worker of its own; never raises for what the skill does.

        `deadline_s` is in the environment's time (`server.now()`), `wall_timeout_s` bounds the whole run, and
        `limits.worker_s` what the skill spends in its own code. When one of them is over, and on
        cancellation, the server is stopped first and then the worker killed. Errors of the environment itself
        are passed on.
        """
        if failure := self.ready_for(function, alone=True):
            return _ended(failure)
        run = _Run(self, server, deadline_s, wall_timeout_s, cancelled)
        return run.outcome({"op": "run", "function": function, "args": list(args)})

    def call(self, function: str, args: Sequence[Any], wall_timeout_s: float = 5.0) -> RunOutcome:
        """Call a pure function with JSON arguments; its JSON result is the outcome's `value`."""
        (outcome,) = self.call_many(function, [args], wall_timeout_s)
        return outcome

    def call_many(
        self,
        function: str,
        batch: Sequence[Sequence[Any]],
        wall_timeout_s: float = 5.0,
        cancelled: Stop = never,
    ) -> Iterator[RunOutcome]:
        """Call a pure function once per argument list, as outcomes are asked for; the timeout is for each.

        A call that kills its worker costs only itself.
        """
        done, size = 0, _AT_ONCE
        while done < len(batch):
            if failure := self.ready_for(function) or (_CANCELLED if cancelled() else None):
                yield from [_ended(failure)] * (len(batch) - done)
                return
            worker, part = self.worker, [list(args) for args in batch[done : done + size]]
            message = {"op": "batch", "function": function, "batch": part}
            try:
                worker.channel.send(message, time.monotonic() + wall_timeout_s)
            except ValueError as error:
                if size == 1:
                    done += 1
                    yield _ended(SkillFailure(kind="refused", message=str(error)))
                size = 1
                continue
            except (ChannelTimeout, ChannelClosed):
                self.replace()  # caused by an earlier call, not by this one
                continue
            for _ in part:
                done += 1
                yield _Run(self, _Nobody(), math.inf, wall_timeout_s, cancelled).outcome()
                if self.worker is not worker:
                    break


class _Nobody(CtxServer):
    """The server of a pure function, which has no `ctx`."""

    api = NO_CTX

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        raise ValueError(f"there is no '{method}'")

    def now(self) -> float:
        return 0.0

    def stop(self) -> None:
        pass


class _Ended(Exception):
    """The host ended the run; the worker must be killed."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Run:
    """Carries one run from its request to its outcome."""

    def __init__(
        self, cell: Cell, server: CtxServer, deadline_s: float, wall_timeout_s: float, cancelled: Stop
    ) -> None:
        self._cell, self._server, self._cancelled = cell, server, cancelled
        self._deadline_s, self._wall_timeout_s = deadline_s, wall_timeout_s
        self._began = time.monotonic()
        self._until = server.now() + deadline_s
        self._pure = isinstance(server, _Nobody)
        self._left_s = math.inf if self._pure else cell.limits.worker_s
        self._patience_s = (PATIENCE - 1) * self._left_s
        self._used_s = 0.0 if self._pure else cell.worker.cpu_s()
        self._calls = 0
        self._log: list[str] = []

    def outcome(self, request: dict[str, Any] | None = None) -> RunOutcome:
        """Send the request, unless it has been sent, and answer calls until the result comes.

        What the environment itself raises is passed on, with the worker gone.
        """
        try:
            with _Watchdog(self._server, self._cancelled, self._began + self._wall_timeout_s) as dog:
                if request is not None:
                    self._send(request)
                return self._converse(dog)
        except (_Ended, Malformed) as end:
            self._server.stop()
            self._cell.replace()
            return self._failed(end.kind if isinstance(end, _Ended) else "killed", str(end))
        except ChannelClosed:
            self._server.stop()
            return self._failed("killed", f"the worker {self._cell.autopsy()}")
        except ValueError as error:  # the request itself is too long
            return self._failed("refused", str(error))
        except BaseException:
            self._cell.replace()
            raise

    def _converse(self, dog: _Watchdog) -> RunOutcome:
        while True:
            message = self._receive()
            op = message["op"]
            if op == "call":
                reply = self._answer(message, dog)
                self._check_clock()
                self._send(reply)
            elif op == "log":
                if len(self._log) < self._cell.limits.log_lines:
                    self._log.append(clean(message.get("line", ""), self._cell.limits.line_chars))
            elif op == "done":
                return self._outcome("done", value=message.get("value"))
            elif op == "failed":
                return self._outcome("failed", failure=failure_of(message))
            else:
                raise _Ended("killed", f"the worker sent '{clean(op, 40)}', which means nothing")

    def _answer(self, message: dict[str, Any], dog: _Watchdog) -> dict[str, Any]:
        method, args, kwargs = message.get("method"), message.get("args"), message.get("kwargs")
        if (
            method not in self._cell.surface.methods
            or not isinstance(method, str)
            or not isinstance(args, list)
            or not isinstance(kwargs, dict)
        ):
            raise _Ended("killed", "the worker made a call that does not exist")
        self._calls += 1
        if self._calls > self._cell.limits.calls:
            raise _Ended("timeout", f"more than {self._cell.limits.calls} calls in one run")
        dog.begin()
        try:
            self._cell.surface.check(method, args, kwargs)
            return {"value": self._server.call(method, tuple(args), kwargs)}
        except (Cancelled, MotionError) as error:
            if dog.reason == "timeout":
                raise self._too_long() from error
            if dog.reason or isinstance(error, Cancelled) or error.kind == "cancelled":
                raise _Ended("cancelled", str(error)) from error
            return _error(error.kind, str(error), motion=True, hit=error.hit)
        except _OF_ARGUMENTS as error:
            return _error("argument", str(error) or type(error).__name__, motion=False)

    def _receive(self) -> dict[str, Any]:
        while True:
            began = time.monotonic()
            deadline = min(began + self._left_s, self._began + self._wall_timeout_s)
            try:
                return self._cell.worker.channel.receive(deadline, self._must_end)
            except ChannelTimeout:
                if time.monotonic() >= self._began + self._wall_timeout_s:
                    raise self._too_long() from None
                if not self._given_more():
                    limit = self._cell.limits.worker_s
                    raise _Ended(
                        "timeout", f"more than {limit:g} s in the skill's own code: an endless loop?"
                    ) from None
            except Interrupted:
                self._check_clock()
                raise _Ended("cancelled", "cancelled") from None
            finally:
                waited = time.monotonic() - began
                self._left_s -= waited
                self._cell.worker.busy_s += waited

    def _given_more(self) -> bool:
        """Grant more wall time to a worker with processor time left (busy machine); return whether any is."""
        unused = self._cell.limits.worker_s - (self._cell.worker.cpu_s() - self._used_s)
        more = min(unused, self._patience_s)
        self._left_s += more
        self._patience_s -= more
        return more > _TICK_S

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._cell.worker.channel.send(message, time.monotonic() + self._left_s)
        except ChannelTimeout:
            raise _Ended("timeout", "the worker does not listen") from None

    def _must_end(self) -> bool:
        return self._cancelled() or self._server.now() > self._until

    def _check_clock(self) -> None:
        if self._server.now() > self._until:
            raise _Ended("timeout", f"not done within {self._deadline_s:g} s of the world's time")
        if self._cancelled():
            raise _Ended("cancelled", "cancelled")

    def _too_long(self) -> _Ended:
        late = "no result after {:g} s" if self._pure else "not done within {:g} s of wall time"
        return _Ended("timeout", late.format(self._wall_timeout_s))

    def _failed(self, kind: str, message: str) -> RunOutcome:
        ended = _ended(SkillFailure(kind=kind, message=message))
        return self._outcome(ended.status, failure=ended.failure)

    def _outcome(self, status: Status, value: Any = None, failure: SkillFailure | None = None) -> RunOutcome:
        seconds = time.monotonic() - self._began
        return RunOutcome(status=status, value=value, failure=failure, log=tuple(self._log), seconds=seconds)


def _ended(failure: SkillFailure) -> RunOutcome:
    """Return the outcome of what ended, or never began, for that reason."""
    return RunOutcome(status="cancelled" if failure.kind == "cancelled" else "failed", failure=failure)


def _error(kind: str, message: str, motion: bool, hit: str = "") -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message[:600], "motion": motion, "hit": hit}}


class _Watchdog(Closing):
    """Stops the server once the run is cancelled or `deadline` (monotonic s) passes, from its first call on.

    `reason` says which of the two it was.
    """

    def __init__(self, server: CtxServer, cancelled: Stop, deadline: float) -> None:
        self._server, self._cancelled, self._deadline = server, cancelled, deadline
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.reason = ""

    def begin(self) -> None:
        """Watch from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="sandbox-watchdog", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Watch no longer."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_PERIOD_S):
            if self._cancelled():
                self.reason = "cancelled"
            elif time.monotonic() > self._deadline:
                self.reason = "timeout"
            if self.reason:
                self._server.stop()
                return
