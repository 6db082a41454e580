"""One worker process: started in an empty environment, killed with everything it may have started.

A cell keeps a source text loaded in one, across restarts of the worker. What comes of loading and running
untrusted code is made harmless for terminals and pages.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Any, Literal

import spca_core
from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_core.processes.child import SILENT, ChannelClosed, ChannelTimeout, Malformed
from spca_core.processes.service import ServiceDied, Worker
from spca_core.skill import CtxApi, SkillFailure
from spca_core.skill_package import modules
from spca_core.stopping import Closing
from spca_sandbox.limits import Limits, SandboxLevel, SandboxReport
from spca_sandbox.surface import NO_CTX, Surface

Loaded = dict[str, tuple[str, ...]]
"""Parameters of each top-level function of a source that was imported, by its name."""
Status = Literal["done", "failed", "cancelled"]


class RunOutcome(Record):
    """Outcome of one run. `value` is plain JSON; `log` what it printed; `seconds` the wall time it took."""

    status: Status
    value: Any = None
    failure: SkillFailure | None = None
    log: tuple[str, ...] = ()
    seconds: float = 0.0


def clean(text: object, limit: int) -> str:
    r"""Return at most `limit` printable characters of `text`; everything else is escaped.

    >>> clean("red\x1b[31m", 20)
    'red\\x1b[31m'
    """
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text)[:limit])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def failure_of(message: dict[str, Any]) -> SkillFailure:
    """Return the failure in a `failed` message. Raises Malformed."""
    kind, text, line = message.get("kind"), message.get("message"), message.get("line")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise Malformed("not a failure")
    if not isinstance(line, int) or isinstance(line, bool):
        line = None
    return SkillFailure(kind=clean(kind, 40), message=clean(text, 600), line=line)


_SOURCE_ROOTS = [str(Path(file).resolve().parent.parent) for file in (__file__, spca_core.__file__)]
_START = (
    f"import sys; sys.path[:] = [*{_SOURCE_ROOTS!r}, *(p for p in sys.path if p)]; "
    "from spca_sandbox.worker.session import main; main()"
)
# Not `-I`, which ignores the fixed hash seed; without it the order of sets of strings differs between runs.
_FLAGS = ("-s", "-S", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class WorkerProcess(Worker):
    """A worker that starts in the background; `wait_ready` blocks until it has locked itself in.

    It dies with this process: it holds the reading end of a pipe (its lifeline) whose other end is only here.
    """

    def __init__(self, surface: Surface, limits: Limits) -> None:
        self.busy_s = 0.0
        """Wall time in seconds spent waiting for the worker: a bound on the CPU time it has used."""
        self.functions: Loaded | None = None
        """Functions of the source, once it is loaded."""
        self.used = False
        """It runs, or has run, what is to be alone in it."""
        reading, self._lifeline = os.pipe()
        named = ("modules", "memory_mb", "cpu_s", "message_bytes", "log_lines", "line_chars")
        try:
            super().__init__(
                [getattr(sys, "_base_executable", sys.executable), *_FLAGS, "-c", _START, str(reading)],
                {
                    "methods": surface.methods,
                    "records": surface.records,
                    "constants": surface.constants,
                    **{name: getattr(limits, name) for name in named},
                },
                env=_ENVIRONMENT,
                max_bytes=limits.message_bytes,
                start_s=limits.start_s,
                cwd="/",
                pass_fds=(reading,),
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(reading)

    def wait_ready(self) -> SandboxReport:
        """Wait until the worker has locked itself in; return how well it holds. Raises what `ready` does."""
        try:
            return SandboxReport.of(self.ready()["features"])
        except SpcaError as error:
            raise type(error)(f"the sandbox did not start: {error}") from error

    def cpu_s(self) -> float:
        """Return the processor time that the worker has used so far, in seconds."""
        import psutil

        with contextlib.suppress(psutil.NoSuchProcess):
            guard = psutil.Process(self.pid)  # the process that runs the code is its child
            return sum(sum(one.cpu_times()[:2]) for one in (guard, *guard.children()))
        return 0.0

    def end(self, grace: float = 0.0) -> str:
        """See `Worker`."""
        how = super().end(grace)
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        return how


def probe() -> SandboxReport:
    """Start a worker as for real code, and return how well it was locked in."""
    try:
        worker = WorkerProcess(Surface(NO_CTX), Limits())
        try:
            return worker.wait_ready()
        finally:
            worker.end()
    except (OSError, SpcaError) as error:
        return SandboxReport(level=SandboxLevel.NONE, features={"process": str(error)})


class Cell(Closing):
    """Starts a worker in the background and loads the source.

    A worker that had to be killed is replaced.
    """

    def __init__(self, api: CtxApi | None = None, limits: Limits | None = None) -> None:
        self.surface, self.limits = Surface(api or NO_CTX), limits or Limits()
        self._source: str | None = None
        self._min_level = self.limits.min_level
        self.worker = WorkerProcess(self.surface, self.limits)
        """Current worker; whether it holds the source is for `ready_for` to see to."""
        self._spare: WorkerProcess | None = None

    def started(self) -> WorkerProcess:
        """Return the worker when it is ready; another one if somebody has killed or stopped it before it was.

        Raises SpcaError when none starts.
        """
        try:
            self.worker.wait_ready()
        except ServiceDied:
            self.replace()
            self.worker.wait_ready()
        return self.worker

    def close(self) -> None:
        """End the workers; harmless when called twice."""
        self.worker.end()
        if self._spare is not None:
            self._spare.end()
            self._spare = None

    def replace(self) -> None:
        """Kill the worker; another, which starts in the background, loads the source before its first run."""
        self.worker.end()
        self.worker, self._spare = self._spare or WorkerProcess(self.surface, self.limits), None

    def autopsy(self) -> str:
        """Return how the worker died by itself, and start another."""
        how = self.worker.end(1.0) or SILENT
        self.replace()
        return how

    def load(self, source: str, min_level: SandboxLevel | None = None) -> Loaded | SkillFailure:
        """Import another source in a worker that has run nothing yet; return what it holds or the failure.

        Raises InputError when this machine confines less than `min_level` (by default that of the limits; for
        code that people wrote and reviewed it may be lower), SpcaError when no worker starts.
        """
        if self._source is not None:
            self.replace()
        self._source = source
        self._min_level = self.limits.min_level if min_level is None else min_level
        return self._load()

    def ready_for(self, function: str, alone: bool = False) -> SkillFailure | None:
        """See to it that the worker can run `function`; return the failure if it cannot.

        With `alone` it runs nothing before and nothing after it, so that no run can leave anything behind for
        the next, nor go on when it has said that it is done. The next worker starts meanwhile.
        """
        if self._source is None:
            raise SpcaError("nothing is loaded in the sandbox")
        worker = self.worker
        used_up = worker.busy_s > self.limits.cpu_s / 2
        if used_up or (alone and worker.used) or (worker.functions and not worker.channel.quiet()):
            self.replace()
        functions = self._load() if self.worker.functions is None else self.worker.functions
        if isinstance(functions, SkillFailure):
            return functions
        if function not in functions:
            known = ", ".join(functions) or "none"
            return SkillFailure(kind="error", message=f"there is no function '{function}'; known: {known}")
        if alone:
            self.worker.used = True
            self._spare = self._spare or WorkerProcess(self.surface, self.limits)
        return None

    def _load(self) -> Loaded | SkillFailure:
        worker = self.started()
        worker.wait_ready().require(self._min_level)
        began = time.monotonic()
        deadline = began + self.limits.load_s
        try:
            # Each behind as many blank lines as make its lines those of the whole.
            parts = [(m.skill, "\n" * m.before + m.text) for m in modules(self._source or "")]
            worker.channel.send({"op": "load", "modules": parts}, deadline)
            message = worker.channel.receive(deadline)
            while message["op"] == "log":
                message = worker.channel.receive(deadline)
            result = self._judge(message)
        except ChannelTimeout:
            self.replace()
            limit = f"{self.limits.load_s:g} s"
            return SkillFailure(kind="timeout", message=f"importing the code took more than {limit}")
        except ChannelClosed:
            return SkillFailure(kind="killed", message=f"importing the code: the worker {self.autopsy()}")
        except Malformed as error:
            self.replace()
            return SkillFailure(kind="killed", message=f"importing the code: {error}")
        except ValueError as error:
            return SkillFailure(kind="refused", message=str(error))
        worker.busy_s += time.monotonic() - began
        if not isinstance(result, SkillFailure):
            worker.functions = result
        return result

    @staticmethod
    def _judge(message: dict[str, Any]) -> Loaded | SkillFailure:
        if message["op"] == "failed":
            return failure_of(message)
        try:
            told = message["value"].items()
            return {clean(name, 100): tuple(clean(p, 100) for p in parameters) for name, parameters in told}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Malformed("no functions") from error
