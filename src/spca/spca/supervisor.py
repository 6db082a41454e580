"""The supervisor's loop: sense, plan, code, rehearse, act, judge; and who is to mend what failed.

Every loop has a budget.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from spca.blame import Blame, blame, describe_failure, distrusted
from spca.journal import Journal, Listener
from spca.stages import Stages, blame_of, trusted
from spca.state import FailedAttempt, Phase, RunState
from spca_core.errors import BudgetExhausted, Lost, MotionError, SpcaError
from spca_core.plan import PLAN_AT_FAULT, ActResult, CodeRequest, DraftRecord, PlanRequest, PlanResult
from spca_core.ports.environment import Environment
from spca_core.ports.reading import Evidence
from spca_core.result import UNFINISHED, Ending, Outcome, Promotion, RunResult, Verdict
from spca_core.run_folder import RunFolder
from spca_core.scene import Observation
from spca_core.skill import python_name

_TRIED = "this plan has failed before with the same skills and the same predictions"
_STANDS = "the plan failed, and its author stands by it, so look for the fault in the skills: "
_PERSISTS = "it was the same before the skill was rewritten, so the action may promise what does not happen"


class Repair:
    """Ways from a failure to the state in which the run goes on, within budgets of rounds and rewrites."""

    def __init__(self, stages: Stages, journal: Journal) -> None:
        self._budgets, self._reading, self._journal = stages.budgets, stages.readers, journal

    def next_round(self, state: RunState, failure: str) -> RunState:
        """Return the state that looks and plans again, or the run's end if no rounds are left."""
        self._journal.publish("round_failed", text=failure, data={"round": state.round})
        if state.round >= self._budgets.rounds:
            return state.ending(Ending.GAVE_UP, f"{self._budgets.rounds} rounds tried; last: {failure}")
        return state.next_round(failure)

    def without(self, state: RunState, actions: tuple[str, ...], failure: str) -> RunState:
        """Return the state that plans again with these actions' skills put back to what was there before."""
        if actions:
            library = self._reading.skills.restored(state.library, state.proven, actions)
            state = state.giving_up(actions, library)
        return self.next_round(state, failure)

    def blamed(self, state: RunState, found: Blame) -> RunState:
        """Return the state that has the skills to blame rewritten while retries are left, or plans again.

        If the same is wrong after a rewrite, the planner is asked, too: its domain may demand what cannot be.
        After an accident, the first in a round, the plan is carried out once more as it is.
        """
        assert state.plan is not None
        again = any(a.blame and a.blame.accident for a in state.history.attempts if a.round == state.round)
        persists = bool(state.code_retry) and state.history.complained(found, state.round)
        state = state.after_failure(found, self._reading.fingerprint(state.plan, state.library))
        if found.accident and not again:
            return state.coded(state.library)
        if found.suspects and not persists and state.code_retry < self._budgets.code_retries:
            return state.repairing(found.suspects, found.skill_failure)
        if persists:
            return self.next_round(state, f"{found.plan_failure}. {_PERSISTS}")
        return self.without(state, found.suspects, found.plan_failure)

    def goes_on(self, state: RunState, found: Blame) -> bool:
        """Return whether to go on where the run's second accident, to proven skills, has left the world."""
        before = [a.round for a in state.history.attempts if a.blame and a.blame.accident]
        return found.accident and trusted(state) and before == [state.round]

    def unchanged(self, state: RunState, failed: FailedAttempt) -> RunState:
        """Return the state that asks who is left to change something about a plan that failed before just so.

        Whoever hands in the same sees nothing to mend: then the other is asked, the coder for the skills that
        are to blame or have proven nothing yet, and once more when the planner stands by its plan.
        """
        plan, found = state.plan, failed.blame
        assert plan is not None and found is not None
        author = "coder" if state.suspects else "planner"
        asked = author, *failed.kept_by
        state = state.remembering(state.history.keeping(failed, author))
        suspects = found.suspects or [s.action for s in plan.steps if python_name(s.action) in state.written]
        left = asked.count("coder") < 2 and state.code_retry < self._budgets.code_retries
        if suspects and author == "planner" and left:
            told = ("" if found.suspects and "coder" not in asked else _STANDS) + found.skill_failure
            return state.repairing(tuple(dict.fromkeys(suspects)), told)
        if "planner" not in asked:
            return self.next_round(state, f"{_TRIED}: {found.plan_failure}")
        return state.ending(Ending.GAVE_UP, f"no progress: {_TRIED}: {found.plan_failure}")

    def onward(self, state: RunState, result: ActResult, verdict: Verdict) -> RunState:
        """Return the state that goes on in a world that cannot be put back, or the end of a final verdict."""
        assert state.plan is not None and state.observation is not None
        failure = describe_failure(result, verdict)
        if verdict.final:
            return state.ending(Ending(verdict.outcome.value), failure)
        history = state.history.in_vain(state.plan, state.observation, result, failure)
        return self.next_round(state.remembering(history), failure)


def _revealed(before: Observation | None, afterwards: Observation | None, result: ActResult) -> bool:
    """Return whether something has come to light that only a new plan can take into account.

    It was hidden, under a name for that time, and is seen now under its own; or it was not seen before, and a
    skill raised an error of its own that names it.
    """
    if before is None or afterwards is None:
        return False
    then, now = {*before.objects}, {*afterwards.objects}
    if result.status == "done":
        return bool({*before.hidden} - now and now - then)
    said = [step.failure.message for step in result.steps if step.failure is not None][-1:]
    named = {*re.findall(r"\w+", said[0])} if said and said[0].startswith("RuntimeError: ") else set()
    return not named.isdisjoint(now - then)


class Supervisor:
    """Drives one level to its end. Every phase's result is on disk before the next begins.

    `cancelled` says why the run is to end; empty unless it is.
    """

    def __init__(
        self,
        environment: Environment,
        stages: Stages,
        folder: RunFolder,
        listeners: tuple[Listener, ...] = (),
        cancelled: Callable[[], str] = str,
    ) -> None:
        self._env, self._stages, self._readers = environment, stages, stages.readers
        self._journal = Journal(environment, folder, listeners)
        self._repair = Repair(stages, self._journal)
        self._promotion = Promotion()
        self._drafts: list[DraftRecord] = []
        self._declined: tuple[Observation, PlanResult] | None = None  # by the planner, before another look
        self._cancelled = cancelled

    def run(self) -> RunResult:
        """Begin a new run and drive it to its end; return its result."""
        task = self._env.task
        said = {"task": task.description, "judge": task.judge}
        self._journal.publish("run_started", text=task.title, data=said)
        return self._drive(RunState(library=self._stages.library, proven=self._stages.library))

    def resume(self) -> RunResult:
        """Continue the run in the folder to its end; begin it if it ended before its first look."""
        state = self._journal.recall()
        if state is None:
            return self.run()
        text = f"{self._env.task.title} (resumed before {state.phase.value})"
        self._journal.publish("run_started", text=text)
        return self._drive(state)

    def _drive(self, state: RunState) -> RunResult:
        phases = {
            Phase.SENSE: self._sense,
            Phase.PLAN: self._plan,
            Phase.CODE: self._code,
            Phase.REHEARSE: self._rehearse,
            Phase.ACT: self._act,
        }
        while state.phase is not Phase.ENDED:
            if self._cancelled():
                state = state.ending(Ending.CANCELLED, self._cancelled())
                break
            self._journal.save(state)
            began = time.monotonic()
            phase = state.phase
            self._journal.publish("stage_started", stage=phase.value, data={"round": state.round})
            try:
                state = phases[phase](state)
            except BudgetExhausted as error:
                state = state.counting_drafts(self._drafts).ending(Ending.GAVE_UP, str(error))
            except SpcaError as error:  # such as a node that ends at the same time
                stopped = self._stopped(error)
                if not (stopped or isinstance(error, Lost | MotionError)):
                    raise
                state = state.ending(Ending.CANCELLED if stopped else Ending.LOST, stopped or str(error))
            self._drafts.clear()
            seconds = time.monotonic() - began
            state = state.spending(phase, seconds)
            self._journal.publish("stage_ended", stage=phase.value, data={"seconds": seconds})
        state = state.at(self._journal.wall)
        if state.ended not in UNFINISHED:  # else the state before the phase stays, to resume from
            self._journal.save_end(state)
        return self._journal.conclude(state, self._promotion, self._stages.usage)

    def _stopped(self, error: SpcaError) -> str:
        """Return why the run is to end, be it that somebody else has stopped the arm; else nothing."""
        stopped = isinstance(error, MotionError) and error.kind == "cancelled"
        return self._cancelled() or str(error) * stopped

    def _sense(self, state: RunState) -> RunState:
        try:
            observation = self._env.sense()
        except MotionError as error:  # the arm could not be moved out of the camera's view
            if self._stopped(error):
                raise
            return self._repair.next_round(state, f"looking failed, {error.kind}: {error}")
        self._journal.keep_look(state, observation)
        return state.sensed(observation)

    def _plan(self, state: RunState) -> RunState:
        assert state.observation is not None
        observation, state = state.observation, state.attempting()
        request = PlanRequest(
            attempt=self._journal.attempt(state),
            task=self._env.task,
            observation=observation,
            skills=self._readers.skills.signatures(state.library),
            mode="replan" if state.failure else "fresh",
            previous=state.previous,
            failure=state.told or state.doubt,
            executed=state.execution,
        )
        seen, result = self._declined or (observation, None)
        self._declined = None
        if result is None or {*seen.told} != {*observation.told} or not seen.looks_like(observation):
            result = self._stages.planner.plan(request, self._on_draft, lambda: bool(self._cancelled()))
        self._journal.keep(state, "plan", result)
        state = state.counting_drafts(result.drafts)
        if result.status == "solved" and result.plan is not None:
            if before := state.history.on_table(result.plan, observation):
                held = (f.args[0] for f in observation.facts if f.predicate == "held")
                reason = f"{before.failure} (no progress: the same plan has failed on this table before)"
                reason += "".join(f"; {thing} is still in the gripper" for thing in held)
                return state.ending(Ending.GAVE_UP, reason)
            goal = self._readers.plans.goal(result.plan.draft)
            steps = [str(step) for step in result.plan.steps]
            self._journal.publish("plan", stage="plan", text=goal, data={"steps": steps})
            return state.planned(result.plan)
        if state.doubtful(result.status):
            self._declined = observation, result.model_copy(update={"drafts": ()})  # which are counted
            return self._look_once_more(state, result.message)
        if result.status == "exhausted":
            if state.history.on_table(result, observation):
                reason = f"no progress: the same drafts were rejected for this table before: {result.message}"
                return state.ending(Ending.GAVE_UP, reason)
            state = state.remembering(state.history.rejecting(result, observation))
            return self._repair.next_round(state, f"no valid plan: {result.message}")
        return state.ending(Ending(result.status), result.message)

    def _look_once_more(self, state: RunState, message: str) -> RunState:
        self._journal.publish("doubt", stage="plan", text=f"looking again: {message}")
        verdict = self._env.settle()
        if not verdict.final:
            return state.doubting(message)
        return state.ending(Ending(verdict.outcome.value), message)

    def _code(self, state: RunState) -> RunState:
        plan = state.plan
        assert state.observation is not None and plan is not None
        state = state.attempting()
        request = CodeRequest(
            attempt=self._journal.attempt(state),
            task=self._env.task,
            observation=state.observation,
            plan=plan,
            library=state.library,
            suspects=state.suspects,
            failure=state.skill_failure if state.suspects else state.history.lessons_for(plan),
        )
        result = self._stages.coder.complete(request, lambda: bool(self._cancelled()))
        self._journal.keep(state, "code", result)
        for draft in result.drafts:
            self._journal.publish("code", stage="code", text=draft.rejection, data={"kind": draft.kind})
        state = state.counting_code(result)
        if result.status == "complete":
            if failed := state.history.with_skills(self._readers.fingerprint(plan, result.library)):
                return self._repair.unchanged(state, failed)
            rehearsing = self._stages.rehearsing
            return state.coded(result.library, rehearsing is not None and rehearsing.wanted(state))
        if result.status == "cancelled":
            return state.ending(Ending.CANCELLED, result.message)
        if result.status == "missing" and not state.suspects:
            return state.ending(Ending.GAVE_UP, result.message)
        told = f"{state.failure}; {result.message}" if state.suspects else result.message
        stay = result.message.startswith(PLAN_AT_FAULT)
        return self._repair.without(state, () if stay else state.suspects, told)

    def _rehearse(self, state: RunState) -> RunState:
        """Try the plan without the robot; if it is rejected, go on as after a failed attempt."""
        rehearsing = self._stages.rehearsing
        if rehearsing is None:  # resumed with other options
            return state.coded(state.library)
        state = state.attempting()
        attempt = self._journal.attempt(state)
        rehearsed = rehearsing.try_out(attempt, self._env.task, state, lambda: bool(self._cancelled()))
        self._journal.publish_rehearsal(state, rehearsed, rehearsing.rehearsal)
        state = state.after_rehearsal(rehearsed)
        if rehearsed.status != "rejected" or rehearsed.overruled:
            return state
        if trusted(state):  # the look may have been wrong, or the domain
            state = state.objecting(rehearsing.objection(state, rehearsed))
            return self._repair.next_round(state, rehearsed.sentence)
        return self._repair.blamed(state, blame_of(rehearsed, state.library))

    def _act(self, state: RunState) -> RunState:
        plan, approve = state.plan, self._stages.approve
        assert plan is not None
        if approve is not None:
            goal = self._readers.plans.goal(plan.draft)
            self._journal.publish("question", stage="act", text=goal)
            if not approve(plan, goal):
                return state.ending(Ending.CANCELLED, self._cancelled() or "not approved; nothing was moved")
        state = state.attempting()
        if self._stages.rewind:  # rehearsals apart, nothing has happened since the plan was made
            self._journal.mark_plan_start()
        result = self._env.act(self._journal.attempt(state), plan, state.library, self._journal.publish_step)
        self._journal.keep(state, "act", result)
        return self._judge(state.counting_act(result), result)

    def _judge(self, state: RunState, result: ActResult) -> RunState:
        """Ask for the verdict; after a failure, find out what is to blame, and put the world back."""
        plan = state.plan
        assert plan is not None
        verdict = self._env.settle()
        if self._cancelled() and not verdict.final:
            return state.ending(Ending.CANCELLED, self._cancelled())
        said = {"outcome": verdict.outcome.value, "score": verdict.score}
        self._journal.publish("verdict", text=verdict.reason, data=said)
        if verdict.outcome is Outcome.SUCCESS:
            self._learn(state, result)
            return state.ending(Ending.SUCCESS, " ".join(filter(None, (verdict.reason, plan.draft.remark))))
        if not self._stages.rewind:
            return self._repair.onward(state, result, verdict)
        afterwards = self._look_again()
        evidence = self._weigh(state, result, afterwards)
        if not evidence.contradicted and _revealed(state.observation, afterwards, result):
            return self._repair.onward(state, result, verdict)
        found = blame(
            plan, result, verdict, evidence, afterwards, state.observation, state.written, state.library
        )
        self._journal.keep(state, "blame", found)
        same = state.observation and afterwards and state.observation.looks_like(afterwards)
        stays = self._repair.goes_on(state, found)
        if stays or (not self._journal.back_to_plan_start() and not same):
            return self._repair.onward(state, result, verdict)
        return self._repair.blamed(state, found)

    def _learn(self, state: RunState, result: ActResult) -> None:
        """Trust the domain and the skills that solved a level, if the skills did what the plan says."""
        if self._stages.promote is None or state.plan is None or state.observation is None:
            return
        evidence = self._weigh(state, result, self._look_again())
        self._journal.keep(state, "evidence", evidence)
        rehearsed = state.rehearsal.plans > state.rehearsal.rejected == 0
        distrust = distrusted(state.plan, result, evidence, rehearsed)
        if not evidence.contradicted and not any(step.overlooked for step in evidence.steps):
            attempt, seen = self._journal.attempt(state), state.observation
            request = PlanRequest(attempt=attempt, task=self._env.task, observation=seen, skills=())
            solved = PlanResult(attempt=attempt, status="solved", plan=state.plan, drafts=())
            self._stages.planner.learned(request, solved)
        self._promotion = self._stages.promote(state.library, state.plan, distrust)

    def _look_again(self) -> Observation | None:
        """Look after a plan and return what is seen; None if the arm cannot leave the camera's view."""
        try:
            return self._env.sense()
        except BudgetExhausted:
            raise
        except SpcaError:
            return None

    def _weigh(self, state: RunState, result: ActResult, afterwards: Observation | None) -> Evidence:
        assert state.plan is not None
        looks = [step.seen for step in result.steps]
        return self._readers.plans.weigh(state.plan, looks, afterwards, state.observation)

    def _on_draft(self, draft: DraftRecord) -> None:
        self._drafts.append(draft)
        self._journal.publish_draft(draft)
