"""Two campaigns side by side: what got better, what got worse."""

from __future__ import annotations

from collections.abc import Sequence

from spca.campaign.results import TrialResult
from spca.campaign.statistics import medians, success_rate
from spca_core.model import Record


class Comparison(Record):
    """Trials that both campaigns ran; `better` and `worse` are those whose success changed."""

    common: int
    before: float
    after: float
    better: tuple[str, ...]
    worse: tuple[str, ...]
    changed: int
    """How many of them did not repeat bit for bit."""
    medians_before: dict[str, float]
    medians_after: dict[str, float]


def compare(before: Sequence[TrialResult], after: Sequence[TrialResult]) -> Comparison:
    """Compare by trial; trials that only one of the two ran are left out."""
    old = {r.trial.key: r for r in before}
    pairs = [(old[r.trial.key], r) for r in after if r.trial.key in old]
    olds, news = [a for a, _ in pairs], [b for _, b in pairs]
    return Comparison(
        common=len(pairs),
        before=success_rate(olds).value,
        after=success_rate(news).value,
        better=tuple(b.trial.key for a, b in pairs if b.success and not a.success),
        worse=tuple(b.trial.key for a, b in pairs if a.success and not b.success),
        changed=sum(a.digest != b.digest for a, b in pairs),
        medians_before=medians(olds),
        medians_after=medians(news),
    )
