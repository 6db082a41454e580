"""A learning run as one HTML page: curves, programs as they grew, the last one, episodes as moving SVG."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from matplotlib.figure import Figure

from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.statistics import groups
from spca_core.run_folder import RunFolder
from spca_programs.experience import TransitionLine
from spca_programs.state import Entity, State
from spca_worldcoder import OPTIONS
from spca_worldcoder.agent.agent import EnvironmentResult, EpisodeResult
from spca_worldcoder.options import LearnOptions
from spca_worldcoder.run import (
    DRAFTS,
    EPISODES,
    RESULT,
    RESULTS,
    TRANSITIONS,
    DraftLine,
    LearnResult,
)

_MOST_PROGRAMS = 60
_MOST_FRAMES = 80
_WINDOW = 20
_CELL = 28
_SECONDS = 0.35
_LETTER = 7
"""Pixels of the caption."""
_COLOURS = {
    "red": "#d33",
    "green": "#2a2",
    "blue": "#36c",
    "purple": "#939",
    "yellow": "#cb0",
    "grey": "#888",
}
_PALETTE = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c")


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
    page.table(*environments_table(list(folder.read_log(EnvironmentResult, RESULTS))))
    steps, drafts = (
        list(folder.read_log(TransitionLine, TRANSITIONS)),
        list(folder.read_log(DraftLine, DRAFTS)),
    )
    page.heading("Curves")
    page.figure(_curves(steps, drafts, list(folder.read_log(EpisodeResult, EPISODES))))
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


def _animations(lines: list[TransitionLine]) -> Iterator[Any]:
    """The first and the last episode of every environment."""
    for environment, own in groups(lines, lambda line: line.environment).items():
        for number in sorted({own[0].episode, own[-1].episode}):
            seen = [line.transition() for line in own if line.episode == number][:_MOST_FRAMES]
            caption = f"{environment}, episode {number}: {seen[0].mission}"
            yield Animation([seen[0].before, *(one.after for one in seen)], caption)


class Animation:
    """States one after the other. Stands where a report expects a figure: it has `savefig`."""

    def __init__(self, states: Sequence[State], caption: str) -> None:
        self._states, self._caption = states, caption

    def savefig(self, stream: BinaryIO, **_: Any) -> None:
        """Write the SVG: what never changes once, the rest frame by frame."""
        fixed = set(self._states[0]).intersection(*map(set, self._states))
        spots = [e.cell for state in self._states for e in state if e.cell is not None]
        wide = (max((x for x, _ in spots), default=0) + 1) * _CELL
        width = max(wide, _LETTER * len(self._caption))
        high = (max((y for _, y in spots), default=0) + 1) * _CELL
        length = len(self._states) * _SECONDS
        kinds = sorted({e.kind for state in self._states for e in state})
        parts = [_drawn(e, kinds) for e in sorted(fixed)]
        for i, state in enumerate(self._states):
            times = f"0;{i / len(self._states):.4f};{(i + 1) / len(self._states):.4f};1"
            shown = "hidden;visible;hidden;hidden" if i else "visible;visible;hidden;hidden"
            moving = "".join(_drawn(e, kinds) for e in state if e not in fixed)
            parts.append(
                f'<g visibility="hidden">{moving}<animate attributeName="visibility" values="{shown}" '
                f'keyTimes="{times}" dur="{length:.2f}s" calcMode="discrete" repeatCount="indefinite"/></g>'
            )
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high + 18}"'
            ' font-family="sans-serif">'
            f'<rect width="{wide}" height="{high}" fill="#f4f1ea"/>{"".join(parts)}'
            f'<text x="2" y="{high + 13}" font-size="12">{html.escape(self._caption)}</text></svg>'
        )
        stream.write(svg.encode())


def _drawn(one: Entity, kinds: Sequence[str]) -> str:
    """A square with the class, cut to six letters; directions are arrows, what is held is written below."""
    if one.x is None or one.y is None:
        return ""
    x, y = one.x * _CELL, one.y * _CELL
    values = dict(one.attributes)
    named = [_COLOURS[v] for v in values.values() if isinstance(v, str) and v in _COLOURS]
    fill = named[0] if named else _PALETTE[kinds.index(one.kind) % len(_PALETTE)]
    label = html.escape(one.kind[:6])
    shape = (
        f'<rect x="{x + 3}" y="{y + 3}" width="{_CELL - 6}" height="{_CELL - 6}" rx="4" fill="{fill}"'
        ' fill-opacity="0.75"/>'
        f'<text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" text-anchor="middle"'
        f' font-size="{min(10, 42 // max(len(label), 1))}">{label}</text>'
    )
    for value in values.values():
        if isinstance(value, Entity):
            shape += f'<text x="{x + 2}" y="{y + _CELL}" font-size="8">{html.escape(value.kind)}</text>'
        elif isinstance(value, tuple) and len(value) == 2:
            ax, ay = x + _CELL / 2 + 12 * value[0], y + _CELL / 2 + 12 * value[1]
            line = f'x1="{x + _CELL / 2}" y1="{y + _CELL / 2}" x2="{ax}" y2="{ay}"'
            shape += f'<line {line} stroke="black" stroke-width="2"/>'
    return shape
