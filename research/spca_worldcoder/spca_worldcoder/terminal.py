"""`spca learn`: runs the agent and shows its progress."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.live import Live
from rich.table import Table

from spca.console import notices, results, show_table
from spca.interrupt import stopping_on_interrupt
from spca_core.errors import EXIT_INTERRUPTED, EXIT_NOT_SOLVED, EXIT_SUCCESS
from spca_core.run_folder import RunFolder
from spca_core.stopping import Flag
from spca_worldcoder.agent.agent import EpisodeResult, Listener
from spca_worldcoder.records import Draft, TransitionLine, Usage
from spca_worldcoder.report import environments_table, write_report
from spca_worldcoder.run import LearnResult


class Progress:
    """A line that is kept up to date, and one line for each episode. A `Listener`."""

    def __init__(self, live: Live, console: Console) -> None:
        self._live, self._console = live, console
        self._actions = self._drafts = self._lines = self._right = 0
        self._environment = ""
        self._usage = Usage()

    def step(self, line: TransitionLine) -> None:
        """Count."""
        self._actions += 1
        self._right += line.right
        self._environment = f"{line.environment}, episode {line.episode}"
        self._show()

    def draft(self, draft: Draft, adopted: bool) -> None:
        """Count."""
        self._drafts += 1
        self._usage = draft.usage
        if adopted:
            self._lines = draft.program.lines
        self._show()

    def episode(self, result: EpisodeResult) -> None:
        """One line."""
        mark = "[green]✓[/green]" if result.success else "[yellow]–[/yellow]"
        self._console.print(
            f"  {mark} {result.environment} {result.episode}: {result.steps} steps, return "
            f"{result.reward:g}  [dim]{result.mission}[/dim]"
        )

    def _show(self) -> None:
        table = Table.grid(padding=(0, 2))
        share = self._right / max(1, self._actions)
        table.add_row(
            self._environment, f"{self._actions} actions", f"{self._drafts} drafts",
            f"program {self._lines} lines",
            f"{100 * share:.0f} % of steps predicted",
            *([f"{self._usage.tokens} tokens", f"{self._usage.chat.cost_usd:.2f} US dollars"]
              if self._usage.questions else []),
        )  # fmt: skip
        self._live.update(table)


def learn(run: Callable[[Listener, Callable[[], bool]], tuple[RunFolder, LearnResult]]) -> int:
    """Begin a run, or go on with one (`start` and `resume` of `run.py`); returns the exit status."""
    console = notices()
    stop = Flag()
    with stopping_on_interrupt(stop.set), Live(console=console, refresh_per_second=4, transient=True) as live:
        folder, result = run(Progress(live, console), stop.is_set)
    out, usage, table = results(), result.usage, environments_table(result.environments)
    out.print(
        f"{result.outcome.replace('_', ' ')} · {result.actions} actions · "
        f"{usage.tokens} tokens · {usage.chat.cost_usd:.2f} US dollars"
    )
    show_table(table.heads, table.shown())
    if result.problem:
        out.print(result.problem, style="yellow", soft_wrap=True)
    out.print(f"report {write_report(folder)}", soft_wrap=True)
    if result.outcome == "interrupted":
        console.print(f"interrupted; go on with: spca resume {folder.path}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return EXIT_SUCCESS if result.outcome == "learned" else EXIT_NOT_SOLVED
