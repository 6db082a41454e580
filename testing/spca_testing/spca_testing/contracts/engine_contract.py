"""Contract of every planning engine."""

from __future__ import annotations

import psutil

from spca_core.ports.engine import Engine, Solution

DOMAIN = """(define (domain switches) (:requirements :strips :typing) (:types lamp switch)
  (:predicates (wired ?s - switch ?l - lamp) (lit ?l - lamp) (dark ?l - lamp))
  (:action flip :parameters (?s - switch ?l - lamp) :precondition (and (wired ?s ?l) (dark ?l))
    :effect (and (lit ?l) (not (dark ?l))))
  (:action break :parameters (?l - lamp) :precondition (lit ?l) :effect (and (dark ?l) (not (lit ?l)))))"""

PIGEONS = """(define (domain pigeons) (:requirements :strips :typing) (:types pigeon hole)
  (:predicates (waiting ?p - pigeon) (free ?h - hole) (home ?p - pigeon))
  (:action settle :parameters (?p - pigeon ?h - hole) :precondition (and (waiting ?p) (free ?h))
    :effect (and (home ?p) (not (waiting ?p)) (not (free ?h)))))"""


def switches(goal: str, init: str = "(wired s a) (wired t b) (dark a) (dark b)") -> str:
    """A problem of the domain of switches."""
    objects = "s t - switch a b - lamp"
    return f"(define (problem p) (:domain switches) (:objects {objects}) (:init {init}) (:goal {goal}))"


def pigeons(count: int = 13) -> str:
    """One hole too few: unsolvable, and no heuristic detects it short of exhaustive search."""
    names, holes = [f"p{i}" for i in range(count)], [f"h{i}" for i in range(count - 1)]
    init = " ".join([f"(waiting {p})" for p in names] + [f"(free {h})" for h in holes])
    objects = f"{' '.join(names)} - pigeon {' '.join(holes)} - hole"
    return f"""(define (problem p) (:domain pigeons) (:objects {objects})
      (:init {init}) (:goal (and {" ".join(f"(home {p})" for p in names)})))"""


class EngineContract:
    """Subclasses provide the fixture `engine`."""

    @staticmethod
    def solve(engine: Engine, domain: str, problem: str, timeout_s: float = 30.0) -> Solution:
        """The end of one search."""
        engine.warm()
        search = engine.start(domain, problem, timeout_s)
        try:
            return search.wait()
        finally:
            search.close()
            search.close()

    def test_a_plan_of_grounded_steps(self, engine: Engine) -> None:
        """Steps are names of actions and of objects."""
        found = self.solve(engine, DOMAIN, switches("(and (lit a) (lit b))"))
        assert found.status == "solved" and found.message == ""
        assert sorted(found.steps) == [("flip", "s", "a"), ("flip", "t", "b")]

    def test_a_goal_that_holds_already_needs_no_step(self, engine: Engine) -> None:
        """An empty plan is a plan."""
        found = self.solve(engine, DOMAIN, switches("(dark a)"))
        assert (found.status, found.steps) == ("solved", ())

    def test_no_plan_is_said_to_be_none(self, engine: Engine) -> None:
        """An unsolvable problem is reported as such, not as malformed."""
        found = self.solve(engine, DOMAIN, switches("(lit a)", init="(wired t a) (dark b)"))
        assert found.status == "unsolvable" and found.steps == ()
        assert found.message and "\n" not in found.message

    def test_unreadable_text_is_refused_in_a_sentence(self, engine: Engine) -> None:
        """One line, no traceback."""
        found = self.solve(engine, DOMAIN, "(define (problem p) (:domain switches)")
        assert found.status == "refused"
        assert found.message and "\n" not in found.message and "Traceback" not in found.message

    def test_the_time_limit_holds(self, engine: Engine) -> None:
        """A search that would take hours ends in time."""
        found = self.solve(engine, PIGEONS, pigeons(), timeout_s=0.7)
        assert found.status == "timeout" and "within 0.7 s" in found.message

    def test_nobody_waits_for_it_any_more(self, engine: Engine) -> None:
        """A search that is closed ends at once and leaves no process behind."""
        before = set(psutil.Process().children())
        engine.start(PIGEONS, pigeons(), 60.0).close()
        assert set(psutil.Process().children()) <= before
