"""The critics of one environment's drafts, as the planner sees them; they work in the solver's process."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from spca_core.plan import Draft, Plan, PlanRequest, Rejection, Step
from spca_core.ports.vocabulary import Vocabulary
from spca_planner.solver.judgement import Case, DraftContext
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
    """Judges drafts for one environment; `timeout_s` bounds the search of one draft."""

    def __init__(self, solver: SolverProcess, vocabulary: Vocabulary, timeout_s: float) -> None:
        self._solver, self._vocabulary, self._timeout_s = solver, vocabulary, timeout_s

    def judge(self, draft: Draft, request: PlanRequest, cancelled: Callable[[], bool]) -> Judged:
        """The critics' no, or the plan that all of them accept. Raises Cancelled."""
        named = re.findall(r"[a-z][\w-]*", draft.problem.lower())
        observation = self._vocabulary.with_places(request.observation, dict.fromkeys(named))
        context = DraftContext(
            observation=observation.model_copy(update={"sentences": (), "scene": None, "detail": {}}),
            extensions=self._vocabulary.extensions(observation),
            # A draft with goals has the environment's own reading already, perhaps of an earlier table.
            required=() if draft.goals else self._vocabulary.required(request.task, observation),
            words=self._vocabulary.words(),
        )
        case = Case(domain=draft.domain, problem=draft.problem, timeout_s=self._timeout_s, context=context)
        answer = self._solver.judge(case, cancelled)
        steps = tuple(Step(action=words[0], args=words[1:]) for words in answer.steps)
        refused = Rejection(critic=answer.critic, message=answer.message) if answer.critic else None
        return Judged(
            plan=None if refused else Plan(steps=steps, schemas=answer.schemas, draft=draft),
            rejection=refused,
            parse_seconds=answer.parse_seconds,
            solve_seconds=answer.solve_seconds,
            validate_seconds=answer.validate_seconds,
        )
