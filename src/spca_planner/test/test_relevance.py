"""What no step can matter to is left out of the problem that is searched, and nothing else."""

import pytest

from spca_planner.pddl.lint import parse
from spca_planner.pddl.reachability import without_bystanders
from spca_planner.solver.downward import FastDownward
from spca_planner.solver.judge import judge
from spca_planner.solver.judgement import Case

DOMAIN = """(define (domain tidy)
  (:types thing - object block mat - thing table - thing)
  (:constants table - table)
  (:predicates (on ?x - block ?y - thing) (clear ?x - thing) (hand_empty) (holding ?x - block)
    (blocks ?a - block ?b - block) (blocked ?b - block) (unfit ?x - block ?y - thing) (wet ?x - block)
    (sponge ?x - block) (dry ?x - block) (broken))
  (:action pick :parameters (?x - block ?from - thing)
    :precondition (and (hand_empty) (clear ?x) (on ?x ?from) (not (blocked ?x)))
    :effect (and (holding ?x) (not (hand_empty)) (not (on ?x ?from)) (clear ?from)
      (forall (?y - block) (when (blocks ?x ?y) (not (blocked ?y))))))
  (:action stack :parameters (?x - block ?y - block)
    :precondition (and (holding ?x) (clear ?y) (not (= ?x ?y)) (not (unfit ?x ?y)))
    :effect (and (on ?x ?y) (hand_empty) (not (holding ?x)) (not (clear ?y))))
  (:action lay :parameters (?x - block ?m - mat)
    :precondition (and (holding ?x) (clear ?m))
    :effect (and (on ?x ?m) (hand_empty) (not (holding ?x)) (not (clear ?m))))
  (:action put :parameters (?x - block) :precondition (and (holding ?x) (not (unfit ?x table)))
    :effect (and (on ?x table) (hand_empty) (not (holding ?x))))
  (:action wipe :parameters (?x - block ?s - block) :precondition (and (holding ?s) (sponge ?s) (wet ?x))
    :effect (and (dry ?x) (not (wet ?x))))
  (:action mend :parameters (?x - block ?m - mat) :precondition (and (broken) (on ?x ?m))
    :effect (and (clear ?x) (clear ?m))))
"""
ON_TABLE = "(hand_empty)\n (clear table) " + "\n ".join(f"(on {x} table) (clear {x})" for x in "abcdef")


def problem(goal: str, init: str = ON_TABLE) -> str:
    return f"""(define (problem p) (:domain tidy)
  (:objects a b c
    d e f - block
    m n - mat)
  (:init {init}
    (clear m) (clear n))
  (:goal {goal}))"""


def kept(text: str) -> str:
    small = without_bystanders(*parse(DOMAIN, text), text)
    return " ".join(o.name for o in parse(DOMAIN, small)[1].objects)


@pytest.mark.parametrize(
    ("goal", "instead", "names"),
    [
        ("(and (on a b))", ("", ""), "a b m"),  # a mat may take what nothing kept may
        ("(and (on a m))", ("", ""), "a m"),
        ("(and (on a m))", ("(clear a)", "(on c a)"), "a c m"),
        ("(and (on c m))", ("(on c table)", "(on c d)"), "c d m"),
        ("(and (on a m))", ("(clear c)", "(clear c) (blocks c a) (blocked a) (blocks d c) (blocked c)"),
         "a c d m"),
        ("(and (on a m))", ("(clear c)", "(clear c) (blocks a d) (blocked d)"), "a d m"),
        ("(and (on a m))", ("(clear c)", "(clear c) (unfit a c) (unfit c a)"), "a m"),
        ("(and (on a m))", ("(clear c)", "(clear c) (unfit a table)"), "a b c d e f m n"),
        ("(and (on a m) (dry b))", ("(clear c)", "(clear c) (wet b) (sponge f)"), "a b f m"),
        ("(exists (?x - block) (on ?x m))", ("", ""), "a b c d e f m n"),
        ("(or (on a m) (on b n))", ("", ""), "a b c d e f m n"),
    ],
)  # fmt: skip
def test_what_matters_to_a_goal_is_kept(goal: str, instead: tuple[str, str], names: str) -> None:
    text = problem(goal, ON_TABLE.replace(*instead) if instead[0] else ON_TABLE)
    assert sorted(kept(text).split()) == sorted(names.split())


DETOUR = """(define (domain detour) (:types spot)
  (:predicates (at ?x - spot) (mark ?x - spot) (free ?x - spot))
  (:action go :parameters (?a ?b ?via - spot)
    :precondition (and (at ?a) (free ?via) (not (= ?via ?a)) (not (= ?via ?b)))
    :effect (and (at ?b) (not (at ?a)))))"""


def test_a_whole_problem_is_searched_where_the_small_one_has_no_plan() -> None:
    text = """(define (problem p) (:domain detour) (:objects x y z - spot)
      (:init (at x) (free x) (free y) (free z)) (:goal (and (at y))))"""
    small = without_bystanders(*parse(DETOUR, text), text)
    engine = FastDownward()
    search = engine.start(DETOUR, small, 5.0)
    assert search.wait().status == "unsolvable"
    search.close()
    answer = judge(Case(domain=DETOUR, problem=text, timeout_s=5.0), engine)
    assert answer.critic == "" and answer.steps == (("go", "x", "y", "z"),)


def test_a_whole_problem_is_searched_where_the_small_ones_plan_is_none_there() -> None:
    quiet = DETOUR.replace("(free ?via) (not (= ?via ?a)) (not (= ?via ?b))",
                           "(free ?via) (forall (?o - spot) (or (not (mark ?o)) (= ?o ?via)))")  # fmt: skip
    text = """(define (problem p) (:domain detour) (:objects x y z - spot)
      (:init (at x) (free x) (free y) (free z) (mark z)) (:goal (and (at y))))"""
    answer = judge(Case(domain=quiet, problem=text, timeout_s=5.0), FastDownward())
    assert answer.critic == "" and answer.steps == (("go", "x", "y", "z"),)
