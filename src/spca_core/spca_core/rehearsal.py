"""Rehearsals: trying a plan in a twin of what was observed, before the robot moves. The records of it."""

from __future__ import annotations

from typing import Literal

from spca_core.model import Record
from spca_core.plan import ActResult, Plan
from spca_core.scene import Fact, Observation
from spca_core.skill import StepReport


class Perturbation(Record):
    """Deviation of one try's world from what was observed. Equal perturbations give equal worlds.

    `exact`: not at all. `drawn`: poses, friction and masses are drawn by `seed` from the measured errors of
    perception and calibration. `pessimistic`: errors that are rare, and less friction.
    """

    kind: Literal["exact", "drawn", "pessimistic"] = "exact"
    seed: int = 0


class Moment(Record):
    """The twin's world at the start, after each step, and once more when all has come to rest at the end.

    `step` is how the step ended, None at the start and at rest. The observation is exact and complete; it may
    contain facts that no camera shows, such as that something was touched.
    """

    phase: Literal["start", "step", "rest"] = "step"
    step: StepReport | None = None
    observation: Observation
    displaced: dict[str, float] = {}
    """Distance in metres that each thing has moved since the moment before; only of those that moved."""
    unsafe: tuple[str, ...] = ()
    """Events that must never happen, whatever the task: a clause for each ("the arm touches the table")."""
    lost: tuple[str, ...] = ()
    """Things that have come to lie out of reach, for example on the ground, since the moment before."""


FaultKind = Literal["status", "effect", "frame", "safety", "goal"]


class Fault(Record):
    """The first thing that went wrong in a try.

    `status`: a skill failed. `effect`: a step did not do what the planning domain declares. `frame`: it
    changed what the action does not mention. `safety`: something happened that never should. `goal`: in the
    end, at rest, the goal does not hold.
    """

    kind: FaultKind
    step: int
    """Index of the step; of the last one for the goal."""
    action: str
    """Action whose skill is to blame; empty where the plan is to blame."""
    sentence: str
    wrong: tuple[str, ...] = ()
    """Effects or parts of the goal that do not hold, or changes that the step was not about."""
    predicted: tuple[str, ...] = ()
    """PDDL literals that should hold by then because of the plan's steps, by the plan's domain."""
    seen: tuple[Fact, ...] = ()
    """Facts that hold in the twin at that time."""

    @property
    def kind_and_step(self) -> tuple[str, int]:
        """Kind and index of the step: the same for faults of one sort."""
        return self.kind, self.step


class Try(Record):
    """One performance of a plan in the twin; `seconds` of wall time, `simulated` on the twin's clock."""

    perturbation: Perturbation
    fault: Fault | None = None
    seconds: float = 0.0
    simulated: float = 0.0
    margin: float = 0.0
    """Distance in metres that anything meant to stay where it is could have moved farther without a fault."""
    result: ActResult
    """Report of the steps, as in a real attempt."""


class Rehearsed(Record):
    """Result of a rehearsal.

    `accepted`, `rejected`; `doubtful`: neither; `unfinished`: the time was up; `impossible`: such a scene
    cannot be rehearsed. `share` of the tries went well. `sentence` says why, in one line; `suspects` are the
    actions whose skills are to blame (none: the plan is). `seconds` of wall time, `simulated` on the twin's
    clock, `cpu` of processor time without the sandbox: about the cost on a machine with nothing else to do.
    """

    attempt: str
    status: Literal["accepted", "rejected", "doubtful", "unfinished", "impossible"]
    share: float = 0.0
    sentence: str = ""
    fault: Fault | None = None
    suspects: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu: float = 0.0
    simulated: float = 0.0
    tries: tuple[Try, ...] = ()
    others: tuple[Try, ...] = ()
    """Tries of plans that were put, or could have been put, in the plan's place."""
    instead: Plan | None = None
    """Plan that was found to work better: another one, or the same with other choices.

    If there is one, all fields above are about it, and the sentence says what was wrong with the first.
    """
    overruled: bool = False
    """The plan was carried out although it was rejected."""
