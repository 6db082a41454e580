"""`spca run`, `spca resume` and `spca report`: a run from its start to its report, including failures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from spca.console import Progress, notices, results
from spca.journal import Event
from spca.kits import kit_of
from spca.runs import RESULT, Run
from spca_core.errors import EXIT_INTERRUPTED, Cancelled, InputError, Lost, SpcaError
from spca_core.options import RunOptions
from spca_core.paths import RUNS, as_typed
from spca_core.result import Ending
from spca_core.run_folder import MANIFEST, STATE, RunFolder, is_full
from spca_core.validation import YAML_FILES


def begun(options: RunOptions, out: Path | None = None) -> Run:
    """Begin a run in a new folder, with warnings about its level. Raises InputError for bad input."""
    run = Run.new(options, out)
    if run.options.level.endswith(YAML_FILES):  # the levels that come with spca have no findings, by test
        for warning in kit_of(run.options.level).examine(run.options.level, run.options.world).warnings:
            notices().print(f"[yellow]warning: {escape(warning)}[/yellow]", soft_wrap=True)
    return run


def newest_run(*others: str) -> Path:
    """Return the folder of the newest run: one with a manifest, or with one of the files `others`.

    Raises InputError when there is none.
    """
    if not (found := sorted(path for file in (MANIFEST, *others) for path in RUNS.glob(f"*/{file}"))):
        raise InputError("there are no runs yet", where=str(RUNS), hint="`spca run stack_01` makes one")
    return found[-1].parent


def write_report(path: Path) -> Path:
    """Write the report and the video of a run again; return the report's path."""
    return _document(Run.of(path), notices())


def follow(run: Run) -> int:
    """Have a run advance to its end, show how it goes, and write the report; return the exit status."""
    folder = run.files
    with Progress(unit=kit_of(run.options.level).time_unit) as progress:

        def judged(event: Event) -> None:
            if event.kind == "run_ended":  # what was recorded is still being written
                progress.show_result(Run(run.options, folder).result)

        try:
            result = run.advance(progress, judged)
            if result.outcome is Ending.CANCELLED:  # a report would take half of the stop
                raise Cancelled(result.reason)
        except (InputError, FileExistsError, IsADirectoryError, NotADirectoryError):
            if not run.resumed and not any((folder.path / name).exists() for name in (STATE, RESULT)):
                shutil.rmtree(folder.path, ignore_errors=True)
            raise
        except (Cancelled, KeyboardInterrupt):
            if not (folder.path / MANIFEST).exists():  # nothing says yet what was to be run
                shutil.rmtree(folder.path)
                raise KeyboardInterrupt from None
            progress.say_interrupted("go on with", "resume", folder.path)
            return EXIT_INTERRUPTED
        except Exception as error:
            if is_full(error):
                raise _full(folder, ended=(folder.path / RESULT).is_file()) from error
            run.options = run.options.model_copy(update={"video": False})
            _document(run, progress.console)
            said = f"{type(error).__name__}: {error}; see the run folder: {folder.path}"
            raise (Lost if isinstance(error, Lost) else SpcaError)(said) from error

        def reported(report: Path) -> None:
            progress.pause()
            results().print(f"  report  {report}", soft_wrap=True)

        progress.say("writing the report …")
        folder.on_video = lambda drawn, total: progress.say(f"drawing the video, {drawn} of {total}")
        try:
            _document(run, progress.console, reported)
        except KeyboardInterrupt:
            progress.say_interrupted("make report and video with", "report", folder.path)
            return EXIT_INTERRUPTED
    return result.exit_status


def _document(run: Run, console: Console, reported: Callable[[Path], None] = lambda report: None) -> Path:
    try:
        return run.document(lambda text: console.print(f"  [yellow]{escape(text)}[/yellow]"), reported)
    except OSError as error:
        run.files.check()
        if not is_full(error):
            raise
        raise _full(run.files, ended=True) from error


def _full(folder: RunFolder, ended: bool) -> InputError:
    """Return the error for a full disk, with what to do: a run that has ended cannot be resumed."""
    what, command = ("make the report", "report") if ended else ("go on", "resume")
    again = as_typed(f"{command} {folder.path}")
    return InputError("the disk is full", f"{folder.path}", f"make room, then {what} with: {again}")
