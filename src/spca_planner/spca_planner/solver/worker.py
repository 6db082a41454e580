"""The solver's process: reads one case a line from standard input, answers one judgement a line.

It ends when its input does, so it never outlives the process that started it, and an alarm of the kernel ends it
should a validator hang.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator
from typing import IO

from spca_planner.solver.judgement import Ahead, Case

GRACE_SECONDS = 20
"""How long reading and validating may take beyond the search's own time limit."""


_REHEARSAL = Case(
    domain="""(define (domain rehearsal) (:predicates (off) (on))
      (:action switch :parameters () :precondition (off) :effect (and (on) (not (off)))))""",
    problem="(define (problem first) (:domain rehearsal) (:init (off)) (:goal (on)))",
    timeout_s=5.0,
)
"""Judged once before the first case, so that nothing is left to be imported or built then."""


def main(scratch: str) -> None:
    """Serve until the input ends; temporary files go into the folder `scratch`, which is removed then."""
    answers = _keep_output_clean()
    tempfile.tempdir = scratch
    try:
        _serve(answers)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _serve(answers: IO[bytes]) -> None:
    _skip_slow_imports()
    from spca_planner.solver.downward import Interrupted, warm
    from spca_planner.solver.judge import judge
    from spca_planner.solver.reading import remember

    warnings.simplefilter("ignore")
    warm()
    source = sys.stdin.fileno()
    lines = _lines(source)
    for domain in Ahead.model_validate_json(next(lines, b"{}")).domains:
        remember(domain)
    judge(_REHEARSAL)
    for line in lines:
        case = Case.model_validate_json(line)
        signal.alarm(int(case.timeout_s) + GRACE_SECONDS)
        try:
            answer = judge(case, interrupt=source).model_dump_json()
        except Interrupted:
            return  # nothing is sent during a case: the input has ended
        except Exception:
            traceback.print_exc()
            return
        signal.alarm(0)
        answers.write(answer.encode() + b"\n")
        answers.flush()


def _skip_slow_imports() -> None:
    """UP imports ConfigSpace, and with it most of scipy, only to name a type in the signature of a method we never call.

    A stand-in halves the time this process takes to start.
    """
    stand_in = types.ModuleType("ConfigSpace")
    setattr(stand_in, "ConfigurationSpace", object)  # noqa: B010 - a module has no such attribute to a type checker
    sys.modules.setdefault("ConfigSpace", stand_in)


def _lines(source: int) -> Iterator[bytes]:
    """Lines of a descriptor, without reading ahead, so that `select` on it tells whether anything has come."""
    buffer = b""
    while chunk := os.read(source, 65536):
        *done, buffer = (buffer + chunk).split(b"\n")
        yield from done


def _keep_output_clean() -> IO[bytes]:
    """The answers go to standard output as it was; whatever libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(sys.argv[1])
