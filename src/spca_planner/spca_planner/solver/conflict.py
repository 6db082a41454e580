"""Finds out which goals of an unsolvable problem conflict.

The result is a minimal set of goals that cannot be reached together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from spca_core.ports.engine import Engine
from spca_planner.pddl.reachability import conjuncts
from spca_planner.pddl.sexpr import Group, brief
from spca_planner.pddl.syntax import Problem
from spca_planner.solver.judgement import Case

_MOST_GOALS = 10
_PROOF_SECONDS = 1.0
"""For one search: what is not proven unsolvable by then is taken to be possible."""


def conflicting_goals(case: Case, problem: Problem, engine: Engine, seconds: float) -> str:
    """A sentence on the conflicting goals, found by dropping one at a time; empty if nothing is known.

    `seconds` of processor time are the most that is spent.
    """
    goals = conjuncts(problem.goal)
    if not 1 < len(goals) <= _MOST_GOALS:
        return ""
    limit = _spent() + seconds
    kept = list(goals)
    for goal in goals:
        fewer = [g for g in kept if g is not goal]
        left = min(_PROOF_SECONDS, limit - _spent())
        if left <= 0:
            return ""
        if fewer and _unsolvable(case, problem, fewer, engine, left):
            kept = fewer
    shown = [brief(g) for g in kept]
    if len(kept) == 1:
        return f"the goal {shown[0]} cannot be reached even by itself"
    if len(kept) == 2:
        return f"the goals {shown[0]} and {shown[1]} cannot hold together"
    return (
        f"the goals {', '.join(shown[:-1])} and {shown[-1]} cannot all hold together, "
        "though any fewer of them can"
    )


def _spent() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _unsolvable(case: Case, problem: Problem, goals: Sequence[Group], engine: Engine, seconds: float) -> bool:
    start, end = problem.goal.start, problem.goal.end
    condition = f"(and {' '.join(map(str, goals))})"
    search = engine.start(case.domain, case.problem[:start] + condition + case.problem[end:], seconds)
    try:
        return search.wait().status == "unsolvable"
    finally:
        search.close()
