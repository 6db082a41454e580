"""Why an attempt failed, in words that a model or a person can act on."""

from __future__ import annotations

from spca_core.plan import ActResult
from spca_core.verdict import Verdict

_MOST_CONDITIONS = 4
"""Unmet conditions named in one failure."""


def describe_failure(result: ActResult, verdict: Verdict) -> str:
    """One line: the step that failed and its cause, or what the referee found unmet."""
    parts = []
    for step in result.steps:
        if step.status == "failed":
            cause = f"{step.failure.kind}: {step.failure.message}" if step.failure else step.message
            parts.append(f"step {step.index + 1} {step.action}({', '.join(step.args)}) failed, {cause}")
        elif step.status == "cancelled" and verdict.final:
            parts.append(f"it ended during step {step.index + 1} {step.action}({', '.join(step.args)})")
    if not parts and result.status == "failed":
        parts.append(result.message)
    unmet = [c for c in verdict.conditions if not c.holds]
    if verdict.final or not parts:
        parts.append(f"referee: {verdict.reason}")
    elif unmet:
        parts.append("not met: " + "; ".join(c.text for c in unmet[:_MOST_CONDITIONS]))
    return ". ".join(parts)
