"""The critics of one environment's drafts, as the planner sees them; they work in the solver's process.

Where a valid plan differs from the environment's own reading of the task, that is a question to the proposer,
not an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spca_core.plan import Draft, Plan, PlanRequest, Rejection, Step
from spca_core.ports.vocabulary import GivesSecondOpinion, SameFact, SecondOpinion, Vocabulary
from spca_planner.pddl.formula import Atom, ground
from spca_planner.prediction import Prediction, predict
from spca_planner.solver.judgement import Case, DraftContext
from spca_planner.solver.process import SolverProcess

_ASK = (
    "A question, asked once: {difference}. Change the draft if the task is meant that way; "
    "hand it in unchanged if it is not."
)
READABLE = (
    "a question, asked once: the task reads as if in the end {goal}. Draft that if it is meant and can be "
    "done; otherwise decline again."
)
"""What a proposer is asked that declines a task which the environment itself can read."""


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
        observation = request.observation
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

    def question(self, plan: Plan, request: PlanRequest) -> str:
        """Return what a valid plan does beyond the environment's reading of the task; empty if nothing."""
        opinion = self._opinion(request)
        return question(plan, opinion) if opinion is not None else ""

    def contested(self, request: PlanRequest) -> str:
        """Return what speaks against declining a task: the environment's reading of it; empty if none."""
        opinion = self._opinion(request)
        return READABLE.format(goal=opinion.words) if opinion is not None else ""

    def _opinion(self, request: PlanRequest) -> SecondOpinion | None:
        if not isinstance(self._vocabulary, GivesSecondOpinion):
            return None
        return self._vocabulary.second_opinion(request.task, request.observation)


def question(plan: Plan, opinion: SecondOpinion) -> str:
    """The differences, for the author of the plan; empty if there are none."""
    prediction = predict(plan)
    differences = [*_unreached(prediction, opinion), *_moved(prediction, opinion)]
    return _ASK.format(difference=", and ".join(differences)) if differences else ""


def _unreached(prediction: Prediction, opinion: SecondOpinion) -> Iterable[str]:
    final = prediction.states[-1] if prediction.states else _initial(prediction)
    lacking = [[f for f in goal if _false(f, final, prediction)] for goal in opinion.goals]
    if lacking and all(lacking):
        fewest = min(lacking, key=lambda facts: (len(facts), sorted(map(sorted, facts))))
        used = {atom[0] for atom in _initial(prediction)}  # a fact is told in the draft's own words
        told = (min(fact, key=lambda atom: (atom[0] not in used, atom)) for fact in fewest)
        atoms = ", ".join(sorted(f"({' '.join(atom)})" for atom in told))
        yield f"the task reads as if in the end {opinion.words}, but after this plan {atoms} would not hold"


def _moved(prediction: Prediction, opinion: SecondOpinion) -> Iterable[str]:
    initial = _initial(prediction)
    for name, place in sorted(opinion.bystanders.items()):
        if place & initial and any(not place & state for state in prediction.states):
            yield f"the task does not ask to move {name}, but this plan does"


def _false(fact: SameFact, state: frozenset[Atom], prediction: Prediction) -> bool:
    """Return whether the domain can express a fact and it does not hold."""
    said = [atom for atom in fact if prediction.says(atom)]
    return bool(said) and not any(atom in state for atom in said)


def _initial(prediction: Prediction) -> frozenset[Atom]:
    return frozenset(ground(f, {}) for f in prediction.problem.init if f.head not in ("=", "not"))
