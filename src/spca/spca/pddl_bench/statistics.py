"""Figures over trials: solved@k, fates of drafts, tokens and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from spca.pddl_bench.judge import STATUSES
from spca.pddl_bench.trial import Trial
from spca_core.model import Record


class ModelRow(Record):
    """One model over all its trials. `solved` and `accepted` are shares at k = 1, 2, …; `drafts` counts by fate."""

    model: str
    trials: int
    solved: tuple[float, ...]
    accepted: tuple[float, ...]
    drafts: dict[str, int]
    input_tokens: int
    output_tokens: int
    usd: float
    model_seconds: float
    judge_seconds: float


def model_rows(trials: Sequence[Trial], attempts: int) -> list[ModelRow]:
    """One row a model, in the order in which they first appear."""
    by_model: dict[str, list[Trial]] = {}
    for trial in trials:
        by_model.setdefault(trial.model, []).append(trial)
    return [_row(model, own, attempts) for model, own in by_model.items()]


def share_at(marks: Sequence[int | None], attempts: int) -> tuple[float, ...]:
    """The share of marks at most k, for k = 1 … `attempts`; None is never.

    >>> share_at([1, 3, None, 1], 3)
    (0.5, 0.5, 0.75)
    """
    total = max(1, len(marks))
    return tuple(sum(m is not None and m <= k for m in marks) / total for k in range(1, attempts + 1))


def _row(model: str, trials: list[Trial], attempts: int) -> ModelRow:
    drafts = [a for t in trials for a in t.attempts]
    counts = Counter(a.judged.status for a in drafts)
    return ModelRow(
        model=model,
        trials=len(trials),
        solved=share_at([t.solved_at for t in trials], attempts),
        accepted=share_at([t.accepted_at for t in trials], attempts),
        drafts={status: counts[status] for status in STATUSES},
        input_tokens=sum(a.usage.input_tokens for a in drafts),
        output_tokens=sum(a.usage.output_tokens for a in drafts),
        usd=sum(a.usage.cost_usd for a in drafts),
        model_seconds=sum(a.usage.seconds for a in drafts),
        judge_seconds=sum(a.judge_seconds for a in drafts),
    )
