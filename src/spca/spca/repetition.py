"""Tells whether a run gets anywhere: no plan is tried twice on a table where it has failed before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import ActResult, Plan

TRANSIENT = ("lost", "stale", "deviation", "timeout", "gripper", "killed")
"""Kinds of failure that the same plan on the same table need not meet again."""

_TOLERANCE = 0.005
"""Metres or radians: a smaller change is the error of perception."""
_IGNORED = ("stamp", "last_seen", "confidence", "sentences", "notes", "relations")


class Vain(Record):
    """A plan that was carried out in vain, and what had been observed before."""

    steps: tuple[str, ...]
    before: Observation
    failure: str


def vain(plan: Plan, before: Observation, result: ActResult, failure: str) -> Vain | None:
    """What there is to remember of a failed attempt; None for a failure of the moment."""
    failed = [s.failure for s in result.steps if s.failure is not None]
    if failed and failed[-1].kind in TRANSIENT:
        return None
    kept = before.model_copy(update={"sentences": ()})
    return Vain(steps=tuple(map(str, plan.steps)), before=kept, failure=failure)


def repeated(plan: Plan, now: Observation, attempts: tuple[Vain, ...]) -> Vain | None:
    """The attempt that this plan would repeat: the same steps on an unchanged table."""
    steps = tuple(map(str, plan.steps))
    return next((v for v in attempts if v.steps == steps and unchanged(v.before, now)), None)


def unchanged(before: Observation, now: Observation) -> bool:
    """Whether two observations show the same facts and, within the error of perception, the same places."""
    return set(before.facts) == set(now.facts) and _alike(before.detail, now.detail)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= _TOLERANCE
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(k in _IGNORED or _alike(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b)
