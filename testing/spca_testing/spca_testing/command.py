"""The command line in this process: to load it anew takes longer than most of what is asked of it."""

from __future__ import annotations

import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess, run
from tempfile import NamedTemporaryFile
from unittest.mock import patch

from spca.cli import main
from spca_testing.processes import outliving


def spca(*arguments: str) -> CompletedProcess[str]:
    """Run `spca ARGUMENTS`; returns the exit status and what was said, as of a process of its own."""
    said, complained = StringIO(), StringIO()
    handler, status = signal.getsignal(signal.SIGINT), 0
    with patch.object(sys, "argv", ["spca", *arguments]), redirect_stdout(said), redirect_stderr(complained):
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            signal.signal(signal.SIGINT, handler)  # at its end a process ignores Ctrl-C
    return CompletedProcess(["spca", *arguments], status, said.getvalue(), complained.getvalue())


_INTERRUPTED = """
import os, psutil, signal, sys
from pkgutil import resolve_name
from runpy import run_module
_, called, text, times, family, *sys.argv[1:] = sys.argv
where, _, name = called.rpartition(".")
owner, seen = resolve_name(where), []
whole = getattr(owner, name)
def interrupted(*arguments, **more):
    done = whole(*arguments, **more)
    seen.extend([1] * (text in repr(arguments)))
    if len(seen) == int(times):
        seen.append(1)
        with open(family, "w") as file:
            print(*(child.pid for child in psutil.Process().children(recursive=True)), file=file)
        os.kill(os.getpid(), signal.SIGINT)
    return done
setattr(owner, name, interrupted)
run_module("spca", run_name="__main__", alter_sys=True)
"""


def interrupted(
    called: str, text: str, *arguments: str, times: int = 1
) -> tuple[CompletedProcess[str], list[int]]:
    """Run `spca ARGUMENTS` in a process of its own that gets a Ctrl-C at one point, on any machine.

    That is after the `times`th call of `called` (`module:Class.method`) whose arguments hold `text`. Returns
    what it said, and those of its processes of that moment that have outlived it.
    """
    with NamedTemporaryFile("r") as family:
        command = [sys.executable, "-c", _INTERRUPTED, called, text, str(times), family.name, *arguments]
        done = run(command, capture_output=True, text=True, check=False)
        pids = [int(word) for word in family.read().split()]
    assert pids, f"it came to no such point: {done.stdout}{done.stderr}"
    return done, outliving(pids)
