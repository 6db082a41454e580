"""Search by Fast Downward, for programs that come with their rules: these are told in PDDL.

Where the rules say more than this language can, that is said (`NotCompilable`). A plan is a proposal: the
program has the last word on every step of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from spca_induction.effects import MATRICES, turned
from spca_induction.goals import Goal
from spca_induction.pddl.actions import ActionWriter
from spca_induction.pddl.conditions import GoalFormula, with_contraries
from spca_induction.pddl.dead_ends import Cell, live_cells
from spca_induction.pddl.vocabulary import COMPASS, NotCompilable, Vocabulary, cell_name, grid_around
from spca_induction.rulebook import Rulebook
from spca_planner.solver.judgement import Case, Greedy
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import Program
from spca_programs.state import State


class ClassicalSearch:
    """A `Searcher` over the bundled Fast Downward (greedy search)."""

    def __init__(
        self, solver: SolverProcess, timeout_s: float = 4.0, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        self._solver, self._timeout_s, self._cancelled = solver, timeout_s, cancelled

    def __call__(
        self, program: Program, state: State, mission: str, actions: Sequence[str]
    ) -> list[str] | None:
        """See `Searcher`; None for a program without rules, or with rules that PDDL cannot say."""
        if not program.rules:
            return None
        try:
            domain, problem, goals = compile_rules(
                Rulebook.read(program.rules), state, mission, actions, self._cancelled
            )
        except NotCompilable:
            return None
        greedy: Greedy = "counting" if goals > 1 else "relaxation"
        judgement = self._solver.judge(
            Case(domain=domain, problem=problem, timeout_s=self._timeout_s, greedy=greedy), self._cancelled
        )
        if judgement.critic:
            return [] if not judgement.timed_out and judgement.critic == "solve" else None
        return [actions[int(step[0].partition("_")[0][1:])] for step in judgement.steps]


def compile_rules(
    rules: Rulebook, state: State, mission: str, actions: Sequence[str], cancelled: Callable[[], bool]
) -> tuple[str, str, int]:
    """Domain, problem, and how many goals it has. Actions are named `a<index of the action>_…`.

    Raises NotCompilable, Cancelled.
    """
    ending = rules.rewards.ending(mission)
    if ending is None:
        raise NotCompilable("no goal is known")
    words = Vocabulary(rules, state)
    writer = ActionWriter(rules, words, actions)
    texts = writer.texts()
    # The predicates of the classes that some action moves, makes or removes.
    moving = {k for text in texts for k in re.findall(r"\((k\d+) ", text.partition(":effect")[2])}
    prized, live = _live(rules, words, actions, ending.goal, moving, cancelled)
    if live:
        writer.prized = prized
        texts = writer.texts()
    goal = GoalFormula(words, mission, moving).text(ending.goal)
    domain = _domain(words, [with_contraries(text, moving) for text in texts], moving)
    # Actions have as many cells ahead as rules look at, so there have to be some beyond its reach:
    # the inside of a border of things that stay, or, without such a border, one cell around all things.
    reach = max([1, *(c.reach for g in rules.groups for c in g.clauses)])
    margin = max(0, reach - 2) if _walled_in(words, moving) else reach
    return domain, _problem(words, margin, live, moving, goal), max(1, goal.count("(") - 1)


def _walled_in(words: Vocabulary, moving: Collection[str]) -> bool:
    """Return whether things that stay lie in all outermost cells."""
    still = {e.cell for e in words.state if e is not words.me and words.kinds[e.kind] not in moving}
    cells = grid_around(words.state)
    (left, top), (right, bottom) = cells[0], cells[-1]
    return all(cell in still for cell in cells if cell[0] in (left, right) or cell[1] in (top, bottom))


def _domain(words: Vocabulary, actions: Sequence[str], moving: Collection[str]) -> str:
    kinds, names = words.kinds, words.names
    predicates = ["(live ?c - cell)", "(me ?c - cell)", "(next ?a ?b - cell ?d - dir)", "(facing ?d - dir)"]
    predicates += ["(free)", *(f"(r{i} ?a ?b - dir)" for i in range(len(MATRICES)))]
    predicates += [f"({k} ?c - cell)" for k in kinds.values()]
    predicates += [f"(h_{k})" for k in kinds.values()]
    predicates += [
        f"({kinds[kind]}_{names[n]} ?c - cell ?v - val)"
        for kind, known in words.schema.items()
        for n in known
    ]
    predicates += [f"(h_{n} ?v - val)" for n in names.values()]
    predicates += [f"({n} ?v - val)" for n in words.mine.values()]
    predicates += [f"(x{k} ?c - cell)" for k in sorted(moving)]
    predicates += [f"(xh_{k})" for k in kinds.values()]
    values = f" {' '.join(words.values.values())} - val" if words.values else ""
    return (
        "(define (domain world)\n (:requirements :adl)\n (:types cell dir val)\n"
        f" (:constants d0 d1 d2 d3 - dir{values})\n (:predicates {' '.join(predicates)})\n"
        + "\n".join(actions)
        + ")"
    )


def _problem(
    words: Vocabulary, margin: int, live: Collection[Cell], moving: Collection[str], goal: str
) -> str:
    cells = grid_around(words.state, margin)
    known = set(cells)
    init = [f"(me {cell_name(words.me.cell)})"]
    for x, y in cells:
        for d, (dx, dy) in enumerate(COMPASS):
            if (x + dx, y + dy) in known:
                init.append(f"(next {cell_name((x, y))} {cell_name((x + dx, y + dy))} d{d})")
    for i, matrix in enumerate(MATRICES):
        init += [f"(r{i} d{a} d{COMPASS.index(turned(v, matrix))})" for a, v in enumerate(COMPASS)]
    init += [f"(live {cell_name(c)})" for c in sorted(live)]
    facts = set(words.facts())
    init += sorted(facts)
    absent = [f"({k} {cell_name(c)})" for k in sorted(moving) for c in cells]
    init += [f"(x{fact[1:]}" for fact in absent if fact not in facts]
    init += [f"(xh_{k})" for k in words.kinds.values() if f"(h_{k})" not in facts]
    return (
        "(define (problem now)\n (:domain world)\n"
        f" (:objects {' '.join(cell_name(c) for c in cells)} - cell)\n"
        f" (:init {' '.join(init)})\n (:goal {goal}))"
    )


def _live(
    rules: Rulebook, words: Vocabulary, actions: Sequence[str], goal: Goal, moving: Collection[str],
    cancelled: Callable[[], bool],
) -> tuple[str, set[Cell]]:  # fmt: skip
    """The class that the goal wants in certain cells, and where its things may be pushed.

    Nothing where there is no such class, or where it can be moved in another way.
    """
    effects = {e[0] for action in actions for c in rules.clauses(action) for e in c.effects}
    for condition in goal:
        match condition:
            case ("all_on", one, other):
                kind, target = (other, one) if words.kinds.get(one) not in moving else (one, other)
                if words.kinds.get(kind) not in moving or words.kinds.get(target) in moving:
                    continue
                things = [e for e in words.state if e.kind == kind]
                goals = {e.cell for e in words.state if e.kind == target and e.cell is not None}
                if effects <= {"step", "push", "turn"} and len(things) == len(goals):
                    classes = {k for k, name in words.kinds.items() if name in moving}
                    return kind, live_cells(rules, words.state, actions, kind, classes, goals, cancelled)
    return "", set()
