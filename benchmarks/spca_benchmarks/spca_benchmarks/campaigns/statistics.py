"""Statistics of benchmarks: shares with intervals, paired comparisons, medians."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import mean, median, stdev
from typing import TypeVar

from spca_core.model import Record

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_CONFIDENCE = 0.95


class Rate(Record):
    """`good` of `total`, with the Wilson score interval at 95 % (Wilson 1927)."""

    good: int
    total: int

    @classmethod
    def of(cls, verdicts: Iterable[bool]) -> Rate:
        """Count all verdicts and those that are true."""
        found = list(verdicts)
        return cls(good=sum(found), total=len(found))

    @property
    def value(self) -> float:
        """The share, 0-1."""
        return self.good / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound of the share."""
        if not self.total:
            return 0.0, 1.0
        from scipy.stats import binomtest  # loads slowly

        low, high = binomtest(self.good, self.total).proportion_ci(_CONFIDENCE, method="wilson")
        return float(low), float(high)

    def __str__(self) -> str:
        return f"{self.good}/{self.total}"

    @property
    def percent(self) -> str:
        """The share in percent, with one decimal."""
        return f"{100 * self.value:.1f} %"

    @property
    def percent_interval(self) -> str:
        """The interval in percent."""
        low, high = self.interval
        return f"{100 * low:.1f}–{100 * high:.1f} %"


class Mean(Record):
    """Mean and sample standard deviation of `count` values, with Student's interval of the mean at 95 %."""

    count: int
    value: float
    sd: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Return the mean of some values and its deviation, which is 0 for fewer than two."""
        sd = stdev(values) if len(values) > 1 else 0.0
        return cls(count=len(values), value=mean(values) if values else 0.0, sd=sd)

    @property
    def half_width(self) -> float:
        """Half the width of Student's interval; infinite for a single value, which says nothing of others."""
        if self.count < 2:
            return math.inf if self.count else 0.0
        from scipy.special import stdtrit

        return float(stdtrit(self.count - 1, (1 + _CONFIDENCE) / 2)) * self.sd / math.sqrt(self.count)

    def margin(self, digits: int) -> str:
        """Return half the interval's width as text; a dash where one value says nothing of others."""
        return f"{self.half_width:.{digits}f}" if math.isfinite(self.half_width) else "–"


class Paired(Record):
    """Two methods on the same trials: `both` succeeded, or only `first`, or only `second`."""

    both: int
    first: int
    second: int
    neither: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Paired:
        """Count pairs of verdicts."""
        found = list(pairs)
        both, first, second, neither = (found.count((a, b)) for a in (True, False) for b in (True, False))
        return cls(both=both, first=first, second=second, neither=neither)

    @property
    def total(self) -> int:
        """Number of trials that both have done."""
        return self.both + self.first + self.second + self.neither

    @property
    def difference(self) -> float:
        """The first one's share of successes less the second one's."""
        return (self.first - self.second) / self.total if self.total else 0.0

    @property
    def p_value(self) -> float:
        """The p-value of McNemar's exact test: how likely such a difference is where there is none."""
        if not (n := self.first + self.second):
            return 1.0
        from scipy.stats import binomtest

        return float(binomtest(self.first, n).pvalue)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the difference.

        Wilson intervals are combined by squares (Newcombe 1998, method 10).
        """
        n = self.total
        if not n:
            return -1.0, 1.0
        one = Rate(good=self.both + self.first, total=n)
        two = Rate(good=self.both + self.second, total=n)
        (l1, u1), (l2, u2), p1, p2 = one.interval, two.interval, one.value, two.value
        phi = self._correlation()
        below = (p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2
        above = (p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2
        return self.difference - math.sqrt(max(0.0, below)), self.difference + math.sqrt(max(0.0, above))

    def _correlation(self) -> float:
        """Return Newcombe's phi, with his correction for continuity."""
        a, b, c, d = self.both, self.first, self.second, self.neither
        product = (a + b) * (c + d) * (a + c) * (b + d)
        if not product:
            return 0.0
        numerator = float(a * d - b * c)
        if numerator > 0:
            numerator = max(numerator - self.total / 2, 0.0)
        return numerator / math.sqrt(product)


def groups(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group the items by a key, in the order in which the groups first appear."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def median_of(values: Iterable[float]) -> float:
    """Return the median; 0 of nothing."""
    found = list(values)
    return float(median(found)) if found else 0.0
