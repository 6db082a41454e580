"""The state of a run between two stages.

Together with the environment's checkpoint, it is all that is needed to continue the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

from pydantic import ConfigDict, RootModel

from spca.blame import Blame
from spca.history import FailedAttempt, History
from spca_core.plan import ActResult, CodeResult, Draft, DraftRecord, Execution, Plan, Rehearsed
from spca_core.result import CoderCounts, PlannerCounts, RehearsalCounts
from spca_core.scene import Observation
from spca_core.skill import python_name
from spca_core.verdict import Ending

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
