"""Search by Fast Downward, for programs that come with their rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spca_planner.solver.judgement import Case, Greedy
from spca_planner.solver.process import SolverProcess
from spca_worldcoder.induction.rulebook import Rulebook
from spca_worldcoder.planning.compile import compile_rules
from spca_worldcoder.planning.vocabulary import NotCompilable
from spca_worldcoder.records import Program
from spca_worldcoder.state import State


class ClassicalSearch:
    """A `Searcher` over the bundled Fast Downward (greedy search)."""

    def __init__(
        self, solver: SolverProcess, timeout_s: float = 4.0, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._solver, self._timeout_s, self._cancelled = solver, timeout_s, cancelled

    def __call__(
        self, program: Program, state: State, mission: str, actions: Sequence[str]
    ) -> list[str] | None:
        """See `Searcher`; None for a program without rules, or with rules that PDDL cannot say."""
        if not program.rules:
            return None
        try:
            domain, problem, goals = compile_rules(
                Rulebook.read(program.rules), state, mission, actions, self._cancelled
            )
        except NotCompilable:
            return None
        greedy: Greedy = "counting" if goals > 1 else "relaxation"
        judgement = self._solver.judge(
            Case(domain=domain, problem=problem, timeout_s=self._timeout_s, greedy=greedy), self._cancelled
        )
        if judgement.critic:
            return [] if not judgement.timed_out and judgement.critic == "solve" else None
        return [actions[int(step[0].partition("_")[0][1:])] for step in judgement.steps]
