"""Runs untrusted skills and programs in a sandboxed worker. This is the entry point of the package."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from spca_core.closing import Closing
from spca_core.errors import Interrupted
from spca_core.ports.environment import CtxServer
from spca_core.processes.channel import ChannelClosed, ChannelTimeout, Malformed, never
from spca_core.skill import CtxApi, SkillFailure
from spca_sandbox.limits import Limits, SandboxLevel, SandboxReport
from spca_sandbox.outcome import Loaded, RunOutcome, clean, failure_of
from spca_sandbox.process import Cell
from spca_sandbox.run import SkillRun
from spca_sandbox.surface import Surface


class SkillHost(Closing):
    """One source text in one worker. Not for use from two threads at a time.

    The worker starts in the background with the host, so make the host early. When code has to be killed, a
    new worker takes over and loads the source again. Use it as a context manager, or `close` it. Every run
    and call finds the module as freshly imported: nothing is carried from one to the next. Pure programs need
    no Ctx: leave `api` out.
    """

    def __init__(self, api: CtxApi | None = None, limits: Limits | None = None) -> None:
        surface = Surface(api or CtxApi(environment="none", methods=()))
        self._cell = Cell(surface, limits or Limits())

    def close(self) -> None:
        """End the worker; harmless when called twice."""
        self._cell.close()

    @property
    def limits(self) -> Limits:
        """The bounds that hold in this host."""
        return self._cell.limits

    @property
    def report(self) -> SandboxReport:
        """Report on how well the worker is confined. Raises SpcaError when none can be started."""
        return self._cell.started().wait_ready()

    def load(self, source: str, min_level: SandboxLevel | None = None) -> Loaded | SkillFailure:
        """Import `source` in a fresh worker.

        Raises InputError when this machine confines less than `min_level` (by default that of the limits; for
        code that people wrote and reviewed it may be lower), SpcaError when no worker starts.
        """
        return self._cell.load(source, min_level)

    def run(
        self,
        function: str,
        args: Sequence[str],
        server: CtxServer,
        deadline_s: float = 60.0,
        wall_timeout_s: float = 600.0,
        cancelled: Callable[[], bool] = never,
    ) -> RunOutcome:
        """Run one skill to its end in a worker of its own; never raises for what the skill does.

        `deadline_s` is in the environment's time (`server.now()`), `wall_timeout_s` bounds the whole run, and
        `limits.worker_s` what the skill spends in its own code. When one of them is over, and on
        cancellation, the server is stopped first and then the worker killed. Errors of the environment itself
        are passed on.
        """
        if failure := self._cell.ready_for(function, alone=True):
            return RunOutcome(status="failed", failure=failure)
        return SkillRun(self._cell, server, deadline_s, wall_timeout_s, cancelled).run(function, list(args))

    def call(self, function: str, args: Sequence[Any], wall_timeout_s: float = 5.0) -> RunOutcome:
        """Call a pure function with JSON arguments; its JSON result is the outcome's `value`."""
        (outcome,) = self.call_many(function, [args], wall_timeout_s)
        return outcome

    def call_many(
        self,
        function: str,
        batch: Sequence[Sequence[Any]],
        wall_timeout_s: float = 5.0,
        cancelled: Callable[[], bool] = never,
    ) -> Iterator[RunOutcome]:
        """Call a pure function once per argument list, as outcomes are asked for; the timeout is for each."""
        return run_batch(self._cell, function, batch, wall_timeout_s, cancelled)


_CANCELLED = SkillFailure(kind="cancelled", message="cancelled")
_AT_ONCE = 64  # calls per message: few enough to repeat cheaply if a worker dies


def run_batch(
    cell: Cell, function: str, batch: Sequence[Sequence[Any]], timeout_s: float, cancelled: Callable[[], bool]
) -> Iterator[RunOutcome]:
    """Yield one outcome per argument list, in order. A call that kills its worker costs only itself."""
    done, size = 0, _AT_ONCE
    while done < len(batch):
        if failure := cell.ready_for(function) or (_CANCELLED if cancelled() else None):
            end = _ended("cancelled" if failure is _CANCELLED else "failed", failure)
            yield from [end] * (len(batch) - done)
            return
        part = [list(args) for args in batch[done : done + size]]
        try:
            cell.worker.channel.send(
                {"op": "batch", "function": function, "batch": part}, time.monotonic() + timeout_s
            )
        except ValueError as error:
            if size == 1:
                done += 1
                yield _ended("failed", SkillFailure(kind="refused", message=str(error)))
            size = 1
            continue
        except (ChannelTimeout, ChannelClosed):
            cell.replace()  # caused by an earlier call, not by this one
            continue
        for _ in part:
            outcome, alive = _one(cell, timeout_s, cancelled)
            done += 1
            yield outcome
            if not alive:
                break


def _one(cell: Cell, timeout_s: float, cancelled: Callable[[], bool]) -> tuple[RunOutcome, bool]:
    """Return the outcome of the next call of a message, and whether the worker is there for the rest."""
    began = time.monotonic()
    deadline = began + timeout_s
    log: list[str] = []

    def ended(kind: str, message: str, status: Literal["failed", "cancelled"] = "failed") -> RunOutcome:
        seconds = time.monotonic() - began
        failure = SkillFailure(kind=kind, message=message)
        return RunOutcome(status=status, failure=failure, log=tuple(log), seconds=seconds)

    try:
        while True:
            message = cell.worker.channel.receive(deadline, cancelled)
            seconds = time.monotonic() - began
            if message["op"] == "log":
                if len(log) < cell.limits.log_lines:
                    log.append(clean(message.get("line", ""), cell.limits.line_chars))
                continue
            cell.worker.busy_s += seconds
            if message["op"] == "done":
                value = message.get("value")
                return RunOutcome(status="done", value=value, log=tuple(log), seconds=seconds), True
            if message["op"] == "failed":
                failure = failure_of(message)
                return RunOutcome(status="failed", failure=failure, log=tuple(log), seconds=seconds), True
            raise Malformed(f"the worker sent '{clean(message['op'], 40)}' where a result was due")
    except ChannelClosed:
        return ended("killed", f"the worker {cell.autopsy()}"), False
    except ChannelTimeout:
        outcome = ended("timeout", f"no result after {timeout_s:g} s")
    except Interrupted:
        outcome = ended("cancelled", "cancelled", "cancelled")
    except Malformed as error:
        outcome = ended("killed", str(error))
    cell.replace()
    return outcome, False


def _ended(status: Literal["failed", "cancelled"], failure: SkillFailure) -> RunOutcome:
    return RunOutcome(status=status, failure=failure)
