"""Ending of a run on a MiniGrid level, and its place."""

from __future__ import annotations

from enum import Enum

from spca_core.model import Record
from spca_core.plan import ActResult
from spca_core.result import Outcome, Verdict
from spca_core.skill import StepReport


class EpisodeEnding(str, Enum):
    """Kind of ending of an episode."""

    SUCCESS = "success"
    REWARD_FAILED = "reward_failed"
    """The level ended without a reward."""
    GOAL_NOT_REACHED = "goal_not_reached"
    """The whole plan was carried out, but the level has not ended."""
    STUCK = "stuck"
    """A skill did not get on."""
    MISSING_SKILL = "missing_skill"
    RUNTIME_ERROR = "runtime_error"
    """A skill raised an error or ran over a bound."""
    NO_PLAN = "no_plan"


class Ended(Record):
    """The ending, the number and words of the step that failed (0 and empty if none did), and why."""

    ending: EpisodeEnding
    step: int = 0
    action: str = ""
    why: str = ""


def ending_of(verdict: Verdict, act: ActResult | None, missing: str = "") -> Ended:
    """Judge by the last verdict and the last execution of a plan; `missing` names absent skills."""
    failed = next((s for s in act.steps if s.status == "failed"), None) if act else None
    ending, why = _judge(verdict, act, failed, missing)
    if failed is None or ending is EpisodeEnding.SUCCESS:
        return Ended(ending=ending, why=why)
    return Ended(ending=ending, why=why, step=failed.index + 1, action=str(failed))


def _judge(
    verdict: Verdict, act: ActResult | None, failed: StepReport | None, missing: str
) -> tuple[EpisodeEnding, str]:
    if verdict.outcome is Outcome.SUCCESS:
        return EpisodeEnding.SUCCESS, ""
    if verdict.final:
        return EpisodeEnding.REWARD_FAILED, verdict.reason
    if missing:
        return EpisodeEnding.MISSING_SKILL, missing
    if act is None:
        return EpisodeEnding.NO_PLAN, ""
    if failed is None:
        return EpisodeEnding.GOAL_NOT_REACHED, verdict.reason
    stuck = failed.failure is not None and failed.failure.kind == "stuck"
    return (EpisodeEnding.STUCK if stuck else EpisodeEnding.RUNTIME_ERROR), failed.message
