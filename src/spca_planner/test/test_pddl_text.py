"""What is said about faulty PDDL: one sentence with place and name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import PddlError, read
from spca_planner.pddl.syntax import parse_domain
from spca_tabletop.plan.problem import domain as tabletop_domain

DOMAIN = """(define (domain shelf)
  (:requirements :strips :typing)
  (:types box shelf - thing)
  (:predicates (on ?b - box ?s - shelf) (free ?s - shelf) (shut))
  (:action move
    :parameters (?b - box ?from ?to - shelf)
    :precondition (and (on ?b ?from) (free ?to)) ; a comment (with parentheses)
    :effect (and (on ?b ?to) (not (on ?b ?from))))
  (:action close
    :parameters ()
    :precondition (not (shut))
    :effect (shut)))
"""
PROBLEM = """(define (problem p) (:domain shelf)
  (:objects a - box s t - shelf)
  (:init (on a s) (free t))
  (:goal (and (on a t) (shut))))
"""


def complaint(domain: str = DOMAIN, problem: str = PROBLEM) -> str:
    with pytest.raises(PddlError) as caught:
        parse(domain, problem)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_sound_texts_pass() -> None:
    domain, problem = parse(DOMAIN, PROBLEM)
    assert list(domain.actions) == ["move", "close"]
    assert problem.of_type(domain, "thing") == ["a", "s", "t"]


DOMAIN_FAULTS = [
    (
        ("(free ?to))", "(free ?to)"),
        "'(:action move' opened in line 5 is not closed before '(:action' in line 9",
    ),
    (("    :effect (shut)))", "    :effect (shut)"), "'(:action close' opened in line 9 is never closed"),
    (("(shut)))", "(shut))))"), "line 12: ')' stands after the end"),
    (("(free ?to)) ;", "(empty ?to)) ;"), "action move, line 7: 'empty' is not a declared predicate"),
    (("(free ?to)) ;", "(fre ?to)) ;"), "did you mean 'free'?"),
    (("(free ?to)) ;", "(free ?too)) ;"), "unknown variable '?too' in (free ?too); did you mean '?to'?"),
    (("(free ?to)) ;", "(free)) ;"), "'free' takes 1 argument(s), but (free) has 0"),
    (("(free ?to)) ;", "(free ?b)) ;"), "(free ?b) needs a shelf as argument 1; '?b' is a box"),
    (("?to - shelf", "?to - object"), "(free ?to) needs a shelf as argument 1; '?to' is a object"),
    (("?b - box ?from", "?b - bax ?from"), "type 'bax' is not declared; did you mean 'box'?"),
    (("(?b - box ?from", "(b - box ?from"), "write parameter 'b' as '?b'"),
    (("    :effect (shut)", ""), "action close, line 9: it has no :effect"),
    (("    :parameters ()\n", ""), "action close, line 9: it has no :parameters"),
    (("(:action close", "(:action move"), "action 'move' is defined twice"),
    (("(not (shut))", "(not shut)"), "'shut' is not in parentheses"),
    (("(:types", "(:kinds"), "'(:kinds' is not supported here"),
    (("(:action close", "(:durative-action close"), "line 9: durative actions are not supported"),
    (
        ("(:action close", "(:derived (free ?x) (shut)) (:action close"),
        "derived predicates are not supported",
    ),
    (("?to - shelf", "?to - (either shelf box)"), "the type '(either shelf box)' is not supported; declare"),
    (("?to - shelf", "?to - shelf - box"), "no name stands before '-'"),
    (("(:effect", "(:effect"), None),
    ((":effect (shut)", ":effect (or (shut) (shut))"), "'or' cannot be an effect"),
    ((":effect (shut)", ":effect (increase (total-cost) 1)"), "add (:functions (total-cost) - number)"),
    ((":effect (shut)", ":outcome (shut)"), "unexpected ':outcome'"),
    (("(:types box shelf - thing)\n", ""), "is not declared"),
]


@pytest.mark.parametrize(("change", "words"), DOMAIN_FAULTS)
def test_faults_of_a_domain(change: tuple[str, str], words: str | None) -> None:
    if words is None:
        parse(DOMAIN.replace(*change), PROBLEM)
    else:
        assert words in complaint(domain=DOMAIN.replace(*change))


def test_sections_have_an_order() -> None:
    lines = DOMAIN.splitlines()
    lines[2], lines[3] = lines[3], lines[2]
    assert "line 4: (:types …) must come before (:predicates …) in line 3" in complaint(
        domain="\n".join(lines)
    )


PROBLEM_FAULTS = [
    (("(:goal (and (on a t) (shut)))", ""), "the problem has no (:goal …)"),
    (("(on a s)", "(on c s)"), "(:init …), line 3: unknown object 'c' in (on c s)"),
    (("(on a s)", "(not (on a s))"), "'not' cannot stand here; list only facts that hold"),
    (("(on a s)", "on a s"), "may hold only facts in parentheses"),
    (("(shut)))", "(locked)))"), "(:goal …), line 4: 'locked' is not a declared predicate"),
    (("(on a t) (shut)", "(on t a)"), "(on t a) needs a box as argument 1; 't' is a shelf"),
    (("a - box", "a a - box"), "'a' is declared twice"),
    (("a - box", "a - box - thing"), "problem, line 2: no name stands before '-'"),
    (("s t - shelf", "s t -"), "problem, line 2: no type stands after the last '-'"),
    (("a - box", "a - crate"), "type 'crate' is not declared"),
    (("(define (problem p)", "(define (domain p)"), "must begin with (define (problem NAME)"),
    ((PROBLEM, ""), "the problem is empty"),
    ((PROBLEM, "I am sorry, but I cannot"), "expected '(define', found 'I'"),
    (("(:goal (and", "(:goal (shut) (and"), "must hold one condition"),
]


@pytest.mark.parametrize(("change", "words"), PROBLEM_FAULTS)
def test_faults_of_a_problem(change: tuple[str, str], words: str) -> None:
    assert words in complaint(problem=PROBLEM.replace(*change))


def test_a_fault_in_one_declaration_does_not_hide_the_others() -> None:
    domain = DOMAIN.replace("(free ?s - shelf)", "(free ?s - shelf) (in ?x ?x)")
    assert domain != DOMAIN
    assert complaint(domain=domain) == "domain, predicate 'in', line 4: '?x' is declared twice"


def test_titles_may_be_long() -> None:
    title = "p" * 200
    parse(DOMAIN.replace("shelf)", title + ")", 1), PROBLEM.replace("problem p", f"problem {title}"))


def test_schemas_are_complete() -> None:
    schema = parse_domain(DOMAIN).actions["move"].schema
    assert schema.parameters == (("b", "box"), ("from", "shelf"), ("to", "shelf"))
    assert schema.pddl.startswith("(:action move\n  :parameters")
    assert schema.pddl.endswith("(not (on ?b ?from))))")
    assert ":precondition (and (on ?b ?from) (free ?to))" in schema.pddl
    assert schema.pddl.replace("(with parentheses)", "").count("(") == schema.pddl.count(")") - 1


def test_the_tabletop_domain_has_exactly_the_skills() -> None:
    parameters = {a.name: a.schema.parameters for a in parse_domain(tabletop_domain()).actions.values()}
    assert parameters == {
        "touch": (("x", "item"),),
        "pick_up": (("c", "solid"), ("from", "thing")),
        "push_out": (("c", "solid"),),
        "place_on": (("c", "solid"), ("p", "support")),
        "stack_on": (("c", "solid"), ("base", "solid")),
        "place_on_table": (("c", "solid"),),
        "place_next_to": (("c", "solid"), ("other", "item")),
        "place_at": (("c", "solid"), ("p", "place")),
        "place_on_edge": (("c", "solid"), ("p", "plate")),
        "place_across": (("c", "solid"), ("a", "solid"), ("b", "solid")),
        "take_down": (("c", "solid"), ("a", "solid"), ("b", "solid")),
        "discard": (("c", "solid"),),
    }


@given(st.text(alphabet="()ab:; \n-?", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read(text, "text")
    except PddlError as error:
        assert str(error)


@given(st.integers(0, len(DOMAIN) - 1), st.sampled_from(["", "(", ")", " ", "x", "?y "]))
def test_a_damaged_domain_is_read_or_refused(position: int, insertion: str) -> None:
    damaged = DOMAIN[:position] + insertion + DOMAIN[position + 1 :]
    try:
        parse(damaged, PROBLEM)
    except PddlError as error:
        assert "\n" not in str(error)
