"""Finds out what is to blame when a plan was executed and the level is not solved.

It is either some of the skills or the plan itself.
"""

from __future__ import annotations

from spca.failure import describe_steps, unmet
from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import ActResult, Execution, Plan
from spca_core.skill import python_name
from spca_core.verdict import Verdict
from spca_planner.prediction import Evidence

_MOST_FACTS = 24
"""Of those that a failure is described by."""


class Blame(Record):
    """What has to be rewritten, and the feedback for its author.

    `skills` are the skills to rewrite; if there are none, the plan is wrong.
    """

    suspects: tuple[str, ...]
    skill_failure: str
    plan_failure: str
    execution: Execution


def blame(
    plan: Plan, result: ActResult, verdict: Verdict, evidence: Evidence, afterwards: Observation | None
) -> Blame:
    """Weigh how the steps ended, what was seen of their effects, and what the referee says.

    A step is to blame if it failed or if its effects were observed to be absent. If every effect that the
    goal needs was observed, the goal is wrong, and no skill can repair that. The referee's verdict counts
    against a step only if its effects could not be observed.
    """
    failing = [s.action for s in result.steps if s.status == "failed"]
    stopped = [s.action for s in result.steps if s.status == "cancelled"]
    broken = [plan.steps[i].action for i in evidence.contradicted]
    seen = _seen(afterwards)
    parts = [*describe_steps(result, verdict), *_contradictions(plan, evidence)]
    if not parts and result.status == "failed":
        parts.append(result.message)
    skill_parts = list(parts)
    if failing or broken:
        suspects = [*failing, *broken]
    elif stopped:
        suspects = stopped
        skill_parts.append(f"referee: {verdict.reason}")
    elif evidence.goal:
        suspects = []
        parts.append(
            "every step did what the plan says, and all of its goal was seen to hold: the goal is wrong"
        )
    else:
        suspects = _unseen(plan, result, evidence)
        skill_parts.append(unmet(verdict))
    parts.append(f"referee: {verdict.reason}" if verdict.final else unmet(verdict))
    return Blame(
        suspects=tuple(dict.fromkeys(suspects)),
        skill_failure=". ".join([*filter(None, skill_parts)]) + seen,
        plan_failure=". ".join([*filter(None, parts)]) + seen,
        execution=Execution(
            steps=tuple(
                f"{s.index + 1}. {s.action}({', '.join(s.args)}): {s.status}"
                + (f", {s.message}" if s.message else "")
                for s in result.steps
            ),
            predicted=tuple(map(str, evidence.expected)),
            seen=afterwards.facts[:_MOST_FACTS] if afterwards else (),
        ),
    )


def distrusted(plan: Plan, result: ActResult, evidence: Evidence) -> dict[str, str]:
    """The skills of a successful plan that are not to be trusted all the same, each with the reason."""
    ended = {s.index: s.status for s in result.steps}
    reasons: dict[str, str] = {}
    for index, step in enumerate(plan.steps):
        name = python_name(step.action)
        if ended.get(index) != "done":
            reasons[name] = f"step {index + 1}, {step}, did not run to its end"
        elif index < len(evidence.steps) and (literals := evidence.steps[index].contradicted):
            reasons[name] = f"step {index + 1}, {step}: {', '.join(map(str, literals))} was seen not to hold"
    return reasons


def _contradictions(plan: Plan, evidence: Evidence) -> list[str]:
    return [
        f"step {i + 1} {plan.steps[i]} ended without an error, but its effect "
        f"{', '.join(map(str, evidence.steps[i].contradicted))} was seen not to hold"
        for i in evidence.contradicted
    ]


def _unseen(plan: Plan, result: ActResult, evidence: Evidence) -> list[str]:
    """The steps that were to bring about what nothing could show of the goal; if there are none, all."""
    wanted = set(evidence.goal_unseen)
    found = [
        plan.steps[i].action
        for i, step in enumerate(evidence.steps)
        if any(literal.atom in wanted for literal in step.unjudged)
    ]
    return found or [s.action for s in result.steps]


def _seen(afterwards: Observation | None) -> str:
    if afterwards is None or not afterwards.facts:
        return ""
    return f". Seen afterwards: {', '.join(map(str, afterwards.facts[:_MOST_FACTS]))}"
