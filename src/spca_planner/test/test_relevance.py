"""What no step can matter to is left out of the problem that is searched, and nothing else."""

from pathlib import Path

import pytest
import yaml

from spca_planner.pddl.lint import parse
from spca_planner.pddl.reachability import without_bystanders
from spca_planner.solver.downward import FastDownward
from spca_planner.solver.judge import judge
from spca_planner.solver.judgement import Case

DOMAIN, DETOUR, QUIET = (
    Path(__file__).with_name(f"{name}.pddl").read_text() for name in ("tidy", "detour", "quiet")
)
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


KEPT = yaml.safe_load(Path(__file__).with_name("kept.yaml").read_text())


@pytest.mark.parametrize(("goal", "instead", "names"), KEPT)
def test_what_matters_to_a_goal_is_kept(goal: str, instead: list[str], names: str) -> None:
    text = problem(goal, ON_TABLE.replace(*instead) if instead[0] else ON_TABLE)
    assert sorted(kept(text).split()) == sorted(names.split())


@pytest.mark.parametrize(("domain", "more"), [(DETOUR, ""), (QUIET, "(mark z)")])
def test_a_whole_problem_is_searched_where_the_small_one_has_no_plan_or_one_that_is_none_there(
    domain: str, more: str
) -> None:
    text = f"""(define (problem p) (:domain detour) (:objects x y z - spot)
      (:init (at x) (free x) (free y) (free z) {more}) (:goal (and (at y))))"""
    answer = judge(Case(domain=domain, problem=text, timeout_s=5.0), FastDownward())
    assert answer.critic == "" and answer.steps == (("go", "x", "y", "z"),)
