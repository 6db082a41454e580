"""Fast Downward, in a child process.

The translator runs in a fork of this process, where it is already imported; the search replaces it in the
same child.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from spca_core.ports.engine import Solution
from spca_planner.solver.child import CANNOT_START, BoundedChild, last_words
from spca_planner.solver.judgement import Greedy

_SHORTEST = "astar({heuristic}, max_time={seconds})"
"""Search for a cheapest plan, within `seconds` of processor time."""
_LANDMARKS = "landmark_cost_partitioning(lm_rhw())"
"""Admissible heuristic that takes conditional effects, unlike LM-cut, but not axioms (disjunctive goals)."""
_MAXIMUM = "hmax()"
"""Admissible heuristic that takes axioms, too; in large tasks it expands hundreds of times more states."""
_AXIOM, _LARGE = b"begin_rule", 2_000_000
"""Mark of an axiom in a translated task, and size in bytes from which its landmarks would take too long."""
_COUNTING = "let(met, goalcount(), eager(alt([single(met), type_based([met, g()])]), max_time={seconds}))"
"""Search for any plan where several goals get in each other's way: quicker there than `_ANY`, with shorter
plans. The type-based open list (Xie et al. 2014) leads it out of dead ends.
"""
_ANY = "let(hff, ff(), lazy_greedy([hff], preferred=[hff]))"
"""Search for any plan: what is left to try when the other two have had their time."""
_BOUNDED_SHARE = 0.4
_INVARIANTS: dict[bytes, list[Any]] = {}
"""What the translator found invariant, which takes most of its time, by all that this follows from."""

# https://www.fast-downward.org/latest/documentation/exit-codes/
_FOUND = (0, 1, 2, 3)
_UNSOLVABLE = (10, 11)
_UNSUPPORTED = 34
_OUT_OF_TIME_OR_MEMORY = (12, 20, 21, 22, 23, 24)


class FastDownward:
    """The default `Engine`: it finds a cheapest plan if there is time for it."""

    name = "fast-downward"

    def warm(self) -> None:
        """Import the translator ahead of time, so that forked processes have it."""
        for module in ("main", "options"):
            importlib.import_module(f"fast_downward.translate.{module}")

    def start(self, domain: str, problem: str, timeout_s: float) -> DownwardSearch:
        """See `Engine`."""
        return DownwardSearch(domain, problem, timeout_s)


class DownwardSearch:
    """One run of Fast Downward on PDDL text: for a cheapest plan, or for the first one of a greedy search."""

    def __init__(self, domain: str, problem: str, timeout_s: float, greedy: Greedy | None = None) -> None:
        self._timeout_s = timeout_s
        self._folder = Path(tempfile.mkdtemp(prefix="spca_plan_"))
        (self._folder / "domain.pddl").write_text(domain)
        (self._folder / "problem.pddl").write_text(problem)
        search = {None: _SHORTEST, "counting": _COUNTING, "relaxation": _ANY}[greedy]
        seconds = max(0.05, timeout_s * _BOUNDED_SHARE)
        self._child = self._start(search.replace("{seconds}", str(seconds)), timeout_s, translate=True)

    def wait(self) -> Solution:
        """See `Search`."""
        code, log = self._child.join()
        if (found := self._folder / "invariants").exists():  # that were not known when the child began
            _INVARIANTS.update(pickle.loads(found.read_bytes()))
        undecided = code not in (*_FOUND, *_UNSOLVABLE, CANNOT_START, _UNSUPPORTED)
        translated = (self._folder / "output.sas").exists()
        left = self._timeout_s - self._child.spent
        if undecided and translated and left > 0 and not self._child.late:
            self._child = self._start(_ANY, left, translate=False)
            code, log = self._child.join()
        if code in _FOUND and (self._folder / "plan").exists():
            lines = (self._folder / "plan").read_text().splitlines()
            steps = tuple(tuple(line.strip("() \t").split()) for line in lines if line.startswith("("))
            return Solution(status="solved", steps=steps)
        if code in _UNSOLVABLE:
            return Solution(status="unsolvable", message="Fast Downward proves that no plan exists")
        if code == CANNOT_START:
            return Solution(status="refused", message=f"Fast Downward cannot read it: {last_words(log)}")
        if self._child.late or code in _OUT_OF_TIME_OR_MEMORY:
            message = f"no plan found within {self._timeout_s:g} s"
            return Solution(status="timeout", message=message, grounded=translated)
        message = f"Fast Downward gave up with exit code {code}: {last_words(log)}"
        return Solution(status="refused", message=message)

    def close(self) -> None:
        """See `Search`."""
        self._child.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, search: str, seconds: float, translate: bool) -> BoundedChild:
        def work() -> None:
            """Translate the task, then become the search program."""
            os.chdir(self._folder)
            if translate:
                _translate()
            sys.stdout.flush()
            os.dup2(os.open("output.sas", os.O_RDONLY), 0)
            binary = _binary()
            translated = Path("output.sas").read_bytes()
            heuristic = _MAXIMUM if _AXIOM in translated or len(translated) > _LARGE else _LANDMARKS
            chosen = search.replace("{heuristic}", heuristic)
            os.execv(binary, [binary, "--search", chosen, "--internal-plan-file", "plan"])

        return BoundedChild(work, seconds)


def _translate() -> None:
    options = importlib.import_module("fast_downward.translate.options")
    main = importlib.import_module("fast_downward.translate.main")
    finder: Any = importlib.import_module("fast_downward.translate.invariant_finder")
    find = finder.find_invariants

    def remembered(task: Any, reached: Any) -> list[Any]:
        """Invariants follow from the actions, and from which of their arguments are never the same."""
        actions = finder.BalanceChecker(task, reached).action_to_heavy_action.values()
        about = pickle.dumps(([*actions], task.predicates))
        if about not in _INVARIANTS:
            _INVARIANTS[about] = [*find(task, reached)]
            Path("invariants").write_bytes(pickle.dumps({about: _INVARIANTS[about]}))
        return _INVARIANTS[about]

    finder.find_invariants = remembered
    options.set_options(["domain.pddl", "problem.pddl"])
    main.main()


def _binary() -> str:
    """Return the search program's path without an import of its package, which would take seconds."""
    package = importlib.util.find_spec("up_fast_downward")
    assert package is not None and package.origin is not None
    return str(Path(package.origin).parent / "downward/builds/release/bin/downward")
