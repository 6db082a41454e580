"""Search by Fast Downward, for programs that come with their rules: these are told in PDDL.

Where the rules say more than this language can, that is said (`NotCompilable`). A plan is a proposal: the
program has the last word on every step of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from spca_induction.goals import Condition, Goal, matches
from spca_induction.pddl.surroundings import (
    Cell,
    Content,
    NotCompilable,
    Row,
    Surroundings,
    grid_around,
    live_cells,
)
from spca_induction.rulebook import Rulebook
from spca_induction.view import Vector, is_vector
from spca_planner.solver.judgement import Case, Greedy
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import Program
from spca_programs.state import Entity, State

COMPASS: tuple[Vector, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""The directions `d0` to `d3`."""


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

    Cells, the mover as it is (`m0`, …) and what a cell contains (`k0`, …) are objects. What an action does is a
    table: an action of PDDL for each way to change cells, and a fact for each row of the rules' surroundings.

    Raises NotCompilable, Cancelled.
    """
    ending = rules.rewards.ending(mission)
    if ending is None:
        raise NotCompilable("no goal is known")
    world = Surroundings(rules, state, actions, cancelled)
    words = _Words(world, mission)
    goal = [text for condition in ending.goal for text in words.goal(condition)]
    kind, live = _live(rules, world, actions, ending.goal, cancelled)
    tables: dict[_Shape, list[Row]] = defaultdict(list)
    for row in world.rows:
        tables[_shape(row, kind if live else "")].append(row)
    shapes = [f"a{actions.index(shape.action)}_{i}" for i, shape in enumerate(tables)]
    schemas = [words.schema(name, shape) for name, shape in zip(shapes, tables, strict=True)]
    facts = [words.fact(name, row) for name, own in zip(shapes, tables.values(), strict=True) for row in own]
    # Actions have as many cells ahead as rules look at, so there have to be some beyond its reach:
    # the inside of a border of things that stay, or, without such a border, one cell around all things.
    reach = max([1, *(c.reach for g in rules.groups for c in g.clauses)])
    margin = max(0, reach - 2) if _enclosed(world) else reach
    cells = grid_around([world.me.cell or (0, 0), *world.lying], margin)
    facts += words.places(cells, live)
    domain = (
        "(define (domain world)\n (:requirements :adl)\n (:types cell dir mover content)\n (:constants"
        f" d0 d1 d2 d3 - dir {_many(words.movers.values(), 'mover')} {_many(words.contents.values(), 'content')})\n"
        " (:predicates (at ?c - cell) (is ?m - mover) (in ?c - cell ?k - content) (live ?c - cell)"
        f" (next ?a ?b - cell ?d - dir) (faces ?m - mover ?d - dir) {' '.join(s.predicate for s in schemas)})\n"
        + "\n".join(s.action for s in schemas)
        + ")"
    )
    problem = (
        f"(define (problem now)\n (:domain world)\n (:objects {_many(map(_cell, cells), 'cell')})\n"
        f" (:init {' '.join(facts)})\n (:goal {_joined('and', goal)}))"
    )
    return domain, problem, len(goal)


class _Shape(NamedTuple):
    """What rows of one action have in common: which cells they ask about, change, and bring the prize to."""

    action: str
    steps: int
    turns: bool
    asked: tuple[int, ...]
    changed: tuple[int, ...]
    prized: tuple[int, ...]

    @property
    def far(self) -> int:
        """The farthest cell ahead that matters."""
        return max(self.steps, *self.asked, 0)


def _shape(row: Row, prize: str) -> _Shape:
    places = [
        (k, before, after)
        for k, before, after in zip(row.cells, row.contents, row.contents_after, strict=True)
        if before is not None and after is not None
    ]
    return _Shape(
        row.action,
        row.steps,
        row.mover != row.mover_after,
        tuple(k for k, _, _ in places),
        tuple(k for k, before, after in places if before != after),
        tuple(k for k, before, after in places if _has(after, prize) and not _has(before, prize)),
    )


class _Schema(NamedTuple):
    """An action with the predicate of its table."""

    predicate: str
    action: str


class _Words:
    """Names of movers and contents, and what is said of them."""

    def __init__(self, world: Surroundings, mission: str) -> None:
        self._world, self._mission = world, mission.split()
        self.movers = {mover: f"m{i}" for i, mover in enumerate(world.movers)}
        self.contents = {content: f"k{i}" for i, content in enumerate(world.contents)}

    def schema(self, name: str, shape: _Shape) -> _Schema:
        """The action of all rows of a shape."""
        kinds = ["?m - mover", *["?n - mover"] * shape.turns, *["?d - dir"] * (shape.far > 0)]
        kinds += [f"?k{k} - content" for k in shape.asked] + [f"?l{k} - content" for k in shape.changed]
        table = " ".join(kind.partition(" ")[0] for kind in kinds)
        conditions = ["(is ?m)", f"({name} {table})"]
        effects = ["(not (is ?m)) (is ?n)"] if shape.turns else []
        cells = []
        if shape.far or shape.asked:
            cells = [f"?c{k} - cell" for k in range(shape.far + 1)]
            conditions += ["(at ?c0)", *(f"(next ?c{k} ?c{k + 1} ?d)" for k in range(shape.far))]
        if shape.steps:
            effects.append(f"(not (at ?c0)) (at ?c{shape.steps})")
        conditions += [f"(in ?c{k} ?k{k})" for k in shape.asked]
        conditions += [f"(live ?c{k})" for k in shape.prized]
        # The planner does not know that cells in a line differ, which it needs to make variables of them.
        conditions += [f"(not (= ?c{k} ?c{n}))" for k in shape.changed for n in shape.changed if k < n]
        effects += [f"(not (in ?c{k} ?k{k})) (in ?c{k} ?l{k})" for k in shape.changed]
        action = (
            f" (:action {name}\n  :parameters ({' '.join([*kinds, *cells])})\n"
            f"  :precondition (and {' '.join(conditions)})\n  :effect (and {' '.join(effects)}))"
        )
        return _Schema(f"({name} {' '.join(kinds)})", action)

    def fact(self, name: str, row: Row) -> str:
        """A row of a table."""
        shape = _shape(row, "")
        said = [self.movers[row.mover], *[self.movers[row.mover_after]] * shape.turns]
        if shape.far and row.heading is not None:
            said.append(f"d{COMPASS.index(row.heading)}")
        said += [self.contents[c] for c in row.contents if c is not None]
        said += [
            self.contents[after]
            for before, after in zip(row.contents, row.contents_after, strict=True)
            if after is not None and before != after
        ]
        return f"({name} {' '.join(said)})"

    def places(self, cells: Sequence[Cell], live: Collection[Cell]) -> Iterator[str]:
        """Yield the facts of the state, and how cells lie and movers look."""
        known = set(cells)
        yield f"(at {_cell(self._world.me.cell or (0, 0))})"
        yield f"(is {self.movers[self._world.me.at(None)]})"
        for x, y in cells:
            yield f"(in {_cell((x, y))} {self.contents[self._world.lying.get((x, y), ())]})"
            for d, (dx, dy) in enumerate(COMPASS):
                if (x + dx, y + dy) in known:
                    yield f"(next {_cell((x, y))} {_cell((x + dx, y + dy))} d{d})"
        yield from (f"(live {_cell(cell)})" for cell in sorted(live))
        for mover, name in self.movers.items():
            facing = mover.get(self._world.frame.facing)
            if is_vector(facing):
                yield f"(faces {name} d{COMPASS.index(facing)})"

    def goal(self, condition: Condition) -> Iterator[str]:
        """Yield what has to hold, all of it."""
        match condition:
            case ("all_on", one, other):
                yield from self._all_on(one, other)
                return
            case ("none", kind):
                for k in self._containing(lambda e: e.kind == kind):
                    yield f"(forall (?c - cell) (not (in ?c {k})))"
                return
            case ("act", _):
                raise NotCompilable("the goal asks for an action")
        place, pattern = condition

        def suits(one: Entity) -> bool:
            return matches(pattern, one, self._mission)

        if place == "held":
            holding = self._world.frame.holding
            held = [(m.get(holding), name) for m, name in self.movers.items()]
            yield _joined("or", [f"(is {name})" for it, name in held if isinstance(it, Entity) and suits(it)])
            return
        lies = _joined("or", [f"(in ?c {k})" for k in self._containing(suits)])
        if place == "some":
            yield f"(exists (?c - cell) {lies})"
        elif place == "here":
            yield f"(exists (?c - cell) (and (at ?c) {lies}))"
        else:
            faced = "(at ?b) (is ?m) (faces ?m ?d) (next ?b ?c ?d)"
            yield f"(exists (?b ?c - cell ?m - mover ?d - dir) (and {faced} {lies}))"

    def _all_on(self, one: str, other: str) -> Iterator[str]:
        """Yield, for each thing that stays, what has to come to it; else that none lies without another."""
        mine, theirs = self._cells_with(one), self._cells_with(other)
        if not mine or not theirs:
            raise NotCompilable("there is nothing to put on anything")
        moving = self._world.moving
        if one not in moving or (other not in moving and len(mine) == len(theirs)):
            waiting = mine if one not in moving else theirs
            wanted = [k for c, k in self.contents.items() if _has(c, one) and _has(c, other)]
            yield from (_joined("or", [f"(in {_cell(cell)} {k})" for k in wanted]) for cell in waiting)
            return
        for content, k in self.contents.items():
            if _has(content, one) and not _has(content, other):
                yield f"(forall (?c - cell) (not (in ?c {k})))"

    def _cells_with(self, kind: str) -> list[Cell]:
        return [cell for cell, content in self._world.lying.items() for e in content if e.kind == kind]

    def _containing(self, suits: Callable[[Entity], bool]) -> list[str]:
        return [k for content, k in self.contents.items() if any(suits(e) for e in content)]


def _live(
    rules: Rulebook, world: Surroundings, actions: Sequence[str], goal: Goal, cancelled: Callable[[], bool]
) -> tuple[str, set[Cell]]:
    """The class that the goal wants in certain cells, and where its things may be pushed.

    Nothing where there is no such class, or where it can be moved in another way.
    """
    effects = {e[0] for action in actions for c in rules.clauses(action) for e in c.effects}
    moving = world.moving
    for condition in goal:
        match condition:
            case ("all_on", one, other) if effects <= {"step", "push", "turn"}:
                kind, target = (one, other) if one in moving else (other, one)
                if kind not in moving or target in moving:
                    continue
                goals = {e.cell for e in world.state if e.kind == target and e.cell is not None}
                if sum(e.kind == kind for e in world.state) == len(goals):
                    still = [e for e in world.state if e.kind not in moving and e is not world.me]
                    return kind, live_cells(
                        rules, world.frame, world.state, actions, kind, still, goals, cancelled
                    )
    return "", set()


def _enclosed(world: Surroundings) -> bool:
    """Return whether things that stay lie in all outermost cells."""
    moving = world.moving
    cells = grid_around([world.me.cell or (0, 0), *world.lying])
    (left, top), (right, bottom) = cells[0], cells[-1]
    return all(
        any(e.kind not in moving for e in world.lying.get(cell, ()))
        for cell in cells
        if cell[0] in (left, right) or cell[1] in (top, bottom)
    )


def _has(content: Content, kind: str) -> bool:
    return any(e.kind == kind for e in content)


def _cell(cell: Cell) -> str:
    """The object of a cell."""
    return f"c{cell[0]}_{cell[1]}".replace("-", "m")


def _many(names: Iterable[str], kind: str) -> str:
    return f"{' '.join(names)} - {kind}"


def _joined(word: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({word} {' '.join(parts)})"
