"""The state of a run between two stages, with what has been tried in vain, so that nothing is tried twice.

Together with the environment's checkpoint, it is all that is needed to continue the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

from pydantic import ConfigDict, RootModel

from spca.blame import Blame
from spca_core.model import Record
from spca_core.plan import ActResult, CodeResult, Draft, DraftRecord, Execution, Plan, PlanResult, Rehearsed
from spca_core.result import CoderCounts, Ending, PlannerCounts, RehearsalCounts
from spca_core.scene import Observation
from spca_core.skill import FailureKind, python_name

TRANSIENT = (
    FailureKind.LOST, FailureKind.STALE, FailureKind.DEVIATION, FailureKind.TIMEOUT, FailureKind.GRIPPER,
    FailureKind.KILLED,
)  # fmt: skip
"""Kinds of failure that need not happen again when the same plan is tried on the same table."""


class FailedAttempt(Record):
    """A plan that was carried out or rehearsed in vain, or drafts that were all rejected."""

    fingerprint: str = ""
    """Fingerprint of the plan with its skills (see `Readers.fingerprint`), if the world was put back."""
    steps: tuple[str, ...] = ()
    """Steps of the plan, or hashes of the drafts, if the world stayed as it was."""
    before: Observation | None = None
    """Observation before the plan or the drafts, if the world stayed as it was."""
    round: int = 0
    failure: str = ""
    blame: Blame | None = None
    kept_by: tuple[str, ...] = ()
    """Authors who have handed in the same again since."""


class History(Record):
    """All attempts of a run. Asked whether the same has failed before: with its skills, or on this table."""

    attempts: tuple[FailedAttempt, ...] = ()
    lessons: dict[str, str] = {}
    """Reasons why versions of skills were given up, by the name of the skill."""

    def with_skills(self, fingerprint: str | None) -> FailedAttempt | None:
        """Return the failed attempt at the same plan with the same skills, which can only fail again.

        One that failed by an accident may go well.
        """
        same = (a for a in self.attempts if a.fingerprint and a.fingerprint == fingerprint)
        return next((a for a in same if a.blame is None or not a.blame.accident), None)

    def on_table(self, tried: Plan | PlanResult, now: Observation) -> FailedAttempt | None:
        """Return the attempt that this plan or these drafts would repeat on an unchanged table, or None."""
        steps = _steps(tried)
        same = (a for a in self.attempts if a.steps == steps)
        return next((a for a in same if a.before is not None and a.before.looks_like(now)), None)

    def lessons_for(self, plan: Plan) -> str:
        """Return why earlier versions of the plan's skills were given up, for the skills' next author."""
        skills = dict.fromkeys(python_name(step.action) for step in plan.steps)
        told = {self.lessons[name]: name for name in skills if name in self.lessons}
        return "\n".join(f"an earlier version of {name} was given up: {why}" for why, name in told.items())

    def complained(self, blame: Blame, round: int) -> bool:
        """Return whether the last attempt, in this round, failed with the same complaint and suspects."""
        last = next((a for a in reversed(self.attempts) if a.blame is not None), None)
        if last is None or last.blame is None or last.round != round or not blame.complaint:
            return False
        return (last.blame.complaint, last.blame.suspects) == (blame.complaint, blame.suspects)

    def adding(self, attempt: FailedAttempt) -> History:
        """Return the history with one more attempt."""
        return self.model_copy(update={"attempts": (*self.attempts, attempt)})

    def in_vain(self, plan: Plan, before: Observation, result: ActResult, failure: str) -> History:
        """Return the history with a plan that failed in a world that stays so, unless in a transient way."""
        failed = [s.failure for s in result.steps if s.failure is not None]
        return self if failed and failed[-1].kind in TRANSIENT else self._on_table(plan, before, failure)

    def rejecting(self, result: PlanResult, before: Observation) -> History:
        """Return the history with drafts of which none was accepted."""
        return self._on_table(result, before, result.message) if _steps(result) else self

    def keeping(self, attempt: FailedAttempt, author: str) -> History:
        """Return the history with an author who has handed in unchanged what has failed."""
        kept = attempt.model_copy(update={"kept_by": (*attempt.kept_by, author)})
        return self.model_copy(update={"attempts": tuple(kept if a is attempt else a for a in self.attempts)})

    def _on_table(self, tried: Plan | PlanResult, before: Observation, failure: str) -> History:
        seen = before.model_copy(update={"sentences": ()})
        return self.adding(FailedAttempt(steps=_steps(tried), before=seen, failure=failure))


def _steps(tried: Plan | PlanResult) -> tuple[str, ...]:
    if isinstance(tried, Plan):
        return tuple(map(str, tried.steps))
    texts = (f"{d.draft.domain}\n{d.draft.problem}" for d in tried.drafts if d.draft is not None)
    return tuple(dict.fromkeys(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts))


_MOST_DOUBTS = 4
"""Maximum number of further looks at a task that seems impossible while something is out of sight."""


class Phase(str, Enum):
    """Next phase of a run."""

    SENSE = "sense"
    PLAN = "plan"
    CODE = "code"
    REHEARSE = "rehearse"
    ACT = "act"
    ENDED = "ended"


@dataclass(frozen=True)
class RunState:
    """The supervisor's memory: which round, which phase is next, and what the phases before it made.

    It changes by the methods below only; each returns the state that follows.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    phase: Phase = Phase.SENSE
    round: int = 1
    attempt: int = 0
    """Number of calls of stages so far, which every message carries, so that no late answer counts."""
    code_retry: int = 0
    observation: Observation | None = None
    plan: Plan | None = None
    library: str = ""
    previous: Draft | None = None
    failure: str = ""
    """Description of the last failure, for the planner."""
    failures: tuple[str, ...] = ()
    """Failures that ended the rounds so far."""
    skill_failure: str = ""
    """Description of what the suspects did wrong, for the coder."""
    execution: Execution | None = None
    """Account of how the last plan was carried out."""
    suspects: tuple[str, ...] = ()
    """Actions whose skills are to be rewritten."""
    proven: str = ""
    """Source of the library with which the run began."""
    history: History = field(default_factory=History)
    """Record of everything tried in vain, so that nothing is tried again just so."""
    known: tuple[str, ...] = ()
    """Names of all objects that have been observed in this run."""
    doubts: int = 0
    """Number of times that the table was looked at again for what the task is about."""
    doubt: str = ""
    """Account of what the planner said before the last of these looks, and of what that one has shown."""
    planner: PlannerCounts = field(default_factory=PlannerCounts)
    coder: CoderCounts = field(default_factory=CoderCounts)
    written: tuple[str, ...] = ()
    """Names of the skills that the coder has written so far."""
    attempts: int = 0
    """Number of plans carried out, which the published method counts as rounds."""
    steps: int = 0
    rehearsal: RehearsalCounts = field(default_factory=RehearsalCounts)
    stage_wall: dict[str, float] = field(default_factory=dict)
    """Wall time of each phase in seconds."""
    wall: float = 0.0
    """Wall time since the run began in seconds, without interruptions."""
    ended: Ending | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.phase is Phase.ENDED) != (self.ended is not None):
            raise ValueError("a run has ended if, and only if, it says how")

    def sensed(self, observation: Observation) -> RunState:
        """Return the state after a look, in which planning is next."""
        known, before = tuple(dict.fromkeys((*self.known, *observation.objects))), self.observation
        new = [f.pddl for f in observation.told if before is not None and f not in before.told]
        new = [*(name for name in observation.objects if name not in self.known), *new]
        doubt = f"{self.doubt}; new in another look: {' '.join(new)}" if self.doubt and new else ""
        return replace(self, observation=observation, known=known, doubt=doubt, phase=Phase.PLAN)

    def doubting(self, message: str) -> RunState:
        """Return the state for another look: what a task is about may only be out of sight."""
        return replace(self, doubts=self.doubts + 1, doubt=f"you said: {message}", phase=Phase.SENSE)

    def doubtful(self, status: str) -> bool:
        """Return whether another look may show that a task is possible, or what it means, after all."""
        assert self.observation is not None
        lost, impossible = set(self.known) - set(self.observation.objects), status == "impossible"
        most = _MOST_DOUBTS if lost or (impossible and self.observation.hidden) else impossible
        return self.doubts < most and (impossible or status == "not_understood")

    @property
    def told(self) -> str:
        """The last failure and, shortened, what ended the rounds before, the newest first."""
        whys = (self.failure, *(why[:300] for why in self.failures[-2::-1]))
        return ". Before that: ".join(why.removesuffix(".") for why in whys)

    def planned(self, plan: Plan) -> RunState:
        """Return the state with a plan, in which getting skills for it is next."""
        same = self.plan is not None and self.plan.steps == plan.steps
        new = replace(self, plan=plan, previous=plan.draft, phase=Phase.CODE, code_retry=0, suspects=())
        return new if same else replace(new, execution=None)

    def coded(self, library: str, rehearse: bool = False) -> RunState:
        """Return the state with a skill in `library` for every step; acting is next, or else rehearsing."""
        return replace(self, library=library, phase=Phase.REHEARSE if rehearse else Phase.ACT)

    def after_rehearsal(self, rehearsed: Rehearsed) -> RunState:
        """Return the state to carry out the plan, or a better one, unless something else is decided."""
        plan, counts = rehearsed.instead or self.plan, self.rehearsal.counting(rehearsed)
        return replace(self, plan=plan, rehearsal=counts, phase=Phase.ACT)

    def objecting(self, objection: str | None) -> RunState:
        """Return the state that remembers a rehearsal's objection to a plan whose skills are all trusted."""
        attempt = FailedAttempt(fingerprint=objection or "")
        return self.remembering(self.history.adding(attempt)) if objection else self

    def after_failure(self, blame: Blame, fingerprint: str) -> RunState:
        """Return the state after the plan was tried in vain with the skills of that fingerprint."""
        attempt = FailedAttempt(fingerprint=fingerprint, round=self.round, blame=blame)
        return replace(
            self,
            failure=blame.plan_failure,
            skill_failure=blame.skill_failure,
            execution=None if blame.accident else blame.execution,  # then it may go on from where it is
            history=self.history.adding(attempt),
        )

    def remembering(self, history: History) -> RunState:
        """Return the state with that history of what was tried in vain."""
        return replace(self, history=history)

    def repairing(self, suspects: tuple[str, ...], failure: str) -> RunState:
        """Return the state in which the skills of these actions, which are to blame, are rewritten next."""
        retry = self.code_retry + 1
        return replace(self, suspects=suspects, skill_failure=failure, code_retry=retry, phase=Phase.CODE)

    def giving_up(self, actions: tuple[str, ...], library: str) -> RunState:
        """Return the state with these skills given up; `library` is without what was written of them."""
        names = {python_name(action) for action in actions}
        lessons = {**self.history.lessons, **dict.fromkeys(names, self.skill_failure)}
        return replace(
            self,
            library=library,
            history=self.history.model_copy(update={"lessons": lessons}),
            written=tuple(name for name in self.written if name not in names),
        )

    def next_round(self, failure: str) -> RunState:
        """Return the state that begins the next round, after that failure, with a look."""
        new = replace(self, phase=Phase.SENSE, round=self.round + 1, suspects=())
        return replace(new, failure=failure, failures=(*self.failures, failure))

    def ending(self, ended: Ending, reason: str) -> RunState:
        """Return the state of a run that is over, with its ending and the reason."""
        return replace(self, phase=Phase.ENDED, ended=ended, reason=reason)

    def going_on(self, phase: Phase) -> RunState:
        """Return the state that goes on with that phase, as if the run had not ended."""
        return replace(self, phase=phase, ended=None, reason="")

    def attempting(self) -> RunState:
        """Return the state with one more call of a stage counted."""
        return replace(self, attempt=self.attempt + 1)

    def counting_drafts(self, drafts: Iterable[DraftRecord]) -> RunState:
        """Return the state with these judged drafts of plans counted."""
        return replace(self, planner=self.planner.counting(drafts))

    def counting_code(self, result: CodeResult) -> RunState:
        """Return the state with the coder's answer counted and the skills it wrote noted."""
        written = tuple(dict.fromkeys((*self.written, *result.written)))
        return replace(self, coder=self.coder.counting(result.drafts), written=written)

    def counting_act(self, result: ActResult) -> RunState:
        """Return the state with one more carried-out plan and its steps counted."""
        return replace(self, attempts=self.attempts + 1, steps=self.steps + len(result.steps))

    def spending(self, phase: Phase, seconds: float) -> RunState:
        """Return the state with so many seconds of wall time added to that phase."""
        spent = self.stage_wall.get(phase.value, 0.0) + seconds
        return replace(self, stage_wall={**self.stage_wall, phase.value: spent})

    def at(self, wall: float) -> RunState:
        """Return the state at that wall time, in seconds since the run began."""
        return replace(self, wall=wall)


SavedState = RootModel[RunState]
"""Run state as it is written to disk."""
