"""The validators, on plans that a planner would not have made."""

from pathlib import Path

import pytest
import yaml

from spca_planner.solver.reading import read
from spca_planner.solver.validation import why_invalid
from spca_tabletop.plan.problem import domain, problem
from spca_testing.observations import scene

PLANS = yaml.safe_load(Path(__file__).with_name("plans.yaml").read_text())
GOAL = [frozenset({("on", "cube_red", "cube_blue"), ("on", "cube_blue", "table")})]
STACKING = (("pick_up", "cube_red", "table"), ("stack_on", "cube_red", "cube_blue"))


def steps_of(plan: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(step.split()) for step in plan.split(", ") if step)


@pytest.mark.parametrize(("plan", "reason"), PLANS["stacking"].items())
def test_the_reason_names_step_and_condition(plan: str, reason: str) -> None:
    found = why_invalid(read(domain(), problem(scene(), GOAL)), steps_of(plan))
    assert found.startswith(reason) if reason else found == ""


def test_tamer_checks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should UP's validator be wrong, TAMER still says no: here it is made to accept everything."""
    from unified_planning.engines.plan_validator import SequentialPlanValidator
    from unified_planning.engines.results import ValidationResultStatus

    original = SequentialPlanValidator.validate

    def credulous(self: SequentialPlanValidator, *args: object) -> object:
        result = original(self, *args)
        result.status = ValidationResultStatus.VALID
        return result

    monkeypatch.setattr(SequentialPlanValidator, "validate", credulous)
    steps = (*STACKING, ("pick_up", "cube_red", "cube_blue"))
    assert "TAMER rejects" in why_invalid(read(domain(), problem(scene(), GOAL)), steps)
    assert why_invalid(read(domain(), problem(scene(), GOAL)), STACKING) == ""


WET = Path(__file__).with_name("wet.pddl").read_text()


def wet_things(goal: str, count: int = 20) -> str:
    names = " ".join(f"o{i}" for i in range(count))
    return f"""(define (problem p) (:domain wet) (:objects {names} - thing) (:init (wet o0) (wet o1))
      (:goal (and (packed) {goal})) (:metric minimize (total-cost)))"""


@pytest.mark.parametrize(("plan", "goal", "accepted"), PLANS["packing"])
def test_many_disjunctions_and_a_metric_without_a_start_are_judged(
    plan: str, goal: str, accepted: bool
) -> None:
    """In disjunctive normal form the condition of `pack` has three to the power of twenty parts."""
    why = why_invalid(read(WET, wet_things(goal)), steps_of(plan))
    assert (why == "") == accepted
    assert "TAMER" not in why
