"""The reason why an attempt failed, described so that a model or a person can act on it."""

from __future__ import annotations

from spca_core.plan import ActResult
from spca_core.skill import StepReport
from spca_core.verdict import Verdict

_MOST_CONDITIONS = 4
"""Unmet conditions named in one failure."""


def describe_failure(result: ActResult, verdict: Verdict) -> str:
    """One line: the step that failed and its cause, or what the referee found unmet."""
    parts = describe_steps(result, verdict)
    if not parts and result.status == "failed":
        parts.append(result.message)
    if verdict.final or not parts:
        parts.append(f"referee: {verdict.reason}")
    elif words := unmet(verdict):
        parts.append(words)
    return ". ".join(parts)


def describe_steps(result: ActResult, verdict: Verdict) -> list[str]:
    """The steps that did not end well, each with its cause."""
    parts = []
    for step in result.steps:
        if step.status == "failed":
            parts.append(describe_failed(step))
        elif step.status == "cancelled" and verdict.final:
            parts.append(f"it ended during step {step.index + 1} {step}")
    return parts


def describe_failed(step: StepReport) -> str:
    """A failed step and its cause."""
    cause = f"{step.failure.kind}: {step.failure.message}" if step.failure else step.message
    return f"step {step.index + 1} {step} failed, {cause}"


def describe_step(step: StepReport) -> str:
    """A step and how it ended."""
    words = f"{step.index + 1}. {step}: {step.status}"
    return f"{words}, {step.message}" if step.message else words


def unmet(verdict: Verdict) -> str:
    """The referee's open conditions; empty when all hold."""
    conditions = [c.text for c in verdict.conditions if not c.holds]
    return "not met: " + "; ".join(conditions[:_MOST_CONDITIONS]) if conditions else ""
