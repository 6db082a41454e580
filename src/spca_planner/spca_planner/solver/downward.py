"""Fast Downward: its translator in a fork of this process (already imported), its search as the same child."""

from __future__ import annotations

import ctypes
import importlib
import importlib.resources
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NoReturn

from spca_planner.solver.cost import MEMORY_BYTES
from spca_planner.solver.judgement import Words

TRANSLATOR = ("fast_downward.translate.main", "fast_downward.translate.options")
"""Modules worth importing before the first fork."""

_SHORTEST = "astar(hmax(), max_time={seconds})"
"""A cheapest plan, within `seconds`. h^max takes conditional effects and axioms, unlike LM-cut."""
_ANY = "let(hff, ff(), lazy_greedy([hff], preferred=[hff]))"
"""Any plan: what is left to try when a cheapest one cannot be had in time."""
_SHORTEST_SHARE = 0.4

# https://www.fast-downward.org/latest/documentation/exit-codes/
_FOUND = (0, 1, 2, 3)
_UNSOLVABLE = (10, 11)
_INPUT_ERROR = 31
_UNSUPPORTED = 34

_PR_SET_PDEATHSIG = 1


class Interrupted(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Solution:
    """How the search ended. `message` says why there is no plan."""

    status: Literal["solved", "unsolvable", "timeout", "refused"]
    steps: tuple[Words, ...] = ()
    message: str = ""


class Downward:
    """One run of Fast Downward on PDDL text: start it, do something else, then `wait`. Always `close` it.

    Only for processes with a single thread: the translator runs in a plain fork.
    """

    def __init__(self, domain: str, problem: str, timeout_s: float) -> None:
        self._deadline = time.monotonic() + timeout_s
        self._timeout_s = timeout_s
        self._folder = Path(tempfile.mkdtemp(prefix="spca_plan_"))
        (self._folder / "domain.pddl").write_text(domain)
        (self._folder / "problem.pddl").write_text(problem)
        self._pid = 0
        self._log: IO[bytes] | None = None
        self._start(_SHORTEST.format(seconds=max(0.05, timeout_s * _SHORTEST_SHARE)), translate=True)

    def wait(self, interrupt: int | None = None) -> Solution:
        """The solution. Raises Interrupted when the file descriptor `interrupt` becomes readable first."""
        code, log = self._join(interrupt)
        undecided = code not in (*_FOUND, *_UNSOLVABLE, _INPUT_ERROR, _UNSUPPORTED)
        if undecided and self._translated and time.monotonic() < self._deadline:
            self._start(_ANY, translate=False)
            code, log = self._join(interrupt)
        if code in _FOUND and (self._folder / "plan").exists():
            return Solution("solved", _read_plan((self._folder / "plan").read_text()))
        if code in _UNSOLVABLE:
            return Solution("unsolvable", message="Fast Downward proves that no plan exists")
        if code == _INPUT_ERROR:
            return Solution("refused", message=f"Fast Downward cannot read it: {_last_words(log)}")
        if time.monotonic() >= self._deadline or code in (12, 20, 21, 22, 23, 24):
            return Solution("timeout", message=f"no plan found within {self._timeout_s:g} s")
        return Solution("refused", message=f"Fast Downward gave up with exit code {code}: {_last_words(log)}")

    def close(self) -> None:
        """Kill what still runs and remove the files."""
        self._kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _translated(self) -> bool:
        return (self._folder / "output.sas").exists()

    def _start(self, search: str, translate: bool) -> None:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _child(self._folder, writer, search, translate, self._timeout_s)
        os.close(writer)
        self._pid, self._log = pid, os.fdopen(reader, "rb", buffering=0)

    def _join(self, interrupt: int | None) -> tuple[int, str]:
        """Exit code and output of the child; it is killed at the deadline."""
        assert self._log is not None
        output = b""
        watched = [self._log.fileno()] + ([interrupt] if interrupt is not None else [])
        while True:
            left = self._deadline - time.monotonic()
            ready = select.select(watched, [], [], max(0.0, left))[0]
            if interrupt is not None and interrupt in ready:
                self._kill()
                raise Interrupted
            chunk = self._log.read(65536) if ready else b""
            if not chunk:
                break
            output = (output + chunk)[-8192:]
        if left <= 0:
            self._kill()
            return -signal.SIGKILL, ""
        self._log.close()
        pid, self._pid = self._pid, 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode(errors="replace")

    def _kill(self) -> None:
        """The child never has children of its own: translator and search are the same process, one after the other."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0
        if self._log is not None:
            self._log.close()


def warm() -> None:
    """Import the translator, so that forks find it there."""
    for module in TRANSLATOR:
        importlib.import_module(module)


def _child(folder: Path, log: int, search: str, translate: bool, timeout_s: float) -> NoReturn:
    """In the fork: translate, then become the search program. Never returns."""
    try:
        _die_with_parent()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(folder)
        seconds = int(timeout_s) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        if translate:
            _translate()
        sys.stdout.flush()
        os.dup2(os.open("output.sas", os.O_RDONLY), 0)
        binary = _binary()
        os.execv(binary, [binary, "--search", search, "--internal-plan-file", "plan"])
    except BaseException as error:
        words = str(error) if type(error).__name__ == "ParseError" else traceback.format_exc()
        os.write(2, words.encode())
        os._exit(_INPUT_ERROR)
    os._exit(_INPUT_ERROR)


def _translate() -> None:
    options = importlib.import_module("fast_downward.translate.options")
    main = importlib.import_module("fast_downward.translate.main")
    options.set_options(["domain.pddl", "problem.pddl"])
    main.main()


def _binary() -> str:
    builds = importlib.resources.files("up_fast_downward") / "downward/builds/release/bin/downward"
    return str(builds)


def _die_with_parent() -> None:
    """Should this process be killed outright, the kernel ends its child."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _read_plan(text: str) -> tuple[Words, ...]:
    lines = [line.strip("() \t") for line in text.splitlines() if line.startswith("(")]
    return tuple(tuple(line.split()) for line in lines)


def _last_words(log: str) -> str:
    """The end of a log in one line: error messages come last."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return " ".join(lines[-3:])[-300:]
