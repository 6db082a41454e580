"""The plots of a campaign's page, as SVG text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib

from spca.campaign.results import TrialResult
from spca.campaign.statistics import by, causes, success_rate

matplotlib.use("svg")
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}
_STAGES = ("sense", "plan", "code", "act")
_BLUE, _RED = "#3b6fd4", "#b42318"


def success_plot(results: Sequence[TrialResult]) -> str:
    """Success by group with 95 % intervals, one mark a preset."""
    presets = list(by(results, "preset"))
    groups = list(by(results, "group"))
    with plt.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(6.4, 0.5 + 0.45 * len(groups) * max(1, len(presets) * 0.6)))
        for i, preset in enumerate(presets):
            chosen = by([r for r in results if r.trial.preset == preset], "group")
            for j, group in enumerate(groups):
                if group not in chosen:
                    continue
                rate = success_rate(chosen[group])
                low, high = rate.interval
                y = j + (i - (len(presets) - 1) / 2) * 0.18
                error = [[rate.value - low], [max(0.0, high - rate.value)]]
                label = preset if j == 0 else None
                axis.errorbar(rate.value, y, xerr=error, fmt="o", ms=4, capsize=2, color=f"C{i}", label=label)
        axis.set_yticks(range(len(groups)), groups)
        axis.set_xlim(
            min(0.85, min((success_rate(g).interval[0] for g in by(results, "group").values()), default=0)),
            1.005,
        )
        axis.set_xlabel("share of trials solved, with 95 % interval")
        axis.legend(frameon=False, loc="lower left")
        return _svg(figure)


def stage_plot(results: Sequence[TrialResult]) -> str:
    """Wall time of each stage, as box plots on a logarithmic scale."""
    with plt.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(6.4, 2.2))
        data = [[max(r.stage_wall.get(s, 0.0), 1e-4) for r in results] or [1e-4] for s in _STAGES]
        axis.boxplot(
            data, orientation="horizontal", tick_labels=list(_STAGES), widths=0.6, flierprops={"ms": 2}
        )
        axis.set_xscale("log")
        axis.set_xlabel("wall time (s)")
        return _svg(figure)


def simulated_plot(results: Sequence[TrialResult]) -> str:
    """Simulated time from the first look to the verdict, by group."""
    groups = by([r for r in results if r.success], "group")
    with plt.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(6.4, 0.8 + 0.35 * max(1, len(groups))))
        if groups:
            data = [[r.sim for r in g] for g in groups.values()]
            axis.boxplot(
                data, orientation="horizontal", tick_labels=list(groups), widths=0.6, flierprops={"ms": 2}
            )
        axis.set_xlabel("simulated time (s)")
        return _svg(figure)


def rounds_plot(results: Sequence[TrialResult]) -> str:
    """How many rounds the trials took."""
    with plt.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(6.4, 1.8))
        most = max((r.rounds for r in results), default=1)
        numbers = list(range(1, most + 1))
        axis.bar(
            numbers,
            [sum(r.rounds == n and r.success for r in results) for n in numbers],
            color=_BLUE,
            label="solved",
        )
        lost = [sum(r.rounds == n and not r.success for r in results) for n in numbers]
        axis.bar(numbers, lost, color=_RED, label="not solved", width=0.3)
        axis.set_xticks(numbers)
        axis.set_xlabel("rounds")
        axis.set_yscale("symlog")
        axis.legend(frameon=False)
        return _svg(figure)


def causes_plot(results: Sequence[TrialResult]) -> str:
    """The most frequent causes of failure; empty where nothing failed."""
    found = causes(results)[:12]
    if not found:
        return ""
    with plt.rc_context(_STYLE):
        figure, axis = plt.subplots(figsize=(9.0, 0.6 + 0.3 * len(found)))
        labels = [text if len(text) < 90 else text[:88] + "…" for text, _ in found]
        axis.barh(labels[::-1], [n for _, n in found][::-1], color=_RED)
        axis.set_xlabel("failed trials")
        return _svg(figure)


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)
    return buffer.getvalue().partition("<svg")[1] + buffer.getvalue().partition("<svg")[2]
