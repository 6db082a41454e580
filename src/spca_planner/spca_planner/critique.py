"""The critics of one environment's drafts, as the planner sees them; they work in the solver's process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spca_core.plan import Draft, Plan, PlanRequest, Rejection, Step
from spca_core.ports.vocabulary import GivesSecondOpinion, SecondOpinion, Vocabulary
from spca_planner.critics.opinion import READABLE, question
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
    """Judges drafts for one environment.

    `timeout_s` bounds the search of one draft; `one_validator` leaves out TAMER.
    """

    def __init__(
        self, solver: SolverProcess, vocabulary: Vocabulary, timeout_s: float, one_validator: bool = False
    ) -> None:
        self._solver, self._vocabulary = solver, vocabulary
        self._timeout_s, self._one_validator = timeout_s, one_validator

    def judge(self, draft: Draft, request: PlanRequest, cancelled: Callable[[], bool]) -> Judged:
        """The critics' no, or the plan that all of them accept. Raises Cancelled."""
        observation = request.observation
        context = DraftContext(
            observation=observation.model_copy(update={"sentences": (), "detail": {}}),
            extensions=self._vocabulary.extensions(observation),
            required=self._vocabulary.required(request.task, observation),
            words=self._vocabulary.words(),
        )
        case = Case(
            domain=draft.domain, problem=draft.problem, timeout_s=self._timeout_s, context=context,
            one_validator=self._one_validator,
        )  # fmt: skip
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

    def question(self, plan: Plan, request: PlanRequest) -> str:
        """What a valid plan does beyond the environment's own reading of the task; empty if nothing."""
        opinion = self._opinion(request)
        return question(plan, opinion) if opinion is not None else ""

    def contested(self, request: PlanRequest) -> str:
        """What speaks against declining a task: the environment's reading of it; empty without one."""
        opinion = self._opinion(request)
        return READABLE.format(goal=opinion.words) if opinion is not None else ""

    def _opinion(self, request: PlanRequest) -> SecondOpinion | None:
        if not isinstance(self._vocabulary, GivesSecondOpinion):
            return None
        return self._vocabulary.second_opinion(request.task, request.observation)
