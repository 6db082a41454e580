"""Search by Fast Downward, for programs that come with their rules: these are told in PDDL.

Where the rules say more than this language can, that is said (`NotCompilable`). A plan is a proposal: the
program has the last word on every step of it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from spca_core.errors import Cancelled
from spca_induction.goals import Condition, matches
from spca_induction.rulebook import Rulebook
from spca_induction.view import Vector
from spca_planner.solver.judgement import Case, Greedy
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import Program
from spca_programs.state import Entity, State, state_of

Cell = tuple[int, int]
COMPASS: tuple[Vector, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""The directions `d0` to `d3`."""
_PREDICATES = "(at ?c - cell) (is ?m - mover) (in ?c - cell ?k - content) (next ?a ?b - cell ?d - dir)"


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
            rules = Rulebook.read(program.rules)
            domain, problem, goals = compile_rules(rules, state, mission, actions, self._cancelled)
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

    Objects are the cells, the mover as it may be (`m0`, …) and what a cell may contain (`k0`, …). What an
    action does is a table: an action of PDDL for each way to change cells, a fact for each row of it.

    Raises NotCompilable, Cancelled.
    """
    ending = rules.rewards.ending(mission)
    if ending is None:
        raise NotCompilable("no goal is known")
    words = _Words(Surroundings(rules, state, actions, cancelled), mission)
    goal = [text for condition in ending.goal for text in words.goal(condition)]
    tables: dict[_Shape, list[Row]] = defaultdict(list)
    for row in words.world.rows:
        tables[_shape(row)].append(row)
    schemas, facts = [], words.facts()
    for i, (shape, rows) in enumerate(tables.items()):
        name = f"a{actions.index(shape.action)}_{i}"
        schemas.append(words.schema(name, shape))
        facts += [f"({name} {words.row(row, shape)})" for row in rows]
    movers, contents = " ".join(words.movers.values()), " ".join(words.contents.values())
    predicates = " ".join(predicate for predicate, _ in schemas)
    domain = (
        "(define (domain world)\n (:requirements :adl)\n (:types cell dir mover content)\n"
        f" (:constants d0 d1 d2 d3 - dir {movers} - mover {contents} - content)\n"
        f" (:predicates {_PREDICATES} {predicates})\n {' '.join(action for _, action in schemas)})"
    )
    problem = (
        f"(define (problem now)\n (:domain world)\n (:objects {' '.join(map(_name, words.cells))} - cell)\n"
        f" (:init {' '.join(facts)})\n (:goal {_joined('and', goal)}))"
    )
    return domain, problem, len(goal)


_MOST = 100_000
"""Surroundings to be tried at most."""


class NotCompilable(Exception):
    """The rules, the state or the goal have no form in PDDL."""


class Row(NamedTuple):
    """What an action makes of the mover and of what lies 0, 1, … cells ahead; the mover goes `steps` cells.

    The mover and the contents of cells are written without a place; None stands for a cell that is not looked
    at.
    """

    action: str
    heading: Vector | None
    mover: Entity
    contents: tuple[State | None, ...]
    steps: int
    mover_after: Entity
    contents_after: tuple[State | None, ...]


class Surroundings:
    """What each action does in all surroundings that it can meet, found by asking the rules.

    Rules speak of the mover, of what it holds and of what lies ahead of it. So a few dozen surroundings stand
    for all states of a world, wherever in it the mover is: all movers, contents
    and rows that can come about from a state. Raises NotCompilable, Cancelled.
    """

    def __init__(
        self, rules: Rulebook, state: State, actions: Sequence[str], cancelled: Callable[[], bool]
    ) -> None:
        if rules.frame is None:
            raise NotCompilable("nothing is known to move")
        self.rules, self.state, self.actions, self.frame = rules, state, actions, rules.frame
        self._cancelled = cancelled
        me = next((e for e in state if e.kind == self.frame.mover), None)
        if me is None or me.cell is None:
            raise NotCompilable("the mover is nowhere")
        self.me, self.start = me, me.cell
        lying: dict[Cell, list[Entity]] = defaultdict(list)
        for one in state:
            if one is not me and one.cell is not None:
                lying[one.cell].append(one.at(None))
        self.lying = {cell: state_of(things) for cell, things in lying.items()}
        """What lies where."""
        self.movers = {me.at(None): None}
        self.contents: dict[State, None] = dict.fromkeys([(), *self.lying.values()])
        # Else things put upon each other would make ever new contents, as long as no refusal was met.
        self._most_together = max(2, *map(len, self.contents))
        self.rows = self._all_rows()

    def _all_rows(self) -> list[Row]:
        """Try everything in all surroundings, until nothing new comes of it."""
        clauses = {action: self.rules.clauses(action) for action in self.actions}
        looked_at = {action: sorted({k for c in own for k in c.cells}) for action, own in clauses.items()}
        tried: dict[tuple[object, ...], Row | None] = {}
        known = -1
        while known != len(tried):
            known = len(tried)
            many = sum(len(self.contents) ** len(cells) for cells in looked_at.values())
            if many * len(self.movers) > _MOST:
                raise NotCompilable("there are too many surroundings")
            for action, cells in looked_at.items():
                met = itertools.product(tuple(self.contents), repeat=len(cells))
                for key in itertools.product([action], tuple(self.movers), met):
                    if key not in tried:
                        tried[key] = row = self._row(action, key[1], dict(zip(cells, key[2], strict=True)))
                        if row is not None:
                            self.movers.setdefault(row.mover_after)
                            self.contents.update((c, None) for c in row.contents_after if c is not None)
        return [row for row in tried.values() if row is not None]

    def _row(self, action: str, mover: Entity, contents: dict[int, State]) -> Row | None:
        """The row for contents of some cells; None where nothing changes, or too much, or two alike, meet."""
        if self._cancelled():
            raise Cancelled("the search was cancelled")
        heading = self.frame.heading(mover, action)
        if heading is None and any(contents):
            raise NotCompilable(f"'{action}' has no direction")
        dx, dy = heading or (0, 0)
        spots = {(k * dx, k * dy): k for k in contents}
        things = [one.at(spot) for spot, k in spots.items() for one in contents[k]]
        before = state_of([mover.at((0, 0)), *things])
        after = self.rules.predict(before, action)
        if after == before:
            return None
        me = next(e for e in after if e.kind == mover.kind)
        steps = (me.x or 0) * dx + (me.y or 0) * dy
        found: dict[int, list[Entity]] = {k: [] for k in contents}
        for one in after:
            if one is not me:
                found[spots[one.x or 0, one.y or 0]].append(one.at(None))
        if any(len(c) > self._most_together or len({e.kind for e in c}) < len(c) for c in found.values()):
            return None
        line = range(max(contents, default=-1) + 1)
        lying = tuple(contents.get(k) for k in line)
        lying_after = tuple(state_of(found[k]) if k in found else None for k in line)
        return Row(action, heading, mover, lying, steps, me.at(None), lying_after)

    def stays(self, kind: str) -> bool:
        """Return whether things of a class never move, come to be or go away."""
        return all(
            _count(before, kind) == _count(after, kind)
            for row in self.rows
            for before, after in zip(row.contents, row.contents_after, strict=True)
        )


def grid_around(cells: Iterable[Cell], margin: int = 0) -> list[Cell]:
    """The cells of the smallest rectangle that holds some, and of so many more on each side."""
    xs, ys = zip(*cells, strict=True)
    columns = range(min(xs) - margin, max(xs) + margin + 1)
    return [(x, y) for x in columns for y in range(min(ys) - margin, max(ys) + margin + 1)]


class _Shape(NamedTuple):
    """What rows of one action have in common: which cells they ask about, and which they change."""

    action: str
    steps: int
    turns: bool
    asked: tuple[int, ...]
    changed: tuple[int, ...]
    far: int
    """The farthest cell ahead that matters."""


def _shape(row: Row) -> _Shape:
    asked = tuple(k for k, content in enumerate(row.contents) if content is not None)
    changed = tuple(k for k in asked if row.contents[k] != row.contents_after[k])
    return _Shape(
        row.action, row.steps, row.mover != row.mover_after, asked, changed, max(row.steps, *asked, 0)
    )


class _Words:
    """Names of movers and contents, and what is said of them."""

    def __init__(self, world: Surroundings, mission: str) -> None:
        self.world, self._mission = world, mission.split()
        self.movers = {mover: f"m{i}" for i, mover in enumerate(world.movers)}
        self.contents = {content: f"k{i}" for i, content in enumerate(world.contents)}
        # Actions have as many cells ahead as rules look at, so there have to be some beyond its reach.
        reach = max([1, *(clause.reach for group in world.rules.groups for clause in group.clauses)])
        self.cells = grid_around([world.start, *world.lying], reach)

    def schema(self, name: str, shape: _Shape) -> tuple[str, str]:
        """The predicate of a table, and the action for all of its rows."""
        kinds = ["?m - mover", *["?n - mover"] * shape.turns, *["?d - dir"] * (shape.far > 0)]
        kinds += [f"?k{k} - content" for k in shape.asked] + [f"?l{k} - content" for k in shape.changed]
        cells = [f"?c{k} - cell" for k in range(shape.far + 1)] if shape.far or shape.asked else []
        conditions = [f"({name} {' '.join(kind.partition(' ')[0] for kind in kinds)})", "(is ?m)"]
        conditions += ["(at ?c0)"] * bool(cells)
        conditions += [f"(next ?c{k} ?c{k + 1} ?d)" for k in range(shape.far)]
        conditions += [f"(in ?c{k} ?k{k})" for k in shape.asked]
        # The planner does not know that cells in a line differ, which it needs to make variables of them.
        conditions += [f"(not (= ?c{k} ?c{n}))" for k in shape.changed for n in shape.changed if k < n]
        effects = ["(not (is ?m)) (is ?n)"] * shape.turns
        effects += [f"(not (at ?c0)) (at ?c{shape.steps})"] * (shape.steps > 0)
        effects += [f"(not (in ?c{k} ?k{k})) (in ?c{k} ?l{k})" for k in shape.changed]
        return f"({name} {' '.join(kinds)})", (
            f"(:action {name}\n  :parameters ({' '.join([*kinds, *cells])})\n"
            f"  :precondition (and {' '.join(conditions)})\n  :effect (and {' '.join(effects)}))\n"
        )

    def row(self, row: Row, shape: _Shape) -> str:
        """The objects of a row, in the order of its table's parameters."""
        said = [self.movers[row.mover], *[self.movers[row.mover_after]] * shape.turns]
        if shape.far and row.heading is not None:
            said.append(f"d{COMPASS.index(row.heading)}")
        lying = [row.contents[k] for k in shape.asked] + [row.contents_after[k] for k in shape.changed]
        return " ".join([*said, *(self.contents[content] for content in lying if content is not None)])

    def facts(self) -> list[str]:
        """The facts of the state, and how cells lie."""
        world, known = self.world, set(self.cells)
        facts = [f"(at {_name(world.start)})", f"(is {self.movers[world.me.at(None)]})"]
        for x, y in self.cells:
            facts.append(f"(in {_name((x, y))} {self.contents[world.lying.get((x, y), ())]})")
            for d, (dx, dy) in enumerate(COMPASS):
                if (x + dx, y + dy) in known:
                    facts.append(f"(next {_name((x, y))} {_name((x + dx, y + dy))} d{d})")
        return facts

    def goal(self, condition: Condition) -> Iterator[str]:
        """Yield what has to hold, all of it."""
        match condition:
            case ("all_on", one, other):
                yield from self._all_on(one, other)
                return
            case ("none", kind):
                yield f"(not (exists (?c - cell) {self._lies(lambda e: e.kind == kind)}))"
                return
            case ("act", _):
                raise NotCompilable("the goal asks for an action")
        place, pattern = condition

        def suits(one: Entity) -> bool:
            return matches(pattern, one, self._mission)

        if place == "held":
            held = [(m.get(self.world.frame.holding), name) for m, name in self.movers.items()]
            yield _joined("or", [f"(is {name})" for it, name in held if isinstance(it, Entity) and suits(it)])
        elif place == "some":
            yield f"(exists (?c - cell) {self._lies(suits)})"
        else:
            yield f"(exists (?c - cell) (and (at ?c) {self._lies(suits)}))"

    def _all_on(self, one: str, other: str) -> Iterator[str]:
        """Yield, for each thing that stays, what has to come to it; else that none lies without another."""
        mine, theirs = _cells_with(one, self.world), _cells_with(other, self.world)
        if not mine or not theirs:
            raise NotCompilable("there is nothing to put on anything")
        if self.world.stays(one) or (self.world.stays(other) and len(mine) == len(theirs)):
            both = [k for lying, k in self.contents.items() if _count(lying, one) and _count(lying, other)]
            for cell in mine if self.world.stays(one) else theirs:
                yield _joined("or", [f"(in {_name(cell)} {k})" for k in both])
            return
        for content, k in self.contents.items():
            if _count(content, one) and not _count(content, other):
                yield f"(not (exists (?c - cell) (in ?c {k})))"

    def _lies(self, suits: Callable[[Entity], bool]) -> str:
        """That something that suits lies in `?c`."""
        return _joined("or", [f"(in ?c {k})" for lying, k in self.contents.items() if any(map(suits, lying))])


def _cells_with(kind: str, world: Surroundings) -> list[Cell]:
    return [cell for cell, content in world.lying.items() for e in content if e.kind == kind]


def _count(content: State | None, kind: str) -> int:
    return sum(e.kind == kind for e in content or ())


def _name(cell: Cell) -> str:
    """The object of a cell."""
    return f"c{cell[0]}_{cell[1]}".replace("-", "m")


def _joined(word: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({word} {' '.join(parts)})"
