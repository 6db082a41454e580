"""The client side of the warm process that judges drafts."""

from __future__ import annotations

import atexit
import os
import signal
import time
from collections.abc import Iterable
from functools import cache, partial

from spca_core.errors import Cancelled, Interrupted, SpcaError
from spca_core.processes.child import how_it_ended, python_environment
from spca_core.processes.service import Service, ServiceDied, ServiceFailed, ServiceTimeout
from spca_core.run_folder import scratch
from spca_core.stopping import Closing, Stop, never
from spca_planner.pddl.sexpr import MOST_CHARACTERS
from spca_planner.solver.engines import DEFAULT
from spca_planner.solver.judgement import MAX_BYTES, Case, Judgement, refused_unjudged

WORKER = "spca_planner.solver.worker"
_OUT_OF_TIME = how_it_ended(-signal.SIGVTALRM)
"""Words about a process whose processor time was up in code that is not Python: see the worker."""


class SolverProcess(Closing):
    """Judges drafts in another process. Usable from any thread, one case at a time; `close` it at the end.

    `domains` are read ahead; `engine` searches for plans; the module `worker` is what runs. `start` it early:
    its imports take a second.
    """

    def __init__(self, domains: Iterable[str] = (), engine: str = DEFAULT, worker: str = WORKER) -> None:
        self.engine = engine
        """Name of the planning engine."""
        self._domains = dict.fromkeys(domains)
        self._scratch = scratch("solver")
        # Numerical libraries must not start threads before a fork.
        environment = python_environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        self._service = Service(worker, {}, env=environment, max_bytes=MAX_BYTES)

    def start(self, domains: Iterable[str] = ()) -> None:
        """Start the process, and have it read `domains` before its next case, without waiting for either."""
        with self._service.lock:
            new = [d for d in domains if d not in self._domains]
            self._domains.update(dict.fromkeys(new))
            running = self._service.alive
            self._service.setup = {
                "domains": list(self._domains), "engine": self.engine, "folder": self._scratch.name
            }  # fmt: skip
            if running and new:
                self._service.tell("read", domains=new)
            self._service.begin()

    def judge(self, case: Case, cancelled: Stop = never) -> Judgement:
        """Judge a draft within the case's `wall_s`. A cold process adds its start-up time.

        A draft that takes longer, or more memory than there is, is refused with the likely cause. Raises
        Cancelled, and SpcaError when the process cannot be started.
        """
        if unfit := _unfit(case):
            return Judgement(critic="parse", message=unfit)
        service, late = self._service, False

        def stop() -> bool:
            return service.closed or cancelled()

        with service.lock:
            try:
                self.start()
                service.start(stop)
                deadline = time.monotonic() + case.wall_s
                for _ in range(2):  # somebody may have killed it; a draft that kills it will do so again
                    try:
                        left = deadline - time.monotonic()
                        answer = service.ask("judge", left, stop, case=case.model_dump(mode="json"))
                        return Judgement.model_validate(answer)
                    except ServiceDied as error:
                        late = error.how == _OUT_OF_TIME
                        if late or service.closed:
                            break
            except ServiceTimeout:
                late = True
            except ServiceFailed as error:
                raise SpcaError(f"the solver process does not start: {error}") from error
            except (Interrupted, ServiceDied):  # the latter: it was closed
                service.end()
                raise Cancelled("planning was cancelled") from None
            if service.closed:
                raise Cancelled("the solver process was closed")
            service.end()
            self._scratch.cleanup()
            self._scratch = scratch("solver")
            self.start()  # so that the next draft finds it warm
            return refused_unjudged(case, out_of_time=late)

    def close(self) -> None:
        """End the process and all its children, at once, whatever it is doing."""
        self._service.close()
        self._scratch.cleanup()

    @property
    def pid(self) -> int | None:
        """The process id; None if the process does not run."""
        return self._service.pid


@cache
def warm_solver(worker: str = WORKER) -> SolverProcess:
    """Return the solver for all runs of this process: its imports take longer than a run's planning."""
    solver = SolverProcess(worker=worker)
    solver.start()
    atexit.register(solver.close)
    # What is forked off has one of its own, and does not end this one.
    os.register_at_fork(after_in_child=warm_solver.cache_clear)
    os.register_at_fork(after_in_child=partial(atexit.unregister, solver.close))
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
