"""A learning run as one HTML page: curves, programs as they grew, the last one, episodes to watch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from spca_bench.page import Page, PageTable
from spca_core.run_folder import RunFolder
from spca_worldcoder import OPTIONS
from spca_worldcoder.agent.agent import EnvironmentResult, EpisodeResult
from spca_worldcoder.animation import Animation
from spca_worldcoder.records import TransitionLine
from spca_worldcoder.run import (
    DRAFTS,
    EPISODES,
    RESULT,
    RESULTS,
    TRANSITIONS,
    DraftLine,
    LearnOptions,
    LearnResult,
)

_MOST_PROGRAMS = 60
_MOST_FRAMES = 80
_WINDOW = 20


def write_report(folder: RunFolder) -> Path:
    """`report.html` in the run's folder; returns its path."""
    options = folder.read(OPTIONS, LearnOptions)
    page = Page(
        f"Learning {options.worlds.world}", f"{options.synthesizer} synthesizer, seed {options.settings.seed}"
    )
    if (folder.path / RESULT).is_file():
        result = folder.read(RESULT, LearnResult)
        page.text(
            f"{result.outcome.replace('_', ' ')}: {result.actions} actions, {result.transitions} different "
            f"transitions, a program of {result.program_lines} lines. {result.problem}"
        )
    page.heading("Environments")
    table = environments_table(list(folder.lines(EnvironmentResult, RESULTS)))
    page.table(table.heads, table.rows)
    steps, drafts = list(folder.lines(TransitionLine, TRANSITIONS)), list(folder.lines(DraftLine, DRAFTS))
    page.heading("Curves")
    page.figure(_curves(steps, drafts, list(folder.lines(EpisodeResult, EPISODES))))
    page.heading("Episodes")
    for animation in _animations(steps):
        page.figure(animation)
    page.heading("Programs")
    adopted = [line for line in drafts if line.adopted]
    page.text(f"{len(drafts)} drafts, {len(adopted)} taken as the model.")
    for line in adopted[-_MOST_PROGRAMS:]:
        draft = line.draft
        title = (
            f"after {draft.actions} actions: {draft.asked}, explains {100 * draft.verdict.explained:.1f} %, "
            f"{draft.program.lines} lines"
        )
        page.listing(title, line.diff or "(no difference)")
    program = folder.read_bytes("program.py")
    page.listing("The last program", program.decode() if program else "(none)")
    return page.write(folder.path / "report.html")


def environments_table(results: Sequence[EnvironmentResult]) -> PageTable:
    """A row for each environment, for the page and for the terminal."""
    heads = ("environment", "learned", "episodes", "actions", "to the model", "lines", "synthesis s",
             "planning s", "all s")  # fmt: skip
    rows = [
        (
            e.environment, "yes" if e.learned else "no", e.episodes, e.actions, e.actions_to_model,
            e.program_lines, e.synthesis_s, e.planning_s, e.seconds,
        )
        for e in results
    ]  # fmt: skip
    return PageTable(heads, rows)


def _curves(steps: list[TransitionLine], drafts: list[DraftLine], episodes: list[EpisodeResult]) -> Figure:
    figure = Figure(figsize=(8, 5.5))
    top, bottom = figure.subplots(2, 1, sharex=True)
    ends, total = [], 0
    for one in episodes:
        total += one.steps
        ends.append(total)
    top.step(ends, [e.reward for e in episodes], where="post", marker=".")
    top.set_ylabel("return of an episode")
    right = [s.right for s in steps]
    share = [sum(right[max(0, i - _WINDOW + 1) : i + 1]) / min(i + 1, _WINDOW) for i in range(len(right))]
    bottom.plot(range(1, len(share) + 1), share, label=f"predicted right, of the last {_WINDOW} steps")
    judged = [d for d in drafts if d.draft.asked in ("first", "refine")]
    bottom.plot(
        [d.draft.actions for d in judged],
        [d.draft.verdict.explained for d in judged],
        ".",
        label="explained by drafts",
    )
    bottom.set_xlabel("actions")
    bottom.set_ylim(-0.03, 1.03)
    bottom.legend(loc="lower right", fontsize="small")
    for axes in (top, bottom):
        axes.grid(alpha=0.3)
    return figure


def _animations(lines: list[TransitionLine]) -> list[Any]:
    """The first and the last episode of every environment."""
    found: dict[str, dict[int, list[TransitionLine]]] = {}
    for line in lines:
        found.setdefault(line.environment, {}).setdefault(line.episode, []).append(line)
    animations = []
    for environment, episodes in found.items():
        for number in sorted({min(episodes), max(episodes)}):
            seen = [line.transition() for line in episodes[number][:_MOST_FRAMES]]
            caption = f"{environment}, episode {number}: {seen[0].mission}"
            animations.append(Animation([seen[0].before, *(one.after for one in seen)], caption))
    return animations
