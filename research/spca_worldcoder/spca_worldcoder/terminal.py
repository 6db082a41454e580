"""`spca learn`: runs the agent and shows its progress."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.status import Status

from spca.console import notices, results, show_table
from spca.interrupt import stopping_on_interrupt
from spca_core.errors import EXIT_INTERRUPTED, EXIT_NOT_SOLVED, EXIT_SUCCESS
from spca_core.run_folder import RunFolder
from spca_core.stopping import Flag
from spca_programs.experience import Draft, TransitionLine, Usage
from spca_worldcoder.agent.agent import EpisodeResult, Listener
from spca_worldcoder.report import environments_table, write_report
from spca_worldcoder.run import LearnResult


class Progress:
    """A line that is kept up to date, and one line for each episode. A `Listener`."""

    def __init__(self, status: Status, console: Console) -> None:
        self._status, self._console = status, console
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
        used = f", {self._usage.tokens} tokens, {self._usage.cost}"
        self._status.update(
            f"{self._environment}: {self._actions} actions, {self._drafts} drafts, program {self._lines} "
            f"lines, {100 * self._right / max(1, self._actions):.0f} % of steps predicted"
            + (used if self._usage.questions else "")
        )


def learn(run: Callable[[Listener, Callable[[], bool]], tuple[RunFolder, LearnResult]]) -> int:
    """Begin a run, or go on with one (`start` and `resume` of `run.py`); returns the exit status."""
    console = notices()
    stop = Flag()
    with stopping_on_interrupt(stop.set), console.status("") as status:
        folder, result = run(Progress(status, console), stop.is_set)
    out, usage, table = results(), result.usage, environments_table(result.environments)
    out.print(
        f"{result.outcome.replace('_', ' ')} · {result.actions} actions · "
        f"{usage.tokens} tokens · {usage.cost}"
    )
    show_table(table.heads, table.shown())
    if result.problem:
        out.print(result.problem, style="yellow", soft_wrap=True)
    out.print(f"report {write_report(folder)}", soft_wrap=True)
    if result.outcome == "interrupted":
        console.print(f"interrupted; go on with: spca resume {folder.path}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return EXIT_SUCCESS if result.outcome == "learned" else EXIT_NOT_SOLVED
