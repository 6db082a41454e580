"""The critics of meaning, one fault after the other, through the whole judgement."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spca_core.plan import Draft, PlanRequest, Task
from spca_core.ports.vocabulary import Vocabulary
from spca_core.scene import Fact, Observation
from spca_planner import planner
from spca_planner.solver.judgement import Judgement
from spca_planner.solver.process import SolverProcess
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task

DOMAIN = """(define (domain drafted)
  (:requirements :strips :typing)
  (:types cube plate table)
  (:predicates (on ?a - object ?b - object) (clear ?a - object) (holding ?c - cube) (hand_empty)
    (touched ?a - object) (done))
  (:action touch :parameters (?a - object) :precondition (hand_empty) :effect (touched ?a))
  (:action grab :parameters (?c - cube ?b - object)
    :precondition (and (hand_empty) (clear ?c) (on ?c ?b))
    :effect (and (holding ?c) (not (hand_empty)) (not (on ?c ?b)) (clear ?b)))
  (:action drop :parameters (?c - cube ?b - object)
    :precondition (and (holding ?c) (clear ?b))
    :effect (and (on ?c ?b) (hand_empty) (not (holding ?c)) (not (clear ?b)))))
"""
OBJECTS = "cube_red cube_green cube_blue - cube plate_red plate_green plate_blue - plate table - table"
INIT = """(hand_empty) (on cube_red table) (on cube_green table) (on cube_blue table)
  (clear cube_red) (clear cube_green) (clear cube_blue) (clear plate_red)"""
STACK = task("Stack the red cube on the blue cube.")


def problem(goal: str, init: str = INIT, objects: str = OBJECTS) -> str:
    return f"(define (problem p) (:domain drafted) (:objects {objects}) (:init {init}) (:goal {goal}))"


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess((DOMAIN,)) as process:
        yield process


def judge(
    solver: SolverProcess,
    goal: str = "(on cube_red cube_blue)",
    domain: str = DOMAIN,
    asked: Task = STACK,
    seen: Observation | None = None,
    timeout_s: float = 20.0,
    **texts: str,
) -> Judgement:
    request = PlanRequest(attempt="1", task=asked, observation=seen or scene(), skills=())
    draft = Draft(domain=domain, problem=problem(goal, **texts))
    return planner.judge(solver, TabletopVocabulary(), timeout_s, draft, request)


def refusal(judged: Judgement) -> tuple[str, str]:
    assert judged.rejection is not None
    assert "\n" not in judged.rejection.message
    return judged.rejection.critic, judged.rejection.message


def test_an_honest_draft_passes(solver: SolverProcess) -> None:
    judged = judge(solver)
    assert judged.rejection is None
    assert [words[0] for words in judged.steps] == ["grab", "drop"]
    assert [s.name for s in judged.schemas] == ["grab", "drop"]


def test_unparsable(solver: SolverProcess) -> None:
    critic, words = refusal(judge(solver, domain=DOMAIN.replace("(hand_empty) (not", "(hand_emty) (not")))
    assert (critic, words) == (
        "parse",
        "action drop, line 12: 'hand_emty' is not a declared predicate; did you mean 'hand_empty'?",
    )


def test_an_object_that_is_not_there(solver: SolverProcess) -> None:
    critic, words = refusal(judge(solver, objects=OBJECTS.replace("cube_red", "cube_red red_cube")))
    assert critic == "scene"
    assert "object 'red_cube' is not in the scene; did you mean 'cube_red'?" in words
    words = refusal(judge(solver, objects=OBJECTS.replace("cube_red", "cube_red cube_lime")))[1]
    assert "object 'cube_lime' is not in the scene; there are: " in words, "another colour is another thing"


def test_an_object_of_another_kind(solver: SolverProcess) -> None:
    objects = "cube_red cube_green cube_blue plate_red - cube plate_green plate_blue - plate table - table"
    assert refusal(judge(solver, objects=objects)) == (
        "scene",
        "'plate_red' is declared as a cube, but the scene shows a plate",
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("(on cube_red table)", "(on cube_red cube_green)"),
            "states (on cube_red cube_green), which the scene does not show; it shows (on cube_red table)",
        ),
        (("(on cube_red table)", ""), "lacks (on cube_red table), which the scene shows"),
        (("(clear cube_red)", ""), "lacks (clear cube_red)"),
        (("(hand_empty)", ""), "lacks (hand_empty)"),
        (("(hand_empty)", "(hand_empty) (holding cube_red)"), "states (holding cube_red)"),
        (("(hand_empty)", "(hand_empty) (touched cube_red)"), "states (touched cube_red)"),
    ],
)
def test_an_initial_state_that_is_not_the_observed_one(
    solver: SolverProcess, change: tuple[str, str], words: str
) -> None:
    critic, message = refusal(judge(solver, init=INIT.replace(*change)))
    assert critic == "scene"
    assert "(:init …) " in message and words in message


def test_what_the_scene_says_nothing_about_is_left_to_the_draft(solver: SolverProcess) -> None:
    """Whether a table or a loaded plate is "clear" is a matter of modelling."""
    assert judge(solver, init=INIT + " (clear table) (clear plate_green)").rejection is None


def test_a_held_cube_may_be_called_clear_or_not(solver: SolverProcess) -> None:
    seen = scene(held="cube_red")
    init = INIT.replace("(hand_empty) (on cube_red table)", "(holding cube_red)")
    for state in (init, init.replace("(clear cube_red)", "")):
        assert judge(solver, init=state, seen=seen).rejection is None


def test_a_goal_about_something_else(solver: SolverProcess) -> None:
    critic, words = refusal(judge(solver, goal="(on cube_green cube_blue)"))
    assert critic == "goal"
    assert "the task names cube_red, but the goal (on cube_green cube_blue) does not mention it" in words
    assert refusal(judge(solver, goal="(done)"))[0] == "goal"


def test_what_rests_on_a_thing_is_meant_by_emptying_it(solver: SolverProcess) -> None:
    seen, init = scene({"cube_red": "plate_red"}), INIT.replace("on cube_red table", "on cube_red plate_red")
    emptied, init = task("Put the red cube on the table."), init.replace("(clear plate_red)", "")
    assert judge(solver, "(clear plate_red)", asked=emptied, seen=seen, init=init).rejection is None
    elsewhere = judge(solver, "(clear plate_blue)", asked=emptied, seen=seen, init=init)
    assert "the task names cube_red" in refusal(elsewhere)[1]


def test_what_cannot_be_grasped_is_not_lifted(solver: SolverProcess) -> None:
    domain = DOMAIN.replace("?c - cube", "?c - object")
    init = INIT + " (clear plate_green) (on plate_red table)"
    lifting = judge(solver, "(on plate_red plate_green)", domain, task("Whistle."), init=init)
    assert refusal(lifting) == (
        "goal", "step 1 grab(plate_red, table) brings about (holding plate_red), which no plate can be",
    )  # fmt: skip


def test_unsolvable(solver: SolverProcess) -> None:
    critic, words = refusal(
        judge(solver, domain=DOMAIN.replace("(holding ?c) (not (hand_empty))", "(not (hand_empty))"))
    )
    assert critic == "solve"
    assert (
        "nothing can make (on cube_red cube_blue) true: (drop cube_red cube_blue) needs (holding cube_red); "
        "no action has 'holding' among its effects, and (:init …) does not state (holding cube_red)" in words
    )


@pytest.mark.parametrize(
    ("change", "goal", "words"),
    [
        (
            ("(and (on ?c ?b) (hand_empty)", "(and (hand_empty)"),
            "(on cube_red cube_blue)",
            "no action has 'on' among its effects, and (:init …) does not state (on cube_red cube_blue)",
        ),
        (
            ("drop :parameters (?c - cube ?b - object)", "drop :parameters (?c - cube ?b - plate)"),
            "(on cube_red cube_blue)",
            "no action can produce (on cube_red cube_blue): drop cannot have these arguments",
        ),
        (
            ("(and (hand_empty) (clear ?c) (on ?c ?b))", "(and (hand_empty) (clear ?c) (touched ?c) (done))"),
            "(on cube_red cube_blue)",
            "(grab cube_red cube_red) needs (done); no action has 'done' among its effects",
        ),
    ],
)
def test_why_there_is_no_plan_names_the_cause(
    solver: SolverProcess, change: tuple[str, str], goal: str, words: str
) -> None:
    critic, message = refusal(judge(solver, goal, DOMAIN.replace(*change)))
    assert critic == "solve" and words in message


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (
            "(and (touched cube_green) (on cube_red cube_blue) (touched cube_red) (on cube_blue cube_red))",
            "the goals (on cube_red cube_blue) and (on cube_blue cube_red) cannot hold together",
        ),
        (
            "(and (touched cube_green) (on cube_red cube_blue) (not (hand_empty)) (not (holding cube_blue)) "
            "(not (holding cube_green)))",
            "cannot all hold together, though any fewer of them can",
        ),
    ],
)
def test_goals_in_conflict_are_named(solver: SolverProcess, goal: str, words: str) -> None:
    critic, message = refusal(judge(solver, goal))
    assert critic == "solve" and words in message


def test_all_faults_of_a_draft_are_told_at_once(solver: SolverProcess) -> None:
    domain = DOMAIN.replace("(hand_empty) (not", "(hand_emty) (not").replace("(touched ?a))", "(tuched ?a))")
    critic, words = refusal(judge(solver, "(on cube_green cube_blue)", domain, init="(hand_empty)"))
    assert critic == "parse" and words.startswith("4 faults: (1) ")
    for part in (
        "'tuched'",
        "'hand_emty'",
        "(:init …) lacks (on cube_blue table)",
        "the task names cube_red",
    ):
        assert part in words


@pytest.mark.parametrize(
    ("action", "flaw"),
    [
        (
            "(:action stack_red_on_blue :parameters () :precondition (hand_empty) "
            ":effect (on cube_red cube_blue))",
            "it has no parameters",
        ),
        (
            "(:action stack :parameters (?a ?b - cube) :precondition () :effect (on ?a ?b))",
            "it has no preconditions",
        ),
        (
            "(:action wish :parameters (?a ?b - cube) :precondition (clear ?a) :effect (and "
            "(on ?a ?b) (touched ?b)))",
            "at once",
        ),
    ],
)
def test_one_vacuous_action_for_everything(solver: SolverProcess, action: str, flaw: str) -> None:
    domain = DOMAIN.replace("(:predicates", "(:constants cube_red cube_blue - cube)\n(:predicates").replace(
        "(:action touch", action + "(:action touch"
    )
    goal = (
        "(and (on cube_red cube_blue) (touched cube_blue))" if "wish" in action else "(on cube_red cube_blue)"
    )
    critic, words = refusal(
        judge(solver, goal, domain, objects=OBJECTS.replace("cube_red", "").replace("cube_blue", ""))
    )
    assert critic == "goal"
    assert "alone achieves the goal" in words and flaw in words


def test_putting_down_the_last_cube_is_no_wish(solver: SolverProcess) -> None:
    seen = scene(held="cube_red")
    init = INIT.replace("(hand_empty) (on cube_red table)", "(holding cube_red)")
    judged = judge(solver, "(and (on cube_red cube_blue) (hand_empty))", init=init, seen=seen)
    assert judged.rejection is None


def test_a_single_honest_action_is_no_wish(solver: SolverProcess) -> None:
    assert judge(solver, "(touched cube_red)", asked=task("Touch the red cube.")).rejection is None


def test_an_empty_plan_needs_a_goal_that_can_be_seen(solver: SolverProcess) -> None:
    stacked = scene(on={"cube_red": "cube_blue"})
    init = INIT.replace("(on cube_red table)", "(on cube_red cube_blue)").replace("(clear cube_blue)", "")
    judged = judge(solver, init=init, seen=stacked)
    assert judged.rejection is None
    assert judged.rejection is None and judged.steps == ()

    wish = "(and (on cube_red cube_blue) (done))"
    critic, words = refusal(judge(solver, wish, init=init + " (done)", seen=stacked))
    assert critic == "goal"
    assert "the plan is empty, but the scene does not show that (done) holds" in words


# --- any environment's facts


GRID = Observation(
    stamp=0.0,
    objects={"door_red": "door", "key_red": "key", "key_blue": "key", "agent": "agent"},
    facts=(Fact(predicate="locked", args=("door_red",)), Fact(predicate="carrying", args=("key_blue",))),
    sentences=(),
)


def test_facts_tell_about_their_own_kinds() -> None:
    found = Vocabulary().extensions(GRID)
    assert found["locked"].truth(("door_red",), GRID.objects) is True
    assert found["carrying"].truth(("key_red",), GRID.objects) is False
    assert found["carrying"].truth(("door_red",), GRID.objects) is None


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Put the red cube on the blue plate.", ("cube_red", "plate_blue")),
        ("Stack the red block on top of the blue box", ("cube_blue", "cube_red")),
        ("Pick up the red cube and put it on the blue plate.", ("cube_red", "plate_blue")),
        ("Touch the blue cube without touching the red cube.", ("cube_blue",)),
        ("Touch the left cube.", ("cube_green",)),
        ("Touch any cube.", ()),
        ("Put the red cube on the red plate, no, wait, on the green plate.", ("cube_red", "plate_green")),
        ("Give the red cube to the red plate, no, wait, to the green plate.", ()),
        ("Put every cube but the green one on the red plate.", ("cube_blue", "cube_red", "plate_red")),
    ],
)
def test_what_every_goal_of_a_text_is_about(text: str, symbols: tuple[str, ...]) -> None:
    assert sorted(TabletopVocabulary().required(task(text), scene())) == sorted(symbols)


def test_a_predicate_of_ones_own_beside_the_observed_one_is_not_taken_for_it(solver: SolverProcess) -> None:
    """That something has been stacked is no fact about where it is now; without `on`, it would be."""
    own = DOMAIN.replace("(done)", "(done) (stacked ?a - cube ?b - object)")
    own = own.replace("(and (on ?c ?b) (hand_empty)", "(and (on ?c ?b) (stacked ?c ?b) (hand_empty)")
    seen, goal = f"{INIT} (stacked cube_red cube_green)", "(stacked cube_red cube_blue)"
    assert judge(solver, goal, own, init=seen).rejection is None
    renamed = DOMAIN.replace("(on ?", "(stacked ?")
    told = refusal(judge(solver, goal, renamed, init=seen.replace("(on ", "(stacked ")))
    assert "(stacked cube_red cube_green), which the scene does not show" in told[1]
