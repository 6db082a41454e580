"""Search by Fast Downward, for programs that come with their rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spca_planner.solver.judgement import Case, Greedy
from spca_planner.solver.process import SolverProcess
from spca_worldcoder.induction.rulebook import Rulebook
from spca_worldcoder.planning.compile import action_of, compile_rules
from spca_worldcoder.planning.planner import Answer, Found
from spca_worldcoder.planning.vocabulary import NotCompilable
from spca_worldcoder.records import Program
from spca_worldcoder.state import State


class ClassicalSearch:
    """A `Searcher` over the bundled Fast Downward (greedy search)."""

    def __init__(
        self, solver: SolverProcess, timeout_s: float = 4.0, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._solver, self._timeout_s, self._cancelled = solver, timeout_s, cancelled

    def search(self, program: Program, state: State, mission: str, actions: Sequence[str]) -> Answer:
        """Actions to an end that pays; `NO_PLAN` where the planner proves that there is none.

        Raises Cancelled.
        """
        if not program.rules:
            return Found.NOT_ASKED
        try:
            domain, problem, goals = compile_rules(
                Rulebook.read(program.rules), state, mission, actions, self._cancelled
            )
        except NotCompilable:
            return Found.NOT_ASKED
        greedy: Greedy = "counting" if goals > 1 else "relaxation"
        judgement = self._solver.judge(
            Case(domain=domain, problem=problem, timeout_s=self._timeout_s, greedy=greedy), self._cancelled
        )
        if judgement.critic:
            return Found.NO_PLAN if not judgement.timed_out and judgement.critic == "solve" else Found.NOTHING
        return [action_of(step[0], actions) for step in judgement.steps]
