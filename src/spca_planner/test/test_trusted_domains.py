"""Trusted domains on disk."""

from pathlib import Path

from spca_planner.trusted import TrustedDomains, actions_of
from spca_testing.observations import task

DOMAIN = "(define (domain a)\n  (:action b :parameters ()))\n"


def test_solved_tasks_gather_and_another_domain_is_kept_beside(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path)
    first, second = (task("x").model_copy(update={"id": i}) for i in ("stack_01", "stack_02"))
    trusted.add("tabletop", second, DOMAIN)
    trusted.add("tabletop", first, DOMAIN)
    trusted.add("tabletop", first, DOMAIN)
    trusted.add("tabletop", first, DOMAIN.replace("b", "c"))
    assert [d.solved for d in trusted.in_group("tabletop", "test")] == [
        ("stack_01", "stack_02"),
        ("stack_01",),
    ]


def test_the_domain_offered_is_the_one_that_fits_the_words(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path)
    assert trusted.fitting("tabletop", task("Push the cube.")) is None
    push = "(define (domain d) (:action push_aside :parameters ()))"
    stack = "(define (domain d) (:action stack_on :parameters ()))"
    trusted.add("tabletop", task("Stack the red cube on the blue one.", group="mixed"), stack)
    trusted.add("tabletop", task("Push the red cube to the left.", group="mixed"), push)
    for words, wanted in (("Push the green cube away.", push), ("Stack the green cube.", stack)):
        assert trusted.fitting("tabletop", task(words, group="mixed")).text == wanted
        assert trusted.fitting("tabletop", task(words, group="another")).text == wanted
    strange = task("Hang everything up somewhere.", group="mixed")
    assert trusted.fitting("tabletop", strange) is not None
    assert trusted.fitting("tabletop", strange.model_copy(update={"judge": "look"})) is None, "no group"


def test_a_domain_without_the_kinds_that_the_task_names_is_not_offered(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path)
    balls = "(define (domain d) (:types ball) (:action open_up :parameters (?b - ball)))"
    trusted.add("minigrid", task("Open the red door.", group="doors"), balls)
    kinds = {"ball_1": "ball", "door_red": "door", "key_1": "key"}
    assert trusted.fitting("minigrid", task("Open the red door.", group="doors"), kinds) is None
    assert trusted.fitting("minigrid", task("Go to the ball.", group="doors"), kinds) is not None


def test_a_sentence_is_shown_a_domain_of_the_same_kinds_of_things(tmp_path: Path) -> None:
    """However it is put, and whatever was said before the last success; not one of other things."""
    trusted, seen = TrustedDomains(tmp_path), {"cube_red": "cube", "plate_red": "plate"}
    domain = "(define (domain d) (:types cube plate) (:action set_down :parameters (?c - cube)))"
    trusted.add("tabletop", task("Put the red cube on the blue plate."), domain)
    before = ("user: Would you swing something over somewhere?", "robot: success: seen to hold: it swings")
    for text, offered in (
        ("The plates should each get a cube of another colour.", True),
        ("Make a traffic light out of the cubes, would you?", False),
    ):
        for said in ((), before):
            sentence = task(text).model_copy(update={"judge": "look", "conversation": said})
            assert (trusted.fitting("tabletop", sentence, seen) is not None) is offered, (text, said)


def test_schemas_are_whole_and_say_what_belongs_to_no_task() -> None:
    """The environment's own come first; else the one of all learned domains that demands least."""
    own, hanoi, stack, other = (
        f"(define (domain d) (:predicates (free ?x) (bigger ?x ?y))\n  (:action {name} :parameters ({takes}) "
        f":precondition (and {needs}) :effect (free ?x)))"
        for name, takes, needs in (
            ("lift", "?x", "(free ?x)"), ("stack", "?x ?y", "(free ?x) (bigger ?y ?x)"),
            ("stack", "?x ?y", "(free ?x)"), ("lift", "?x", ""),
        )
    )  # fmt: skip
    found = actions_of([own, "(no domain"], [hanoi, stack, other, DOMAIN])
    assert {key: str(action.precondition) for key, action in found.items() if action.precondition} == {
        ("lift", 1): "(and (free ?x))", ("stack", 2): "(and (free ?x))",
    }  # fmt: skip
    assert found["b", 0].text == "(:action b :parameters ())"


def test_a_hostile_group_name_stays_in_the_folder(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path / "in")
    trusted.add("../out", task("x", group="../../etc/passwd"), DOMAIN)
    assert [p for p in tmp_path.rglob("*.pddl") if (tmp_path / "in") not in p.parents] == []
    assert trusted.in_group("../out", "../../etc/passwd")[0].text == DOMAIN


def test_a_file_from_elsewhere_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "tabletop").mkdir()
    (tmp_path / "tabletop" / "stack.pddl").write_text(DOMAIN)
    assert TrustedDomains(tmp_path).all("tabletop") == []
