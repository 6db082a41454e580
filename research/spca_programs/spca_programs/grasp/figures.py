"""Figures and plots of GRASP's bench: by setting, each constraint alone, and ways in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from spca_bench.page import new_figure
from spca_bench.statistics import Mean, groups
from spca_programs.grasp.dataset import Environment
from spca_programs.grasp.rules import TAKE, play
from spca_programs.ipp.domain import Answer


class Answered(Answer):
    """A policy's answer for one environment, with its score."""

    score: float


Scored = tuple[Environment, Answered]


def figures(scored: Sequence[Scored]) -> tuple[int, float, float, float]:
    """The number of environments, mean and standard deviation of the score, and mean number of actions."""
    found = Mean.of([a.score for _, a in scored])
    return found.count, found.value, found.sd, Mean.of([float(len(a.plan)) for _, a in scored]).value


def margins(scored: Sequence[Scored]) -> list[tuple[object, ...]]:
    """What each constraint costs by itself: means without and with it, their difference, its interval, pairs.

    Rules are compared on the same grid. Obstacles and the start are properties of the grid itself: there the
    means of two sets of grids are compared, without an interval.
    """
    known = {(e.family, e.index, e.rules): a.score for e, a in scored}
    changes: dict[str, dict[str, Any]] = {
        "four moves instead of eight": {"diagonals": False},
        "carry limit 2": {"carry_limit": 2},
        "an action costs 0.3": {"cost": 0.3},
    }
    rows: list[tuple[object, ...]] = []
    for name, change in changes.items():
        pairs = [
            (score, known[other])
            for (family, index, rules), score in known.items()
            if (other := (family, index, rules.model_copy(update=change))) in known and other[2] != rules
        ]
        if pairs:
            found = Mean.of([limited - free for free, limited in pairs])
            free, limited = (Mean.of([p[i] for p in pairs]).value for i in (0, 1))
            rows.append((name, free, limited, f"{found.value:+.2f}", found.margin(2), len(pairs)))
    for name, own in (
        ("obstacles", groups(scored, lambda s: str(s[0].family.obstacles))),
        ("start away from the middle", groups(scored, lambda s: str(s[0].family.start == "outer"))),
    ):
        if len(own) == 2:
            free, limited = (Mean.of([a.score for _, a in own[key]]).value for key in ("False", "True"))
            rows.append((name, free, limited, f"{limited - free:+.2f}", "", ""))
    return rows


def histogram(scored: Sequence[Scored]) -> Figure:
    """The distribution of the scores."""
    figure, axes = new_figure(9, 2.6)
    axes.hist([a.score for _, a in scored], bins=[b / 2 for b in range(-13, 21)])
    axes.set_xlabel("score")
    axes.set_ylabel("environments")
    return figure


def paths(chosen: Sequence[Scored]) -> Figure:
    """Grids with the way of their plans: energy as dots, obstacles as black cells, the start as a square."""
    with rc_context({"font.size": 8}):
        figure = Figure(figsize=(4.2 * len(chosen), 4.4))
        for place, (environment, answer) in enumerate(chosen, start=1):
            axes = figure.add_subplot(1, len(chosen), place)
            grid = environment.grid
            axes.imshow(grid.obstacle, cmap="gray_r", vmin=0, vmax=1)
            rows, columns = np.nonzero(grid.energy)
            axes.scatter(columns, rows, s=18, color="C2")
            effects = play(grid, environment.rules, answer.plan).effects
            way = [grid.start, *(effect.position for effect in effects)]
            axes.plot([column for _, column in way], [row for row, _ in way], "-", color="C0", alpha=0.7)
            taken = [e.position for e in effects if e.action == TAKE and not e.problem]
            axes.scatter([c for _, c in taken], [r for r, _ in taken], s=60, marker="x", color="C3")
            axes.scatter(grid.start[1], grid.start[0], s=110, marker="s", facecolors="none", edgecolors="C1")
            axes.set_title(
                f"{environment.name}: {answer.score:.1f} with {len(answer.plan)} actions", fontsize=8
            )
            axes.set_xticks([])
            axes.set_yticks([])
        return figure


def heat_map(scored: Sequence[Scored]) -> Figure:
    """Families of grids by rules, coloured and labelled by the mean score."""
    cells = groups(scored, lambda s: f"{s[0].family.name}/{s[0].rules}")
    families = list(dict.fromkeys(e.family.name for e, _ in scored))
    rules = list(dict.fromkeys(str(e.rules) for e, _ in scored))
    values = np.array(
        [[Mean.of([a.score for _, a in cells[f"{f}/{r}"]]).value for r in rules] for f in families]
    )
    figure, axes = new_figure(9, 0.6 + 0.3 * len(families))
    axes.imshow(values, aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(rules)), rules)
    axes.set_yticks(range(len(families)), families)
    middle = (values.min() + values.max()) / 2
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value < middle else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
    return figure
