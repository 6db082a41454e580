"""The planning engine `ripple`: breadth first, so that it finds a plan with the fewest steps."""

from __future__ import annotations

from collections import deque
from importlib import import_module

from spca_core.ports.engine import Solution
from spca_planner.solver.child import ForkedSearch


class RippleEngine:
    """See `spca_core.ports.engine.Engine`. It takes what Unified Planning's simulator takes."""

    name = "ripple"

    def warm(self) -> None:
        """Import the simulator, so that the forks find it there."""
        import_module("unified_planning.shortcuts")

    def start(self, domain: str, problem: str, timeout_s: float) -> ForkedSearch:
        """A search in a fork of this process, which ends when its time is up."""
        return ForkedSearch(self.name, lambda: solve(domain, problem), timeout_s)


def solve(domain: str, problem: str) -> Solution:
    """The shortest plan. Raises PddlError for PDDL that cannot be read."""
    from unified_planning.shortcuts import SequentialSimulator

    from spca_planner.solver.reading import read

    task = read(domain, problem)
    with SequentialSimulator(task) as simulator:
        fluents = list(task.initial_values)
        start = simulator.get_initial_state()
        waiting, known = deque([(start, ())]), set()
        while waiting:
            state, steps = waiting.popleft()
            facts = tuple(state.get_value(fluent) for fluent in fluents)
            if facts in known:
                continue
            known.add(facts)
            if simulator.is_goal(state):
                return Solution(status="solved", steps=steps)
            for action, given in simulator.get_applicable_actions(state):
                step = (action.name, *map(str, given))
                waiting.append((simulator.apply(state, action, given), (*steps, step)))
    return Solution(status="unsolvable", message=f"none of {len(known)} states meets the goal")
