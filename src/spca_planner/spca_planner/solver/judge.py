"""Runs all critics in order: text, scene, goal, solver, validators, and what a plan shows about its draft.

Of an unsolvable problem it names a minimal set of goals that cannot be reached together.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from unified_planning.model import Problem as Task

from spca_core.ports.engine import Engine, Solution
from spca_planner.critics import (
    contradictions,
    impossible_reason,
    off_topic_reason,
    unproven_empty,
    vacuous_reason,
    with_synonyms,
)
from spca_planner.pddl.lint import Reading, examine
from spca_planner.pddl.reachability import conjuncts, why_unsolvable, without_bystanders
from spca_planner.pddl.sexpr import Group, PddlError, brief, listed
from spca_planner.pddl.syntax import Domain, Problem
from spca_planner.solver.downward import DownwardSearch
from spca_planner.solver.judgement import Case, DraftContext, Judgement, Words, likely_cause
from spca_planner.solver.reading import read
from spca_planner.solver.validation import WhyInvalid, why_invalid

_EXPLANATION_SECONDS = 3.0
"""Wall time in seconds spent on why there is no plan; less than the grace that a draft has."""
_MOST_GOALS = 10
_PROOF_SECONDS = 1.0
"""Limit in seconds of one search; what is not proven unsolvable by then is taken to be possible."""


def judge(case: Case, engine: Engine, why_invalid: WhyInvalid = why_invalid) -> Judgement:
    """Judge a draft; `why_invalid` validates the plan.

    The engine starts while Unified Planning reads the text, on the other core; that a text may turn out
    unreadable costs nothing, since the search is then killed. It is given what matters, and the whole problem
    where that leads to no plan or to one that is none.
    """
    clock = _Clock()
    if case.greedy is not None:
        return _first_plan(case, clock)
    reading = examine(case.domain, case.problem)
    if refusal := _text_refused(reading, case.context):
        return refusal.model_copy(update=clock.times())
    domain, problem = reading.domain, reading.problem
    assert domain is not None and problem is not None
    task: Task | None = None
    for text in dict.fromkeys((without_bystanders(domain, problem, case.problem), case.problem)):
        with closing(engine.start(case.domain, text, case.timeout_s)) as search:
            try:
                task = task or read(case.domain, case.problem)
            except PddlError as error:
                return Judgement(critic="parse", message=str(error), **clock.times())
            task.kind  # noqa: B018 - found out while the search runs; the validator needs it
            clock.lap("parse_seconds")
            solution = search.wait()
            clock.lap("solve_seconds")
            wrong = why_invalid(task, solution.steps) if solution.status == "solved" else ""
            clock.lap("validate_seconds")
        if not (wrong or solution.status == "unsolvable"):
            break
    if solution.status != "solved":
        message = solution.message
        if solution.status == "unsolvable":
            why = why_unsolvable(domain, problem, _EXPLANATION_SECONDS / 3)
            why = why or conflicting_goals(case, problem, engine, _EXPLANATION_SECONDS * 2 / 3)
            message += f"; {why}" if why else ""
        elif solution.status == "timeout" and not solution.grounded:
            message += likely_cause(domain, problem)
        return _no_plan(solution, message, clock)
    if wrong:
        return Judgement(critic="validate", message=wrong, steps=solution.steps, **clock.times())
    wish = _wishful(domain, problem, solution.steps, case.context)
    names = dict.fromkeys(words[0] for words in solution.steps)
    return Judgement(
        critic="goal" if wish else "",
        message=wish,
        steps=solution.steps,
        schemas=tuple(domain.actions[name].schema for name in names),
        **clock.times("validate_seconds"),
    )


def _first_plan(case: Case, clock: _Clock) -> Judgement:
    """Return the result of a greedy search, without any examination."""
    with closing(DownwardSearch(case.domain, case.problem, case.timeout_s, case.greedy)) as search:
        solution = search.wait()
    clock.lap("solve_seconds")
    if solution.status != "solved":
        return _no_plan(solution, solution.message, clock)
    return Judgement(steps=solution.steps, **clock.times())


def _no_plan(solution: Solution, message: str, clock: _Clock) -> Judgement:
    critic: Literal["parse", "solve"] = "parse" if solution.status == "refused" else "solve"
    return Judgement(critic=critic, message=message, timed_out=solution.status == "timeout", **clock.times())


def _text_refused(reading: Reading, context: DraftContext | None) -> Judgement | None:
    """Refuse a draft for what is wrong with its texts, by themselves and in this scene, or return None."""
    strange: list[str] = []
    missed = ""
    if context is not None and reading.domain is not None and reading.problem is not None:
        extensions, strange = with_synonyms(reading.domain, context.words, context.extensions)
        strange += contradictions(reading.domain, reading.problem, context.observation, extensions)
        missed = off_topic_reason(reading.problem, context.required, context.observation)
    faults = [*reading.faults, *strange, *([missed] if missed else [])]
    if not faults:
        return None
    critic = "parse" if reading.faults else "scene" if strange else "goal"
    return Judgement(critic=critic, message=listed(faults))


def _wishful(domain: Domain, problem: Problem, steps: tuple[Words, ...], context: DraftContext | None) -> str:
    """Return what a valid plan says against its draft; empty if nothing."""
    if context is None:
        return ""
    if steps:
        never = impossible_reason(domain, steps, context.words, context.observation)
        return never or vacuous_reason(domain, problem, steps)
    return unproven_empty(domain, problem, context.observation, context.extensions)


@dataclass
class _Clock:
    """Clock of wall time in seconds, for one phase after the other."""

    began: float = field(default_factory=time.perf_counter)
    laps: dict[str, float] = field(default_factory=dict)

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self.began = self.laps.get(name, 0.0) + now - self.began, now

    def times(self, name: str = "") -> dict[str, float]:
        """Return the wall time of all phases in seconds; the last one, `name`, ends now."""
        if name or not self.laps:
            self.lap(name or "parse_seconds")
        return self.laps


def conflicting_goals(case: Case, problem: Problem, engine: Engine, seconds: float) -> str:
    """Return a sentence on goals that conflict, found by dropping one at a time; empty if nothing is known.

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
    """Return the processor time of this process and its ended children, in seconds."""
    return sum(os.times()[:4])


def _unsolvable(case: Case, problem: Problem, goals: Sequence[Group], engine: Engine, seconds: float) -> bool:
    start, end = problem.goal.start, problem.goal.end
    condition = f"(and {' '.join(map(str, goals))})"
    text = case.problem[:start] + condition + case.problem[end:]
    with closing(engine.start(case.domain, text, seconds)) as search:
        return search.wait().status == "unsolvable"
