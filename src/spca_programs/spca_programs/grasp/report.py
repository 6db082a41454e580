"""The report of a GRASP benchmark: tables and plots beside the published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from spca_bench.page import Page
from spca_programs.grasp import published
from spca_programs.grasp.bench import GraspBench, GraspSummary

REPORT = "report.html"


def write_report(
    bench: GraspBench, summary: GraspSummary, rows: Sequence[dict[str, Any]], folder: Path
) -> Path:
    """Write `report.html` and `summary.json` into the folder; returns the report's path."""
    (folder / "summary.json").write_text(summary.model_dump_json(indent=2) + "\n", encoding="utf-8")
    source = f"released grids in {bench.data}" if bench.data else f"grids generated with seed {bench.seed}"
    overall = summary.overall
    page = Page(f"GRASP: {summary.policy}", f"{overall.count} environments · {source}")
    page.heading("Overall")
    page.table(
        ("", "mean score", "sd"),
        [
            (f"this run: {summary.policy}", overall.mean, overall.sd),
            *(
                (f"published: {name}", mean, "" if sd is None else sd)
                for name, (mean, sd) in published.OVERALL.items()
            ),
        ],
    )
    page.text(
        f"{summary.seconds:.1f} s of wall time in the policy, {1000 * summary.seconds / overall.count:.2f} ms an "
        "environment. Published figures are means over all 16,000 environments, of which this may be a part."
    )
    if summary.problems:
        page.heading("Environments without a plan")
        page.table(("why", "how often"), Counter(summary.problems).most_common())
    page.heading("By rules (moves, carry limit, cost of an action)")
    page.table(
        ("rules", "environments", "mean score", "sd", "greedy (published)", "beam (published)"),
        [
            (s.name, s.count, s.mean, s.sd, published.GREEDY.get(s.name, ""), published.BEAM.get(s.name, ""))
            for s in summary.by["rules"]
        ],
    )
    page.figure(_by_rules(summary))
    page.figure(_histogram(rows))
    for trait in ("energy", "obstacles", "start"):
        page.heading(f"By {trait}")
        page.table(
            (trait, "environments", "mean score", "sd"),
            [(s.name, s.count, s.mean, s.sd) for s in summary.by[trait]],
        )
    page.heading("By setting")
    page.figure(_heat_map(summary))
    return page.write(folder / REPORT)


def _by_rules(summary: GraspSummary) -> Figure:
    scores = summary.by["rules"]
    names = [s.name for s in scores]
    figure = Figure(figsize=(9, 3.2))
    axes = figure.subplots()
    place = np.arange(len(names))
    bars = {
        "greedy, published": [published.GREEDY[n] for n in names],
        summary.policy: [s.mean for s in scores],
        "beam, published": [published.BEAM[n] for n in names],
    }
    for number, (label, values) in enumerate(bars.items()):
        axes.bar(place + (number - 1) * 0.27, values, 0.25, label=label)
    axes.set_xticks(place, names)
    axes.set_ylabel("mean score")
    axes.axhline(0, color="black", linewidth=0.6)
    axes.legend()
    return figure


def _histogram(rows: Sequence[dict[str, Any]]) -> Figure:
    figure = Figure(figsize=(9, 2.6))
    axes = figure.subplots()
    axes.hist([row["score"] for row in rows], bins=[b / 2 for b in range(-13, 21)])
    axes.set_xlabel("score")
    axes.set_ylabel("environments")
    return figure


def _heat_map(summary: GraspSummary) -> Figure:
    """Families of grids by rules, coloured and labelled by the mean score."""
    cells = {tuple(s.name.split("/")): s.mean for s in summary.settings}
    families = list(dict.fromkeys(family for family, _ in cells))
    rules = list(dict.fromkeys(rule for _, rule in cells))
    values = np.array([[cells[family, rule] for rule in rules] for family in families])
    figure = Figure(figsize=(9, 0.6 + 0.3 * len(families)))
    axes = figure.subplots()
    axes.imshow(values, aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(rules)), rules)
    axes.set_yticks(range(len(families)), families)
    middle = (values.min() + values.max()) / 2
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value < middle else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
    return figure
