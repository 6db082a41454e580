"""When a run rehearses a plan before it is carried out, and what follows if the rehearsal rejects it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from spca.blame import Blame, describe_step, logged
from spca.state import RunState
from spca_core.options import Budgets, Rehearse
from spca_core.plan import Execution, Plan, PlanRequest
from spca_core.ports.reading import Readers
from spca_core.rehearsal import Rehearsed
from spca_core.skill import python_name
from spca_core.stopping import Stop
from spca_core.task import Task

if TYPE_CHECKING:
    from spca_core.ports.stages import Rehearsal

GUESSED = 0.5
"""Confidence of perception below which the place of a thing is a guess."""
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


def blame_of(rehearsed: Rehearsed) -> Blame:
    """Return the blame for a rejected plan, in the words of the first failing try."""
    failing = next((t for t in rehearsed.tries if t.fault is not None), None)
    fault = rehearsed.fault
    return Blame(
        suspects=rehearsed.suspects,
        skill_failure=rehearsed.sentence + (logged(failing.result) if failing else ""),
        plan_failure=rehearsed.sentence,
        execution=Execution(
            steps=tuple(map(describe_step, failing.result.steps)) if failing else (),
            predicted=fault.predicted if fault else (),
            seen=fault.seen if fault else (),
            rehearsed=True,
        ),
        complaint=fault.wrong if fault else (),
    )
