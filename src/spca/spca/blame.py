"""Finds out what is to blame when a plan was executed and the level is not solved.

It is either some of the skills or the plan itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from spca_core.model import Record
from spca_core.plan import ActResult, Execution, Plan, Step
from spca_core.ports.reading import Evidence, StepEvidence
from spca_core.result import WAITING, Outcome, Verdict
from spca_core.scene import Observation
from spca_core.skill import FailureKind, StepReport, fault_of_plan, python_name

_MOST_CONDITIONS = 4
"""Maximum number of unmet conditions named in one failure."""


def describe_failure(result: ActResult, verdict: Verdict) -> str:
    """Return one line that names the step that failed and its cause, or what the referee found unmet."""
    parts = [describe_failed(step) for step in result.steps if step.status == "failed"]
    stopped = [s for s in result.steps if s.status == "cancelled" and verdict.final]
    parts += [f"it ended during step {step.index + 1} {step}" for step in stopped]
    if not parts and result.status == "failed":
        parts.append(result.message)
    if verdict.final or not parts:
        parts.append(f"referee: {verdict.reason}")
    elif words := unmet(verdict):
        parts.append(words)
    return ". ".join(parts)


def describe_failed(step: StepReport) -> str:
    """Return a phrase that names a failed step and its cause."""
    cause = f"{step.failure.kind}: {step.failure.message}" if step.failure else step.message
    return f"step {step.index + 1} {step} failed, {cause}"


def describe_step(step: StepReport) -> str:
    """Return a phrase that names a step and says how it ended."""
    words = f"{step.index + 1}. {step}: {step.status}"
    return f"{words}, {step.message}" if step.message else words


def unmet(verdict: Verdict) -> str:
    """Return the referee's conditions that were judged not to hold, as a phrase; empty if there are none."""
    conditions = [c.text for c in verdict.conditions if not c.holds and c.reason not in WAITING]
    return "not met: " + "; ".join(conditions[:_MOST_CONDITIONS]) if conditions else ""


_MOST_FACTS, _MOST_LINES = 24, 5
"""Maximum numbers of facts, and of lines of a skill's log, that describe a failure."""


def logged(result: ActResult, library: str) -> str:
    """Return in which line the last step failed and what it logged, for its author; if it failed."""
    last = result.steps[-1] if result.steps else None
    if last is None or last.status != "failed":
        return ""
    line = last.failure.line if last.failure else None
    source = library.splitlines()[line - 1 : line] if line else ()
    where = "".join(f". It ended in `{text.strip()}`" for text in source)
    return where + (f". It logged: {'; '.join(last.log[-_MOST_LINES:])}" if last.log else "")


class Blame(Record):
    """Blame for a failure: what has to be rewritten, and the feedback for its author.

    `suspects` are the skills to rewrite; if there are none, the plan is wrong. `complaint` names what was
    seen to go wrong; if it is the same after a rewrite, the domain may demand what does not happen. By an
    `accident`, a thing left closed fingers on the way, or what a proven skill was to act on moved by itself:
    the plan may go well as it is.
    """

    suspects: tuple[str, ...]
    skill_failure: str
    plan_failure: str
    execution: Execution
    complaint: tuple[str, ...] = ()
    accident: bool = False


class _Finding(NamedTuple):
    suspects: list[str]
    told: list[str]
    """Sentences for whoever is to mend the fault: the coder, or the planner if there are no suspects."""
    complaint: tuple[str, ...] = ()


def blame(
    plan: Plan,
    result: ActResult,
    verdict: Verdict,
    evidence: Evidence,
    afterwards: Observation | None,
    before: Observation | None = None,
    written: Collection[str] = (),
    library: str = "",
) -> Blame:
    """Weigh how the steps ended, what was seen of their effects, and what the referee says.

    The first thing that went wrong counts; what follows from it does not. A step is to blame if it failed, if
    its effects were seen to be absent, or if it moved what it is not about. A step that failed where what it
    needs was seen not to be so is the plan's fault. If every step did what its action declares and no more,
    the domain or the goal is wrong, and no skill can repair that. The referee's verdict counts against a step
    only if its effects could not be observed; what it says is for the planner alone. `written` skills are new
    in this run, and have proven nothing yet; `library` is the source of all.
    """
    found = _finding(plan, result, verdict, evidence, written)
    proven = {*map(python_name, found.suspects)}.difference(written)
    if moved := _moved(result, before, afterwards) if proven else []:
        found = _Finding([], [*found.told, f"{', '.join(moved)} is not where it was seen before the plan"])
    lost = any(s.failure is not None and s.failure.kind is FailureKind.LOST for s in result.steps)
    seen = _seen(before, afterwards)
    judged = f"referee: {verdict.reason}" if verdict.final else unmet(verdict)
    return Blame(
        suspects=tuple(dict.fromkeys(found.suspects)),
        skill_failure=". ".join(found.told) + logged(result, library) + seen,
        plan_failure=". ".join(filter(None, [*found.told, judged])),
        execution=Execution(
            steps=tuple(map(describe_step, result.steps)),
            predicted=tuple(map(str, evidence.expected)),
            seen=afterwards.facts[:_MOST_FACTS] if afterwards else (),
        ),
        complaint=found.complaint,
        accident=bool(moved) or (lost and not found.complaint),
    )


def _moved(result: ActResult, before: Observation | None, afterwards: Observation | None) -> list[str]:
    """Return what a failed step was to bring a thing to that has moved, though no step before is about it."""
    if not result.steps or result.steps[-1].status != "failed" or before is None or afterwards is None:
        return []
    *earlier, last = result.steps
    about = {*last.args[1:]}.difference(*(step.args for step in earlier))
    then = {thing.id: thing for thing in before.things if thing.id in about}
    return [o.id for o in afterwards.things if o.id in then and not o.stands_like(then[o.id])]


def _finding(
    plan: Plan, result: ActResult, verdict: Verdict, evidence: Evidence, written: Collection[str]
) -> _Finding:
    last = result.steps[-1] if result.steps else None
    done = {s.index for s in result.steps if s.status == "done"}
    broken = [i for i in evidence.contradicted if i in done]
    if broken:
        told = [
            f"step {i + 1} {plan.steps[i]} ended without an error, but what it should bring about was seen "
            f"not to hold: {', '.join(map(str, evidence.steps[i].contradicted))}"
            for i in broken
        ]
        complaint = tuple(str(c) for i in broken for c in evidence.steps[i].contradicted)
        return _Finding([plan.steps[i].action for i in broken], told, complaint)
    if last is None:
        return _Finding([], [result.message or "no step was carried out"])
    if last.status == "failed":
        told = [describe_failed(last)]
        held = any(f.predicate == "held" for s in result.steps if s.seen for f in s.seen.facts)
        if fault := fault_of_plan(last, held):
            return _Finding([], [*told, fault])
        if evidence.unready:
            needs = ", ".join(map(str, evidence.unready))
            return _Finding([], [*told, f"it needs {needs}, which was seen before it not to be so"])
        return _Finding([last.action], told)
    if last.status == "cancelled":
        if verdict.outcome is Outcome.TIMEOUT:
            words = f"step {last.index + 1} {plan.steps[last.index]} was still running when the time was over"
            return _Finding([last.action], [words])
        return _stopped(plan.steps[last.index], last, evidence, python_name(last.action) in written)
    return _disturbing(plan, evidence) if evidence.disturbances else _all_done(plan, result, evidence)


def _stopped(step: Step, report: StepReport, evidence: Evidence, new: bool) -> _Finding:
    """Blame a step that was stopped because of what it brought about, or the plan if it wanted just that.

    That no effect was there yet says nothing of a skill that has proven itself before. If some were there and
    others not, as when the hand has let go of a thing in the wrong place, the skill is to blame all the same.
    """
    where = f"step {report.index + 1} {step}"
    found = evidence.steps[report.index] if report.index < len(evidence.steps) else StepEvidence()
    disturbing = [d.sentence for d in evidence.disturbances if report.index in d.steps]
    if not disturbing and (not found.contradicted if found.confirmed else not new):
        wanted = ", ".join(map(str, (*found.unjudged, *found.contradicted, *found.confirmed)))
        words = f"{where} seems to have done what the plan wants, {wanted}, and that must not be"
        return _Finding([], [words])
    told = [f"{where} was stopped on the way, because something happened that must not"]
    if found.contradicted:
        told.append(f"its effect {', '.join(map(str, found.contradicted))} had not come about")
    return _Finding([step.action], [*told, *disturbing])


def _disturbing(plan: Plan, evidence: Evidence) -> _Finding:
    steps = dict.fromkeys(i for d in evidence.disturbances for i in d.steps)
    told = [f"{_named(plan, d.steps)}: {d.sentence}" for d in evidence.disturbances]
    complaint = tuple(d.sentence.partition(" moves")[0] for d in evidence.disturbances)
    return _Finding([plan.steps[i].action for i in steps], told, complaint)


def _all_done(plan: Plan, result: ActResult, evidence: Evidence) -> _Finding:
    """Return what to blame when every step ran to its end and no effect was seen to be missing."""
    last = evidence.steps[-1] if evidence.steps else StepEvidence()
    if last.undone:
        what = ", ".join(map(str, last.undone))
        index = len(evidence.steps) - 1
        words = f"step {index + 1} {plan.steps[index]}: its effect {what} did not last"
        return _Finding([plan.steps[index].action], [words], (what,))
    if evidence.goal:
        words = "every step did what the plan says, and all of its goal was seen to hold: the goal is wrong"
        return _Finding([], [words])
    if evidence.goal is False:
        lacking = ", ".join(map(str, evidence.goal_false)) or "the goal"
        words = (
            f"every step did what its action declares, but {lacking} was not seen to hold: "
            "the domain does not say all that its actions change, or the goal is wrong"
        )
        return _Finding([], [words])
    wanted = {*evidence.goal_unseen}  # parts of the goal that nothing could show
    unseen = [i for i, step in enumerate(evidence.steps) if any(u.atom in wanted for u in step.unjudged)]
    if not unseen:
        return _Finding([], ["every step did what its action declares, and the task is not fulfilled"])
    told = [
        f"step {i + 1} {plan.steps[i]} ended without an error, but the task is not fulfilled: its effect "
        f"{', '.join(map(str, evidence.steps[i].unjudged))}, which nothing can show, may not have come about"
        for i in unseen
    ]
    return _Finding([plan.steps[i].action for i in unseen], told)


def distrusted(plan: Plan, result: ActResult, evidence: Evidence, rehearsed: bool = False) -> dict[str, str]:
    """Return which skills of a success are not trusted, and why; what is remote counts if not `rehearsed`."""
    ended = {s.index: s.status for s in result.steps}
    reasons: dict[str, str] = {}
    for index, step in enumerate(plan.steps):
        name = python_name(step.action)
        if ended.get(index) != "done":
            reasons[name] = f"step {index + 1}, {step}, did not run to its end"
        elif index < len(evidence.steps) and (literals := evidence.steps[index].contradicted):
            reasons[name] = f"step {index + 1}, {step}: {', '.join(map(str, literals))} was seen not to hold"
    for disturbance in (d for d in evidence.disturbances if not (d.remote and rehearsed)):
        for index in disturbance.steps:
            why = f"{_named(plan, disturbance.steps)}: {disturbance.sentence}"
            reasons.setdefault(python_name(plan.steps[index].action), why)
    return reasons


def _named(plan: Plan, indices: Sequence[int]) -> str:
    return " or ".join(f"step {i + 1} {plan.steps[i]}" for i in indices)


def _seen(before: Observation | None, afterwards: Observation | None) -> str:
    """Describe the facts that are seen now and were not before, and those no longer seen."""
    if afterwards is None or not afterwards.facts:
        return ""
    then, now = ([f.pddl for f in look.told] if look else [] for look in (before, afterwards))
    came, went = [f for f in now if f not in then], [f for f in then if f not in now]
    gone = [name for name in (before.objects if before else ()) if name not in afterwards.objects]
    parts = (("Seen afterwards", came), ("No longer seen", went), ("Now missing", gone))
    return "".join(f". {words}: {' '.join(facts[:_MOST_FACTS])}" for words, facts in parts if facts)
