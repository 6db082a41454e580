"""The report of a MiniGrid benchmark, beside the published figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from matplotlib.figure import Figure

from spca_bench.page import Page
from spca_minigrid import published
from spca_minigrid.bench import Group, MinigridBench, MinigridSummary, TrialRow

REPORT = "report.html"


def write_report(
    bench: MinigridBench, summary: MinigridSummary, rows: Sequence[TrialRow], folder: Path
) -> Path:
    """Write `report.html` and `summary.json` into the folder; returns the report's path."""
    (folder / "summary.json").write_text(summary.model_dump_json(indent=2) + "\n", encoding="utf-8")
    overall = summary.overall
    seeds = f"seeds {bench.first_seed}-{bench.first_seed + bench.seeds - 1}"
    page = Page("MiniGrid curriculum", f"{overall.levels} levels · {seeds} · proposer {bench.proposer}")
    page.heading("Success by category")
    groups = [*summary.categories, *([summary.nine] if summary.nine else []), overall]
    page.table(
        ("category", "levels", "trials", "success", "%", "published", "primitives", "× shortest", "rounds", "s"),
        [
            (
                g.name, g.levels, g.trials, g.successes, round(100 * g.rate, 1), _published(g.name), g.primitives,
                "" if g.ratio is None else g.ratio, g.rounds, g.seconds,
            )
            for g in groups
        ],
    )  # fmt: skip
    page.text(
        "Primitives, their ratio to the shortest way of someone who knows the whole world, and wall seconds are medians; "
        f"rounds are means. The published run had one seed a level: {published.OVERALL[0]} of {published.OVERALL[1]} "
        f"levels in all, {published.ROUNDS} rounds, {published.MEDIAN_MINUTES} minutes a level in the median and "
        f"{published.MEAN_MINUTES} in the mean, {published.USD} US dollars of tokens."
    )
    in_view = {
        "their whole world in view at the first look": summary.in_view_ratios,
        "all that the mission names in view at the first look": summary.named_in_view_ratios,
    }
    for what, ratios in in_view.items():
        if ratios:
            page.text(
                f"{len(ratios)} successes had {what}: {mean(ratios):.2f} times the shortest way on average, "
                f"{max(ratios):.2f} at most."
            )
    page.figure(_success_plot(summary))
    page.heading("Success by seed")
    page.table(("seed", "success", "trials"), _by_seed(rows))
    failures = [r for r in rows if not r.success]
    page.heading(f"Trials that failed ({len(failures)})")
    page.table(
        ("level", "seed", "mission", "ending", "step", "why"),
        [(r.level, r.seed, r.mission, r.ended.ending.value, r.ended.action, r.ended.why) for r in failures],
    )
    page.heading("Planner, coder, time")
    page.table(
        ("", "sum"),
        [
            *((f"planner drafts, {mode}", n) for mode, n in _sums(rows, "planner").items()),
            *((f"code drafts, {kind}", n) for kind, n in _sums(rows, "coder").items()),
            *((f"seconds, {stage}", s) for stage, s in _sums(rows, "stage_seconds").items()),
            ("tokens", sum(r.tokens for r in rows)),
            ("US dollars", float(sum(r.usd for r in rows))),
        ],
    )
    page.heading("By level")
    page.table(
        ("level", "category", "success", "primitives by seed", "shortest by seed", "published learning"),
        [
            _level_row(name, [r for r in rows if r.level == name])
            for name in dict.fromkeys(r.level for r in rows)
        ],
    )
    return page.write(folder / REPORT)


def _published(name: str) -> str:
    good, tried = published.SUCCESS.get(name, (None, None))
    return "" if good is None else f"{good}/{tried}"


def _by_seed(rows: Sequence[TrialRow]) -> list[tuple[int, int, int]]:
    seeds = sorted({r.seed for r in rows})
    return [(s, sum(r.success for r in rows if r.seed == s), sum(r.seed == s for r in rows)) for s in seeds]


def _sums(rows: Sequence[TrialRow], field: str) -> dict[str, float]:
    sums: dict[str, float] = {}
    for row in rows:
        for key, value in getattr(row, field).items():
            sums[key] = sums.get(key, 0) + value
    return sums


def _level_row(name: str, rows: Sequence[TrialRow]) -> tuple[str, ...]:
    episodes, after_500 = published.LEARNING.get(name, ("", 0))
    learning = f"{episodes} episodes to 99 %; {after_500} % after 500" if episodes else ""
    return (
        name,
        rows[0].category,
        f"{sum(r.success for r in rows)}/{len(rows)}",
        " ".join(f"{r.primitives}{'' if r.success else '✗'}" for r in rows),
        " ".join("-" if r.reference.steps is None else str(r.reference.steps) for r in rows),
        learning,
    )


def _success_plot(summary: MinigridSummary) -> Figure:
    groups: list[Group] = list(reversed(summary.categories))
    figure = Figure(figsize=(8, 0.8 + 0.42 * len(groups)))
    axes = figure.subplots()
    names = [g.name for g in groups]
    axes.barh([i + 0.2 for i in range(len(names))], [100 * g.rate for g in groups], 0.38, label="this run")
    tried = [published.SUCCESS.get(n, (0, 0)) for n in names]
    shares = [100 * good / of if of else 0 for good, of in tried]
    axes.barh([i - 0.2 for i in range(len(names))], shares, 0.38, label="published", color="#b8c0cc")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("% of trials with success")
    axes.legend(loc="lower left")
    return figure
