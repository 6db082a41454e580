"""Who is to blame for a plan that was carried out in vain, and which skills a success proves."""

from collections.abc import Sequence
from unittest.mock import Mock

import pytest
from unified_planning.engines.sequential_simulator import UPSequentialSimulator

from spca.blame import Blame, blame, distrusted
from spca.judged_by_look import JudgedByLook
from spca_core.geometry import Pose
from spca_core.plan import ActResult, Draft, Plan, Step
from spca_core.result import Condition, Outcome, Verdict
from spca_core.scene import Fact, Observation, Scene
from spca_core.skill import SkillFailure, StepReport
from spca_planner.prediction import Evidence, PddlReader, predict
from spca_planner.solver.reading import read
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import plan_of, thing

READER = PddlReader(TabletopVocabulary())
OBJECTS = {"cube_red": "cube", "plate_blue": "plate", "table": "table"}
PROBLEM = """(define (problem p) (:domain tabletop)
  (:objects cube_red - cube plate_blue - plate)
  (:init (= (total-cost) 0) (hand_empty) (clear table) (clear plate_blue) (clear cube_red)
         (on cube_red table))
  (:goal {goal}) (:metric minimize (total-cost)))"""
STEPS = plan_of("pick_up cube_red table", "place_on cube_red plate_blue").steps
WEAK = "(and (not (on cube_red table)) (hand_empty))"
UNMET = Verdict(
    outcome=Outcome.RUNNING,
    score=0.0,
    stamp=9.0,
    reason="not so: red cube touches ground",
    conditions=(Condition(text="red cube touches ground", holds=False),),
)


def plan(goal: str = WEAK, steps: tuple[Step, ...] = STEPS) -> Plan:
    return Plan(steps=steps, schemas=(), draft=Draft(domain=domain(), problem=PROBLEM.format(goal=goal)))


def seen(*facts: str, hidden: tuple[str, ...] = (), **objects: str) -> Observation:
    found = tuple(Fact(predicate=w[0], args=tuple(w[1:])) for w in map(str.split, facts))
    return Observation(stamp=5.0, objects={**OBJECTS, **objects}, facts=found, sentences=(), hidden=hidden)


HOLDING = seen("held cube_red", hidden=("plate_blue",))
RELEASED = seen(hidden=("cube_red", "plate_blue"))
ON_PLATE = seen("on cube_red plate_blue", "on plate_blue table", "clear cube_red")
ON_GROUND = seen("on cube_red ground", "on plate_blue table", "clear cube_red", ground="ground")


def acted(*looks: Observation | None, failing: str = "", steps: Sequence[Step] = STEPS) -> ActResult:
    reports = []
    for index, look in enumerate(looks):
        last = index == len(looks) - 1
        failure = SkillFailure(kind="error", message=failing) if failing and last else None
        step = steps[index]
        reports.append(
            StepReport(index=index, action=step.action, args=step.args,
                       status="failed" if failure else "done",
                       started=0.0, ended=1.0, wall_seconds=0.1, failure=failure, seen=look)
        )  # fmt: skip
    return ActResult(attempt="a", status="failed" if failing else "done", steps=tuple(reports))


def judge(result: ActResult, afterwards: Observation | None, goal: str = WEAK) -> tuple[Evidence, Blame]:
    the_plan = plan(goal)
    evidence = READER.weigh(the_plan, [s.seen for s in result.steps], afterwards)
    return evidence, blame(the_plan, result, UNMET, evidence, afterwards)


def test_a_plan_s_facts_are_those_of_unified_planning() -> None:
    the_plan = plan()
    problem = read(the_plan.draft.domain, the_plan.draft.problem)
    simulator = UPSequentialSimulator(problem, error_on_failed_checks=False)
    state = simulator.get_initial_state()
    prediction = predict(the_plan)
    for step, expected in zip(the_plan.steps, prediction.states, strict=True):
        action = problem.action(step.action)
        state = simulator.apply(state, action, [problem.object(a) for a in step.args])
        for fluent in problem.initial_values:
            if fluent.type.is_bool_type():
                atom = (fluent.fluent().name, *map(str, fluent.args))
                assert (atom in expected) == state.get_value(fluent).is_true(), atom
    assert prediction.effects[0][("on", "cube_red", "table")] is False


def test_when_all_came_as_planned_the_goal_or_the_domain_is_wrong() -> None:
    """The poisoning story begins here: the coder was told "red cube touches ground", and obeyed."""
    evidence, found = judge(acted(HOLDING, RELEASED), ON_PLATE)
    assert (evidence.goal, evidence.contradicted, found.suspects) == (True, (), ())
    assert "the goal is wrong" in found.plan_failure and "ground" not in found.skill_failure
    assert found.execution.steps[1] == "2. place_on(cube_red, plate_blue): done"
    assert "(on cube_red plate_blue)" in found.execution.predicted
    both = "(and (on cube_red plate_blue) (on cube_red table))"
    _, found = judge(acted(HOLDING, RELEASED), ON_PLATE, goal=both)
    assert found.suspects == () and "(on cube_red table) was not seen to hold" in found.plan_failure


def test_a_step_that_fails_where_it_cannot_begin_is_the_plans_fault() -> None:
    """Seen on the way: the cube is somewhere else. No author of `pick_up` can help that."""
    steps = (Step(action="touch", args=("plate_blue",)), STEPS[0])
    the_plan = plan(steps=steps)
    for look, suspects in ((ON_PLATE, ()), (seen("on cube_red table", "clear cube_red"), ("pick_up",))):
        result = acted(look, None, failing="no grasp", steps=steps)
        evidence = READER.weigh(the_plan, [look, None], None)
        found = blame(the_plan, result, UNMET, evidence, None)
        assert found.suspects == suspects
        assert (
            "it needs (on cube_red table), which was seen before it not to be so" in found.plan_failure
        ) == (not suspects)


@pytest.mark.parametrize(
    ("kind", "before", "told"),
    [
        ("no_place", HOLDING, "the plan must choose another place"),
        ("empty_hand", None, "the plan lacks one"),
        ("empty_hand", HOLDING, ""),
        ("error", HOLDING, ""),
    ],
)
def test_a_step_without_room_or_anything_held_is_the_plans_fault(
    kind: str, before: Observation | None, told: str
) -> None:
    result = acted(before, None, failing="no spot")
    failed = result.steps[1].model_copy(update={"failure": SkillFailure(kind=kind, message="no spot")})
    result = result.model_copy(update={"steps": (result.steps[0], failed)})
    _, found = judge(result, None)
    assert found.suspects == (() if told else ("place_on",)) and told in found.plan_failure


def test_a_step_whose_effect_is_missing_is_to_blame() -> None:
    evidence, found = judge(acted(HOLDING, RELEASED), ON_GROUND, goal="(on cube_red plate_blue)")
    assert (evidence.contradicted, evidence.goal, found.suspects) == ((1,), False, ("place_on",))
    assert (
        "place_on(cube_red, plate_blue) ended without an error, but what it should bring about was seen not "
        "to hold: (on cube_red plate_blue)" in found.skill_failure
    )
    assert "red cube touches ground" not in found.skill_failure, "no condition of the referee"
    assert "red cube touches ground" in found.plan_failure


def test_what_passes_is_looked_for_in_time() -> None:
    """Nothing is held at the end, but something was after the first step; unseen objects prove nothing."""
    evidence, _ = judge(acted(HOLDING, RELEASED), ON_PLATE)
    assert ("holding", "cube_red") in [literal.atom for literal in evidence.steps[0].confirmed]
    nothing_held, found = judge(acted(RELEASED, RELEASED), ON_PLATE)
    assert nothing_held.contradicted == (0,) and found.suspects == ("pick_up",)
    blind, _ = judge(acted(None, None), None)
    assert blind.contradicted == () and blind.goal is None
    assert all(not step.confirmed for step in blind.steps)


def settled(goal: str, failing: str, *facts: str) -> Verdict:
    """What a look says of the goal after a step that failed."""
    table = Mock()
    table.settle.return_value = table.verdict.return_value = UNMET
    table.sense.return_value = seen(*facts, "on plate_blue table")
    table.act.return_value = acted(HOLDING, RELEASED, failing=failing)
    judged = JudgedByLook(table, READER)
    judged.act("a", plan(goal), "")
    return judged.settle()


@pytest.mark.parametrize(
    ("goal", "leans", "outcome"),
    [
        ("(on cube_red plate_blue)", False, Outcome.SUCCESS),
        ("(on cube_red plate_blue)", True, Outcome.RUNNING),
        ("(not (on cube_red plate_blue))", True, Outcome.RUNNING),
    ],
)
def test_what_leans_on_a_plate_is_told_neither_as_on_it_nor_as_off_it(
    goal: str, leans: bool, outcome: Outcome
) -> None:
    facts = "on cube_red plate_blue", *["on cube_red table"] * leans
    assert settled(goal, "the cube is not well on the plate", *facts).outcome is outcome


def test_a_failed_step_is_to_blame_and_not_the_first_for_what_a_later_one_undoes() -> None:
    """A cube that is put on a plate's rim stands on the table as well, whatever the domain says of that."""
    _, found = judge(acted(HOLDING, None, failing="it slipped"), None)
    assert found.suspects == ("place_on",)
    assert "it slipped" in found.skill_failure and "ground" not in found.skill_failure
    leaning = seen("on cube_red plate_blue", "on cube_red table", "on plate_blue table", "clear cube_red")
    evidence, _ = judge(acted(HOLDING, RELEASED), leaning)
    assert ("on", "cube_red", "table") in [literal.atom for literal in evidence.steps[0].confirmed]
    assert evidence.contradicted == ()


@pytest.mark.parametrize(
    ("afterwards", "written", "suspects"),
    [
        (HOLDING, (), ()),
        (HOLDING, ("place_on",), ("place_on",)),
        (seen("on plate_blue table", "clear plate_blue", "on cube_red table"), (), ("place_on",)),
    ],
)
def test_a_step_that_is_stopped_speaks_against_what_is_new_or_half_done(
    afterwards: Observation, written: tuple[str, ...], suspects: tuple[str, ...]
) -> None:
    """It is stopped before the skill has let go where the plan wants it, or after it has let go elsewhere."""
    done = acted(HOLDING, None)
    stopped = done.steps[1].model_copy(update={"status": "cancelled"})
    result = done.model_copy(update={"steps": (done.steps[0], stopped), "status": "cancelled"})
    forbidden = UNMET.model_copy(update={"outcome": Outcome.FAIL, "reason": "red cube touches blue plate"})
    evidence = READER.weigh(plan(), [s.seen for s in result.steps], afterwards)
    found = blame(plan(), result, forbidden, evidence, afterwards, None, written)
    assert found.suspects == suspects
    assert "referee: red cube touches blue plate" in found.plan_failure
    assert "touches" not in found.skill_failure


def test_where_nothing_shows_the_effect_the_referee_s_word_counts() -> None:
    """Nobody sees a touch: the skill that was to bring it about may have missed."""
    touch = Step(action="touch", args=("cube_red",))
    the_plan = plan("(touched cube_red)", (touch,))
    look = seen("on cube_red table", "clear cube_red")
    evidence = READER.weigh(the_plan, [None], look)
    found = blame(the_plan, acted(None, steps=(touch,)), UNMET, evidence, look)
    assert evidence.goal is None and found.suspects == ("touch",)
    assert "(touched cube_red), which nothing can show" in found.skill_failure
    assert "red cube touches ground" not in found.skill_failure, "no condition of the referee"


@pytest.mark.parametrize(
    ("looks", "afterwards", "refused"),
    [
        ((HOLDING, RELEASED), ON_PLATE, set()),
        ((HOLDING, RELEASED), ON_GROUND, {"place_on"}),
        ((HOLDING,), HOLDING, {"place_on"}),  # it did not run
    ],
)
def test_a_success_proves_only_what_was_seen(
    looks: Sequence[Observation], afterwards: Observation, refused: set[str]
) -> None:
    result = acted(*looks)
    evidence = READER.weigh(plan(), [s.seen for s in result.steps], afterwards)
    assert set(distrusted(plan(), result, evidence)) == refused


@pytest.mark.parametrize(("x", "refused"), [(0.5, {"pick_up"}), (0.8, set())])
def test_what_somebody_else_moved_far_away_is_no_reason_if_rehearsed(x: float, refused: set[str]) -> None:
    looks = []
    for look, y in ((ON_PLATE, 0.0), (HOLDING, 0.1), (RELEASED, 0.1)):
        places = {"cube_red": (0.45, 0.0, 0.42), "cube_blue": (x, y, 0.42)}
        things = tuple(thing(name, Pose(position=at)) for name, at in places.items())
        table = Scene(stamp=1.0, objects=things, relations=(), sentences=())
        looks.append(look.model_copy(update={"scene": table}))
    evidence = READER.weigh(plan(), looks[1:], ON_PLATE, looks[0])
    result = acted(*looks[1:])
    assert set(distrusted(plan(), result, evidence)) == {"pick_up"}
    assert set(distrusted(plan(), result, evidence, rehearsed=True)) == refused
    found = blame(plan(), result, UNMET, evidence, ON_PLATE)
    assert found.suspects == ("pick_up",) and "the step is not about that" in found.skill_failure
