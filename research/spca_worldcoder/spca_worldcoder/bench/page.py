"""Tables and plots of the bench, with the published figures beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from spca_bench.bench import Done
from spca_bench.page import Page, Table, new_figure
from spca_bench.plots import boxes
from spca_bench.statistics import Mean, Rate, groups
from spca_worldcoder.bench.curves import drawable, model_curves, success_curves
from spca_worldcoder.bench.rows import Learned, WorldcoderRow, WorldcoderTrial
from spca_worldcoder.bench.suites import Q_ACTIONS, SUITES

Trials = Sequence[Done[WorldcoderTrial, WorldcoderRow]]

_PLAIN = ("sokoban", "sokoban renamed", "UnlockPickup", "UnlockPickup renamed")
_PUBLISHED = {
    ("sokoban", "sokoban-2-7x7"): "50 actions",
    ("UnlockPickup", "UnlockPickup"): "≤ 100 actions; PPO not in 3·10⁸",
    ("UnlockPickup, without optimism", "UnlockPickup"): "not learned",
    ("curriculum", "UnlockPickup"): "few episodes",
    ("curriculum, rewards guessed once", "Unlock"): "not learned",
}
"""Tang, Key and Ellis 2024, with GPT-4."""


def learned_table(done: Trials) -> Table:
    """A row for each environment of each suite."""
    heads = (
        "suite", "environment", "learned", "actions to the model [95 %]", "to the first success",
        "steps an episode", "shortest", "lines", "synthesis s", "planning s", "all s", "published",
    )  # fmt: skip
    rows = []
    for (suite, name), found in _by_environment(done).items():
        results = [one.result for one in found]
        actions = [one.actions_to_model for one in results]
        low, high = median_interval(actions)
        firsts = [one.first_success for one in found if one.first_success]
        shortest = [one.shortest for one in found if one.shortest is not None]
        rows.append(
            (
                suite, name, str(Rate.of(one.learned for one in results)),
                f"{median(actions):g} [{low:g}, {high:g}]",
                f"{median(firsts):g}" if firsts else "–",
                f"{median(one.steps for one in found):g}",
                f"{median(shortest):g}" if len(shortest) == len(found) else "–",
                f"{median(one.program_lines for one in results):g}",
                *(f"{median(v):.1f}" for v in (
                    [one.synthesis_s for one in results], [one.planning_s for one in results],
                    [one.seconds for one in results],
                )),
                _PUBLISHED.get((suite, name), "–"),
            )
        )  # fmt: skip
    return Table(heads, rows)


def write_sections(done: Trials, page: Page) -> None:
    """Plots, levels, refinement, baselines."""
    found = _by_environment(done)
    if asked := [one for one in done if one.result.usage.questions]:
        page.heading("What the model took")
        page.table(
            ("trial", "questions", "tokens", "US dollars", "actions"),
            [
                (
                    one.trial.key, one.result.usage.questions, one.result.usage.tokens,
                    f"{one.result.usage.chat.cost_usd:.4f}",
                    sum(each.result.actions for each in one.result.environments),
                )
                for one in asked
            ],
        )  # fmt: skip
    else:
        page.text("The built-in synthesizer wrote the programs: a stand-in for a model, which asks none.")
    _curves(found, page)
    _renamed(found, page)
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
    _levels(done, page)
    _refining(done, page)
    _baselines(done, page)
    page.text(
        "Published figures: Tang, Key and Ellis 2024, with GPT-4. Sokoban's model in 50 actions, levels with "
        "5 and more boxes not solved; ReAct solves 15 ± 8 % of basic levels; PPO and DreamerV3 need more "
        "than 10⁶ steps for two boxes, and PPO does not learn UnlockPickup in 3·10⁸."
    )


def _curves(found: Mapping[tuple[str, str], Sequence[Learned]], page: Page) -> None:
    known = {suite: own for (suite, _), own in found.items() if suite in _PLAIN}
    curriculum = {name: own for (suite, name), own in found.items() if suite == "curriculum"}
    for title, series in (("Learning curves", known), ("Learning curves of the curriculum", curriculum)):
        if drawable(series):
            page.heading(title)
            page.text("Bands are 95 % intervals (Wilson) over seeds.")
            page.figure(model_curves(series))
            page.figure(success_curves(series))


def _renamed(found: Mapping[tuple[str, str], Sequence[Learned]], page: Page) -> None:
    rows = []
    for (suite, name), own in found.items():
        named = found.get((suite.removesuffix(" renamed"), name), ())
        if suite.endswith(" renamed") and named:
            ours, theirs = (median(o.result.actions_to_model for o in some) for some in (own, named))
            rows.append((name, theirs, ours, f"{ours / theirs:.2f}" if theirs else "–", "≤ 1.5"))
    if rows:
        page.heading("Nonsense names, actions permuted")
        page.text("Medians of the actions to the model. What learns from words alone would fail here.")
        page.table(("environment", "with its names", "with nonsense names", "ratio", "wanted"), rows)


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


def _refining(done: Trials, page: Page) -> None:
    curves = groups((one for one in done if one.result.explained), lambda one: one.trial.suite)
    if not curves:
        return
    page.heading("Refining: share of the data explained by the best draft")
    page.text(
        "Writer: the built-in synthesizer, made to see only a few experiences for each draft and to forget "
        "some, as a language model would. World: DoorKey-5x5. Bands are 95 % intervals of the mean."
    )
    figure, axis = new_figure(6.4, 3.0)
    rows = []
    for suite, found in curves.items():
        shares = [one.result.explained for one in found]
        longest = max(map(len, shares))
        padded = np.array([(*s, *[s[-1]] * (longest - len(s))) for s in shares])
        drafts, means = range(1, longest + 1), [Mean.of(column) for column in padded.T.tolist()]
        middle = np.array([mean.value for mean in means])
        margin = np.array([mean.half_width for mean in means])
        (line,) = axis.plot(drafts, middle, label=suite.partition(", ")[2])
        axis.fill_between(drafts, middle - margin, middle + margin, color=line.get_color(), alpha=0.12)
        fits = Rate.of(s[-1] == 1 for s in shares)
        rows.append(
            (suite.partition(", ")[2], str(fits), median(map(len, shares)), f"{padded[:, -1].mean():.4f}")
        )
    axis.set_xlabel("drafts")
    axis.set_ylabel("share explained, mean")
    axis.legend(frameon=False)
    page.figure(figure)
    page.table(("strategy", "fits", "drafts, median", "share explained at the end, mean"), rows)


def _baselines(done: Trials, page: Page) -> None:
    found = groups((b for one in done for b in one.result.baselines), lambda one: one.environment)
    if not found:
        return
    page.heading("Baselines: share of episodes solved")
    rows = []
    for name, ours in found.items():
        asked = [one.react for one in ours if one.react is not None]
        rows.append(
            (
                name,
                float(np.mean([one.chance for one in ours])),
                float(np.mean([one.q_table for one in ours])),
                f"{np.mean([one.success for one in asked]):.2f}" if asked else "no model asked",
                f"{np.mean([one.usage.tokens for one in asked]):.0f}" if asked else "–",
            )
        )
    page.table(
        (
            "environment",
            "random actions",
            f"tabular Q-learning, {Q_ACTIONS} actions",
            "ReAct",
            "its tokens for 2 episodes",
        ),
        rows,
    )


def _by_environment(done: Trials) -> dict[tuple[str, str], list[Learned]]:
    found: dict[tuple[str, str], list[Learned]] = {}
    for suite in SUITES:
        for one in done:
            if one.trial.suite == suite:
                for learned in one.result.environments:
                    name = learned.result.environment.removesuffix("-renamed")
                    found.setdefault((suite, name), []).append(learned)
    return found


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the median, by a bootstrap with a fixed seed."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(np.asarray(values), (1000, len(values))), axis=1)
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))
