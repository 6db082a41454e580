"""Runs untrusted skills and programs in a sandboxed worker. This is the entry point of the package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from spca_core.ports.environment import CtxServer
from spca_core.skill import CtxApi, SkillFailure
from spca_sandbox.batch import run_batch
from spca_sandbox.cell import Cell
from spca_sandbox.level import SandboxLevel, SandboxReport
from spca_sandbox.limits import Limits
from spca_sandbox.outcome import Loaded, RunOutcome
from spca_sandbox.run import SkillRun
from spca_sandbox.surface import Surface


def _never() -> bool:
    return False


class SkillHost:
    """One source text in one worker. Not for use from two threads at a time.

    The worker starts in the background with the host, so make the host early. When code has to be killed, a
    new worker takes over and loads the source again. Use it as a context manager, or `close` it. Every run
    and call finds the module as freshly imported: nothing is carried from one to the next. Pure programs need
    no Ctx: leave `api` out.
    """

    def __init__(self, api: CtxApi | None = None, limits: Limits | None = None) -> None:
        surface = Surface(api or CtxApi(environment="none", methods=()))
        self._cell = Cell(surface, limits or Limits())

    def __enter__(self) -> SkillHost:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        return self._cell.started().report

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
        cancelled: Callable[[], bool] = _never,
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
        cancelled: Callable[[], bool] = _never,
    ) -> Iterator[RunOutcome]:
        """Call a pure function once per argument list, as outcomes are asked for; the timeout is for each."""
        return run_batch(self._cell, function, batch, wall_timeout_s, cancelled)
