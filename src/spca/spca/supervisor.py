"""The loop: sense, plan, code, act; repair the code first, then the plan, then start a new round. All bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from spca.events import Event, EventKind, Listener
from spca.result import CoderCounts, PlannerCounts, RunResult, SkillCounts, Usage
from spca.state import RunState
from spca_coder.source import signatures
from spca_coder.trusted import Promotion
from spca_core.budgets import Budgets
from spca_core.errors import BudgetExhausted, MotionError, SpcaError
from spca_core.plan import ActResult, CodeRequest, CodeResult, DraftRecord, Plan, PlanRequest, PlanResult
from spca_core.ports.environment import Environment
from spca_core.ports.stages import Coder, Planner
from spca_core.run_folder import STATE, RunFolder
from spca_core.skill import StepReport, python_name
from spca_core.verdict import Outcome, Verdict

CHECKPOINT = "checkpoint.bin"
PLAN_CHECKPOINT = "plan_checkpoint.bin"
_MOST_FACTS = 24
"""Of those that a failure is described by."""


class Supervisor:
    """Drives one level to its end. Every phase's result is on disk before the next begins.

    `promote` is called with the working library and the plan after a success, to keep the skills that proved themselves;
    `usage` tells what each language model has used so far.
    """

    def __init__(
        self,
        environment: Environment,
        planner: Planner,
        coder: Coder,
        folder: RunFolder,
        budgets: Budgets | None = None,
        listeners: tuple[Listener, ...] = (),
        promote: Callable[[str, Plan], Promotion] | None = None,
        usage: Callable[[], dict[str, Usage]] = dict,
    ) -> None:
        self._env, self._planner, self._coder, self._folder = environment, planner, coder, folder
        self._budgets = budgets or Budgets()
        self._listeners = (folder.append, *listeners)
        self._promote, self._usage = promote, usage
        self._promotion = Promotion()
        self._drafts: list[DraftRecord] = []
        self._cancelled = False
        self._began = time.monotonic()
        self._request: PlanRequest | None = None
        self._result: PlanResult | None = None

    def cancel(self) -> None:
        """Stop the arm first, then end the run. From any thread or a signal handler."""
        self._cancelled = True
        self._env.cancel()

    def run(self, library: str) -> RunResult:
        """A new run with `library` (source text) as the working skills."""
        self._tell("run_started", text=self._env.task.title)
        return self._drive(RunState(library=library))

    def resume(self) -> RunResult:
        """Go on where the folder's run was."""
        state = self._folder.read(STATE, RunState)
        checkpoint = self._folder.read_bytes(CHECKPOINT)
        if checkpoint is not None:
            self._env.restore(checkpoint)
        self._began = time.monotonic() - state.wall
        self._tell("run_started", text=f"{self._env.task.title} (resumed before {state.phase})")
        return self._drive(state)

    # --- the state machine --------------------------------------------------------------------------------------

    def _drive(self, state: RunState) -> RunResult:
        phases = {"sense": self._sense, "plan": self._plan, "code": self._code, "act": self._act}
        while state.phase != "ended":
            if self._cancelled:
                state = self._end(state, "cancelled", "stopped by the user")
                break
            self._save(state)
            began = time.monotonic()
            phase = state.phase
            self._tell("stage_started", stage=phase, data={"round": state.round})
            try:
                state = phases[phase](state)
            except BudgetExhausted as error:
                planner = _count_drafts(state.planner, self._drafts)
                state = self._end(state.model_copy(update={"planner": planner}), "gave_up", str(error))
            self._drafts.clear()
            seconds = state.stage_wall.get(phase, 0.0) + time.monotonic() - began
            state = state.model_copy(update={"stage_wall": {**state.stage_wall, phase: seconds}})
            self._tell("stage_ended", stage=phase, data={"seconds": time.monotonic() - began})
        state = state.model_copy(update={"wall": time.monotonic() - self._began})
        if state.ended != "cancelled":  # else the state before the interrupted phase is kept, to resume from
            self._save(state, checkpoint=False)
        return self._conclude(state)

    def _sense(self, state: RunState) -> RunState:
        try:
            observation = self._env.sense()
        except MotionError as error:  # the arm could not be moved out of the camera's view
            if self._cancelled:
                return self._end(state, "cancelled", "stopped by the user")
            return self._next_round(state, f"looking failed, {error.kind}: {error}")
        self._folder.write(f"round_{state.round}/observation.json", observation)
        return state.model_copy(update={"observation": observation, "phase": "plan"})

    def _plan(self, state: RunState) -> RunState:
        assert state.observation is not None
        state = state.model_copy(update={"attempt": state.attempt + 1})
        request = PlanRequest(
            attempt=self._attempt(state),
            task=self._env.task,
            observation=state.observation,
            skills=signatures(state.library),
            mode="replan" if state.failure else "fresh",
            previous=state.previous,
            failure=state.failure,
        )
        result = self._planner.plan(request, self._on_draft, lambda: self._cancelled)
        self._request, self._result = request, result
        self._folder.write(f"round_{state.round}/plan_{state.attempt}.json", result)
        state = state.model_copy(update={"planner": _count_drafts(state.planner, result.drafts)})
        if result.status == "solved" and result.plan is not None:
            plan = result.plan
            return state.model_copy(
                update={
                    "plan": plan,
                    "previous": plan.draft,
                    "phase": "code",
                    "code_retry": 0,
                    "suspects": (),
                }
            )
        if result.status == "exhausted":
            return self._next_round(state, f"no valid plan: {result.message}")
        return self._end(state, result.status, result.message)

    def _code(self, state: RunState) -> RunState:
        assert state.observation is not None and state.plan is not None
        state = state.model_copy(update={"attempt": state.attempt + 1})
        request = CodeRequest(
            attempt=self._attempt(state),
            task=self._env.task,
            observation=state.observation,
            plan=state.plan,
            library=state.library,
            suspects=state.suspects,
            failure=state.failure if state.suspects else "",
        )
        result = self._coder.complete(request, lambda: self._cancelled)
        self._folder.write(f"round_{state.round}/code_{state.attempt}.json", result)
        for draft in result.drafts:
            self._tell("code", stage="code", text=draft.rejection, data={"kind": draft.kind})
        written = tuple(dict.fromkeys((*state.written, *result.written)))
        state = state.model_copy(update={"coder": _count_code(state.coder, result), "written": written})
        if result.status == "complete":
            return state.model_copy(update={"library": result.library, "phase": "act"})
        if result.status == "cancelled":
            return self._end(state, "cancelled", result.message)
        if result.status == "missing" and not state.suspects:
            return self._end(state, "gave_up", result.message)
        return self._next_round(state, state.failure or result.message)

    def _act(self, state: RunState) -> RunState:
        plan = state.plan
        assert plan is not None
        state = state.model_copy(update={"attempt": state.attempt + 1})
        if state.code_retry == 0 and self._budgets.rewind:
            self._folder.write(PLAN_CHECKPOINT, self._env.checkpoint())
        result = self._env.act(self._attempt(state), plan, state.library, self._on_step)
        self._folder.write(f"round_{state.round}/act_{state.attempt}.json", result)
        state = state.model_copy(update={"steps": state.steps + len(result.steps)})
        if self._cancelled:
            return self._end(state, "cancelled", "stopped by the user")
        verdict = self._env.settle()
        self._tell(
            "verdict", text=verdict.reason, data={"outcome": verdict.outcome.value, "score": verdict.score}
        )
        if verdict.outcome is Outcome.SUCCESS:
            self._keep(state)
            return self._end(state, Outcome.SUCCESS.value, verdict.reason)
        return self._recover(state, result, verdict)

    def _recover(self, state: RunState, result: ActResult, verdict: Verdict) -> RunState:
        """Repair the failing skill, else the plan; without rewinding, a final verdict is the end."""
        failure = describe_failure(result, verdict)
        state = state.model_copy(update={"failure": failure})
        if not self._budgets.rewind:
            if verdict.final:
                return self._end(state, verdict.outcome.value, failure)
            return self._next_round(state, failure)
        failure += self._aftermath(verdict)
        state = state.model_copy(update={"failure": failure})
        checkpoint = self._folder.read_bytes(PLAN_CHECKPOINT)
        if checkpoint is not None:
            self._env.restore(checkpoint)
        assert state.plan is not None
        failing = [s.action for s in result.steps if s.status == "failed"]
        suspects = tuple(failing) or tuple(dict.fromkeys(s.action for s in state.plan.steps))
        if suspects and state.code_retry < self._budgets.code_retries:
            return state.model_copy(
                update={"phase": "code", "suspects": suspects, "code_retry": state.code_retry + 1}
            )
        return self._next_round(state, failure)

    def _aftermath(self, verdict: Verdict) -> str:
        """What a look after the failure shows, before the world goes back. Facts only: they come from no model."""
        if verdict.final:
            return ""  # the arm has been stopped
        try:
            facts = self._env.sense().facts
        except BudgetExhausted:
            raise
        except SpcaError:
            return ""
        return f". Seen afterwards: {', '.join(map(str, facts[:_MOST_FACTS]))}" if facts else ""

    def _next_round(self, state: RunState, failure: str) -> RunState:
        self._tell("round_failed", text=failure, data={"round": state.round})
        if state.round >= self._budgets.rounds:
            return self._end(state, "gave_up", f"{self._budgets.rounds} rounds tried; last: {failure}")
        return state.model_copy(
            update={"phase": "sense", "round": state.round + 1, "failure": failure, "suspects": ()}
        )

    def _end(self, state: RunState, ended: str, reason: str) -> RunState:
        return state.model_copy(update={"phase": "ended", "ended": ended, "reason": reason})

    # --- bookkeeping --------------------------------------------------------------------------------------------

    def _keep(self, state: RunState) -> None:
        """What solved a level is trusted from now on: its domain, and the skills its plan used."""
        if self._request is not None and self._result is not None:
            self._planner.learned(self._request, self._result)
        if self._promote is not None and state.plan is not None:
            self._promotion = self._promote(state.library, state.plan)

    def _conclude(self, state: RunState) -> RunResult:
        verdict = self._env.verdict()
        outcome = state.ended
        if outcome not in {o.value for o in Outcome} and verdict.final and outcome != "cancelled":
            outcome = verdict.outcome.value
        result = RunResult.model_validate(
            {
                "level": self._env.task.id,
                "outcome": outcome,
                "verdict": verdict,
                "reason": state.reason,
                "rounds": state.round,
                "steps": state.steps,
                "planner": state.planner,
                "coder": state.coder,
                "wall": state.wall,
                "sim": verdict.stamp,
                "stage_wall": state.stage_wall,
                "usage": self._usage(),
                "skills": _count_skills(state, self._promotion),
            }
        )
        self._folder.write("result.json", result)
        self._folder.write("library.py", state.library)
        self._tell("run_ended", text=state.reason, data={"outcome": outcome})
        return result

    def _save(self, state: RunState, checkpoint: bool = True) -> None:
        if checkpoint:
            self._folder.write(CHECKPOINT, self._env.checkpoint())
        self._folder.write(STATE, state.model_copy(update={"wall": time.monotonic() - self._began}))

    def _attempt(self, state: RunState) -> str:
        return f"{Path(self._folder.path).name}/{state.round}.{state.attempt}"

    def _on_draft(self, draft: DraftRecord) -> None:
        self._drafts.append(draft)
        rejection = draft.rejection
        text = f"{rejection.critic}: {rejection.message}" if rejection else "accepted"
        self._tell("draft", stage="plan", text=text, data={"mode": draft.mode, "accepted": rejection is None})

    def _on_step(self, step: StepReport) -> None:
        self._tell("step", stage="act", text=f"{step.action}({', '.join(step.args)})", data=step.model_dump())

    def _tell(self, kind: EventKind, stage: str = "", text: str = "", data: dict | None = None) -> None:
        event = Event(
            kind=kind,
            wall=time.monotonic() - self._began,
            sim=self._env.verdict().stamp,
            stage=stage,
            text=text,
            data=data or {},
        )
        for listener in self._listeners:
            listener(event)


def describe_failure(result: ActResult, verdict: Verdict) -> str:
    """Why an attempt failed, in one line a model or a person can act on."""
    parts = []
    for step in result.steps:
        if step.status == "failed":
            cause = f"{step.failure.kind}: {step.failure.message}" if step.failure else step.message
            parts.append(f"step {step.index + 1} {step.action}({', '.join(step.args)}) failed, {cause}")
        elif step.status == "cancelled" and verdict.final:
            parts.append(f"it ended during step {step.index + 1} {step.action}({', '.join(step.args)})")
    if not parts and result.status == "failed":
        parts.append(result.message)
    open_conditions = [c for c in verdict.conditions if not c.holds]
    if verdict.final or not parts:
        parts.append(f"referee: {verdict.reason}")
    elif open_conditions:
        parts.append("not met: " + "; ".join(c.text for c in open_conditions[:4]))
    return ". ".join(parts)


def _count_skills(state: RunState, promotion: Promotion) -> SkillCounts:
    used = [python_name(s.action) for s in state.plan.steps] if state.plan else []
    reused = tuple(name for name in dict.fromkeys(used) if name not in state.written)
    return SkillCounts(
        reused=reused, written=state.written, promoted=promotion.promoted, refused=promotion.refused
    )


def _count_drafts(counts: PlannerCounts, drafts: Iterable[DraftRecord]) -> PlannerCounts:
    update = counts.model_dump()
    for draft in drafts:
        update["syntax" if draft.mode == "repair" else draft.mode] += 1
    return PlannerCounts(**update)


def _count_code(counts: CoderCounts, result: CodeResult) -> CoderCounts:
    update = counts.model_dump()
    for draft in result.drafts:
        update[draft.kind] += 1
    return CoderCounts(**update)
