"""Any engine that is registered with Unified Planning's factory, by name: `pyperplan`, `tamer`, …"""

from __future__ import annotations

import os

from unified_planning.engines import CompilationKind
from unified_planning.engines.mixins import OneshotPlannerMixin
from unified_planning.engines.results import LogLevel, PlanGenerationResultStatus
from unified_planning.environment import get_environment
from unified_planning.model import Problem
from unified_planning.plans import SequentialPlan

from spca_core.ports.engine import Solution
from spca_planner.solver.child import ForkedSearch, last_words
from spca_planner.solver.reading import read

_COMPILED_AWAY = (
    (CompilationKind.QUANTIFIERS_REMOVING, ("EXISTENTIAL_CONDITIONS", "UNIVERSAL_CONDITIONS",
                                            "FORALL_EFFECTS")),
    (CompilationKind.CONDITIONAL_EFFECTS_REMOVING, ("CONDITIONAL_EFFECTS",)),
    (CompilationKind.DISJUNCTIVE_CONDITIONS_REMOVING, ("DISJUNCTIVE_CONDITIONS",)),
    (CompilationKind.NEGATIVE_CONDITIONS_REMOVING, ("NEGATIVE_CONDITIONS",)),
)  # fmt: skip
"""Pairs (compilation, features) that Unified Planning can compile away for engines without support."""

_SOLVED = (PlanGenerationResultStatus.SOLVED_SATISFICING, PlanGenerationResultStatus.SOLVED_OPTIMALLY)
_UNSOLVABLE = {
    PlanGenerationResultStatus.UNSOLVABLE_PROVEN: "proves that no plan exists",
    PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY: "finds no plan, without a proof that there is none",
}


def oneshot_engines() -> list[str]:
    """Return the engines of Unified Planning that are installed here and can make plans.

    Meta-engines are left out.
    """
    factory = get_environment().factory
    return [n for n in factory.engines if "[" not in n and factory.engine(n).is_oneshot_planner()]


class FactoryEngine:
    """An `Engine` of Unified Planning.

    What it does not support is compiled away first, as far as that is possible. Conditional effects multiply
    the actions then: an engine without them plans for two or three things on the table, not for more.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def warm(self) -> None:
        """Import the engine ahead of time."""
        get_environment().factory.engine(self.name)

    def start(self, domain: str, problem: str, timeout_s: float) -> ForkedSearch:
        """See `Engine`."""

        def solve() -> Solution:
            os.environ.pop("PYTHONSAFEPATH", None)  # Fast Downward's driver imports what lies beside it
            return _solve(self.name, read(domain, problem))

        return ForkedSearch(self.name, solve, timeout_s)


def _solve(name: str, problem: Problem) -> Solution:
    environment = problem.environment
    engine: OneshotPlannerMixin = environment.factory.engine(name)()
    supported = engine.supported_kind().features
    if "ACTIONS_COST" not in supported:
        problem.clear_quality_metrics()  # a plan need not be the cheapest
    removable = {feature for _, features in _COMPILED_AWAY for feature in features}
    there = problem.kind
    if lacking := there.features - supported - removable:
        words = ", ".join(sorted(f.lower().replace("_", " ") for f in lacking))
        return Solution(status="refused", message=f"{name} does not support {words}")
    undo = []
    for kind, features in _COMPILED_AWAY:
        if (there.features - supported) & set(features):
            with environment.factory.Compiler(problem_kind=there, compilation_kind=kind) as compiler:
                result = compiler.compile(problem, kind)
            problem, there = result.problem, result.problem.kind
            undo.append(result.map_back_action_instance)
    result = engine.solve(problem)
    if result.status in _SOLVED:
        plan = result.plan
        assert isinstance(plan, SequentialPlan)
        for back in reversed(undo):
            plan = plan.replace_action_instances(back)
        steps = tuple((s.action.name, *map(str, s.actual_parameters)) for s in plan.actions)
        return Solution(status="solved", steps=steps)
    if said := _UNSOLVABLE.get(result.status):
        errors = "".join(log.message for log in result.log_messages or () if log.level is LogLevel.ERROR)
        if errors:  # an engine that failed proves nothing
            return Solution(status="refused", message=f"{name} failed: {last_words(errors)}")
        return Solution(status="unsolvable", message=f"{name} {said}")
    ended = result.status.name.lower().replace("_", " ")
    return Solution(status="refused", message=f"{name} ended with: {ended}")
