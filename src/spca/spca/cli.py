"""The command line: `spca COMMAND`. The commands themselves are in `spca.commands`."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from contextlib import suppress
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR, EPIPE
from typing import Annotated

import typer

from spca import __version__
from spca.commands import CommandsByPanel, mount
from spca_core.errors import EXIT_BAD_INPUT, EXIT_BROKEN, EXIT_INTERRUPTED, InputError, SpcaError, one_line
from spca_core.run_folder import is_full

_UNWRITTEN = EEXIST, EISDIR, ENOTDIR, ENAMETOOLONG, ELOOP, EACCES, EPIPE  # the last: `spca levels | head`


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spca {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def make_app(asked: str = "") -> typer.Typer:
    """Make the command line; that of the command `asked` for alone where possible, which is quicker."""
    app = typer.Typer(
        name="spca",
        cls=CommandsByPanel,
        help="Sense–Plan–Code–Act for tabletop manipulation: models propose, deterministic critics decide.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        epilog=(
            "Exit status: 0 success · 1 not solved · 2 bad usage or input · 3 something broke · "
            "130 interrupted"
        ),
    )
    app.callback()(_options)
    mount(app, asked)
    return app


def main() -> None:
    """Run the command line; errors become one line and an exit status."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # they are for the programmers of the libraries
    if (said := "".join([*sys.argv, os.getcwd()])) != said.encode(errors="replace").decode():
        _fail("no name or text of this command, nor this folder's, may be other than UTF-8", EXIT_BAD_INPUT)
    try:
        status = make_app(*sys.argv[1:2])(standalone_mode=False, prog_name="spca")
        if not sys.stdout.closed:  # as `spca mcp` leaves it
            sys.stdout.flush()  # what is buffered and finds no room is to be said
    except InputError as error:
        _fail(str(error), EXIT_BAD_INPUT)
    except SpcaError as error:
        _fail(str(error), error.exit_status)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", EXIT_INTERRUPTED)
    except Exception as error:
        if isinstance(error, OSError) and (error.errno in _UNWRITTEN or is_full(error)):
            where = error.filename2 or error.filename or "standard output, or a file"
            _fail(f"cannot write ({where}): {error.strerror}", EXIT_BAD_INPUT)
        if (show := getattr(error, "show", None)) is not None:  # click's own usage errors
            show()
            sys.exit(EXIT_BAD_INPUT)
        if os.environ.get("SPCA_TRACEBACK"):
            traceback.print_exc()
        _fail(f"{type(error).__name__}: {error} (SPCA_TRACEBACK=1 shows where)", EXIT_BROKEN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left is the end of the process
    sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):  # there is no room for it
        typer.secho(f"spca: {one_line(message)}", fg="red", err=True)
    sys.exit(status)
