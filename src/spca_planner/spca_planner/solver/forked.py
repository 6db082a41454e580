"""A search in Python, in a fork of the solver's process: what an `Engine` may start."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from spca_core.ports.engine import Solution
from spca_planner.solver.child import OUT_OF_MEMORY, BoundedChild, last_words


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
        """In the child."""
        warnings.simplefilter("ignore")
        os.chdir(self._folder)
        self._answer.write_text(self._solve().model_dump_json())
