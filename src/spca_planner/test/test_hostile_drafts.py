"""Drafts as a hostile or clumsy model may write them: each is one clear rejection, in bounded time."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spca_planner.pddl.sexpr import LONGEST_MESSAGE
from spca_planner.solver.judgement import Case, Judgement
from spca_planner.solver.process import SolverProcess
from spca_tabletop.plan.problem import domain as tabletop_domain
from spca_tabletop.plan.problem import problem as tabletop_problem
from spca_testing.observations import goals, scene

DOMAIN = """(define (domain d) (:requirements :adl) (:types t)
  (:predicates (p ?x - t) (q ?x ?y - t))
  (:action a :parameters (?x - t) :precondition (not (p ?x)) :effect (p ?x)))"""
TIME_LIMIT = 2.0


def problem(goal: str, count: int = 6) -> str:
    names = " ".join(f"o{i}" for i in range(count))
    return f"(define (problem p) (:domain d) (:objects {names} - t) (:init) (:goal {goal}))"


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess((tabletop_domain(),)) as process:
        process.judge(Case(domain=DOMAIN, problem=problem("(p o0)"), timeout_s=20))
        yield process


def refused(solver: SolverProcess, domain: str, text: str) -> Judgement:
    answer = solver.judge(Case(domain=domain, problem=text, timeout_s=TIME_LIMIT))
    assert answer.critic and 0 < len(answer.message) <= LONGEST_MESSAGE
    assert "\n" not in answer.message and "Traceback" not in answer.message
    return answer


QUANTIFIED = f"(exists ({' '.join(f'?v{i}' for i in range(10))} - t) (p ?v0))"
TOO_LARGE = {
    "(:goal …), line 1: its quantifiers stand for 282,475,249 conditions": (DOMAIN, problem(QUANTIFIED, 7)),
    "nested more than 40 levels deep": (DOMAIN, problem("(and " * 900 + "(p o0)" + ")" * 900)),
    "'a' has 3001 parameters; at most 20 are allowed": (
        DOMAIN.replace("(?x - t)", f"(?x{''.join(f' ?v{i}' for i in range(3000))} - t)"),
        problem("(p o0)"),
    ),
    "the problem has 3000 objects; at most 400 are allowed": (DOMAIN, problem("(p o0)", 3000)),
    "the types 't' and 's' are subtypes of each other": (
        DOMAIN.replace("(:types t)", "(:types t - s s - t)"),
        problem("(p o0)"),
    ),
    "problem, line 1: character 84 is no valid Unicode": (DOMAIN, problem("(p \ud800)")),
}


@pytest.mark.parametrize("words", TOO_LARGE)
def test_too_large_or_strange_a_text_is_refused_at_once(solver: SolverProcess, words: str) -> None:
    domain, text = TOO_LARGE[words]
    solver.start()
    worker = solver.pid
    answer = refused(solver, domain, text)
    assert answer.critic == "parse" and words in answer.message
    assert solver.pid == worker


@pytest.mark.slow
def test_a_draft_that_takes_too_long_to_compile_is_refused(solver: SolverProcess) -> None:
    conditional = f"""{DOMAIN.removesuffix(")")}
      (:action w :parameters (?a ?b ?c ?d - t) :precondition (p ?a)
        :effect (forall (?x ?y - t) (when (q ?x ?y) (q ?y ?x)))))"""
    assert refused(solver, conditional, problem("(q o1 o2)", 30)).critic == "solve"


TABLETOP = (tabletop_domain(), tabletop_problem(scene(), sorted(goals("on R B, on B T"), key=sorted)))
DAMAGE = ("", "(", ")", "?x", "(forall (?a ?b - cube) ", "- thing", "\x00", "é", "(" * 30)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 1),
    where=st.floats(0, 1),
    length=st.integers(0, 40),
    damage=st.sampled_from(DAMAGE),
    repeat=st.integers(1, 12),
)
def test_any_damage_is_judged(
    solver: SolverProcess, which: int, where: float, length: int, damage: str, repeat: int
) -> None:
    texts = list(TABLETOP)
    at = int(where * len(texts[which]))
    texts[which] = texts[which][:at] + damage * repeat + texts[which][at + length :]
    answer = solver.judge(Case(domain=texts[0], problem=texts[1], timeout_s=TIME_LIMIT))
    assert bool(answer.critic) == bool(answer.message)
    assert len(answer.message) <= LONGEST_MESSAGE and "\n" not in answer.message
