"""Learning curves over actions: how soon the program is right and episodes are won, and what it costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from spca_bench.page import new_figure
from spca_bench.statistics import Mean, Rate
from spca_worldcoder.bench.rows import Learned, Spent

_LEAST = 3
"""Seeds that a curve is worth drawing for."""


def model_curves(series: Mapping[str, Sequence[Learned]]) -> Figure:
    """Over actions: the share of seeds whose program made no mistake any more."""
    last = max(one.result.actions_to_model for found in series.values() for one in found)
    return _curves(
        series, "actions", "share of seeds with the model", range(0, last + 2, max(1, last // 200)),
        lambda one, x: one.result.actions_to_model <= x,
    )  # fmt: skip


def success_curves(series: Mapping[str, Sequence[Learned]]) -> Figure:
    """Over actions: the share of seeds that won their last episode by then; who has learned goes on so."""
    last = max(one.result.actions for found in series.values() for one in found)

    def won(one: Learned, x: int) -> bool:
        ended = bisect_right(one.ends, x)
        return one.result.learned if x >= one.result.actions else ended > 0 and one.successes[ended - 1]

    return _curves(series, "actions", "share of seeds that win", range(0, last + 2, max(1, last // 200)), won)


def cost_curves(series: Mapping[str, Sequence[Sequence[Spent]]]) -> Figure:
    """Over actions: questions, tokens and US dollars so far, as means over seeds with 95 % intervals."""
    figure, axes = new_figure(9.6, 2.8, columns=3)
    last = max(one.actions for found in series.values() for own in found for one in own)
    points = range(0, last + max(2, last // 10), max(1, last // 200))
    for axis, what in zip(axes, ("questions", "tokens", "usd"), strict=True):
        for name, found in series.items():
            means = [
                Mean.of(
                    [
                        next((getattr(one, what) for one in reversed(own) if one.actions <= x), 0)
                        for own in found
                    ]
                )
                for x in points
            ]
            (line,) = axis.step(points, [mean.value for mean in means], where="post", label=name)
            low, high = zip(*((m.value - m.half_width, m.value + m.half_width) for m in means), strict=True)
            if len(found) > 1:
                axis.fill_between(points, low, high, step="post", color=line.get_color(), alpha=0.12, lw=0)
        axis.set_ylim(bottom=0)
        axis.set_xlabel("actions")
        axis.set_ylabel("US dollars" if what == "usd" else what)
    axes[0].legend(frameon=False, fontsize="small")
    figure.tight_layout()
    return figure


def drawable(found: Mapping[Any, Sequence[Learned]]) -> bool:
    """Whether there are enough seeds of something."""
    return any(len(own) >= _LEAST for own in found.values())


def _curves(
    series: Mapping[str, Sequence[Learned]], x_label: str, y_label: str, points: Sequence[int],
    good: Callable[[Learned, int], bool],
) -> Figure:  # fmt: skip
    figure, axis = new_figure(6.4, 3.2)
    for name, found in series.items():
        if len(found) < _LEAST:
            continue
        rates = [Rate.of(good(one, x) for one in found) for x in points]
        (line,) = axis.step(
            points, [rate.value for rate in rates], where="post", label=f"{name} ({len(found)} seeds)"
        )
        low, high = zip(*(rate.interval for rate in rates), strict=True)
        axis.fill_between(points, low, high, step="post", color=line.get_color(), alpha=0.12, linewidth=0)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.legend(frameon=False, fontsize="small")
    return figure
