"""A fork of this process that computes something within limits of time and memory.

It can be killed at any time.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

from spca_core.ports.engine import Solution
from spca_core.processes import PATIENCE
from spca_core.processes.wire import limit
from spca_planner.pddl.sexpr import PddlError
from spca_planner.solver.judgement import MEMORY_BYTES

CANNOT_START = 31
"""Exit status of a child that failed before it could become what it should."""
OUT_OF_MEMORY = 22
"""Exit status of a child that ran out of memory, the same as Fast Downward's own."""
_PR_SET_PDEATHSIG = 1


class BoundedChild:
    """One child process, started at once.

    Only for processes with a single thread. `end` it when it is no longer needed.

    `work` runs in the child; what it raises is the end of its output. `seconds` of processor time are the
    most that it may take, and `PATIENCE` times as many of wall time.
    """

    def __init__(self, work: Callable[[], None], seconds: float) -> None:
        self._deadline = time.monotonic() + PATIENCE * seconds
        self.spent = 0.0
        """Processor time in seconds that the child took, once it has ended."""
        self.late = False
        """The child was ended because its time was up."""
        reader, writer = os.pipe()
        # The interpreter ignores what a signal's handler raises in a callback of a fork; `logging` has some.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._pid = os.fork()
        if self._pid == 0:
            os.close(reader)
            _run(work, writer, seconds, mask)
        os.close(writer)
        self._log: IO[bytes] = os.fdopen(reader, "rb", buffering=0)
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        except BaseException:  # of the handler of a signal that came in between
            self.end()
            raise

    def join(self) -> tuple[int, str]:
        """Return the exit status and the end of the output; kill the child when its time is up."""
        output = b""
        while True:
            if not select.select([self._log], [], [], max(0.0, self._deadline - time.monotonic()))[0]:
                self.end()
                self.late = True
                return -signal.SIGKILL, ""
            chunk = self._log.read(65536)
            if not chunk:
                break
            output = (output + chunk)[-8192:]
        pid, self._pid = self._pid, 0
        _, ended, usage = os.wait4(pid, 0)
        status = os.waitstatus_to_exitcode(ended)
        self.spent = usage.ru_utime + usage.ru_stime
        self.late = status in (-signal.SIGPROF, -signal.SIGXCPU)
        self._log.close()
        return status, output.decode(errors="replace")

    def end(self) -> None:
        """Kill the child, and whatever it has started, if it still runs."""
        if self._pid:
            import psutil

            offspring = psutil.Process(self._pid).children(recursive=True)
            os.kill(self._pid, signal.SIGKILL)
            for process in offspring:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            os.waitpid(self._pid, 0)
            self._pid = 0
        self._log.close()


def _run(work: Callable[[], None], log: int, seconds: float, mask: set[int | signal.Signals]) -> NoReturn:
    status = CANNOT_START
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # should the parent be killed outright
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 0.001))
        limit(resource.RLIMIT_CPU, int(seconds) + 2)  # whoever else it starts has a timer of its own
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit(resource.RLIMIT_AS, mapped + MEMORY_BYTES)  # a fork begins with all that its parent has mapped
        work()
        status = 0
    except MemoryError:
        status = OUT_OF_MEMORY
    except BaseException as error:
        plain = isinstance(error, PddlError) or type(error).__name__ == "ParseError"  # the translator's
        words = str(error) if plain else "".join(traceback.format_exception_only(error))
        os.write(2, words.encode(errors="replace"))
    finally:
        sys.stdout.flush()
        os._exit(status)


def last_words(log: str) -> str:
    """Return the end of a log in one line: error messages come last."""
    return " ".join([line.strip() for line in log.splitlines() if line.strip()][-3:])[-300:]


class ForkedSearch:
    """A `Search` that is a function, in a folder of its own, which is its working folder.

    Args:
        engine: The engine's name, for messages.
        solve: What is called in the child. What it raises is said to be a refusal.
        timeout_s: The processor time that it may take.
    """

    def __init__(self, engine: str, solve: Callable[[], Solution], timeout_s: float) -> None:
        self._engine, self._solve, self._timeout_s = engine, solve, timeout_s
        self._folder = Path(tempfile.mkdtemp(prefix="spca_plan_"))
        self._answer = self._folder / "answer.json"
        self._child = BoundedChild(self._work, timeout_s)

    def wait(self) -> Solution:
        """See `Search`."""
        code, log = self._child.join()
        if code == 0:
            return Solution.model_validate_json(self._answer.read_text())
        if code < 0 or code == OUT_OF_MEMORY:
            return Solution(status="timeout", message=f"no plan found within {self._timeout_s:g} s")
        return Solution(status="refused", message=f"{self._engine} cannot solve it: {last_words(log)}")

    def close(self) -> None:
        """See `Search`."""
        self._child.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _work(self) -> None:
        """Solve the task and write down the answer; this runs in the child."""
        warnings.simplefilter("ignore")
        os.chdir(self._folder)
        self._answer.write_text(self._solve().model_dump_json())
