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
from spca_core.observation import Observation
from spca_core.plan import ActResult, CodeResult, Draft, DraftRecord, Execution, Plan
from spca_core.rehearsal import Rehearsed
from spca_core.result import CoderCounts, PlannerCounts, RehearsalCounts
from spca_core.skill import python_name
from spca_core.verdict import Ending

_MOST_DOUBTS = 4
"""Times that a task is looked at again that seems impossible while something is out of sight."""


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
    """Counts every call of a stage; its text goes into every message, so that no late answer counts."""
    code_retry: int = 0
    observation: Observation | None = None
    plan: Plan | None = None
    library: str = ""
    previous: Draft | None = None
    failure: str = ""
    """What went wrong last, for the planner."""
    skill_failure: str = ""
    """What the suspects did wrong, for the coder."""
    execution: Execution | None = None
    """How the last plan went."""
    suspects: tuple[str, ...] = ()
    """Skills to rewrite."""
    proven: str = ""
    """The library with which the run began."""
    history: History = field(default_factory=History)
    """Everything tried in vain: nothing is tried again just so."""
    known: tuple[str, ...] = ()
    """Every object that has been observed in this run."""
    doubts: int = 0
    """Times that the table was looked at again because the task seemed impossible."""
    planner: PlannerCounts = field(default_factory=PlannerCounts)
    coder: CoderCounts = field(default_factory=CoderCounts)
    written: tuple[str, ...] = ()
    """Skills that the coder has written so far."""
    attempts: int = 0
    """Plans carried out: what the published method counts as rounds."""
    steps: int = 0
    rehearsal: RehearsalCounts = field(default_factory=RehearsalCounts)
    stage_wall: dict[str, float] = field(default_factory=dict)
    """Seconds of wall time by phase."""
    wall: float = 0.0
    """Seconds of wall time since the run began, without interruptions."""
    ended: Ending | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.phase is Phase.ENDED) != (self.ended is not None):
            raise ValueError("a run has ended if, and only if, it says how")

    # --- transitions between phases -------------------------------------------------------------------------

    def sensed(self, observation: Observation) -> RunState:
        """The world has been looked at: plan."""
        known = tuple(dict.fromkeys((*self.known, *observation.objects)))
        return replace(self, observation=observation, known=known, phase=Phase.PLAN)

    def doubting(self) -> RunState:
        """Return the state for another look: what seems impossible may only be out of sight."""
        return replace(self, doubts=self.doubts + 1, phase=Phase.SENSE)

    @property
    def doubtful(self) -> bool:
        """True if another look may show that what seems impossible is possible after all."""
        assert self.observation is not None
        out_of_sight = set(self.known) - set(self.observation.objects) or self.observation.hidden
        return self.doubts < (_MOST_DOUBTS if out_of_sight else 1)

    def planned(self, plan: Plan) -> RunState:
        """There is a plan: make sure that it has skills."""
        return replace(self, plan=plan, previous=plan.draft, phase=Phase.CODE, code_retry=0, suspects=())

    def coded(self, library: str) -> RunState:
        """Every step has a skill in `library`: act."""
        return replace(self, library=library, phase=Phase.ACT)

    def to_rehearse(self) -> RunState:
        """Act, but not before the plan has been rehearsed."""
        return replace(self, phase=Phase.REHEARSE)

    def rehearsed(self, rehearsed: Rehearsed) -> RunState:
        """The plan, or what was found to be better, is carried out, unless something else is decided."""
        plan, counts = rehearsed.instead or self.plan, self.rehearsal.counting(rehearsed)
        return replace(self, plan=plan, rehearsal=counts, phase=Phase.ACT)

    def objecting(self, objection: str | None) -> RunState:
        """A rehearsal has something against a plan whose skills are all trusted."""
        return (
            self.remembering(self.history.adding(FailedAttempt(fingerprint=objection))) if objection else self
        )

    def failed(self, blame: Blame, fingerprint: str) -> RunState:
        """The plan was tried in vain, with the skills of that fingerprint."""
        return replace(
            self,
            failure=blame.plan_failure,
            skill_failure=blame.skill_failure,
            execution=blame.execution,
            history=self.history.adding(
                FailedAttempt(fingerprint=fingerprint, round=self.round, blame=blame)
            ),
        )

    def remembering(self, history: History) -> RunState:
        """Something was tried in vain, or again."""
        return replace(self, history=history)

    def repairing(self, suspects: tuple[str, ...], failure: str) -> RunState:
        """These skills are to blame and have to be rewritten."""
        retry = self.code_retry + 1
        return replace(self, suspects=suspects, skill_failure=failure, code_retry=retry, phase=Phase.CODE)

    def giving_up(self, actions: tuple[str, ...], library: str) -> RunState:
        """These actions' skills could not be repaired: `library` is without what was written of them."""
        names = {python_name(action) for action in actions}
        lessons = {**self.history.lessons, **dict.fromkeys(names, self.skill_failure)}
        return replace(
            self,
            library=library,
            history=self.history.model_copy(update={"lessons": lessons}),
            written=tuple(name for name in self.written if name not in names),
        )

    def next_round(self, failure: str) -> RunState:
        """Begin again with a look."""
        return replace(self, phase=Phase.SENSE, round=self.round + 1, failure=failure, suspects=())

    def ending(self, ended: Ending, reason: str) -> RunState:
        """The run is over."""
        return replace(self, phase=Phase.ENDED, ended=ended, reason=reason)

    def looking_again(self) -> RunState:
        """Go on from what is seen, in a world that may have changed."""
        return replace(self, phase=Phase.SENSE, ended=None, reason="")

    def to_be_judged(self) -> RunState:
        """The end was not the referee's: carry the plan out again, or look again where there is none."""
        phase = Phase.SENSE if self.plan is None else Phase.ACT
        return replace(self, phase=phase, ended=None, reason="")

    # --- what is counted on the way -------------------------------------------------------------------------

    def attempting(self) -> RunState:
        """A stage is called."""
        return replace(self, attempt=self.attempt + 1)

    def counting_drafts(self, drafts: Iterable[DraftRecord]) -> RunState:
        """Drafts of plans have been judged."""
        return replace(self, planner=self.planner.counting(drafts))

    def counting_code(self, result: CodeResult) -> RunState:
        """The coder has answered."""
        written = tuple(dict.fromkeys((*self.written, *result.written)))
        return replace(self, coder=self.coder.counting(result.drafts), written=written)

    def counting_act(self, result: ActResult) -> RunState:
        """A plan has been carried out."""
        return replace(self, attempts=self.attempts + 1, steps=self.steps + len(result.steps))

    def spending(self, phase: Phase, seconds: float) -> RunState:
        """That phase has taken so many seconds of wall time."""
        spent = self.stage_wall.get(phase.value, 0.0) + seconds
        return replace(self, stage_wall={**self.stage_wall, phase.value: spent})

    def at(self, wall: float) -> RunState:
        """So many seconds of wall time after the beginning."""
        return replace(self, wall=wall)


SavedState = RootModel[RunState]
"""A state as it is written to disk."""
