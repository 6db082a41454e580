"""What WorldCoder has without a language model; it finds it by the entry point `inductive`."""

from __future__ import annotations

from spca_induction import helpers
from spca_induction.emit import emit
from spca_induction.explorer import Explorer
from spca_induction.goals import Ending, RewardRules
from spca_induction.pddl import ClassicalSearch
from spca_induction.rulebook import Clause, Group, Rulebook
from spca_induction.synthesizer import InductiveSynthesizer
from spca_induction.view import Frame
from spca_programs.experience import Program
from spca_standins.variants import SUITES
from spca_worldcoder.worlds import sokoban


def true_sokoban() -> Program:
    """Sokoban's rules as they are: with a planner, the most that learning can come to."""
    box, wall = ("kind", 1, "box"), ("kind", 1, "wall")
    push = (("push", ("cell", 1, "box"), 1), ("step", 1))
    blocked = ((("kind", 2, "box"),), (("kind", 2, "wall"),))
    clauses = (Clause(push, blocked), Clause((("step", 1),), ((box,), (wall,))))
    win = Ending((("all_on", "box", "target"),), (sokoban.MISSION,), 10.0)
    rules = Rulebook(
        Frame("player", moves=tuple(sorted(sokoban.MOVES.items()))),
        (Group(tuple(sokoban.MOVES), clauses),),
        RewardRules(-0.1, ((("on", "box", "target"), 1.0),), (win,)),
    )
    return Program(source=emit(rules), rules=rules.dump(), origin="the true rules")


class Inductive:
    """Writer of programs, search in them, explorer, true rules of Sokoban, and variants of worlds."""

    synthesizer = InductiveSynthesizer
    searcher = ClassicalSearch
    explorer = Explorer
    helpers = helpers.__file__
    true_rules = staticmethod(true_sokoban)
    suites = SUITES
