"""Drafts that could not be judged within the limits of time and memory, and the likely cause."""

from __future__ import annotations

from contextlib import suppress
from math import prod

from spca_planner.pddl.lint import instances
from spca_planner.pddl.sexpr import PddlError
from spca_planner.pddl.syntax import Domain, Problem, parse_domain, parse_problem
from spca_planner.solver.judgement import GRACE_SECONDS, Case, Judgement

MEMORY_BYTES = 2 * 2**30
"""Address space of the solver's process, and of the search."""

_MANY = 10_000
"""Ground actions or conditions that are worth naming as a cause."""


def refused_unjudged(case: Case, out_of_time: bool) -> Judgement:
    """The refusal of a draft that took too long or ended the process that judged it."""
    if out_of_time:
        why = f"it could not be judged within {case.timeout_s + GRACE_SECONDS:g} s"
    else:
        why = (
            f"judging it needs more than the {MEMORY_BYTES / 2**30:g} GB of memory there "
            "are, or crashes the solver"
        )
    with suppress(PddlError):
        why += likely_cause(parse_domain(case.domain), parse_problem(case.problem))
    return Judgement(critic="solve", message=why, timed_out=out_of_time)


def likely_cause(domain: Domain, problem: Problem) -> str:
    """Name what makes a draft hard to ground, as the end of a sentence; empty if nothing does."""
    count, what = max(_costs(domain, problem))
    if count < _MANY:
        return ""
    return f"; the likely cause: {what}, which stands for {count:,} combinations of objects. Make it smaller"


def _costs(domain: Domain, problem: Problem) -> list[tuple[int, str]]:
    found = [(instances(problem.goal, domain, problem), "the goal with its quantifiers")]
    for action in domain.actions.values():
        count = prod(len(problem.of_type(domain, p.type)) for p in action.parameters)
        parts = [f for f in (action.precondition, action.effect) if f]
        inner = max((instances(f, domain, problem) for f in parts), default=1)
        found.append((count * inner, f"action {action.name} with its {len(action.parameters)} parameters"))
    return found
