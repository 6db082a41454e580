"""The supervisor's loop: sense, plan, code, act, and repair after a failure.

All bounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from spca.blame import Blame, blame, distrusted
from spca.events import Listener
from spca.failure import describe_failure
from spca.journal import Journal
from spca.looking import JudgedByLook, goal_in_words
from spca.rehearsing import Rehearsing, blame_of, objection, trusted
from spca.repetition import rejected, repeated, vain
from spca.state import Failed, Phase, RunState
from spca.tried import fingerprint, lessons
from spca_coder.library import restored
from spca_coder.source import signatures
from spca_coder.trusted import Promotion
from spca_core.budgets import Budgets
from spca_core.ending import Ending
from spca_core.errors import BudgetExhausted, MotionError, SpcaError
from spca_core.observation import Observation
from spca_core.plan import ActResult, CodeRequest, DraftRecord, Plan, PlanRequest, PlanResult
from spca_core.ports.environment import Environment
from spca_core.ports.stages import Coder, Planner
from spca_core.ports.vocabulary import Vocabulary
from spca_core.result import RunResult, Usage
from spca_core.run_folder import RunFolder
from spca_core.skill import python_name
from spca_core.verdict import Outcome, Verdict
from spca_planner.critics.vocabulary import FactVocabulary
from spca_planner.prediction import Evidence, weigh

Promote = Callable[[str, Plan, Mapping[str, str]], Promotion]
"""After a success: the working library, the plan, and the skills that are not to be trusted, with reasons."""
Approve = Callable[[Plan, str], bool]
"""Whether a plan may be carried out; it gets the plan and its goal in words."""
_STOPPED = "stopped by the user"
_MOST_DOUBTS = 4
"""Times that a task is looked at again that seems impossible while something is out of sight."""
_TRIED = "this plan has failed before with the same skills and the same predictions"
_STANDS = "the plan failed, and its author stands by it, so look for the fault in the skills: "
_PERSISTS = "it was the same before the skill was rewritten, so the action may promise what does not happen"


class Supervisor:
    """Drives one level to its end. Every phase's result is on disk before the next begins.

    A task that a look shall judge is judged by the goal of its plan (see `spca.looking`). `promote` keeps the
    skills that proved themselves; `usage` says what each language model has used so far; `vocabulary` says
    what observations show of a plan's effects; `rehearsing` tries plans before they are carried out;
    `approve` is asked before anything moves.
    """

    def __init__(
        self,
        environment: Environment,
        planner: Planner,
        coder: Coder,
        folder: RunFolder,
        budgets: Budgets | None = None,
        listeners: tuple[Listener, ...] = (),
        promote: Promote | None = None,
        usage: Callable[[], dict[str, Usage]] = dict,
        vocabulary: Vocabulary | None = None,
        rehearsing: Rehearsing | None = None,
        approve: Approve | None = None,
    ) -> None:
        self._vocabulary = vocabulary or FactVocabulary()
        if environment.task.judge == "look":
            environment = JudgedByLook(environment, self._vocabulary)
        self._env, self._planner, self._coder = environment, planner, coder
        self._journal = Journal(environment, folder, listeners)
        self._approve = approve
        self._budgets = budgets or Budgets()
        self._promote, self._usage = promote, usage
        self._rehearsing = rehearsing
        self._promotion = Promotion()
        self._drafts: list[DraftRecord] = []
        self._cancelled = False

    def cancel(self) -> None:
        """Stop the arm first, then end the run. From any thread or a signal handler."""
        self._cancelled = True
        self._env.cancel()

    def run(self, library: str) -> RunResult:
        """A new run with `library` (source text) as the working skills."""
        task = self._env.task
        said = {"task": task.description, "judge": task.judge}
        self._journal.tell("run_started", text=task.title, data=said)
        return self._drive(RunState(library=library, proven=library))

    def resume(self, library: str) -> RunResult:
        """Continue the run in the folder; a run that ended before its first look starts with `library`."""
        state = self._journal.recall()
        if state is None:
            return self.run(library)
        text = f"{self._env.task.title} (resumed before {state.phase.value})"
        self._journal.tell("run_started", text=text)
        return self._drive(state)

    # --- the state machine ----------------------------------------------------------------------------------

    def _drive(self, state: RunState) -> RunResult:
        phases = {
            Phase.SENSE: self._sense,
            Phase.PLAN: self._plan,
            Phase.CODE: self._code,
            Phase.REHEARSE: self._rehearse,
            Phase.ACT: self._act,
        }
        while state.phase is not Phase.ENDED:
            if self._cancelled:
                state = state.ending(Ending.CANCELLED, _STOPPED)
                break
            self._journal.save(state)
            began = time.monotonic()
            phase = state.phase
            self._journal.tell("stage_started", stage=phase.value, data={"round": state.round})
            try:
                state = phases[phase](state)
            except BudgetExhausted as error:
                state = state.counting_drafts(self._drafts).ending(Ending.GAVE_UP, str(error))
            except SpcaError:  # such as a node that ends at the same time
                if not self._cancelled:
                    raise
            self._drafts.clear()
            seconds = time.monotonic() - began
            state = state.spending(phase, seconds)
            self._journal.tell("stage_ended", stage=phase.value, data={"seconds": seconds})
        state = state.at(self._journal.wall)
        if (
            state.ended is not Ending.CANCELLED
        ):  # else the state before the interrupted phase stays, to resume from
            self._journal.save_end(state)
        return self._journal.conclude(state, self._promotion, self._usage)

    def _sense(self, state: RunState) -> RunState:
        try:
            observation = self._env.sense()
        except MotionError as error:  # the arm could not be moved out of the camera's view
            if self._cancelled:
                return state.ending(Ending.CANCELLED, _STOPPED)
            return self._next_round(state, f"looking failed, {error.kind}: {error}")
        self._journal.keep_look(state, observation)
        return state.sensed(observation)

    def _plan(self, state: RunState) -> RunState:
        assert state.observation is not None
        observation, state = state.observation, state.attempting()
        request = PlanRequest(
            attempt=self._journal.attempt(state),
            task=self._env.task,
            observation=observation,
            skills=signatures(state.library),
            mode="replan" if state.failure else "fresh",
            previous=state.previous,
            failure=state.failure,
            executed=state.execution,
        )
        result = self._planner.plan(request, self._on_draft, lambda: self._cancelled)
        self._journal.keep(state, "plan", result)
        state = state.counting_drafts(result.drafts)
        if result.status == "solved" and result.plan is not None:
            if before := repeated(result.plan, observation, state.vain):
                reason = f"no progress: the same plan has failed on this table before: {before.failure}"
                return state.ending(Ending.GAVE_UP, reason)
            goal = goal_in_words(result.plan.draft, self._vocabulary)
            steps = ", ".join(map(str, result.plan.steps))
            self._journal.tell("plan", stage="plan", text=goal, data={"steps": steps})
            return state.planned(result.plan)
        if result.status == "impossible" and self._doubtful(state):
            return self._look_once_more(state, result.message)
        if result.status == "exhausted":
            if repeated(result, observation, state.vain):
                reason = f"no progress: the same drafts were rejected for this table before: {result.message}"
                return state.ending(Ending.GAVE_UP, reason)
            state = state.in_vain(rejected(result, observation))
            return self._next_round(state, f"no valid plan: {result.message}")
        return state.ending(Ending(result.status), result.message)

    def _doubtful(self, state: RunState) -> bool:
        """Whether another look may show that it is possible after all."""
        assert state.observation is not None
        out_of_sight = set(state.known) - set(state.observation.objects) or state.observation.hidden
        return state.doubts < (_MOST_DOUBTS if out_of_sight else 1)

    def _look_once_more(self, state: RunState, message: str) -> RunState:
        self._journal.tell("doubt", stage="plan", text=f"looking again: {message}")
        verdict = self._env.settle()
        return state.ending(Ending.of(verdict.outcome), message) if verdict.final else state.doubting()

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
            failure=state.skill_failure if state.suspects else lessons(state, plan),
        )
        result = self._coder.complete(request, lambda: self._cancelled)
        self._journal.keep(state, "code", result)
        for draft in result.drafts:
            self._journal.tell("code", stage="code", text=draft.rejection, data={"kind": draft.kind})
        state = state.counting_code(result)
        if result.status == "complete":
            if failed := state.has_failed(fingerprint(plan, result.library)):
                return self._tried(state, plan, failed)
            state = state.coded(result.library)
            wanted = self._rehearsing is not None and self._rehearsing.wanted(state)
            return state.to_rehearse() if wanted else state
        if result.status == "cancelled":
            return state.ending(Ending.CANCELLED, result.message)
        if result.status == "missing" and not state.suspects:
            return state.ending(Ending.GAVE_UP, result.message)
        return self._give_up(state, state.suspects, state.failure or result.message)

    def _tried(self, state: RunState, plan: Plan, failed: Failed) -> RunState:
        """Ask who is left to change something about a plan that has failed before just so.

        Whoever hands in the same sees nothing to mend: then the other is asked, the coder for the skills that
        are to blame or have proven nothing yet, and once more when the planner stands by its plan.
        """
        author = "coder" if state.suspects else "planner"
        asked, state, found = (author, *failed.kept_by), state.keeping(failed, author), failed.blame
        suspects = found.suspects or [s.action for s in plan.steps if python_name(s.action) in state.written]
        left = asked.count("coder") < 2 and state.code_retry < self._budgets.code_retries
        if suspects and author == "planner" and left:
            told = ("" if found.suspects and "coder" not in asked else _STANDS) + found.skill_failure
            return state.repairing(tuple(dict.fromkeys(suspects)), told)
        if "planner" not in asked:
            return self._next_round(state, f"{_TRIED}: {found.plan_failure}")
        return state.ending(Ending.GAVE_UP, f"no progress: {_TRIED}: {found.plan_failure}")

    def _give_up(self, state: RunState, actions: tuple[str, ...], failure: str) -> RunState:
        """Plan again without the skills that could not be repaired: only what was there before is kept."""
        if actions:
            state = state.giving_up(actions, restored(state.library, state.proven, actions))
        return self._next_round(state, failure)

    def _rehearse(self, state: RunState) -> RunState:
        """Try the plan without the robot; if it is rejected, go on as after a failed attempt."""
        if self._rehearsing is None:  # resumed with other options
            return state.coded(state.library)
        plan, state = state.plan, state.attempting()
        assert plan is not None
        rehearsed = self._rehearsing.try_out(
            self._journal.attempt(state), self._env.task, state, lambda: self._cancelled
        )
        self._journal.tell_rehearsal(state, rehearsed, self._rehearsing.rehearsal)
        if self._cancelled:
            return state.ending(Ending.CANCELLED, _STOPPED)
        state = state.rehearsed(rehearsed)
        if rehearsed.status != "rejected" or rehearsed.overruled:
            return state
        if trusted(state):  # the look may have been wrong, or the domain
            return self._next_round(state.objecting(objection(state, rehearsed)), rehearsed.sentence)
        return self._repair(state, plan, blame_of(rehearsed))

    def _act(self, state: RunState) -> RunState:
        plan = state.plan
        assert plan is not None
        if self._approve is not None and not self._approve(plan, goal_in_words(plan.draft, self._vocabulary)):
            return state.ending(Ending.CANCELLED, "not approved; nothing was moved")
        state = state.attempting()
        if self._budgets.rewind:  # rehearsals apart, nothing has happened since the plan was made
            self._journal.mark_plan_start()
        result = self._env.act(self._journal.attempt(state), plan, state.library, self._journal.tell_step)
        self._journal.keep(state, "act", result)
        state = state.counting_act(result)
        if self._cancelled:
            return state.ending(Ending.CANCELLED, _STOPPED)
        verdict = self._env.settle()
        self._journal.tell(
            "verdict", text=verdict.reason, data={"outcome": verdict.outcome.value, "score": verdict.score}
        )
        if verdict.outcome is Outcome.SUCCESS:
            self._keep(state, result)
            return state.ending(Ending.SUCCESS, verdict.reason)
        return self._recover(state, result, verdict)

    def _recover(self, state: RunState, result: ActResult, verdict: Verdict) -> RunState:
        """Repair the skills that are to blame, or else the plan.

        If the world cannot be rewound, a final verdict ends the run.
        """
        plan = state.plan
        assert plan is not None and state.observation is not None
        if not self._budgets.rewind:
            failure = describe_failure(result, verdict)
            if verdict.final:
                return state.ending(Ending.of(verdict.outcome), failure)
            state = state.in_vain(vain(plan, state.observation, result, failure))
            return self._next_round(state, failure)
        afterwards = self._look_again()
        evidence = self._weigh(state, result, afterwards)
        found = blame(plan, result, verdict, evidence, afterwards, state.observation, state.written)
        self._journal.keep(state, "blame", found)
        self._journal.back_to_plan_start()
        return self._repair(state, plan, found)

    def _repair(self, state: RunState, plan: Plan, found: Blame) -> RunState:
        """Have the skills that are to blame rewritten while retries are left; else plan again.

        If the same is wrong after a rewrite, the planner is asked, too: its domain may demand what cannot be.
        """
        persists = state.complained(found)
        state = state.failed(found, fingerprint(plan, state.library))
        if found.suspects and not persists and state.code_retry < self._budgets.code_retries:
            return state.repairing(found.suspects, found.skill_failure)
        if persists:
            return self._next_round(state, f"{found.plan_failure}. {_PERSISTS}")
        return self._give_up(state, found.suspects, found.plan_failure)

    def _look_again(self) -> Observation | None:
        """What a look after a plan shows; None where the arm cannot be moved out of the camera's view."""
        try:
            return self._env.sense()
        except BudgetExhausted:
            raise
        except SpcaError:
            return None

    def _weigh(self, state: RunState, result: ActResult, afterwards: Observation | None) -> Evidence:
        assert state.plan is not None
        looks = [step.seen for step in result.steps]
        return weigh(state.plan, looks, afterwards, self._vocabulary, state.observation)

    def _next_round(self, state: RunState, failure: str) -> RunState:
        self._journal.tell("round_failed", text=failure, data={"round": state.round})
        if state.round >= self._budgets.rounds:
            return state.ending(Ending.GAVE_UP, f"{self._budgets.rounds} rounds tried; last: {failure}")
        return state.next_round(failure)

    def _keep(self, state: RunState, result: ActResult) -> None:
        """Trust the domain and the skills that solved a level, if the skills did what the plan says."""
        if self._promote is None or state.plan is None or state.observation is None:
            return
        evidence = self._weigh(state, result, self._look_again())
        self._journal.keep(state, "evidence", evidence)
        distrust = distrusted(state.plan, result, evidence)
        if not evidence.contradicted:
            attempt, seen = self._journal.attempt(state), state.observation
            request = PlanRequest(attempt=attempt, task=self._env.task, observation=seen, skills=())
            self._planner.learned(
                request, PlanResult(attempt=attempt, status="solved", plan=state.plan, drafts=())
            )
        self._promotion = self._promote(state.library, state.plan, distrust)

    def _on_draft(self, draft: DraftRecord) -> None:
        self._drafts.append(draft)
        self._journal.tell_draft(draft)
