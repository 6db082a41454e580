"""The plots that several benches share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spca_benchmarks.campaigns.page import new_figure
from spca_benchmarks.campaigns.statistics import Rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rates(series: Mapping[str, Mapping[str, Rate]], label: str = "share of trials solved") -> Figure:
    """Draw shares with 95 % intervals: `series` by name, one mark for each of its groups."""
    names = list(dict.fromkeys(group for own in series.values() for group in own))
    figure, axis = new_figure(6.4, 0.7 + 0.32 * len(names) * max(1.0, 0.6 * len(series)))
    step = min(0.2, 0.8 / max(1, len(series)))
    for i, (name, own) in enumerate(series.items()):
        offset = (i - (len(series) - 1) / 2) * step
        for j, (group, rate) in enumerate(own.items()):
            low, high = rate.interval
            error = [[max(0.0, rate.value - low)], [max(0.0, high - rate.value)]]
            axis.errorbar(
                rate.value, names.index(group) + offset, xerr=error, fmt="o", ms=4, capsize=2, color=f"C{i}",
                label=name if j == 0 else None,
            )  # fmt: skip
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlim(-0.01, 1.01)
    axis.set_xlabel(f"{label}, with 95 % interval")
    if len(series) > 1:
        legend_beside(axis)
    return figure


def legend_beside(axis: Any) -> None:
    """Put the legend to the right of the axes, where it hides nothing."""
    axis.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def boxes(groups: Mapping[str, Sequence[float]], label: str, logarithmic: bool = False) -> Figure:
    """Draw distributions as horizontal box plots."""
    figure, axis = new_figure(6.4, 0.8 + 0.3 * max(1, len(groups)))
    floor = 1e-4 if logarithmic else float("-inf")
    data = [[max(v, floor) for v in values] for values in groups.values() if values]
    if data:
        axis.boxplot(
            data, orientation="horizontal", tick_labels=[n for n, v in groups.items() if v], widths=0.6,
            flierprops={"ms": 2},
        )  # fmt: skip
    axis.invert_yaxis()
    if logarithmic:
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
    else:
        axis.set_xlim(left=min(0, *(min(own) for own in data)) if data else 0)
    axis.set_xlabel(label)
    return figure
