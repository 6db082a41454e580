"""The solver's process: a service that judges one case after the other (`spca_core.processes.service`).

It ends when its input does, even in the middle of a case, so it
never outlives the process that started it; a timer and a limit on memory bound what one case may take.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from spca_core.errors import one_line
from spca_core.ports.engine import Engine
from spca_core.processes import PATIENCE
from spca_core.processes.child import leave
from spca_core.processes.wire import Wire, limit, wire_of_service
from spca_planner.pddl.sexpr import LONGEST_MESSAGE, clipped
from spca_planner.solver.engines import import_unified_planning, open_engine
from spca_planner.solver.judgement import (
    GRACE_SECONDS,
    MAX_BYTES,
    MEMORY_BYTES,
    Case,
    Judgement,
    refused_unjudged,
)

_ANSWER_SECONDS = 1.0
"""Seconds of the grace that are left for the answer; after them the process is ended."""
_AHEAD_SECONDS = 5.0
"""Processor time limit in seconds for a domain that is read ahead."""
_DEEPEST_CALLS = 5_000
"""Maximum number of nested Python frames; reading takes ten for each level that the critics allow."""

_REHEARSAL = Case(
    domain="""(define (domain rehearsal) (:predicates (off) (on))
      (:action switch :parameters () :precondition (off) :effect (and (on) (not (off)))))""",
    problem="(define (problem first) (:domain rehearsal) (:init (off)) (:goal (on)))",
    timeout_s=5.0,
)
"""Case judged once before the first real one, so that nothing is left to be imported or built then."""


def judged(case: Case, engine: Engine) -> Judgement:
    """Judge by all critics; they are imported when the slow imports are out of the way."""
    from spca_planner.solver.judge import judge

    return judge(case, engine)


def main(judge: Callable[[Case, Engine], Judgement] = judged) -> None:
    """Serve until the input ends; temporary files go into the owner's `folder`, which is removed then."""
    try:
        with suppress(EOFError, BrokenPipeError, OwnerGone):  # whoever asked is gone
            _serve(wire_of_service(MAX_BYTES), judge)
    finally:
        if tempfile.tempdir is not None:
            shutil.rmtree(tempfile.tempdir, ignore_errors=True)


def _serve(wire: Wire, judge: Callable[[Case, Engine], Judgement]) -> None:
    setup = wire.receive()
    tempfile.tempdir = setup["folder"]
    with while_owned():  # on a busy machine this takes its time
        import_unified_planning()
        warnings.simplefilter("ignore")
        engine = open_engine(setup["engine"])
        engine.warm()
        limit(resource.RLIMIT_AS, MEMORY_BYTES)
        sys.setrecursionlimit(_DEEPEST_CALLS)
        judge(_REHEARSAL, engine)
        _read(setup["domains"])
    wire.send({"op": "ready"})
    while True:
        message = wire.receive()
        with while_owned():
            if message["op"] == "read":
                _read(message["domains"])
                continue
            case = Case.model_validate(message["case"])
            answer = _bounded(partial(judge, case, engine), case)
        wire.send({"op": "done", "id": message["id"], "value": answer.model_dump(mode="json")})


def _read(domains: Iterable[str]) -> None:
    """Read domains ahead of their first case."""
    from spca_planner.solver.reading import remember

    for domain in domains:
        with suppress(OutOfTime), _time_limit(_AHEAD_SECONDS):
            remember(domain)


def _bounded(judge: Callable[[], Judgement], case: Case) -> Judgement:
    """Judge a draft within its limits; whatever goes wrong is the draft's fault, and costs only itself."""
    from spca_planner.solver.reading import forget

    try:
        with _time_limit(case.timeout_s + GRACE_SECONDS - _ANSWER_SECONDS):
            answer = judge()
        return answer.model_copy(update={"message": clipped(answer.message, LONGEST_MESSAGE)})
    except OutOfTime:
        refusal = refused_unjudged(case, out_of_time=True)
    except (MemoryError, RecursionError):
        refusal = refused_unjudged(case, out_of_time=False)
    except Exception as error:
        traceback.print_exc()
        message = clipped(one_line(f"it cannot be judged: {type(error).__name__}: {error}"))
        refusal = Judgement(critic="parse", message=message)
    forget()  # what was interrupted may be half done
    return refusal


class OutOfTime(BaseException):
    """The time is up; a library must not mistake this for an error of its own."""


class OwnerGone(BaseException):
    """The input has ended."""


@contextmanager
def while_owned() -> Iterator[None]:
    """Raise OwnerGone in the context as soon as the input ends, by a signal.

    A death signal would follow the thread that started this process, not the owner's process.
    """

    pipe = select.poll()
    pipe.register(0, 0)  # for its end alone

    def ring(*_: object) -> None:
        if pipe.poll(0):
            raise OwnerGone

    flags = fcntl.fcntl(0, fcntl.F_GETFL)
    signal.signal(signal.SIGIO, ring)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    try:
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC)
        ring()  # it may have ended before
        yield
    finally:
        fcntl.fcntl(0, fcntl.F_SETFL, flags)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the context after so many seconds of processor time.

    Wall time: `PATIENCE` times that. Compiled code keeps Python from raising: the kernel ends the process.
    """

    def ring(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, ring)
    signal.signal(signal.SIGPROF, ring)
    timers = {
        signal.ITIMER_REAL: PATIENCE * seconds,
        signal.ITIMER_PROF: seconds,
        signal.ITIMER_VIRTUAL: seconds + _ANSWER_SECONDS,
    }
    for timer, after in timers.items():
        signal.setitimer(timer, after)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)


if __name__ == "__main__":
    main()
    leave(0)
