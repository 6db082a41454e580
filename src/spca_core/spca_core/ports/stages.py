"""Ports: the stages that plan, code and rehearse, as the supervisor sees them, and the twin of the world.

Planner and coder run in the same process or behind ROS actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from spca_core.plan import (
    ActResult,
    Choice,
    CodeRequest,
    CodeResult,
    DraftRecord,
    Moment,
    Perturbation,
    Plan,
    PlanRequest,
    PlanResult,
    Rehearsed,
)
from spca_core.ports.vocabulary import Vocabulary
from spca_core.scene import Observation
from spca_core.stopping import Stop, never

OnDraft = Callable[[DraftRecord], None]
"""Listener that is told of each draft of a plan when it has been judged."""


def unheard(record: DraftRecord) -> None:
    """Tell nobody of a draft."""


class Planner(Protocol):
    """Turns an observation and a task into a validated plan, within a budget of drafts."""

    def plan(self, request: PlanRequest, on_draft: OnDraft = unheard, cancelled: Stop = never) -> PlanResult:
        """Plan for the request. Bad drafts never raise; the result's status reports them."""

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """Note that the referee confirmed success: this plan's domain may be trusted for its task group."""


class Coder(Protocol):
    """Makes sure that every action of a plan has a skill."""

    def complete(self, request: CodeRequest, cancelled: Stop = never) -> CodeResult:
        """Write the missing skills. Bad code never raises; the result's status reports it.

        Without a model, `missing` names the actions that have no skill.
        """


class Rehearsal(Protocol):
    """Judges by trying whether a plan will work with these skills. It never touches the world itself."""

    def try_out(
        self,
        attempt: str,
        plan: Plan,
        library: str,
        observation: Observation,
        simulated_s: float,
        cancelled: Stop = never,
        others: Callable[[], Sequence[Plan]] = tuple,
    ) -> Rehearsed:
        """Try the plan with the skills in `library` (source text) from what was observed.

        Where it does not go well, `others` (called only then), and the plan with other choices, are tried as
        well; the best of them may come to be `instead` of it.

        After `simulated_s` seconds on the twin's clock no further try begins; what is then not known is said
        to be `unfinished`, and so it is after `spca_core.processes.PATIENCE` times as many of wall time.
        Equal attempts, plans, libraries and observations give equal results, times apart. Never raises for a
        bad skill, plan or observation.
        """

    def record(self, folder: Path, name: str) -> None:
        """Write what shows the last failing try, if there is one, to files `name`.* in a folder."""

    def close(self) -> None:
        """Release everything; calling it twice is harmless."""


class Twin(Protocol):
    """A world made from an observation alone, in which plans are carried out without consequences."""

    certain: bool
    """All perturbations give the same world, so that one try says everything."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Words in PDDL for what the twin's observations show: `after` judges them."""

    def refusal(self, observation: Observation) -> str:
        """Explain why a world cannot be made from that observation; empty if it can."""

    def play(
        self,
        plan: Plan,
        library: str,
        observation: Observation,
        perturbation: Perturbation,
        go_on: Callable[[Moment], bool],
        cancelled: Stop = never,
    ) -> tuple[ActResult, float]:
        """Carry out the plan in a fresh world.

        `go_on` is called at the start, after each step, and at the end when all is at rest. The play ends
        early when it says so. A step that depends on what has not been observed is `cancelled`: nothing can
        be said of it. Returns how the steps went and the time on the twin's clock.
        """

    def alternatives(self) -> Sequence[Sequence[Choice]]:
        """Return what else the skills of the last play could have chosen, by choice; the latest first."""

    def record(self, folder: Path, name: str) -> None:
        """Write what is needed to show the last play to files `name`.* in a folder."""

    def close(self) -> None:
        """Release everything; calling it twice is harmless."""
