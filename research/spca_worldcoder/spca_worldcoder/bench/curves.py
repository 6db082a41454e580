"""Learning curves: how soon the program is right, and how soon episodes are won, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from spca_bench.page import new_figure
from spca_bench.statistics import Rate
from spca_worldcoder.bench.rows import Learned

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
    """Over episodes: the share of seeds that won; a run that ended with its last ones won goes on so."""
    last = max(len(one.successes) for found in series.values() for one in found)
    return _curves(
        series, "episode", "share of seeds that won", range(1, last + 1),
        lambda one, x: one.successes[x - 1] if x <= len(one.successes) else one.result.learned,
    )  # fmt: skip


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
