"""The validators, on plans that a planner would not have made."""

import pytest

pytest.importorskip("unified_planning")

from spca_planner.solver.reading import read
from spca_planner.solver.validation import simulated, why_invalid
from spca_tabletop.plan.problem import domain, problem
from spca_testing.observations import scene

GOAL = [frozenset({("on", "cube_red", "cube_blue"), ("on", "cube_blue", "table")})]
STACKING = (("pick_up", "cube_red", "table"), ("stack_on", "cube_red", "cube_blue"))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (STACKING, ""),
        (tuple(tuple(word.upper() for word in step) for step in STACKING), ""),
        (STACKING[:1], "after the last step the goal on(cube_red, cube_blue) does not hold"),
        (
            STACKING[1:],
            "step 1, stack_on(cube_red, cube_blue): its precondition holding(cube_red) is not satisfied",
        ),
        ((STACKING[0], STACKING[0]), "step 2, pick_up(cube_red, table): its precondition"),
        ((("fly", "cube_red"),), "step 1, fly(cube_red): the domain has no action 'fly'"),
        ((("touch", "cube_pink"),), "step 1, touch(cube_pink): the problem has no object 'cube_pink'"),
        ((("touch", "cube_red", "table"),), "step 1, touch(cube_red, table): touch takes 1 argument(s)"),
        ((("place_on", "cube_red", "table"),), "step 1, place_on(cube_red, table): 'table' cannot be ?p"),
        ((), "after the last step the goal"),
    ],
)
def test_the_reason_names_step_and_condition(steps: tuple[tuple[str, ...], ...], reason: str) -> None:
    found = why_invalid(read(domain(), problem(scene(), GOAL)), steps)
    assert found.startswith(reason) if reason else found == ""
    assert reason in found


def test_a_condition_that_no_action_changes_is_named_too() -> None:
    roads = """(define (domain d) (:predicates (at ?x) (road ?x ?y)) (:action walk :parameters (?x ?y)
      :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"""
    town = "(define (problem p) (:domain d) (:objects a b) (:init (at a) (road b a)) (:goal (at b)))"
    found = why_invalid(read(roads, town), (("walk", "a", "b"),))
    assert found == "step 1, walk(a, b): its precondition road(a, b) is not satisfied"


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
    assert simulated(read(domain(), problem(scene(), GOAL)), steps)[0] == ""
    assert why_invalid(read(domain(), problem(scene(), GOAL)), STACKING) == ""


WET = """(define (domain wet) (:requirements :adl :action-costs) (:types thing)
  (:predicates (wet ?x - thing) (wrapped ?x - thing) (packed)) (:functions (total-cost) - number)
  (:action wrap :parameters (?x - thing)
    :effect (and (wrapped ?x) (increase (total-cost) 1)))
  (:action soak :parameters (?x - thing) :precondition (not (wet ?x))
    :effect (and (wet ?x) (when (and (wrapped ?x) (packed)) (not (wrapped ?x)))))
  (:action pack :parameters ()
    :precondition (forall (?x - thing) (or (wrapped ?x) (imply (wet ?x) (wrapped ?x)))) :effect (packed)))"""


def wet_things(goal: str, count: int = 20) -> str:
    names = " ".join(f"o{i}" for i in range(count))
    return f"""(define (problem p) (:domain wet) (:objects {names} - thing) (:init (wet o0) (wet o1))
      (:goal (and (packed) {goal})) (:metric minimize (total-cost)))"""


@pytest.mark.parametrize(
    ("steps", "goal", "accepted"),
    [
        (("wrap o0", "wrap o1", "pack"), "(forall (?x - thing) (imply (wet ?x) (wrapped ?x)))", True),
        (("wrap o0", "wrap o1", "pack", "wrap o2", "soak o2"), "(not (wrapped o2))", True),
        (("wrap o0", "pack"), "", False),
        (("wrap o0", "wrap o1", "pack"), "(exists (?x - thing) (and (wrapped ?x) (not (wet ?x))))", False),
    ],
)
def test_many_disjunctions_and_a_metric_without_a_start_are_judged(
    steps: tuple[str, ...], goal: str, accepted: bool
) -> None:
    """In disjunctive normal form the condition of `pack` has three to the power of twenty parts."""
    why = why_invalid(read(WET, wet_things(goal)), tuple(tuple(step.split()) for step in steps))
    assert (why == "") == accepted
    assert "TAMER" not in why
