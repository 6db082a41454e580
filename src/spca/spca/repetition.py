"""Tells whether a run gets anywhere: neither a plan nor a draft is tried twice where it has failed before."""

from __future__ import annotations

import hashlib

import numpy as np

from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import ActResult, Plan, PlanResult
from spca_core.scene import SceneObject
from spca_core.skill import FailureKind

TRANSIENT = (
    FailureKind.LOST, FailureKind.STALE, FailureKind.DEVIATION, FailureKind.TIMEOUT, FailureKind.GRIPPER,
    FailureKind.KILLED,
)  # fmt: skip
"""Kinds of failure that the same plan on the same table need not meet again."""

_TOLERANCE, _TURN = 0.005, 0.04
"""Metres, and parts of a quaternion: a smaller change is the error of perception."""


class FailedAttempt(Record):
    """A plan that was carried out in vain, or drafts that were all rejected, and what was observed before."""

    steps: tuple[str, ...]
    """The plan's steps, or hashes of the drafts."""
    before: Observation
    failure: str


def failed_attempt(plan: Plan, before: Observation, result: ActResult, failure: str) -> FailedAttempt | None:
    """Return the record of a failed attempt to be remembered; None for a failure of the moment."""
    failed = [s.failure for s in result.steps if s.failure is not None]
    if failed and failed[-1].kind in TRANSIENT:
        return None
    return _tried(_steps(plan), before, failure)


def rejected(result: PlanResult, before: Observation) -> FailedAttempt | None:
    """Return the record of drafts none of which was accepted; None if there were none."""
    drafts = _drafts(result)
    return _tried(drafts, before, result.message) if drafts else None


def repeated(
    tried: Plan | PlanResult, now: Observation, attempts: tuple[FailedAttempt, ...]
) -> FailedAttempt | None:
    """The attempt that this plan, or that these drafts repeat: the same ones on an unchanged table."""
    steps = _steps(tried) if isinstance(tried, Plan) else _drafts(tried)
    return next((v for v in attempts if v.steps == steps and unchanged(v.before, now)), None)


def _tried(steps: tuple[str, ...], before: Observation, failure: str) -> FailedAttempt:
    return FailedAttempt(steps=steps, before=before.model_copy(update={"sentences": ()}), failure=failure)


def _steps(plan: Plan) -> tuple[str, ...]:
    return tuple(map(str, plan.steps))


def _drafts(result: PlanResult) -> tuple[str, ...]:
    texts = (f"{d.draft.domain}\n{d.draft.problem}" for d in result.drafts if d.draft is not None)
    return tuple(dict.fromkeys(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts))


def unchanged(before: Observation, now: Observation) -> bool:
    """Tell whether two observations show the same things, in the same places within the error of perception.

    Facts count only where an environment reports neither a scene nor a record of its own.
    """
    if before.scene is not None and now.scene is not None:
        return len(before.things) == len(now.things) and all(map(_alike, before.things, now.things))
    return before.detail == now.detail if before.detail else set(before.facts) == set(now.facts)


def _alike(a: SceneObject, b: SceneObject) -> bool:
    """Tell whether an object is seen as it was; how certain it is does not count."""
    return (
        (a.id, a.kind, a.colour, a.visible) == (b.id, b.kind, b.colour, b.visible)
        and np.allclose(a.size, b.size, rtol=0, atol=_TOLERANCE)
        and np.allclose(a.pose.position, b.pose.position, rtol=0, atol=_TOLERANCE)
        and np.allclose(a.pose.quaternion, b.pose.quaternion, rtol=0, atol=_TURN)
    )
