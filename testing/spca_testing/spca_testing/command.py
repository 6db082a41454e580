"""The command line in this process: to load it anew takes longer than most of what is asked of it."""

from __future__ import annotations

import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess
from unittest.mock import patch

from spca.cli import main


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
