"""Tables, plots and learning curves of the bench; published figures stand beside those of language models."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure

from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.plots import boxes
from spca_benchmarks.campaigns.published import cells, published
from spca_benchmarks.campaigns.statistics import Mean, Rate, groups
from spca_worldcoder.bench.rows import Learned, Spent, WorldcoderRow, WorldcoderTrial
from spca_worldcoder.bench.suites import REACT_EPISODES, suites

Trials = Sequence[Done[WorldcoderTrial, WorldcoderRow]]

_PLAIN = ("sokoban", "sokoban renamed", "UnlockPickup", "UnlockPickup renamed")
_SOKOBAN = published("WorldCoder", "§3", "Sokoban, the model", "actions")
_PUBLISHED = {("sokoban", "sokoban-2-7x7"): f"{_SOKOBAN:g} actions"}
"""Tang, Key and Ellis 2024, with GPT-4."""

_LEAST = 3
"""Seeds that a curve is worth drawing for."""


def learned_table(done: Trials) -> PageTable:
    """A row for each environment of each suite; published figures only where a model wrote the programs."""
    asked = any(one.result.usage.questions for one in done)
    heads = (
        "suite", "environment", "learned", "actions to the model [95 %]", "to the first success",
        "steps an episode", "lines", "synthesis s", "planning s", "all s",
        *(["published"] if asked else []),
    )  # fmt: skip
    rows = []
    for (suite, name), found in _by_environment(done).items():
        results = [one.result for one in found]
        actions = [one.actions_to_model for one in results]
        low, high = median_interval(actions)
        firsts = [one.first_success for one in found if one.first_success]
        rows.append(
            (
                suite, name, str(Rate.of(one.learned for one in results)),
                f"{median(actions):g} [{round(low, 1):g}, {round(high, 1):g}]",
                f"{median(firsts):g}" if firsts else "–",
                f"{median(one.steps for one in found):g}",
                f"{median(one.program_lines for one in results):g}",
                *(f"{median(v):.1f}" for v in (
                    [one.synthesis_s for one in results], [one.planning_s for one in results],
                    [one.seconds for one in results],
                )),
                *([_PUBLISHED.get((suite.split(" · ")[0], name), "–")] if asked else []),
            )
        )  # fmt: skip
    return PageTable(heads, rows)


def write_sections(done: Trials, page: Page) -> None:
    """Plots, levels, refinement, baselines."""
    found = _by_environment(done)
    if asked := groups((one for one in done if one.result.usage.questions), _label):
        page.heading("What the models took")
        page.table(
            ("suite", "trials", "questions", "tokens", "US dollars", "actions"),
            [(name, len(own), *_taken(own)) for name, own in asked.items()],
            caption="Means over the seeds, ± half of Student's 95 % interval.",
        )
        page.figure(
            cost_curves({name: [_to_the_end(one.result) for one in own] for name, own in asked.items()}),
            caption="What has been asked over actions (Fig. 5C): means over seeds, Student's 95 % intervals. "
            "Once the program is right, acting costs nothing; a model asked at every step pays for each.",
        )
        page.figure(
            _share_explained(asked),
            caption="Share of the data that the best draft explains (Fig. 4): means over seeds.",
        )
    else:
        page.text(
            "The built-in synthesizer wrote the programs. It stands in for a model and asks none, so that no "
            "published figure stands beside them."
        )
    _curves(found, page)
    named = {
        name if suite == name else f"{suite}: {name}": [one.result.actions_to_model for one in own]
        for (suite, name), own in found.items()
    }
    if named:
        page.figure(boxes(named, "actions to the model: up to the last one that it had wrong"))
    problems = [(one.trial.key, one.result.problem) for one in done if one.result.problem]
    if problems:
        page.heading("Given up")
        page.table(("trial", "why"), problems)
    if tried := groups((one for one in done if one.result.on_levels), _label):
        page.heading("Test levels of Sokoban, over actions")
        page.figure(
            solve_rates(tried),
            "Share solved with the program of then: means over seeds; as Fig. 5B of the paper.",
        )
    _levels(done, page)
    _baselines(done, page)
    reacted = any(b.react for one in done for b in one.result.baselines)
    own = [c for c in cells().values() if c.seed == "WorldCoder" and (asked or c.row == "ReAct")]
    if asked or reacted:
        rows = [(c.table, c.row, c.column, f"{c.value} {c.unit}") for c in own]
        page.table(("WorldCoder", "of", "what", "published"), rows, "Published, with GPT-4.")


def _curves(found: Mapping[tuple[str, str], Sequence[Learned]], page: Page) -> None:
    known = {
        suite: own for (suite, _), own in found.items() if suite.partition(", ")[0].split(" · ")[0] in _PLAIN
    }
    curriculum = {name: own for (suite, name), own in found.items() if suite == "curriculum"}
    alone = {name: own for (suite, name), own in found.items() if suite == "curriculum, without transfer"}
    for title, series in (
        ("Learning curves", known), ("The curriculum, with transfer (Fig. 6B)", curriculum),
        ("The curriculum, each environment from scratch (Fig. 6C)", alone),
    ):  # fmt: skip
        if drawn := {name: own for name, own in series.items() if len(own) >= _LEAST}:
            page.heading(title)
            page.figure(
                _over_actions(
                    drawn, "share of seeds with the model", lambda one, x: one.result.actions_to_model <= x
                ),
                "Seeds whose program made no mistake any more; Wilson's 95 % intervals.",
            )
            page.figure(
                _over_actions(drawn, "share of seeds that win", _won),
                "Seeds that won the last episode by then; Wilson's 95 % intervals.",
            )


def _won(one: Learned, x: int) -> bool:
    """Return whether the last episode by so many actions was won; who has learned goes on so."""
    ended = bisect_right(one.ends, x)
    return one.result.learned if x >= one.result.actions else ended > 0 and one.successes[ended - 1]


def _levels(done: Trials, page: Page) -> None:
    played = [level for one in done for level in one.result.levels if level.levels]
    if not played:
        return
    page.heading("Unseen levels of Sokoban, planned in a program and played")
    rows = []
    for name, found in groups(
        played, lambda one: f"{one.boxes} boxes, {one.size} × {one.size}, {one.program}"
    ).items():
        seconds = sorted(t for one in found for t in one.seconds)
        rate = Rate(good=sum(one.solved for one in found), total=sum(one.levels for one in found))
        rows.append((name, str(rate), rate.percent_interval, median(seconds), seconds[-1]))
    page.table(("levels", "solved", "95 %", "median s", "longest s"), rows)


def _baselines(done: Trials, page: Page) -> None:
    found = groups((b for one in done for b in one.result.baselines), lambda one: one.environment)
    if not found:
        return
    page.heading("Baselines: share of episodes solved")
    rows = []
    for name, ours in found.items():
        asked = [one.react for one in ours if one.react is not None]
        learned = [one.ppo for one in ours if one.ppo is not None]
        rows.append(
            (
                name,
                float(np.mean([one.chance for one in ours])),
                f"{np.mean([one.success for one in learned]):.2f} after {learned[0].actions}"
                if learned
                else "–",
                f"{np.mean([one.success for one in asked]):.2f}" if asked else "no model asked",
                f"{np.mean([one.usage.tokens for one in asked]):.0f}" if asked else "–",
            )
        )
    heads = ("environment", "random actions", "PPO, after actions", "ReAct")
    page.table((*heads, f"its tokens for {REACT_EPISODES} episodes"), rows)


def _to_the_end(row: WorldcoderRow) -> tuple[Spent, ...]:
    """Return what was asked, up to the last action: nothing more after the last draft."""
    actions = sum(one.result.actions for one in row.environments)
    return (*row.spent, row.spent[-1].model_copy(update={"actions": actions})) if row.spent else ()


def _share_explained(asked: Mapping[str, Trials]) -> Figure:
    """The best draft's share of the data over questions: which strategy of refinement gets further."""
    figure, axis = new_figure(6.4, 2.8)
    for name, own in asked.items():
        best = [list(accumulate((one.explained for one in trial.result.spent), max)) for trial in own]
        longest = max(map(len, best))
        padded = [[*shares, *[shares[-1]] * (longest - len(shares))] for shares in best if shares]
        axis.plot(range(1, longest + 1), np.mean(padded, axis=0), "o-", ms=3, label=name)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlim(0, None)
    axis.set(xlabel="drafts", ylabel="share of the data explained", ylim=(-0.02, 1.02))
    axis.legend(frameon=False, fontsize="small")
    return figure


def _by_environment(done: Trials) -> dict[tuple[str, str], list[Learned]]:
    found: dict[tuple[str, str], list[Learned]] = {}
    order = list(suites())
    for one in sorted(
        (one for one in done if one.trial.suite in order), key=lambda one: order.index(one.trial.suite)
    ):
        for learned in one.result.environments:
            name = learned.result.environment.removesuffix("-renamed")
            found.setdefault((_label(one), name), []).append(learned)
    return found


def _label(one: Done[WorldcoderTrial, WorldcoderRow]) -> str:
    """The suite, with the model where one writes."""
    model = Path(one.trial.model).stem
    return f"{one.trial.suite} · {model}" if model else one.trial.suite


def _taken(own: Trials) -> list[str]:
    """Questions, tokens, US dollars and actions of the trials of a suite."""
    used = [one.result.usage for one in own]
    actions = [sum(each.result.actions for each in one.result.environments) for one in own]
    columns: list[Sequence[float]] = [
        [u.questions for u in used], [u.tokens for u in used], [u.usd for u in used], actions
    ]  # fmt: skip
    return [
        f"{mean.value:.{digits}f} ± {mean.margin(digits)}"
        for mean, digits in zip(map(Mean.of, columns), (1, 0, 4, 0), strict=True)
    ]


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the median, by a bootstrap with a fixed seed."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(np.asarray(values), (1000, len(values))), axis=1)
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))


def cost_curves(series: Mapping[str, Sequence[Sequence[Spent]]]) -> Figure:
    """Over actions: questions, tokens and US dollars so far, as means over seeds with 95 % intervals."""
    figure, axes = new_figure(9.6, 2.8, columns=3)
    last = max(one.actions for found in series.values() for own in found for one in own)
    points = range(0, last + max(2, last // 10), max(1, last // 200))
    for axis, what in zip(axes, ("questions", "tokens", "usd"), strict=True):
        for name, found in series.items():
            means = [Mean.of([_spent(own, what, x) for own in found]) for x in points]
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


def _spent(own: Sequence[Spent], what: str, actions: int) -> float:
    """Return what was spent by an action."""
    return next((getattr(one, what) for one in reversed(own) if one.actions <= actions), 0.0)


def solve_rates(tried: Mapping[str, Trials]) -> Figure:
    """Over actions: the share of test levels solved; dashed, a model that is asked for every action."""
    figure, axis = new_figure(6.4, 2.8)
    last = max(actions for own in tried.values() for one in own for actions, _ in one.result.on_levels)
    points = range(0, last + max(2, last // 10))
    for name, own in tried.items():
        then = [[(0, 0.0), *one.result.on_levels] for one in own]
        means = [np.mean([max(s for s in found if s[0] <= x)[1] for found in then]) for x in points]
        axis.step(points, means, where="post", label=name)
        asked = [b.react.success for one in own for b in one.result.baselines if b.react is not None]
        if asked:
            axis.axhline(float(np.mean(asked)), ls="--", color="C7", label="ReAct")
    axis.set(xlabel="actions", ylabel="test levels solved", ylim=(-0.02, 1.02))
    axis.legend(frameon=False, fontsize="small")
    return figure


def _over_actions(
    series: Mapping[str, Sequence[Learned]], label: str, good: Callable[[Learned, int], bool]
) -> Figure:
    figure, axis = new_figure(6.4, 3.2)
    last = max(one.result.actions for found in series.values() for one in found)
    points = range(0, last + 2, max(1, last // 200))
    for name, found in series.items():
        rates = [Rate.of(good(one, x) for one in found) for x in points]
        (line,) = axis.step(
            points, [rate.value for rate in rates], where="post", label=f"{name} ({len(found)} seeds)"
        )
        low, high = zip(*(rate.interval for rate in rates), strict=True)
        axis.fill_between(points, low, high, step="post", color=line.get_color(), alpha=0.12, linewidth=0)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("actions")
    axis.set_ylabel(label)
    axis.legend(frameon=False, fontsize="small")
    return figure
