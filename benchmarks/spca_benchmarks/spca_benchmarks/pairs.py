"""Contestants compared two by two on what both of them have done."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from spca_benchmarks.campaigns.page import Page
from spca_benchmarks.campaigns.statistics import Paired

HEADS = (
    "first", "second", "trials", "only the first", "only the second", "difference", "95 % interval", "p"
)  # fmt: skip


def add_pairs(page: Page, verdicts: Mapping[str, Mapping[object, bool]]) -> None:
    """A section of a page: every pair of contestants, whose verdicts are given by what was tried.

    Nothing is added for a single contestant.
    """
    if len(verdicts) < 2:
        return
    page.heading("Pairs on the same trials")
    page.text("Difference of the shares solved, with its interval (Newcombe's), and McNemar's exact test.")
    page.table(HEADS, [(a, b, *compared(verdicts[a], verdicts[b])) for a, b in combinations(verdicts, 2)])


def compared(one: Mapping[object, bool], other: Mapping[object, bool]) -> tuple[object, ...]:
    """The columns of `HEADS` after the names."""
    pairs = Paired.of((one[what], other[what]) for what in one if what in other)
    low, high = pairs.interval
    return (
        pairs.total, pairs.first, pairs.second, f"{100 * pairs.difference:+.1f} %",
        f"{100 * low:+.1f} to {100 * high:+.1f} %", f"{pairs.p_value:.2g}",
    )  # fmt: skip
