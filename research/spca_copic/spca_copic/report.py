"""The report of a training as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_copic.evaluation import Score
from spca_copic.recipe import TaskState
from spca_copic.run import CopicFolder
from spca_programs.plan_world import Episode

REPORT = "report.html"


def write_report(folder: CopicFolder, scores: Sequence[Score] = ()) -> Path:
    """Write `report.html`: curves, programs and their ancestry, any comparison."""
    run = folder.run
    page = Page(
        f"CoPiC: {run.world}",
        f"Programs by {run.recipe.proposer}, selector {run.recipe.selector}, seed {run.recipe.seed}",
    )
    if scores:
        page.heading("Ways to choose, on unseen cases")
        page.table(*scores_table(scores))
    for task in run.tasks:
        loaded = folder.load(task)
        if loaded is not None and loaded[0].trials:
            _task(page, loaded[0])
    return page.write(folder.path / REPORT)


def scores_table(scores: Sequence[Score]) -> PageTable:
    """A row for each way to choose, for the page and for the terminal."""
    oracle = {s.task: s for s in scores if s.policy == "oracle"}
    rows = [
        (
            s.task, s.policy + (" (best single)" if s.best_single else ""), s.episodes,
            f"{100 * s.success:.1f} %", s.score, oracle[s.task].score - s.score if s.task in oracle else "",
            s.decisions, s.actions, s.switch_interval, f"{1000 * s.selector_seconds:.1f}", f"{s.tokens:.0f}",
            s.seconds,
        )
        for s in scores
    ]  # fmt: skip
    heads = (
        "task", "policy", "cases", "solved", "score", "regret", "plans", "actions", "plans per switch",
        "ms a choice", "tokens", "s an episode",
    )  # fmt: skip
    return PageTable(heads, rows)


def _task(page: Page, state: TaskState) -> None:
    page.heading(f"Training: {state.task}")
    page.figure(_curves(state))
    page.table(
        ("trial", "solved", "held out", "score", "decisions", "plans carried out in all", "resets",
         "restores", "entropy", "tokens", "s", "programs", "new ones kept"),
        [
            (
                t.number + 1,
                f"{100 * t.success:.0f} %",
                "" if t.held_out is None else f"{100 * t.held_out:.0f} %",
                t.score,
                t.steps,
                t.use.plans,
                t.use.resets,
                t.use.restores,
                "" if t.entropy is None else t.entropy,
                t.usage.input_tokens + t.usage.output_tokens,
                f"{t.seconds:.0f}",
                ", ".join(t.programs),
                ", ".join(set(t.kept) & set(t.born)),
            )
            for t in state.trials
        ],
    )  # fmt: skip
    page.table(
        ("program", "from trial", "parents", "how", "in use", ""),
        [
            (p.id, p.trial, ", ".join(p.parents), p.remark, "yes" if p in state.programs else "",
             "best alone" if p.id == state.best_single else "")
            for p in state.all_programs
        ],
    )  # fmt: skip
    for program in state.programs:
        page.listing(f"program {program.id}", program.source)
    for episode in state.recent[-2:]:
        page.listing(
            f"episode {episode.case.name}: {'solved' if episode.success else episode.ended}", _told(episode)
        )


def _curves(state: TaskState) -> Figure:
    figure, axis = new_figure(5, 3)
    trials = [t.number + 1 for t in state.trials]
    axis.plot(trials, [100 * t.success for t in state.trials], "o-", label="while learning")
    if held_out := [100 * t.held_out for t in state.trials if t.held_out is not None]:
        axis.plot(trials, held_out, "s--", label="held out, frozen")
    axis.set(xlabel="trial", ylabel="solved, %", ylim=(-3, 103))
    axis.legend(frameon=False)
    return figure


def _told(episode: Episode) -> str:
    lines = []
    for decision in episode.decisions:
        lines.append(decision.context.text)
        for index, candidate in enumerate(decision.candidates):
            mark = "→" if index == decision.chosen else " "
            lines.append(
                f"  {mark} {decision.probabilities[index]:.2f}  {' · '.join(candidate.plan)}"
                f"  ({', '.join(candidate.programs)})"
            )
        lines += [f"      {remark.text}" for remark in decision.remarks]
    return "\n".join(lines)
