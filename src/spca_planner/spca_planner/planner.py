"""The Plan stage: draft, judge, and let the proposer repair.

It ends when a plan is proven valid or the budget is spent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from functools import partial
from typing import Literal, TypeVar

from spca_core.errors import Cancelled
from spca_core.plan import Draft, DraftRecord, Mode, Plan, PlanRequest, PlanResult, Rejection
from spca_core.ports.proposer import Impossible, ModelError, NotUnderstood, PlanProposer
from spca_core.ports.stages import OnDraft, unheard
from spca_core.ports.vocabulary import Vocabulary
from spca_core.scene import Observation
from spca_core.stopping import Closing, Stop, left_alone, never
from spca_planner.critics import with_named_places
from spca_planner.pddl.syntax import with_actions
from spca_planner.solver.engines import DEFAULT
from spca_planner.solver.judgement import Case, DraftContext, Judgement
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains, brought_about


def judge(
    solver: SolverProcess,
    vocabulary: Vocabulary,
    timeout_s: float,
    draft: Draft,
    request: PlanRequest,
    cancelled: Stop = never,
) -> Judgement:
    """Have all critics judge a draft; `timeout_s` bounds the search. Raises Cancelled."""
    observation = with_named_places(request.observation, draft, vocabulary)
    read = draft.goals or request.task.conversation  # by the environment, or to be read by a model
    context = DraftContext(
        observation=observation.model_copy(update={"sentences": (), "scene": None, "detail": {}}),
        extensions=vocabulary.extensions(observation),
        required=() if read else vocabulary.required(request.task, observation),
        words=vocabulary.words(),
    )
    case = Case(domain=draft.domain, problem=draft.problem, timeout_s=timeout_s, context=context)
    return solver.judge(case, cancelled)


MODES: tuple[Mode, ...] = ("fresh", "reuse", "replan", "repair")
_MOST_REPETITIONS = 2
"""Number of consecutive repeats of a rejected draft after which the proposer is given up."""
_MOST_ALTERNATIVES = 4
"""Maximum number of other ways to understand a task that are planned for besides a plan's own."""
_UNCHANGED = "this draft is the same as one that was rejected before: "

Status = Literal["solved", "not_understood", "impossible", "exhausted", "cancelled"]
T = TypeVar("T")
_POLL_SECONDS = 0.05


class DraftingPlanner(Closing):
    """A `Planner` for one environment (its name chooses the trusted domains).

    `proposers`: one for all modes, or one for each. `budget`: drafts for one request. `solver_timeout_s`:
    processor time of one search, by the planning `engine`. Trusted domains are read ahead, and
    those that a proposer has as its `domains`. `no_room` says which place of a plan is full. `start` it early
    and `close` it at the end; it keeps a warm solver process, or uses the `solver` it is given, with its
    engine.
    """

    def __init__(
        self,
        environment: str,
        proposers: PlanProposer | Mapping[Mode, PlanProposer],
        trusted: TrustedDomains,
        vocabulary: Vocabulary,
        budget: int = 8,
        solver_timeout_s: float = 20.0,
        solver: SolverProcess | None = None,
        engine: str = DEFAULT,
        no_room: Callable[[Plan, Observation], str] = lambda plan, seen: "",
    ) -> None:
        self._environment = environment
        self._proposers: Mapping[Mode, PlanProposer] = (
            proposers if isinstance(proposers, Mapping) else dict.fromkeys(MODES, proposers)
        )
        self._trusted, self._vocabulary, self._budget = trusted, vocabulary, budget
        self._owns_solver = solver is None
        fixed = [d for p in self._proposers.values() for d in p.domains]
        self._known = (*fixed, *trusted.all(environment))
        self._solver = solver or SolverProcess(engine=engine)
        self._judge, self._no_room = partial(judge, self._solver, vocabulary, solver_timeout_s), no_room

    def start(self) -> None:
        """Have the solver process start and read ahead, without waiting; otherwise the first request does."""
        self._solver.start(self._known)

    def close(self) -> None:
        """End the solver process and its children, unless it was passed in and belongs to somebody else."""
        if self._owns_solver:
            self._solver.close()

    def __enter__(self) -> DraftingPlanner:
        self.start()
        return self

    def plan(self, request: PlanRequest, on_draft: OnDraft = unheard, cancelled: Stop = never) -> PlanResult:
        """See `spca_core.ports.stages.Planner`.

        Bad drafts and a failing model are rejections; that money or time is used up (BudgetExhausted), or
        that a server cannot be reached at all (InputError), is for the caller and raised.
        """
        return _Loop(self, request, on_draft, cancelled).run()

    def others(self, request: PlanRequest, plan: Plan) -> list[Plan]:
        """Return valid plans with other steps for the same task, if the proposer knows alternatives."""
        proposer = self._proposers[request.mode]
        drafts = proposer.alternatives(plan.draft, request.observation)[:_MOST_ALTERNATIVES]
        judged = [self._judge(draft, request).plan(draft) for draft in drafts]
        return [p for p in judged if p is not None and p.steps != plan.steps]

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """Trust what a plan that the referee has called a success has used of its domain."""
        if result.plan is None or not result.plan.steps:
            return
        text = result.plan.draft.domain
        if text not in self._trusted.all(self._environment):
            # nothing has shown that its other actions do what they say
            text = with_actions(text, {step.action.lower() for step in result.plan.steps})
        self._trusted.add(self._environment, request.task, text)

    def _first(self, request: PlanRequest) -> tuple[Mode, Draft | None]:
        """Reuse the trusted domain that fits best, for a fresh request of its own group, if it can do all.

        Another one is an example; sentences that a look judges are no group.
        """
        if request.mode == "fresh":
            objects, words = request.observation.objects, self._vocabulary.words()
            goals = self._vocabulary.asked(request.task, request.observation)
            known = self._trusted.fitting(self._environment, request.task, objects, goals, words)
            if known is not None:
                own = self._trusted.in_group(self._environment, request.task.group)
                reuse = known in own and request.task.judge == "referee"
                reuse = reuse and brought_about(known.text, goals, objects, words) == 1
                return "reuse" if reuse else "fresh", Draft(domain=known.text, problem="")
        return request.mode, request.previous


class _Loop:
    """The loop of drafts and judgements for one request."""

    def __init__(
        self, planner: DraftingPlanner, request: PlanRequest, on_draft: OnDraft, cancelled: Stop
    ) -> None:
        self._proposers, self._judge, self._budget = planner._proposers, planner._judge, planner._budget
        self._no_room = planner._no_room
        self._request, self._on_draft, self._cancelled = request, on_draft, cancelled
        self._mode, self._previous = planner._first(request)
        self._reused = self._previous.domain if self._mode == "reuse" and self._previous else None
        self._rejection: Rejection | None = None
        self._records: list[DraftRecord] = []
        self._seen: dict[tuple[str, str], str] = {}
        self._repetitions = 0

    def run(self) -> PlanResult:
        try:
            while len(self._records) < self._budget and self._repetitions < _MOST_REPETITIONS:
                if self._cancelled():
                    raise Cancelled("planning was cancelled")
                plan = self._attempt()
                if plan is not None:
                    return self._end("solved", plan)
        except NotUnderstood as error:
            return self._end("not_understood", message=str(error), proposal=error.proposal)
        except Impossible as error:
            return self._end("impossible", message=str(error))
        except Cancelled as error:
            return self._end("cancelled", message=str(error))
        rejections = [r.rejection.message for r in self._records if r.rejection]
        last = rejections[-1] if rejections else "no draft was allowed"
        if self._repetitions >= _MOST_REPETITIONS:
            why = last.removeprefix(_UNCHANGED)
            return self._end("exhausted", message=f"{why}; the proposer has nothing new to offer")
        return self._end("exhausted", message=f"{self._budget} drafts were rejected; last: {last}")

    def _attempt(self) -> Plan | None:
        """Draft and judge once; return the plan if it was accepted."""
        began = time.perf_counter()
        request = self._request.model_copy(update={"mode": self._mode})
        proposer, previous, rejection = self._proposers[self._mode], self._previous, self._rejection
        try:
            draft = interruptible(lambda: proposer.draft(request, previous, rejection), self._cancelled)
        except ModelError as error:
            judged = Judgement(critic="model", message=str(error))
            self._note(None, judged, time.perf_counter() - began)
            if error.answered:  # the same request would get the same answer
                self._rejection = judged.rejection
            return None
        seconds = time.perf_counter() - began
        texts = draft.domain, draft.problem
        if texts in self._seen:  # rejected unseen
            self._repetitions += 1
            judged = Judgement(critic="draft", message=_UNCHANGED + self._seen[texts])
        else:
            self._repetitions = 0
            judged = self._judge(draft, self._request, self._cancelled)
            found = None if draft.goals else judged.plan(draft)  # an environment's own makes room by itself
            if found and (why := self._no_room(found, request.observation)):
                judged = Judgement(critic="scene", message=why)
            if judged.critic:
                self._seen[texts] = judged.message
        self._note(draft, judged, seconds)
        self._previous, self._rejection, self._mode = draft, judged.rejection, "repair"
        return judged.plan(draft)

    def _note(self, draft: Draft | None, judged: Judgement, draft_seconds: float) -> None:
        mode = self._mode
        if mode == "reuse" and draft is not None and draft.domain != self._reused:
            mode = "fresh"  # the proposer chose another domain than the trusted one
        record = DraftRecord(
            mode=mode, draft=draft, rejection=judged.rejection, draft_seconds=draft_seconds,
            parse_seconds=judged.parse_seconds, solve_seconds=judged.solve_seconds,
            validate_seconds=judged.validate_seconds,
        )  # fmt: skip
        self._records.append(record)
        self._on_draft(record)

    def _end(self, status: Status, plan: Plan | None = None, **told: str) -> PlanResult:
        drafts = tuple(self._records)
        return PlanResult(attempt=self._request.attempt, status=status, plan=plan, drafts=drafts, **told)


def interruptible(call: Callable[[], T], cancelled: Stop) -> T:
    """Return the result of `call`, or raise its exception.

    Raises Cancelled as soon as `cancelled()`: the call is left to itself.
    """
    outcome = left_alone(call)
    while not wait((outcome,), _POLL_SECONDS).done:
        if cancelled():
            raise Cancelled("planning was cancelled")
    try:
        return outcome.result()
    finally:
        del outcome  # it holds the error, and the error's traceback this frame, with all that a run has open
