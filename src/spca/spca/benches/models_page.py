"""The plots that compare models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from spca_bench import plots
from spca_bench.page import Page, new_figure
from spca_bench.statistics import Rate, groups

if TYPE_CHECKING:
    from spca.benches.models import ModelResult, Trials


def add_plots(contestants: Mapping[str, Trials], page: Page) -> None:
    """Success by group, solved over time and money, tokens, durations."""
    by_group = {
        name: {
            g: Rate.of(d.result.success for d in own)
            for g, own in groups(done, lambda d: d.trial.group).items()
        }
        for name, done in contestants.items()
    }
    page.figure(plots.rates(by_group))
    page.heading("Solved over wall time")
    page.figure(
        _cumulative(contestants, lambda r: r.wall / 60, "minutes of wall time, one trial after the other")
    )
    if any(d.result.usd for done in contestants.values() for d in done):
        page.heading("Solved over cost")
        page.figure(_cumulative(contestants, lambda r: r.usd, "US dollars"))
    page.heading("Tokens by role")
    page.figure(_tokens(contestants))
    page.heading("Durations")
    page.figure(
        plots.boxes({n: [d.result.wall for d in own] for n, own in contestants.items()}, "wall time (s)")
    )


def _cumulative(
    contestants: Mapping[str, Trials], cost: Callable[[ModelResult], float], label: str
) -> Figure:
    figure, axis = new_figure()
    for name, done in contestants.items():
        spent = list(accumulate((cost(d.result) for d in done), initial=0.0))
        solved = list(accumulate((int(d.result.success) for d in done), initial=0))
        axis.step(spent, solved, where="post", label=name)
    axis.set_xlabel(label)
    axis.set_ylabel("trials solved")
    axis.legend(frameon=False)
    return figure


def _tokens(contestants: Mapping[str, Trials]) -> Figure:
    figure, axis = new_figure(6.4, 0.9 + 0.4 * len(contestants))
    names = list(contestants)
    left = [0] * len(names)
    for kind, part in _categories(contestants.values()):
        widths = [sum(part(d.result) for d in contestants[n]) for n in names]
        axis.barh(names, widths, left=left, label=kind)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axis.invert_yaxis()
    axis.set_xlabel("tokens")
    if any(left):
        axis.legend(frameon=False, fontsize=7)
    return figure


def _categories(trials: Any) -> Sequence[tuple[str, Callable[[ModelResult], int]]]:
    """Role and direction, and how many tokens of it a result has used."""
    roles = sorted({role for done in trials for d in done for role in d.result.usage})

    def tokens(role: str, way: str) -> Callable[[ModelResult], int]:
        return lambda r: int(getattr(r.usage[role], f"{way}put_tokens")) if role in r.usage else 0

    return [(f"{role}, {way}", tokens(role, way)) for role in roles for way in ("in", "out")]
