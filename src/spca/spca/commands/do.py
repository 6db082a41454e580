"""`spca do`: a sentence instead of a level, or a conversation over one table that stays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spca.commands import LEVELS
from spca.commands.options import OVER_ROS, takes, transport_of

if TYPE_CHECKING:
    from spca.progress import Progress
    from spca.runs import Run
    from spca.sessions import Session
    from spca_core.plan import Plan

_PROMPT, _ASKED = "say> ", "answer, or say something else> "
_LAST = ("quit", "exit", "bye")


app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS,
    epilog='Examples:  spca do "put the red cube on the blue plate" · spca do --preset shuffled · '
    "spca do < sentences.txt",
)
@takes(
    "world", "preset", "seed", "proposer", "llm", "robot", "view", "rate", "video",
    proposer="auto", video=False,
)  # fmt: skip
def do(
    sentence: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to do; without one, sentences are read until the input ends.", show_default=False
        ),
    ] = None,
    *,
    wanted: dict[str, Any],
    ros: Annotated[bool, typer.Option("--ros", help=OVER_ROS)] = False,
    transport: Annotated[str, typer.Option(hidden=True)] = "",
    ask: Annotated[bool, typer.Option("--ask", help="Show each plan and ask before the arm moves.")] = False,
    out: Annotated[Path | None, typer.Option(help="The run's folder, for a single sentence.")] = None,
) -> None:
    """Do what a sentence says, on a table without a level; a look afterwards judges whether it is done.

    Without a sentence, a conversation: tasks, questions such as "what do you see?" and "why?".
    Exit status 0 if everything was seen to hold, 1 if not, 2 bad input, 130 interrupted.
    """
    import sys

    from spca.api import session
    from spca.progress import Progress
    from spca_core.errors import InputError

    if out is not None and not sentence:
        raise InputError("--out", hint="is for a single sentence: give one")
    with Progress() as progress:
        progress.say("laying the table …")
        wanted["transport"] = transport_of(ros, transport)
        on_page = wanted["view"] == "web"
        approve = _asked(progress) if ask and not on_page else None
        table = session(on_event=progress, approve=approve, report=False, **wanted)
        with table:
            typed, said = sys.stdin.isatty(), " ".join(sentence or ())
            if table.page is not None:
                table.page.ask(ask)
                done = converse_on_page(
                    table, progress, partial(_carry_out, table, progress, said, out) if said else None
                )
            elif sentence:
                done = _carry_out(table, progress, said, out)
                while typed and out is None and table.asks:
                    if not (line := _read(progress, typed, _ASKED)) or line in _LAST:
                        break
                    done = _carry_out(table, progress, line, None)
            else:
                done = _converse(table, progress, typed)
    raise typer.Exit(0 if done else 1)


def converse_on_page(
    table: Session,
    progress: Progress,
    first: Callable[[], bool] | None = None,
    ended: Callable[[], bool] = lambda: False,
) -> bool:
    """Do what comes first, then what is typed on the page, until Ctrl-C or `ended`.

    Returns whether the first was done.
    """
    from spca.terminal import notices
    from spca_core.errors import SpcaError

    page, done = table.page, True
    assert page is not None

    def attempted(order: Callable[[], bool]) -> bool:
        try:
            return order()
        except SpcaError as error:
            _answer(table, progress, str(error))
        except KeyboardInterrupt:  # the arm stands, and the page stays
            pass
        return False

    if first:
        page.await_viewer()
        done = attempted(first)
    progress.pause()
    notices().print("  the page stays; Ctrl-C ends")
    with suppress(KeyboardInterrupt):
        while line := page.read(ended):
            attempted(partial(_carry_out, table, progress, line, None))
    return done


def _converse(table: Session, progress: Progress, typed: bool) -> bool:
    """Read sentences until the input ends; return whether all tasks were done."""
    from spca.dialogue import HELP
    from spca.terminal import results
    from spca_core.errors import SpcaError

    progress.pause()
    if typed:
        results().print(HELP)
        _remember_lines()
    done = True
    while (line := _read(progress, typed, _ASKED if table.asks else _PROMPT)) is not None:
        if not line or line.startswith("#"):
            continue
        if line in _LAST:
            break
        if not typed:
            results().print(f"{_PROMPT}{line}", markup=False)
        try:
            done &= _carry_out(table, progress, line, None)
        except SpcaError as error:
            results().print(f"  {error}", markup=False)
            done = False
        except KeyboardInterrupt:
            if not typed:  # nobody is there to say what to do instead
                raise
            done = False
    return done


def _carry_out(table: Session, progress: Progress, sentence: str, out: Path | None) -> bool:
    """Answer a question, or do what is said; return whether that is done."""
    if (answer := table.ask(sentence)) is not None:
        _answer(table, progress, answer)
        return True
    return show(table, progress, table.do(sentence, out), out is not None)


def show(table: Session, progress: Progress, run: Run, kept: bool) -> bool:
    """Show how a run has ended, and write its report; returns whether it is done."""
    from spca.interrupt import STOPPED
    from spca.run_command import write_report
    from spca.terminal import results

    progress.show_result(run.result)  # before the report is written, which takes longer than most tasks
    if kept or not run.result.outcome.refused:
        results().print(f"  report  {write_report(run.folder)}", soft_wrap=True)
        if table.page is not None:
            table.page.say("report", run=len(table.runs))
    if run.result.reason == STOPPED:
        raise KeyboardInterrupt
    return run.result.success


def _answer(table: Session, progress: Progress, text: str) -> None:
    from spca.terminal import results

    progress.pause()
    results().print(f"  {text}", markup=False)
    if table.page is not None:
        table.page.say(text)


def _asked(progress: Progress) -> Callable[[Plan, str], bool]:
    def approve(plan: Plan, goal: str) -> bool:
        answer = _read(progress, True, f"{len(plan.steps)} steps. Carry them out? [Y/n] ")
        return answer is not None and answer.lower() in ("", "y", "yes")

    return approve


def _remember_lines() -> None:
    """Make lines editable, and those of earlier sessions available again."""
    import atexit
    import readline

    from spca_core.paths import state_folder

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
    import sys

    progress.pause()
    try:
        if typed:
            return input(prompt).strip()
        return line.strip() if (line := sys.stdin.readline()) else None
    except KeyboardInterrupt:
        print()
        return ""
    except EOFError:
        print()
        return None
