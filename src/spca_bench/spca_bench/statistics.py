"""Statistics of benchmarks: shares with intervals, paired comparisons, medians."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median
from typing import TypeVar

from spca_core.model import Record

T = TypeVar("T")

_Z = 1.959964  # the normal distribution's quantile for two-sided 95 %


class Rate(Record):
    """`good` of `total`, with the Wilson score interval at 95 % (Wilson 1927)."""

    good: int
    total: int

    @classmethod
    def of(cls, verdicts: Iterable[bool]) -> Rate:
        """Count the true ones."""
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
        n, p = self.total, self.value
        centre = (p + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
        half = _Z * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n)) / (1 + _Z * _Z / n)
        return max(0.0, centre - half), min(1.0, centre + half)

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
    """Mean and standard deviation of `count` values, with the normal interval of the mean at 95 %."""

    count: int
    value: float
    sd: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Of some values; the deviation is the population's."""
        value = mean(values) if values else 0.0
        sd = math.sqrt(sum((v - value) ** 2 for v in values) / len(values)) if values else 0.0
        return cls(count=len(values), value=value, sd=sd)

    @property
    def half_width(self) -> float:
        """Half the interval's width."""
        return _Z * self.sd / math.sqrt(self.count) if self.count else 0.0


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
        return cls(
            both=found.count((True, True)),
            first=found.count((True, False)),
            second=found.count((False, True)),
            neither=found.count((False, False)),
        )

    @property
    def total(self) -> int:
        """How many trials both have done."""
        return self.both + self.first + self.second + self.neither

    @property
    def difference(self) -> float:
        """The first one's share of successes less the second one's."""
        return (self.first - self.second) / self.total if self.total else 0.0

    @property
    def p_value(self) -> float:
        """McNemar's exact test: how likely a difference of this size is where there is none."""
        n = self.first + self.second
        tail = sum(math.comb(n, k) for k in range(min(self.first, self.second) + 1)) / 2**n
        return min(1.0, 2 * tail)

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
        """Newcombe's phi, with his correction for continuity."""
        a, b, c, d = self.both, self.first, self.second, self.neither
        product = (a + b) * (c + d) * (a + c) * (b + d)
        if not product:
            return 0.0
        numerator = float(a * d - b * c)
        if numerator > 0:
            numerator = max(numerator - self.total / 2, 0.0)
        return numerator / math.sqrt(product)


def groups(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """The items by a key, groups in the order in which they first appear."""
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def median_of(values: Iterable[float]) -> float:
    """The median; 0 of nothing."""
    found = list(values)
    return float(median(found)) if found else 0.0
