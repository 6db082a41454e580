"""What is said about faulty PDDL: one sentence with place and name."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import PddlError, read
from spca_planner.pddl.syntax import parse_domain

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

FAULTS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text())


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


ROWS = [(text, *row) for text in ("domain", "problem") for row in FAULTS[text]]


@pytest.mark.parametrize(("text", "old", "new", "words"), ROWS)
def test_a_fault_is_named_by_its_place(text: str, old: str, new: str, words: str) -> None:
    """Of the whole text where the old one is `*`; without words it is none."""
    texts = {"domain": DOMAIN, "problem": PROBLEM}
    texts[text] = new if old == "*" else texts[text].replace(old, new)
    if words:
        assert words in complaint(**texts)
    else:
        parse(*texts.values())


def test_sections_have_an_order() -> None:
    lines = DOMAIN.splitlines()
    lines[2], lines[3] = lines[3], lines[2]
    assert "line 4: (:types …) must come before (:predicates …) in line 3" in complaint(
        domain="\n".join(lines)
    )


def test_a_fault_in_one_declaration_does_not_hide_the_others() -> None:
    domain = DOMAIN.replace("(free ?s - shelf)", "(free ?s - shelf) (in ?x ?x)")
    assert domain != DOMAIN
    assert complaint(domain=domain) == "domain, predicate 'in', line 4: '?x' is declared twice"


def test_schemas_are_complete() -> None:
    schema = parse_domain(DOMAIN).actions["move"].schema
    assert schema.parameters == (("b", "box"), ("from", "shelf"), ("to", "shelf"))
    assert schema.pddl.startswith("(:action move\n  :parameters")
    assert schema.pddl.endswith("(not (on ?b ?from))))")
    assert ":precondition (and (on ?b ?from) (free ?to))" in schema.pddl
    assert schema.pddl.replace("(with parentheses)", "").count("(") == schema.pddl.count(")") - 1


@given(st.text(alphabet="()ab:; \n-?", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read(text, "text")
    except PddlError as error:
        assert str(error)
