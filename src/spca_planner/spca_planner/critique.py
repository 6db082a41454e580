"""All critics in their order: text, scene, goal, solver, validators, and what a plan says about its draft."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from spca_core.plan import Draft, Plan, PlanRequest, Rejection, Step
from spca_planner.critics.goal import off_topic, unproven_empty, vacuous
from spca_planner.critics.scene import contradiction
from spca_planner.critics.vocabulary import Vocabulary
from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import PddlError
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess


@dataclass(frozen=True)
class Judged:
    """A proven plan, or why there is none. Seconds of wall time."""

    plan: Plan | None
    rejection: Rejection | None
    parse_seconds: float = 0.0
    solve_seconds: float = 0.0
    validate_seconds: float = 0.0


class Critics:
    """Judges drafts for one environment. `timeout_s` bounds the search of one draft."""

    def __init__(self, solver: SolverProcess, vocabulary: Vocabulary, timeout_s: float) -> None:
        self._solver, self._vocabulary, self._timeout_s = solver, vocabulary, timeout_s

    def judge(self, draft: Draft, request: PlanRequest, cancelled: Callable[[], bool]) -> Judged:
        """The first critic's no, or the plan that all of them accept. Raises Cancelled."""
        began = time.perf_counter()
        observation = request.observation
        extensions = self._vocabulary.extensions(observation)
        try:
            domain, problem = parse(draft.domain, draft.problem)
        except PddlError as error:
            return Judged(None, Rejection(critic="parse", message=str(error)), time.perf_counter() - began)
        rejection = contradiction(domain, problem, observation, extensions) or off_topic(
            problem, request.task, observation, self._vocabulary
        )
        read = time.perf_counter() - began
        if rejection is not None:
            return Judged(None, rejection, read)
        case = Case(domain=draft.domain, problem=draft.problem, timeout_s=self._timeout_s)
        answer = self._solver.judge(case, cancelled)
        steps = tuple(Step(action=words[0], args=words[1:]) for words in answer.steps)
        if answer.critic:
            rejection = Rejection(critic=answer.critic, message=answer.message)
        elif steps:
            rejection = vacuous(domain, problem, steps)
        else:
            rejection = unproven_empty(domain, problem, observation, extensions)
        used = dict.fromkeys(step.action for step in steps)
        schemas = tuple(domain.actions[name].schema for name in used if name in domain.actions)
        return Judged(
            plan=None if rejection else Plan(steps=steps, schemas=schemas, draft=draft),
            rejection=rejection,
            parse_seconds=read + answer.parse_seconds,
            solve_seconds=answer.solve_seconds,
            validate_seconds=answer.validate_seconds,
        )
