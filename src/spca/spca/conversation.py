"""A conversation over a session's table, in a terminal or on its page."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from spca.console import Progress, notices, results
from spca.dialogue import HELP
from spca.interrupt import STOPPED
from spca.run_command import write_report
from spca.runs import Run
from spca.sessions import Session
from spca.stages import Approve
from spca_core.errors import SpcaError
from spca_core.options import RunOptions
from spca_core.paths import state_folder
from spca_core.plan import Plan
from spca_core.stopping import Stop, never

_PROMPT, _ASKED = "say> ", "answer, or say something else> "
_LAST = ("quit", "exit", "bye")


class Conversation:
    """What is said about a table, carried out and answered; `progress` is where it is shown."""

    def __init__(self, table: Session, progress: Progress) -> None:
        self._table, self._progress, self._typed = table, progress, sys.stdin.isatty()
        if table.program is not None:  # which is spoken to over ROS as well
            table.program.talk = self

    def on_page(self, first: Callable[[], bool] | None = None, ended: Stop = never) -> bool:
        """Do what comes first, then what is typed on the page, until Ctrl-C or `ended`.

        Returns whether the first was done.
        """
        page, done = self._table.page, True
        assert page is not None
        if first:
            page.await_viewer()
            done = self._attempted(first)
        elif self._table.program is None and self._attempted(lambda: bool(self._table.look())):
            page.say("This is the table. What is to be done?")  # a real arm moves when it is told to only
        self._progress.pause()
        notices().print("  the page stays; Ctrl-C ends")
        with suppress(KeyboardInterrupt):
            while line := page.read(ended):
                if line in _LAST:
                    self._answer("The page stays; Ctrl-C in the terminal ends it.")
                else:
                    self._attempted(partial(self.carry_out, line))
        return done

    def once(self, sentence: str, out: Path | None) -> bool:
        """Carry out one sentence, and what is answered to what it leaves open; return whether it is done."""
        done = self.carry_out(sentence, out)
        while self._typed and out is None and self._table.asks:
            if not (line := _read(self._progress, True, _ASKED)) or line in _LAST:
                break
            done = self.carry_out(line)
        return done

    def in_terminal(self) -> bool:
        """Read sentences until the input ends; return whether all tasks were done, each with its answers."""
        self._progress.pause()
        if self._typed:
            results().print(HELP)
            _remember_lines()
        failed = left_open = False
        asked = self._table.asks
        while (line := _read(self._progress, self._typed, _ASKED if asked else _PROMPT)) is not None:
            if not line or line.startswith("#"):
                continue
            if line in _LAST:
                break
            if not self._typed:
                results().print(f"{_PROMPT}{line}", markup=False)
            self._progress.typed = line
            before = len(self._table.runs)
            done = self._attempted(partial(self.carry_out, line))
            asked = self._table.asks
            if runs := self._table.runs[before:]:
                # A sentence that was asked about has failed unless its answer spells it out.
                failed |= left_open and all(run.events[0].text == line for run in runs)
                left_open = asked and not done
            failed |= not (done or (runs and left_open))
        return not (failed or left_open)

    def _attempted(self, order: Callable[[], bool]) -> bool:
        try:
            return order()
        except SpcaError as error:
            self._answer(str(error))
        except KeyboardInterrupt:  # the arm stands, and something else may be said
            if not self._typed and self._table.page is None:  # by nobody
                raise
        return False

    def carry_out(self, sentence: str, out: Path | None = None) -> bool:
        """Answer a question, or do what is said; return whether that is done."""
        said = self.reply(sentence, out)
        return isinstance(said, str) or is_done(said)

    def reply(self, sentence: str, out: Path | None = None) -> Run | str:
        """Answer a question, or do what is said; return the answer (or a model's), or the run, once shown."""
        if (answer := self._table.ask(sentence)) is not None:
            self._answer(answer)
            return answer
        run = self._shown(self._table.do(sentence, out), kept=out is not None)
        return run.result.answer or run

    def level(self, out: Path | None = None, options: RunOptions | None = None) -> Run:
        """Carry out the session's level, or that of the options; return the run when it has been shown."""
        return self._shown(self._table.do_level(out, options), kept=True)

    def _shown(self, run: Run, kept: bool) -> Run:
        # Before the report is written, which takes longer than most tasks.
        self._progress.show_result(run.result)
        if kept or not run.result.refused:
            results().print(f"  report  {write_report(run.folder)}", soft_wrap=True)
            if self._table.page is not None:
                self._table.page.say("report", run=len(self._table.runs))
        return run

    def _answer(self, text: str) -> None:
        self._progress.pause()
        results().print(f"  {text}", markup=False)
        if self._table.page is not None:
            self._table.page.say(text)


def is_done(run: Run) -> bool:
    """Return whether a run has done what was asked for. Raises KeyboardInterrupt if it was stopped."""
    if run.result.reason == STOPPED:
        raise KeyboardInterrupt
    return run.result.success


def approving(progress: Progress) -> Approve:
    """Return a function that asks at the terminal whether a plan is to be carried out."""

    def approve(plan: Plan, goal: str) -> bool:
        count = len(plan.steps)
        asked = f"{count} steps. Carry them out? [Y/n] " if count != 1 else "1 step. Carry it out? [Y/n] "
        while (answer := _read(progress, True, asked)) and answer.lower() not in ("y", "yes", "n", "no"):
            pass
        return answer is not None and answer.lower() not in ("n", "no")

    return approve


def _remember_lines() -> None:
    """Make lines editable, and those of earlier sessions available again."""
    import readline  # it may write to the terminal as soon as it is loaded

    history = state_folder() / "do_history"
    with suppress(OSError):
        readline.read_history_file(history)

    def write() -> None:
        with suppress(OSError):
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)

    atexit.register(write)


def _read(progress: Progress, typed: bool, prompt: str) -> str | None:
    """Read a line; return an empty one after Ctrl-C, None at the end."""
    progress.pause()
    try:
        if typed:
            return input(prompt).strip()
        return line.strip() if (line := sys.stdin.readline()) else None
    except (KeyboardInterrupt, EOFError) as ended:
        print()
        return None if isinstance(ended, EOFError) else ""
