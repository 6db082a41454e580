"""Runs a command and shows that it is alive: its newest line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_SILENCE = 5.0  # seconds between two lines where there is no terminal to rewrite them on


class StepFailed(Exception):
    """A set-up step went wrong; the message carries the end of its output and where the rest is."""


def run(title: str, command: Sequence[str | Path], log: Path, env: Mapping[str, str] | None = None) -> None:
    """Run `command`, its output going to `log` and, a line at a time, to the screen. Raises StepFailed."""
    started = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    line = _Line(title)
    with log.open("a", encoding="utf-8") as out:
        out.write(f"\n=== {title}: {' '.join(map(str, command))}\n")
        with subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            cwd=Path(__file__).parent,  # Python would take modules of the folder that it is called from
            env=None if env is None else dict(env),
        ) as process:
            assert process.stdout is not None
            try:
                for text in process.stdout:
                    out.write(text)
                    line.show(text.strip())
            except KeyboardInterrupt:
                process.terminate()
                raise
    if process.returncode:
        line.end(f"failed (exit status {process.returncode})")
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-25:])
        raise StepFailed(f"{title} failed; the end of {log}:\n{tail}")
    line.end(f"done in {time.monotonic() - started:.0f} s")


class _Line:
    """The line of one step: rewritten in place on a terminal, repeated every few seconds otherwise."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = time.monotonic()
        self._write(title, " …")

    def show(self, text: str) -> None:
        now = time.monotonic()
        if text and now - self._shown >= (0.1 if self._terminal else _SILENCE):
            self._shown = now
            self._write(self._title, ": " + text)

    def end(self, text: str) -> None:
        self._write(self._title, ": " + text, last=True)

    def _write(self, title: str, text: str, last: bool = False) -> None:
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + f"spca: {title}{text}"[:width] + ("\n" if last else ""))
        else:
            sys.stderr.write(f"spca: {title}{text}"[:200] + "\n")
        sys.stderr.flush()
