"""Parts that a supervisor needs besides the environment, and when and how a run rehearses a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from spca.blame import Blame, describe_step, logged
from spca.state import RunState
from spca_core.options import Budgets, Rehearse
from spca_core.plan import Execution, Plan, PlanRequest, Rehearsed, Task
from spca_core.ports.reading import Readers
from spca_core.ports.stages import Coder, Planner, Rehearsal
from spca_core.result import Promotion, Usage
from spca_core.scene import GUESSED
from spca_core.skill import python_name
from spca_core.stopping import Stop

if TYPE_CHECKING:
    from spca_core.ports.chat import VisionModel

Others = Callable[[PlanRequest, Plan], Sequence[Plan]]
"""Function that finds plans with other steps for the same request."""


@dataclass(frozen=True)
class Rehearsing:
    """A run's rehearsals, within the budgets of simulated time for one of them and for all."""

    opened: Callable[[], Rehearsal]
    when: Rehearse
    budgets: Budgets
    readers: Readers
    others: Others = lambda request, plan: ()

    @cached_property
    def rehearsal(self) -> Rehearsal:
        """What tries plans; opened when it is first used."""
        return self.opened()

    def wanted(self, state: RunState) -> bool:
        """Return whether the plan is to be rehearsed.

        By default only if it stands on a skill that is new, or on something that was hardly seen.
        """
        return self.when == "always" or (self.when == "auto" and (not trusted(state) or guessed(state)))

    def try_out(self, attempt: str, task: Task, state: RunState, cancelled: Stop) -> Rehearsed:
        """Rehearse the plan, and if it does not go well, others for the same task that have skills.

        A plan of trusted skills that is rejected twice for the same reason is overruled to be right: then the
        twin is wrong. A rejection for safety is never overruled.
        """
        assert state.plan is not None and state.observation is not None
        left = min(self.budgets.rehearsal_s, self.budgets.rehearsals_s - state.rehearsal.simulated)
        if left <= 0:
            why = f"not rehearsed: the {self.budgets.rehearsals_s:g} s for rehearsals of this level are spent"
            return Rehearsed(attempt=attempt, status="unfinished", sentence=why)
        plan, observation = state.plan, state.observation
        request = PlanRequest(attempt=attempt, task=task, observation=observation, skills=())

        skills = {s.name for s in self.readers.skills.signatures(state.library)}

        def able() -> list[Plan]:
            others = self.others(request, plan)
            return [p for p in others if skills >= {python_name(s.action) for s in p.steps}]

        rehearsed = self.rehearsal.try_out(attempt, plan, state.library, observation, left, cancelled, able)
        overruled = trusted(state) and state.history.with_skills(self.objection(state, rehearsed)) is not None
        return rehearsed.model_copy(update={"overruled": overruled})

    def objection(self, state: RunState, rehearsed: Rehearsed) -> str | None:
        """Return a text that is equal for plans rejected alike: the same steps and skills, and kind of fault.

        It is None where there is no objection, or none that may be overruled.
        """
        if state.plan is None or rehearsed.fault is None or rehearsed.fault.kind == "safety":
            return None
        return f"{self.readers.fingerprint(state.plan, state.library)} {rehearsed.fault.kind_and_step}"


def trusted(state: RunState) -> bool:
    """Return whether all skills of the plan were there when the run began."""
    return state.plan is not None and not {python_name(s.action) for s in state.plan.steps} & {*state.written}


def guessed(state: RunState) -> bool:
    """Return whether the plan is about something whose place was inferred rather than seen."""
    if state.plan is None or state.observation is None:
        return False
    meant = {arg for step in state.plan.steps for arg in step.args}
    return any(o.id in meant and o.confidence < GUESSED for o in state.observation.things)


def blame_of(rehearsed: Rehearsed, library: str = "") -> Blame:
    """Return the blame for a rejected plan, in the words of the first failing try."""
    failing = next((t for t in rehearsed.tries if t.fault is not None), None)
    fault = rehearsed.fault
    return Blame(
        suspects=rehearsed.suspects,
        skill_failure=rehearsed.sentence + (logged(failing.result, library) if failing else ""),
        plan_failure=rehearsed.sentence,
        execution=Execution(
            steps=tuple(map(describe_step, failing.result.steps)) if failing else (),
            predicted=fault.predicted if fault else (),
            seen=fault.seen if fault else (),
            rehearsed=True,
        ),
        complaint=fault.wrong if fault else (),
    )


Promote = Callable[[str, Plan, Mapping[str, str]], Promotion]
"""Function called after a success with the library, the plan, and the distrusted skills with reasons."""
Approve = Callable[[Plan, str], bool]
"""Function that says whether a plan may be carried out; it gets the plan and its goal in words."""


@dataclass(frozen=True)
class Stages:
    """The stages of one run, and what its options say of them.

    `library` is the source of the skills to start with. With `rewind`, a failed attempt puts the world back
    to where its plan began. `promote` keeps the skills that proved themselves; `usage` says what each
    language model has used so far; `rehearsing` tries plans before they are carried out; `approve` is asked
    before anything moves.
    """

    planner: Planner
    coder: Coder
    readers: Readers
    library: str
    budgets: Budgets
    rewind: bool = False
    promote: Promote | None = None
    usage: Callable[[], dict[str, Usage]] = dict
    vision: VisionModel | None = None
    rehearsing: Rehearsing | None = None
    approve: Approve | None = None
