"""Numbers of a campaign: rates with confidence intervals, medians, causes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from spca.campaign.results import TrialResult
from spca_core.model import Record


class Rate(Record):
    """`good` of `total`, with the Wilson score interval at 95 % (Wilson 1927)."""

    good: int
    total: int

    @property
    def value(self) -> float:
        """The share, 0-1."""
        return self.good / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound of the share."""
        if not self.total:
            return 0.0, 1.0
        z, n, p = 1.959964, self.total, self.value
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, centre - half), min(1.0, centre + half)


def group_of(level: str) -> str:
    """`stack` of `stack_01`."""
    return level.rpartition("_")[0]


def success_rate(results: Iterable[TrialResult]) -> Rate:
    """How many of the trials the referee called a success."""
    verdicts = [r.success for r in results]
    return Rate(good=sum(verdicts), total=len(verdicts))


def by(results: Sequence[TrialResult], key: str) -> dict[str, list[TrialResult]]:
    """The results by `group`, `level` or `preset`, in alphabetical order."""
    keys = {
        "group": lambda r: group_of(r.trial.level),
        "level": lambda r: r.trial.level,
        "preset": lambda r: r.trial.preset,
    }
    found: dict[str, list[TrialResult]] = {}
    for result in results:
        found.setdefault(keys[key](result), []).append(result)
    return dict(sorted(found.items()))


def medians(results: Sequence[TrialResult]) -> dict[str, float]:
    """Medians over the trials: wall and simulated seconds, and the seconds of each stage."""
    if not results:
        return {}
    stages = sorted({s for r in results for s in r.stage_wall})
    numbers = {"wall": [r.wall for r in results], "sim": [r.sim for r in results]}
    numbers |= {stage: [r.stage_wall.get(stage, 0.0) for r in results] for stage in stages}
    return {name: float(np.median(values)) for name, values in numbers.items()}


def causes(results: Iterable[TrialResult]) -> list[tuple[str, int]]:
    """Causes of failure, the most frequent first, with numbers and names of objects blanked out."""
    counts = Counter(_pattern(r.cause) for r in results if not r.success)
    return counts.most_common()


def _pattern(cause: str) -> str:
    cause = re.sub(r"\b(cube|plate|box)_\w+", r"\1", cause)
    cause = re.sub(r"\b(red|green|blue) (cube|plate)", r"\2", cause)
    return re.sub(r"-?\d+(\.\d+)?", "N", cause)[:160]
