"""The terminal: consoles for results and notices, tables; how a run goes.

Of a run, every stage and step that ends gets a line on standard error, and the one under way has a spinner;
the result goes to standard output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from spca.journal import Event
from spca_core.errors import InputError, harmless
from spca_core.paths import as_typed
from spca_core.run_folder import is_full

if TYPE_CHECKING:  # a run is under way before its result is needed
    from spca_core.result import RunResult


def results() -> Console:
    """Return the console of standard output, for what the user asked for."""
    return _Console(stderr=False)


def notices() -> Console:
    """Return the console of standard error, for progress and complaints."""
    return _Console(stderr=True)


def show_table(heads: Sequence[str], rows: Sequence[Sequence[object]], on: Console | None = None) -> None:
    """Print a table, with or without `heads`. Its first column holds names, which are never cut."""
    console = on or results()
    cells = [*([heads] if heads else []), *rows]
    widths = [max(len(str(cell)) for cell in column) for column in zip(*cells, strict=True)]
    if not console.is_terminal:
        for row in cells:
            line = "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
            console.print(line.rstrip(), markup=False)
        return
    table = Table(*(heads or [""] * len(widths)), box=None, pad_edge=False, show_header=bool(heads))
    table.columns[0].min_width = widths[0]
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
    console.print(table, markup=False)


def plainly(text: str) -> str:
    """Return what a run says, places in words, without a skill's own error's class and the call behind it."""
    from spca_core.relation import in_words  # loads them all

    return in_words(re.sub(r"(?:\w+\([^)]*\): none; )?\bRuntimeError: ", "", text))


class _Console(Console):
    """Console that texts of levels, models and files cannot steer."""

    def __init__(self, stderr: bool) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)  # `warehouse:one:` is a name
        self.soft_wrap = not self.is_terminal

    def _check_buffer(self) -> None:
        """Write what is to be written. A notice for which there is no room ends nothing."""
        try:
            super()._check_buffer()
        except OSError as error:
            if not is_full(error):
                raise
            if not self.stderr:
                raise InputError("no room is left for standard output") from error

    def on_broken_pipe(self) -> None:
        """Go on with what is under way where nobody reads its output any more, as in `spca run … | head`."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())

    def render_str(self, text: str, **options: Any) -> Text:
        """See `Console.render_str`."""
        return super().render_str(harmless(text), **options)


DOING = {
    "sense": "looking at the table",
    "plan": "drafting and checking a plan",
    "code": "making sure that every step has a skill",
    "rehearse": "trying the plan in a twin of what was seen",
    "act": "acting",
}
"""What is under way in each stage."""

_MARKS = {"done": "[green]✓[/green]", "failed": "[red]✗[/red]", "cancelled": "[yellow]■[/yellow]"}


class Progress:
    """A listener for a supervisor's events. Use as a context manager."""

    def __init__(self, console: Console | None = None, unit: str = "s") -> None:
        self.console = console or notices()
        self.typed = ""
        """What stands in the terminal already, and needs no line of its own."""
        self._unit = "s simulated" if unit == "s" else unit
        self._rejection, self._looked = "", False
        self._status = self.console.status("starting")

    def __enter__(self) -> Progress:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if show := getattr(self, f"_on_{event.kind}", None):
            show(event)

    def say(self, text: str) -> None:
        """Show what is under way now."""
        self._status.update(text)
        self._status.start()

    def pause(self) -> None:
        """Take the spinner away until the next run begins."""
        self._status.stop()

    def _on_run_started(self, event: Event) -> None:
        self._looked = event.data.get("judge") == "look"
        self._status.start()
        if event.text != self.typed:
            self.console.print(f"[bold]{escape(event.text)}[/bold]")

    def _on_stage_started(self, event: Event) -> None:
        self._status.update(f"{DOING.get(event.stage, event.stage)} …")

    def _on_stage_ended(self, event: Event) -> None:
        self.console.print(f"  [cyan]{event.stage:<5}[/cyan] {event.data['seconds']:6.2f} s")

    def _on_draft(self, event: Event) -> None:
        text = event.text.removeprefix("draft: this draft is the same as one that was rejected before: ")
        if not event.data.get("accepted") and text not in self._rejection:  # may be told in every round
            self._rejection = text
            self.console.print(f"    [yellow]draft rejected[/yellow]  {escape(event.text)}")

    def _on_doubt(self, event: Event) -> None:
        self.console.print("    [yellow]looking again[/yellow]")

    def _on_plan(self, event: Event) -> None:
        self.console.print(f"    goal  {escape(event.text)}")
        self.console.print(f"    plan  {escape(plainly(', '.join(event.data['steps'])) or 'nothing to do')}")

    def _on_code(self, event: Event) -> None:
        if event.text:
            self.console.print(f"    [yellow]code rejected[/yellow]  {escape(event.text)}")

    def _on_rehearsal(self, event: Event) -> None:
        colour = "yellow" if event.text.startswith("rejected") else "green"
        status, _, sentence = event.text.partition(": ")
        self.console.print(f"    [{colour}]{status}[/{colour}]  {escape(sentence)}")

    def _on_step(self, event: Event) -> None:
        mark = _MARKS[event.data["status"]]
        took = event.data["ended"] - event.data["started"]
        self.console.print(f"    {mark} {escape(plainly(event.text)):<44} {took:5.1f} {self._unit}")
        failure = event.data.get("failure")
        if failure and event.data["status"] == "failed":
            told = plainly(failure["message"])
            bare = told == failure["message"] and ".py, line " not in told and failure["kind"] == "error"
            line = f" (line {failure['line']} of the run's library.py)" if bare and failure["line"] else ""
            self.console.print(f"      [red]{escape(failure['kind'])}[/red]: {escape(told)}{line}")

    def _on_round_failed(self, event: Event) -> None:
        told = escape(plainly(event.text))
        self.console.print(f"  [yellow]round {event.data['round']} failed[/yellow]  {told}")

    def show_result(self, result: RunResult) -> None:
        """Print the verdict in colour, and the question that the task leaves open, if any."""
        sure = result.words == result.outcome.words and not result.refused
        colour = "red" if not (result.success or result.refused) else "green" if sure else "yellow"
        score = f"  score {result.verdict.score:.2f}" if result.outcome.judged and not self._looked else ""
        times = f"  {result.wall:.1f} s wall, {result.sim:.1f} {self._unit} to the verdict"
        self.pause()
        console = results()
        console.print(
            f"[bold {colour}]{result.words}[/]{'' if result.refused else score + times}"
            f"  {escape(plainly(result.answer or result.reason).removeprefix(result.words).lstrip(',; '))}"
        )
        if usage := [*result.usage.values()]:
            used = reduce(add, usage)
            made = f"{used.calls} call{'s' * (used.calls != 1)}"
            made += f" ({used.failed} failed or timed out)" * bool(used.failed)
            tokens = f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out"
            console.print(f"    models  {made}, {tokens}, {used.cost}, {used.seconds:.1f} s waited")
        for condition in () if result.success else result.verdict.conditions:
            mark = "[green]✓[/green]" if condition.holds else "[red]✗[/red]"
            kind, _, why = condition.reason.partition(": ")
            why = kind if why and why in result.reason else condition.reason
            console.print(f"    {mark} {escape(condition.text)}  {escape(plainly(why))}")

    def say_interrupted(self, what_next: str, command: str, folder: Path) -> None:
        """Report the interruption, and the command to go on with."""
        with suppress(ValueError):
            folder = folder.resolve().relative_to(Path.cwd())
        self.console.print(f"interrupted; {what_next}:  {as_typed(f'{command} {folder}')}", soft_wrap=True)
