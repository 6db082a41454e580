"""One run of one skill: a CtxServer answers its calls, and its limits are enforced."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from spca_core.errors import Cancelled, Interrupted, MotionError
from spca_core.ports.environment import CtxServer
from spca_core.processes import PATIENCE
from spca_core.processes.channel import ChannelClosed, ChannelTimeout, Malformed
from spca_core.skill import SkillFailure
from spca_sandbox.outcome import RunOutcome, Status, clean, failure_of
from spca_sandbox.process import Cell

_TICK_S = 0.02
"""Shortest extra time in seconds that is waited: processor times are known to a hundredth of a second."""
_OF_ARGUMENTS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""Errors that arguments can make an environment raise, however they were chosen."""
_PERIOD_S = 0.05


class _Ended(Exception):
    """The host ended the run; the worker must be killed."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class SkillRun:
    """Carries one run from its request to its outcome."""

    def __init__(
        self,
        cell: Cell,
        server: CtxServer,
        deadline_s: float,
        wall_timeout_s: float,
        cancelled: Callable[[], bool],
    ) -> None:
        self._cell, self._server = cell, server
        self._cancelled = cancelled
        self._deadline_s, self._wall_timeout_s = deadline_s, wall_timeout_s
        self._began = time.monotonic()
        self._until = server.now() + deadline_s
        self._left_s = cell.limits.worker_s
        self._patience_s = (PATIENCE - 1) * self._left_s
        self._used_s = cell.worker.cpu_s()
        self._calls = 0
        self._log: list[str] = []

    def run(self, function: str, args: list[str]) -> RunOutcome:
        """Run the function; pass on what the environment itself raises, with the worker gone."""
        finished = False
        try:
            with Watchdog(self._server.stop, self._cancelled, self._began + self._wall_timeout_s) as dog:
                outcome = self._converse(function, args, dog)
            finished = True
            return outcome
        except _Ended as end:
            self._server.stop()
            if end.kind == "cancelled":
                return self._outcome("cancelled", failure=SkillFailure(kind="cancelled", message=str(end)))
            return self._failed(end.kind, str(end))
        except ChannelClosed:
            self._server.stop()
            finished = True
            return self._failed("killed", f"the worker {self._cell.autopsy()}")
        except ValueError as error:  # the request itself is too long
            finished = True
            return self._failed("refused", str(error))
        finally:
            if not finished:
                self._cell.replace()

    def _converse(self, function: str, args: list[str], dog: Watchdog) -> RunOutcome:
        self._send({"op": "run", "function": function, "args": args})
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
                return self._outcome("failed", failure=self._reported(message))
            else:
                raise _Ended("killed", f"the worker sent '{clean(op, 40)}', which means nothing")

    def _answer(self, message: dict[str, Any], dog: Watchdog) -> dict[str, Any]:
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
        try:
            self._cell.surface.check(method, args, kwargs)
            return {"value": self._server.call(method, tuple(args), kwargs)}
        except (Cancelled, MotionError) as error:
            if dog.reason == "timeout":
                raise self._too_long() from error
            if dog.reason or isinstance(error, Cancelled) or error.kind == "cancelled":
                raise _Ended("cancelled", str(error)) from error
            return _error(error.kind, str(error), motion=True)
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
            except Malformed as error:
                raise _Ended("killed", str(error)) from error
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
        return _Ended("timeout", f"not done within {self._wall_timeout_s:g} s of wall time")

    @staticmethod
    def _reported(message: dict[str, Any]) -> SkillFailure:
        try:
            return failure_of(message)
        except Malformed as error:
            raise _Ended("killed", str(error)) from error

    def _failed(self, kind: str, message: str) -> RunOutcome:
        return self._outcome("failed", failure=SkillFailure(kind=kind, message=message))

    def _outcome(self, status: Status, value: Any = None, failure: SkillFailure | None = None) -> RunOutcome:
        seconds = time.monotonic() - self._began
        return RunOutcome(status=status, value=value, failure=failure, log=tuple(self._log), seconds=seconds)


def _error(kind: str, message: str, motion: bool) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message[:600], "motion": motion}}


class Watchdog:
    """Calls `stop` once when `cancelled` holds or `deadline` (monotonic s) passes.

    `reason` says which of the two it was.
    """

    def __init__(self, stop: Callable[[], None], cancelled: Callable[[], bool], deadline: float) -> None:
        self._stop, self._cancelled, self._deadline = stop, cancelled, deadline
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sandbox-watchdog", daemon=True)
        self.reason = ""

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_PERIOD_S):
            if self._cancelled():
                self.reason = "cancelled"
            elif time.monotonic() > self._deadline:
                self.reason = "timeout"
            if self.reason:
                self._stop()
                return
