"""Orders of a session to a run besides its task: to end after the plan, or to carry out a given one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from spca.stages import Approve, Stages
from spca_core.errors import InputError, one_of
from spca_core.plan import Draft, Plan, PlanRequest, PlanResult, Step
from spca_core.ports.stages import OnDraft, unheard
from spca_core.scene import Observation
from spca_core.stopping import Stop, never
from spca_planner.pddl.formula import evaluate, ground
from spca_planner.pddl.lint import parse
from spca_planner.pddl.reachability import conjuncts
from spca_planner.prediction import bound, predict

_CHANGED = "the table is not as it was when this plan was made: plan again"


@dataclass(frozen=True)
class Order:
    """Order of a session to a run, besides its task."""

    moves: bool = True
    """Something is carried out; else the run ends after its first look, or plan."""
    plans: bool = False
    """A plan is made, although nothing is carried out."""
    plan: Plan | None = None
    """The plan to carry out, once; None: one is searched for."""
    seen: Observation | None = None
    """The situation in which the given plan was made."""
    approve: Approve | None = None
    """Function that is asked before a plan is carried out."""

    def applied(self, stages: Stages) -> Stages:
        """Return the stages changed so that they do what is ordered."""
        stages = replace(stages, approve=self.approve)
        if self.moves and self.plan is None:
            return stages
        stages = replace(stages, budgets=stages.budgets.model_copy(update={"rounds": 1}))
        if self.plans:
            return replace(stages, approve=lambda *_: False)
        return replace(stages, planner=Given(self.plan, self.seen))


class Given:
    """A `Planner` that has one plan, for the situation in which it was made, or none."""

    def __init__(self, plan: Plan | None, seen: Observation | None) -> None:
        self._plan, self._seen = plan, seen

    def plan(self, request: PlanRequest, on_draft: OnDraft = unheard, cancelled: Stop = never) -> PlanResult:
        """Return the plan, unless things are seen elsewhere than when it was made."""
        attempt = request.attempt
        if self._seen is not None and self._seen.looks_like(request.observation):
            return PlanResult(attempt=attempt, status="solved", plan=self._plan, drafts=())
        return PlanResult(attempt=attempt, status="exhausted", plan=None, drafts=(), message=_CHANGED)

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """Do nothing: the plan was not drafted."""


def single_step(situation: Draft, step: Step) -> Plan:
    """Return a plan of one step in a situation (a domain, and a problem with no goal), its effects as goal.

    Raises InputError for an unknown action, arguments of other types, and preconditions that do not hold.
    """
    domain, problem = parse(situation.domain, situation.problem)
    action = domain.actions.get(step.action.lower())
    if action is None:
        raise InputError(f"unknown action '{step.action}'", hint=one_of(step.action, domain.actions))
    form = ", ".join(f"{p.name.lstrip('?')}: {p.type}" for p in action.parameters)
    if len(step.args) != len(action.parameters):
        count = f"{len(step.args)} of {len(action.parameters)} arguments"
        raise InputError(f"{step}: {count}", hint=f"{action.name}({form})")
    for parameter, arg in zip(action.parameters, step.args, strict=True):
        if arg not in (known := problem.of_type(domain, parameter.type)):
            raise InputError(f"{step}: no {parameter.type} is called '{arg}'", hint=one_of(arg, known))
    state = {ground(fact, {}) for fact in problem.init if fact.head not in ("=", "not")}
    binding = bound(action, step)
    for part in conjuncts(action.precondition) if action.precondition else ():
        if not evaluate(part, state.__contains__, domain, problem, binding):
            unmet = re.sub(r"\?[\w-]+", lambda found: binding.get(found.group(), found.group()), str(part))
            raise InputError(f"{step} is not possible now", hint=f"{unmet} does not hold")
    plan = Plan(steps=(step,), schemas=(action.schema,), draft=situation)
    effects = [atom for atom, holds in predict(plan).effects[0].items() if holds]
    # What becomes of other things, such as of the plate that it lay on, is not what was asked for.
    aims = [atom for atom in effects if step.args[:1] in ((), atom[1:2])] or effects
    text = situation.problem[: problem.goal.start], situation.problem[problem.goal.end :]
    goal = " ".join(f"({' '.join(atom)})" for atom in aims)
    draft = Draft(domain=situation.domain, problem=f"(and {goal})".join(text))
    return plan.model_copy(update={"draft": draft})
