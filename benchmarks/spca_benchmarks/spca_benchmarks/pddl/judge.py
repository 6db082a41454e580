"""The judgement of one draft: its own PDDL first, then its plan against the reference."""

from __future__ import annotations

from typing import Literal, get_args

from spca_benchmarks.pddl.tasks import PddlTask
from spca_core.model import Record
from spca_core.plan import Draft
from spca_planner.solver.judgement import Case, Words
from spca_planner.solver.process import SolverProcess

Status = Literal["solved", "wrong", "empty", "invalid", "unsolvable", "timeout", "syntax", "no_answer"]
"""What became of a draft:

solved: its plan solves the reference too. wrong: a plan was found, but it fails in the reference. empty: the
plan has no steps. invalid: the draft's own validators refuse the plan. unsolvable: proven to have no plan.
timeout: no plan in time. syntax: not PDDL, or names and types that do not fit. no_answer: the model refused,
failed, or answered something else.
"""
STATUSES: tuple[Status, ...] = get_args(Status)
FINAL: tuple[Status, ...] = ("solved", "wrong")
"""Nothing in a draft's own judgement speaks against these two, so that nothing is there to be repaired."""

_CRITICS: dict[str, Status] = {"parse": "syntax", "solve": "unsolvable", "validate": "invalid"}


class Judged(Record):
    """A draft's fate, in one sentence where it is not good, and its plan if one was found."""

    status: Status
    message: str = ""
    steps: tuple[Words, ...] = ()


def judge(draft: Draft, task: PddlTask, solver: SolverProcess, timeout_s: float) -> Judged:
    """Parse, solve, validate; then try the plan on the reference.

    `timeout_s` bounds the search, in wall time.
    """
    answer = solver.judge(Case(domain=draft.domain, problem=draft.problem, timeout_s=timeout_s))
    if answer.timed_out:
        return Judged(status="timeout", message=answer.message)
    if answer.critic:
        return Judged(status=_CRITICS[answer.critic], message=answer.message, steps=answer.steps)
    if not answer.steps:
        return Judged(
            status="empty", message="the goal holds already in (:init …), so that the plan is empty"
        )
    why = why_wrong(task, answer.steps)
    return Judged(status="wrong" if why else "solved", message=why, steps=answer.steps)


def why_wrong(task: PddlTask, steps: tuple[Words, ...]) -> str:
    """Explain why a plan does not solve the reference; return an empty string if it does."""
    from spca_planner.solver.reading import read  # Unified Planning takes a second to import
    from spca_planner.solver.validation import why_invalid

    return why_invalid(read(task.domain, task.problem), steps)
