"""The critics of meaning, one fault after the other, through the whole judgement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from spca_core.plan import Draft, PlanRequest, Task
from spca_core.scene import Observation
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


HELD = scene(held="cube_red")
IN_HAND = INIT.replace("(hand_empty) (on cube_red table)", "(holding cube_red)")
STACKED = scene(on={"cube_red": "cube_blue"})
ON_BLUE = INIT.replace("(on cube_red table)", "(on cube_red cube_blue)").replace("(clear cube_blue)", "")
ON_PLATE = scene({"cube_red": "plate_red"})
LOADED = INIT.replace("on cube_red table", "on cube_red plate_red").replace("(clear plate_red)", "")
EMPTY_IT = task("Put the red cube on the table.")
ACCEPTED = {
    "a single honest action is no wish": {"goal": "(touched cube_red)", "asked": task("Touch the red cube.")},
    "whether a table or a loaded plate is clear": {"init": INIT + " (clear table) (clear plate_green)"},
    "a held cube is called clear": {"init": IN_HAND, "seen": HELD},
    "a held cube is not called clear": {"init": IN_HAND.replace("(clear cube_red)", ""), "seen": HELD},
    "putting down the last cube is no wish": {
        "goal": "(and (on cube_red cube_blue) (hand_empty))", "init": IN_HAND, "seen": HELD,
    },
    "what rests on a thing is meant by emptying it": {
        "goal": "(clear plate_red)", "asked": EMPTY_IT, "seen": ON_PLATE, "init": LOADED,
    },
}  # fmt: skip
"""What the scene says nothing about is left to the draft."""


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_may_be_so_passes(solver: SolverProcess, name: str) -> None:
    assert judge(solver, **ACCEPTED[name]).rejection is None  # type: ignore[arg-type]


def test_a_plan_is_empty_where_the_goal_is_seen_to_hold(solver: SolverProcess) -> None:
    judged = judge(solver, init=ON_BLUE, seen=STACKED)
    assert judged.rejection is None and judged.steps == ()


def domain(old: str, new: str) -> dict[str, str]:
    """The domain with that instead of this."""
    assert old in DOMAIN
    return {"domain": DOMAIN.replace(old, new)}


def init(old: str, new: str) -> dict[str, str]:
    """The initial state with that instead of this."""
    return {"init": INIT.replace(old, new)}


def named(old: str, new: str) -> dict[str, str]:
    """The objects with that instead of this."""
    return {"objects": OBJECTS.replace(old, new)}


def vacuous(action: str) -> dict[str, str]:
    """A domain in which one action brings about everything."""
    constants = DOMAIN.replace("(:predicates", "(:constants cube_red cube_blue - cube)\n(:predicates")
    text = constants.replace("(:action touch", f"(:action {action}(:action touch")
    return {"domain": text, **named("cube_red cube_green cube_blue", "cube_green")}


PLATE_AS_CUBE = "cube_red cube_green cube_blue plate_red - cube plate_green plate_blue - plate table - table"
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        domain("(hand_empty) (not", "(hand_emty) (not"),
        "parse", "=action drop, line 12: 'hand_emty' is not a declared predicate; did you mean 'hand_empty'?",
    ),
    # What is not in the scene, or of another kind; another colour is another thing.
    (
        named("cube_red", "cube_red red_cube"),
        "scene", "object 'red_cube' is not in the scene; did you mean 'cube_red'?",
    ),
    (
        named("cube_red", "cube_red cube_lime"),
        "scene", "object 'cube_lime' is not in the scene; there are: ",
    ),
    (
        {"objects": PLATE_AS_CUBE},
        "scene", "='plate_red' is declared as a cube, but the scene shows a plate",
    ),
    # An initial state that is not the observed one.
    (
        init("(on cube_red table)", "(on cube_red cube_green)"),
        "scene", "(:init …) states (on cube_red cube_green), which the scene does not show; "
        "it shows (on cube_red table)",
    ),
    (
        init("(on cube_red table)", ""),
        "scene", "(:init …) lacks (on cube_red table), which the scene shows",
    ),
    (init("(clear cube_red)", ""), "scene", "(:init …) lacks (clear cube_red)"),
    (init("(hand_empty)", ""), "scene", "(:init …) lacks (hand_empty)"),
    (init("(hand_empty)", "(hand_empty) (holding cube_red)"), "scene", "(:init …) states (holding cube_red)"),
    (init("(hand_empty)", "(hand_empty) (touched cube_red)"), "scene", "(:init …) states (touched cube_red)"),
    # A goal about something else.
    (
        {"goal": "(on cube_green cube_blue)"},
        "goal", "the task names cube_red, but the goal (on cube_green cube_blue) does not mention it",
    ),
    ({"goal": "(done)"}, "goal", ""),
    (
        {"goal": "(clear plate_blue)", "asked": EMPTY_IT, "seen": ON_PLATE, "init": LOADED},
        "goal", "the task names cube_red",
    ),
    # What cannot be grasped is not lifted.
    (
        {
            **domain("?c - cube", "?c - object"), "goal": "(on plate_red plate_green)",
            "asked": task("Whistle."), "init": INIT + " (clear plate_green) (on plate_red table)",
        },
        "goal", "=step 1 grab(plate_red, table) brings about (holding plate_red), which no plate can be",
    ),
    # Why there is no plan.
    (
        domain("(holding ?c) (not (hand_empty))", "(not (hand_empty))"),
        "solve", "nothing can make (on cube_red cube_blue) true: (drop cube_red cube_blue) needs "
        "(holding cube_red); no action has 'holding' among its effects, and (:init …) does not state "
        "(holding cube_red)",
    ),
    (
        domain("(and (on ?c ?b) (hand_empty)", "(and (hand_empty)"),
        "solve", "no action has 'on' among its effects, and (:init …) does not state (on cube_red cube_blue)",
    ),
    (
        domain("drop :parameters (?c - cube ?b - object)", "drop :parameters (?c - cube ?b - plate)"),
        "solve", "no action can produce (on cube_red cube_blue): drop cannot have these arguments",
    ),
    (
        domain("(clear ?c) (on ?c ?b))", "(clear ?c) (touched ?c) (done))"),
        "solve", "(grab cube_red cube_red) needs (done); no action has 'done' among its effects",
    ),
    (
        {"goal": "(and (touched cube_green) (on cube_red cube_blue) (touched cube_red) "
                 "(on cube_blue cube_red))"},
        "solve", "the goals (on cube_red cube_blue) and (on cube_blue cube_red) cannot hold together",
    ),
    (
        {"goal": "(and (touched cube_green) (on cube_red cube_blue) (not (hand_empty)) "
                 "(not (holding cube_blue)) (not (holding cube_green)))"},
        "solve", "cannot all hold together, though any fewer of them can",
    ),
    # One vacuous action for everything.
    (
        vacuous("stack :parameters () :precondition (hand_empty) :effect (on cube_red cube_blue))"),
        "goal", "alone achieves the goal|it has no parameters",
    ),
    (
        vacuous("stack :parameters (?a ?b - cube) :precondition () :effect (on ?a ?b))"),
        "goal", "alone achieves the goal|it has no preconditions",
    ),
    (
        {
            "goal": "(and (on cube_red cube_blue) (touched cube_blue))",
            **vacuous("wish :parameters (?a ?b - cube) :precondition (clear ?a) "
                      ":effect (and (on ?a ?b) (touched ?b)))"),
        },
        "goal", "alone achieves the goal|at once",
    ),
    # An empty plan needs a goal that can be seen.
    (
        {"goal": "(and (on cube_red cube_blue) (done))", "init": ON_BLUE + " (done)", "seen": STACKED},
        "goal", "the plan is empty, but the scene does not show that (done) holds",
    ),
]  # fmt: skip
"""What is wrong, and what is said: all of it after `=`, or each part between `|`."""


@pytest.mark.parametrize(("wrong", "critic", "said"), REFUSED, ids=[r[2] or "done" for r in REFUSED])
def test_a_fault_is_named(solver: SolverProcess, wrong: dict[str, Any], critic: str, said: str) -> None:
    by, words = refusal(judge(solver, **wrong))
    assert by == critic
    assert words == said[1:] if said[:1] == "=" else all(part in words for part in said.split("|"))


def test_all_faults_of_a_draft_are_told_at_once(solver: SolverProcess) -> None:
    text = DOMAIN.replace("(hand_empty) (not", "(hand_emty) (not").replace("(touched ?a))", "(tuched ?a))")
    critic, words = refusal(judge(solver, "(on cube_green cube_blue)", text, init="(hand_empty)"))
    assert critic == "parse" and words.startswith("4 faults: (1) ")
    parts = "'tuched'", "'hand_emty'", "(:init …) lacks (on cube_blue table)", "the task names cube_red"
    assert all(part in words for part in parts)


# --- any environment's facts


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
