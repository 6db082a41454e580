"""Parse, solve, validate: the verdict on one draft."""

from __future__ import annotations

import time
from typing import Literal

from spca_planner.pddl.sexpr import PddlError
from spca_planner.solver.downward import Downward
from spca_planner.solver.judgement import Case, Judgement
from spca_planner.solver.reading import read
from spca_planner.solver.validation import why_invalid


def judge(case: Case, interrupt: int | None = None) -> Judgement:
    """The judgement. Raises `downward.Interrupted` when file descriptor `interrupt` becomes readable meanwhile.

    Fast Downward starts at once on the same text that Unified Planning reads, on the other core; that a text may turn
    out unreadable costs nothing, since the search is then killed.
    """
    began = time.perf_counter()
    search = Downward(case.domain, case.problem, case.timeout_s)
    try:
        try:
            problem = read(case.domain, case.problem)
        except PddlError as error:
            return Judgement(critic="parse", message=str(error), parse_seconds=time.perf_counter() - began)
        parsed = time.perf_counter()
        solution = search.wait(interrupt)
    finally:
        search.close()
    solved = time.perf_counter()
    times = {"parse_seconds": parsed - began, "solve_seconds": solved - parsed}
    if solution.status != "solved":
        message = solution.message
        if solution.status == "unsolvable":
            message += _explanation(case)
        critic: Literal["parse", "solve"] = "parse" if solution.status == "refused" else "solve"
        timed_out = solution.status == "timeout"
        return Judgement(critic=critic, message=message, timed_out=timed_out, **times)
    message = why_invalid(problem, solution.steps)
    return Judgement(
        critic="validate" if message else "",
        message=message,
        steps=solution.steps,
        validate_seconds=time.perf_counter() - solved,
        **times,
    )


def _explanation(case: Case) -> str:
    from spca_planner.pddl.lint import parse  # rarely needed, and slow to import
    from spca_planner.pddl.reachability import why_unsolvable

    why = why_unsolvable(*parse(case.domain, case.problem))
    return f"; {why}" if why else ""
