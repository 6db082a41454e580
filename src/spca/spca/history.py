"""What a run has tried in vain, so that neither a plan, nor a draft, nor a skill is tried twice just so."""

from __future__ import annotations

import hashlib

from spca.blame import Blame
from spca_core.model import Record
from spca_core.plan import ActResult, Plan, PlanResult
from spca_core.scene import Observation
from spca_core.skill import FailureKind, python_name

TRANSIENT = (
    FailureKind.LOST, FailureKind.STALE, FailureKind.DEVIATION, FailureKind.TIMEOUT, FailureKind.GRIPPER,
    FailureKind.KILLED,
)  # fmt: skip
"""Kinds of failure that need not happen again when the same plan is tried on the same table."""


class FailedAttempt(Record):
    """A plan that was carried out or rehearsed in vain, or drafts that were all rejected."""

    fingerprint: str = ""
    """Fingerprint of the plan with its skills (see `Readers.fingerprint`), if the world was put back."""
    steps: tuple[str, ...] = ()
    """Steps of the plan, or hashes of the drafts, if the world stayed as it was."""
    before: Observation | None = None
    """Observation before the plan or the drafts, if the world stayed as it was."""
    round: int = 0
    failure: str = ""
    blame: Blame | None = None
    kept_by: tuple[str, ...] = ()
    """Authors who have handed in the same again since."""


class History(Record):
    """All attempts of a run. Asked whether the same has failed before: with its skills, or on this table."""

    attempts: tuple[FailedAttempt, ...] = ()
    lessons: dict[str, str] = {}
    """Reasons why versions of skills were given up, by the name of the skill."""

    def with_skills(self, fingerprint: str | None) -> FailedAttempt | None:
        """Return the failed attempt at the same plan with the same skills, which can only fail again.

        One that failed by an accident may go well.
        """
        same = (a for a in self.attempts if a.fingerprint and a.fingerprint == fingerprint)
        return next((a for a in same if a.blame is None or not a.blame.accident), None)

    def on_table(self, tried: Plan | PlanResult, now: Observation) -> FailedAttempt | None:
        """Return the attempt that this plan or these drafts would repeat on an unchanged table, or None."""
        steps = _steps(tried)
        same = (a for a in self.attempts if a.steps == steps)
        return next((a for a in same if a.before is not None and a.before.looks_like(now)), None)

    def lessons_for(self, plan: Plan) -> str:
        """Return why earlier versions of the plan's skills were given up, for the skills' next author."""
        skills = dict.fromkeys(python_name(step.action) for step in plan.steps)
        told = {self.lessons[name]: name for name in skills if name in self.lessons}
        return "\n".join(f"an earlier version of {name} was given up: {why}" for why, name in told.items())

    def complained(self, blame: Blame, round: int) -> bool:
        """Return whether the last attempt, in this round, failed with the same complaint and suspects."""
        last = next((a for a in reversed(self.attempts) if a.blame is not None), None)
        if last is None or last.blame is None or last.round != round or not blame.complaint:
            return False
        return (last.blame.complaint, last.blame.suspects) == (blame.complaint, blame.suspects)

    def adding(self, attempt: FailedAttempt) -> History:
        """Return the history with one more attempt."""
        return self.model_copy(update={"attempts": (*self.attempts, attempt)})

    def in_vain(self, plan: Plan, before: Observation, result: ActResult, failure: str) -> History:
        """Return the history with a plan that failed in a world that stays so, unless in a transient way."""
        failed = [s.failure for s in result.steps if s.failure is not None]
        return self if failed and failed[-1].kind in TRANSIENT else self._on_table(plan, before, failure)

    def rejecting(self, result: PlanResult, before: Observation) -> History:
        """Return the history with drafts of which none was accepted."""
        return self._on_table(result, before, result.message) if _steps(result) else self

    def keeping(self, attempt: FailedAttempt, author: str) -> History:
        """Return the history with an author who has handed in unchanged what has failed."""
        kept = attempt.model_copy(update={"kept_by": (*attempt.kept_by, author)})
        return self.model_copy(update={"attempts": tuple(kept if a is attempt else a for a in self.attempts)})

    def _on_table(self, tried: Plan | PlanResult, before: Observation, failure: str) -> History:
        seen = before.model_copy(update={"sentences": ()})
        return self.adding(FailedAttempt(steps=_steps(tried), before=seen, failure=failure))


def _steps(tried: Plan | PlanResult) -> tuple[str, ...]:
    if isinstance(tried, Plan):
        return tuple(map(str, tried.steps))
    texts = (f"{d.draft.domain}\n{d.draft.problem}" for d in tried.drafts if d.draft is not None)
    return tuple(dict.fromkeys(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts))
