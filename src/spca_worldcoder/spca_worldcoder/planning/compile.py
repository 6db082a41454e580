"""Rules as PDDL, so that a classical planner can search in them.

Cells are objects; what lies in them is a predicate per class, and per class and attribute one more over
values. A clause of the rules becomes an action with the cells ahead as parameters. Where the rules say more
than this language can, that is said
(`NotCompilable`). A plan is a proposal: the program has the last word on every step of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from spca_worldcoder.induction.effects import MATRICES, Effect, Role, roles
from spca_worldcoder.induction.goals import ANY, MENTIONED, Condition, Pattern
from spca_worldcoder.induction.literals import Literal
from spca_worldcoder.induction.rulebook import Clause, Rulebook
from spca_worldcoder.induction.view import Vector, is_vector
from spca_worldcoder.planning.dead_ends import Cell, live_cells
from spca_worldcoder.planning.formulas import (
    FALSE,
    TRUE,
    conjunction,
    consistent,
    disjunction,
    negation,
    not_all,
    with_contraries,
)
from spca_worldcoder.state import Entity, State

Assumed = tuple[str | None, str | None]
"""The class in the next cell, and the class of what is held; None for nothing."""

_COMPASS: tuple[Vector, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))


class NotCompilable(Exception):
    """The rules, the state or the goal have no form in PDDL."""


def compile_rules(
    rules: Rulebook, state: State, mission: str, actions: Sequence[str]
) -> tuple[str, str, int]:
    """Domain, problem, and how many goals it has. Actions are named `a<index of the action>_…`.

    Raises NotCompilable.
    """
    return _Compiler(rules, state, mission, actions).texts()


def action_of(step: str, actions: Sequence[str]) -> str:
    """The action that a step of the plan stands for."""
    return actions[int(step.partition("_")[0][1:])]


class _Compiler:
    def __init__(self, rules: Rulebook, state: State, mission: str, actions: Sequence[str]) -> None:
        if rules.frame is None:
            raise NotCompilable("nothing is known to move")
        self.rules, self.state, self.actions = rules, state, actions
        self.frame = rules.frame
        self.words = mission.split()
        ending = rules.rewards.ending(mission)
        if ending is None:
            raise NotCompilable("no goal is known")
        self.goal = ending.goal
        me = next((e for e in state if e.kind == self.frame.mover), None)
        if me is None or me.cell is None:
            raise NotCompilable("the mover is nowhere")
        self.me = me
        self.holdable: set[str] = set()
        """Classes that can come to be held."""
        self._moving: set[str] = set()
        """Predicates of the classes that some action moves, makes or removes."""
        self._prized = ""
        """The class that the goal wants in certain cells, if it can only be pushed."""
        self._carried = 0
        self._assumed: Assumed | None = None
        cells = [e.cell for e in state if e is not me and e.cell is not None]
        self._single = len(cells) == len(set(cells))
        held = me.get(self.frame.holding) if self.frame.holding else None
        self.held = held if isinstance(held, Entity) else None
        self.schema: dict[str, dict[str, None]] = {}
        self.values: dict[Any, str] = {}
        for one in [e for e in state if e is not me] + ([self.held] if self.held else []):
            known = self.schema.setdefault(one.kind, {})
            for name, value in one.attributes:
                if isinstance(value, tuple):
                    raise NotCompilable(f"{one.kind} has the attribute '{name}', which is no plain value")
                known.setdefault(name)
                self._value(value)
        for clause in (c for g in rules.groups for c in g.clauses):
            for effect in clause.effects:
                if effect[0] == "set":
                    self._value(effect[3])
                if effect[0] == "create":
                    known = self.schema.setdefault(effect[2], {})
                    for name, value in effect[3]:
                        known.setdefault(name)
                        self._value(value)
        self.kinds = {kind: f"k{i}" for i, kind in enumerate(sorted(self.schema))}
        names = sorted({n for known in self.schema.values() for n in known})
        self.names = {name: f"n{i}" for i, name in enumerate(names)}
        self.mine = {
            n: f"m{i}" for i, (n, v) in enumerate(me.attributes)
            if n not in (self.frame.holding, self.frame.facing) and not isinstance(v, tuple)
        }  # fmt: skip
        for name in self.mine:
            self._value(me.get(name))

    def _value(self, value: Any) -> str:
        return self.values.setdefault((type(value).__name__, value), f"v{len(self.values)}")

    def known_value(self, value: Any) -> str | None:
        """The object of a value, if there is one."""
        return self.values.get((type(value).__name__, value))

    # Texts

    def texts(self) -> tuple[str, str, int]:
        """Domain, problem and the number of its goals."""
        self.holdable = {self.held.kind} if self.held is not None else set()
        for number, action in enumerate(self.actions):
            taken = any(e[0] == "take" for c in self.rules.clauses(action) for e in c.effects)
            for text in self._action(number, action) if taken else ():
                self.holdable |= {
                    kind for kind, k in self.kinds.items() if f"(h_{k})" in text.partition(":effect")[2]
                }
        actions = [text for i, action in enumerate(self.actions) for text in self._action(i, action)]
        self._moving = {k for a in actions for k in re.findall(r"\((k\d+) ", a.partition(":effect")[2])}
        live = self._live()
        if live:
            actions = [text for i, action in enumerate(self.actions) for text in self._action(i, action)]
        predicates = [
            "(live ?c - cell)",
            "(me ?c - cell)",
            "(next ?a ?b - cell ?d - dir)",
            "(facing ?d - dir)",
            "(free)",
        ]
        predicates += [f"(r{i} ?a ?b - dir)" for i in range(len(MATRICES))]
        predicates += [f"({k} ?c - cell)" for k in self.kinds.values()]
        predicates += [f"(h_{k})" for k in self.kinds.values()]
        predicates += [
            f"({self.kinds[kind]}_{self.names[n]} ?c - cell ?v - val)"
            for kind, known in self.schema.items()
            for n in known
        ]
        predicates += [f"(h_{n} ?v - val)" for n in self.names.values()]
        predicates += [f"({n} ?v - val)" for n in self.mine.values()]
        moving = self._moving
        actions = [with_contraries(a, moving) for a in actions]
        predicates += [f"(x{k} ?c - cell)" for k in sorted(moving)] + [
            f"(xh_{k})" for k in self.kinds.values()
        ]
        domain = (
            "(define (domain world)\n (:requirements :adl)\n (:types cell dir val)\n"
            " (:constants d0 d1 d2 d3 - dir"
            + (f" {' '.join(self.values.values())} - val" if self.values else "")
            + ")\n (:predicates "
            + " ".join(predicates)
            + ")\n"
            + "\n".join(actions)
            + ")"
        )
        spots = [e.cell for e in self.state if e.cell is not None]
        # Actions have as many cells ahead as rules look at, so there have to be some beyond the border.
        margin = max([0, *(c.reach - 2 for g in self.rules.groups for c in g.clauses)])
        left, right = min(x for x, _ in spots) - margin, max(x for x, _ in spots) + margin
        top, bottom = min(y for _, y in spots) - margin, max(y for _, y in spots) + margin
        cells = [(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)]
        init = [f"(me {_cell(self.me.cell)})"]
        for x, y in cells:
            for d, (dx, dy) in enumerate(_COMPASS):
                if left <= x + dx <= right and top <= y + dy <= bottom:
                    init.append(f"(next {_cell((x, y))} {_cell((x + dx, y + dy))} d{d})")
        for i, matrix in enumerate(MATRICES):
            init += [f"(r{i} d{a} d{_COMPASS.index(_turned(v, matrix))})" for a, v in enumerate(_COMPASS)]
        init += [f"(live {_cell(c)})" for c in sorted(live)]
        facts = set(self._facts())
        init += sorted(facts)
        init += [
            f"(x{k} {_cell(c)})" for k in sorted(moving) for c in cells if f"({k} {_cell(c)})" not in facts
        ]
        init += [f"(xh_{k})" for k in self.kinds.values() if f"(h_{k})" not in facts]
        goal = self._goal()
        problem = (
            "(define (problem now)\n (:domain world)\n"
            f" (:objects {' '.join(_cell(c) for c in cells)} - cell)\n"
            f" (:init {' '.join(init)})\n (:goal {goal}))"
        )
        return domain, problem, max(1, goal.count("(") - 1)

    def _live(self) -> set[Cell]:
        """Where the things that the goal wants in certain cells may be pushed; empty where there are none."""
        for condition in self.goal:
            match condition:
                case ("all_on", one, other):
                    kind, target = (other, one) if self.kinds.get(one) not in self._moving else (one, other)
                    effects = [e for a in self.actions for c in self.rules.clauses(a) for e in c.effects]
                    if self.kinds.get(kind) not in self._moving or self.kinds.get(target) in self._moving:
                        continue
                    things = [e for e in self.state if e.kind == kind]
                    goals = {e.cell for e in self.state if e.kind == target and e.cell is not None}
                    if {e[0] for e in effects} <= {"step", "push", "turn", "goto"} and len(things) == len(
                        goals
                    ):
                        self._prized = kind
                        moving = {k for k, name in self.kinds.items() if name in self._moving}
                        return live_cells(self.rules, self.state, self.actions, kind, moving, goals)
        return set()

    def _facts(self) -> Iterator[str]:
        taken = set()
        for one in self.state:
            if one is self.me or one.cell is None:
                continue
            if (one.kind, one.cell) in taken:
                raise NotCompilable(f"two of class {one.kind} share a cell")
            taken.add((one.kind, one.cell))
            yield f"({self.kinds[one.kind]} {_cell(one.cell)})"
            for name, value in one.attributes:
                yield f"({self.kinds[one.kind]}_{self.names[name]} {_cell(one.cell)} {self._value(value)})"
        facing = self.me.get(self.frame.facing) if self.frame.facing else None
        if is_vector(facing):
            yield f"(facing d{_COMPASS.index(facing)})"
        for name, predicate in self.mine.items():
            yield f"({predicate} {self._value(self.me.get(name))})"
        if self.held is None:
            yield "(free)"
        else:
            yield f"(h_{self.kinds[self.held.kind]})"
            yield from (f"(h_{self.names[n]} {self._value(v)})" for n, v in self.held.attributes)

    # Actions

    def _action(self, number: int, action: str) -> Iterator[str]:
        clauses = self.rules.clauses(action)
        for i, clause in enumerate(clauses):
            if any(e[0] == "step" and e[1] < 0 for e in clause.effects):
                raise NotCompilable("the mover steps back")
            for variant, (filled, assumed) in enumerate(self._variants(clauses[: i + 1])):
                self._assumed = assumed
                text = self._variant(f"a{number}_{i}_{variant}", action, clauses[: i + 1], filled)
                self._assumed = None
                if text:
                    yield text

    def _variants(self, clauses: Sequence[Clause]) -> Iterator[tuple[dict[Role, str], Assumed | None]]:
        """Ways to fill the roles of the last clause and, for conjunctive exceptions, what is met and held.

        A disjunction in a precondition doubles the actions of the planner, so what decides most of them is
        fixed first.
        """
        clause = clauses[-1]
        complex_ones = sum(len(c) > 1 for one in clauses for c in one.unless)
        split = (
            bool(self.frame.holding) and self._single and complex_ones > 1 and any(c.reach for c in clauses)
        )
        for filled in self._fillings(clause):
            if not split:
                yield filled, None
                continue
            for ahead, held in itertools.product((None, *self.kinds), repeat=2):
                fits = all(
                    (kind == held) if role == ("held",) else (role[1] != 1 or kind == ahead)
                    for role, kind in filled.items()
                )
                if fits:
                    yield filled, (ahead, held)

    def _variant(self, name: str, action: str, clauses: Sequence[Clause], filled: dict[Role, str]) -> str:
        """The action's text; empty where it can never be applied."""
        clause, own = clauses[-1], self.frame.compass.get(action)
        reach = max([0, *(c.reach for c in clauses)])
        parameters = [f"?c{k} - cell" for k in range(reach + 1)]
        conditions = ["(me ?c0)"]
        direction = f"d{_COMPASS.index(own)}" if own is not None else "?d"
        turns = [e for e in clause.effects if e[0] == "turn"]
        if own is None and (reach or turns):
            if not self.frame.facing:
                raise NotCompilable(f"'{action}' has no direction")
            parameters.append("?d - dir")
            conditions.append("(facing ?d)")
        conditions += [f"(next ?c{k} ?c{k + 1} {direction})" for k in range(reach)]
        for turn in turns:
            if turn[1] != self.frame.facing or turn[2] not in MATRICES:
                raise NotCompilable(f"'{action}' turns what is no heading")
            parameters.append("?e - dir")
            conditions.append(f"(r{MATRICES.index(turn[2])} ?d ?e)")
        conditions += self._present(clause, filled)
        if self._assumed is not None:
            ahead, held = self._assumed
            conditions += (
                [f"(not ({k} ?c1))" for k in self.kinds.values()]
                if ahead is None
                else [f"({self.kinds[ahead]} ?c1)"]
            )
            conditions.append("(free)" if held is None else f"(h_{self.kinds[held]})")
        if "goto" in {e[0] for e in clause.effects}:
            parameters.append("?t - cell")
        self._carried = 0
        effects = [text for e in clause.effects for text in self._effect(e, filled, conditions)]
        conditions += [
            f"(live ?c{e[1][1] + e[2]})"
            for e in clause.effects
            if e[0] == "push" and filled[e[1]] == self._prized
        ]
        parameters += [f"?w{k} - val" for k in range(1, self._carried + 1)]
        conditions += [not_all([self._literal(one) for one in c]) for c in clause.unless]
        conditions += [self._silent(earlier) for earlier in clauses[:-1]]
        condition = conjunction(consistent(conditions))
        if condition == FALSE:
            return ""
        return (
            f" (:action {name}\n  :parameters ({' '.join(parameters)})\n"
            f"  :precondition {condition}\n  :effect (and {' '.join(effects)}))"
        )

    def _fillings(self, clause: Clause) -> Iterator[dict[Role, str]]:
        """Classes for the roles of a clause, and for what is held where that matters."""
        wanted: list[tuple[Role, list[str]]] = []
        for role in dict.fromkeys(roles(clause.effects)):
            if role[0] == "cell":
                wanted.append((role, [role[2]] if role[2] in self.kinds else []))
            elif role[0] == "any":
                wanted.append((role, list(self.kinds)))
            else:
                raise NotCompilable(f"a clause is about {role[0]} {role[1]}")
        names = {e[0] for e in clause.effects}
        if names & {"put", "consume"}:
            if "take" in names:
                raise NotCompilable("what is held is exchanged")
            wanted.append((("held",), [kind for kind in self.kinds if kind in self.holdable]))
        for chosen in itertools.product(*(kinds for _, kinds in wanted)):
            yield {role: kind for (role, _), kind in zip(wanted, chosen, strict=True)}

    def _present(self, clause: Clause, filled: dict[Role, str]) -> list[str]:
        found = []
        for role, kind in filled.items():
            if role == ("held",):
                found.append(f"(h_{self.kinds[kind]})")
                continue
            found.append(f"({self.kinds[kind]} ?c{role[1]})")
            if role[0] == "any" and not self._single:
                found += [f"(not ({k} ?c{role[1]}))" for other, k in self.kinds.items() if other != kind]
        return found

    def _silent(self, clause: Clause) -> str:
        """That an earlier clause does not fire."""
        ways = [conjunction([self._literal(one) for one in c]) for c in clause.unless]
        for role in dict.fromkeys(roles(clause.effects)):
            if role[0] == "cell":
                ways.append(f"(not ({self.kinds[role[2]]} ?c{role[1]}))" if role[2] in self.kinds else TRUE)
            elif role[0] == "any":
                ways.append(conjunction([f"(not ({k} ?c{role[1]}))" for k in self.kinds.values()]))
        if {"put", "consume"} & {e[0] for e in clause.effects}:
            ways.append("(free)")
        for effect in clause.effects:
            if effect[0] == "set" and effect[1][0] == "cell":
                continue
            if effect[0] == "set":  # only what has the attribute can have it changed
                having = [self.kinds[k] for k, known in self.schema.items() if effect[2] in known]
                ways.append(conjunction([f"(not ({k} ?c{effect[1][1]}))" for k in having]))
        return disjunction(ways)

    def _effect(self, effect: Effect, filled: dict[Role, str], conditions: list[str]) -> Iterator[str]:  # noqa: PLR0912
        match effect:
            case ("step", m):
                yield f"(not (me ?c0)) (me ?c{m})"
            case ("goto", k, kind):
                conditions.append(f"({self.kinds[kind]} ?t) (not (= ?t ?c{k}))")
                yield "(not (me ?c0)) (me ?t)"
            case ("turn", _, _):
                yield "(not (facing ?d)) (facing ?e)"
            case ("mine", name, value):
                if name not in self.mine or self.known_value(value) is None:
                    raise NotCompilable(f"the mover's '{name}' changes")
                yield (
                    f"(forall (?v - val) (not ({self.mine[name]} ?v))) "
                    f"({self.mine[name]} {self._value(value)})"
                )
            case ("push", role, m):
                kind, start = filled[role], role[1]
                if start + m < 0:
                    raise NotCompilable("something is drawn behind the mover")
                yield self._leave(kind, start) + self._arrive(kind, start + m)
                for name in self.schema[kind]:
                    predicate = f"{self.kinds[kind]}_{self.names[name]}"
                    yield self._carry(f"{predicate} ?c{start}", f"{predicate} ?c{start + m}", conditions)
            case ("set", role, name, value):
                kind = filled[role]
                if name not in self.schema[kind]:
                    conditions.append(FALSE)
                    return
                predicate = f"{self.kinds[kind]}_{self.names[name]}"
                others = [v for v in self.values.values() if v != self._value(value)]
                yield " ".join(f"(not ({predicate} ?c{role[1]} {v}))" for v in others)
                yield f"({predicate} ?c{role[1]} {self._value(value)})"
            case ("remove", role):
                yield self._leave(filled[role], role[1])
                for name in self.schema[filled[role]]:
                    predicate = f"{self.kinds[filled[role]]}_{self.names[name]}"
                    yield self._carry(f"{predicate} ?c{role[1]}", "", conditions)
            case ("take", role):
                kind = filled[role]
                yield self._leave(kind, role[1]) + f" (not (free)) (h_{self.kinds[kind]})"
                for name in self.schema[kind]:
                    one, other = f"{self.kinds[kind]}_{self.names[name]}", f"h_{self.names[name]}"
                    yield self._carry(f"{one} ?c{role[1]}", other, conditions)
            case ("put", k):
                kind = filled["held",]
                yield self._arrive(kind, k) + f" (free) (not (h_{self.kinds[kind]}))"
                for name in self.schema[kind]:
                    one, other = f"h_{self.names[name]}", f"{self.kinds[kind]}_{self.names[name]}"
                    yield self._carry(one, f"{other} ?c{k}", conditions)
            case ("consume",):
                kind = filled["held",]
                yield f"(free) (not (h_{self.kinds[kind]}))"
                for name in self.schema[kind]:
                    yield self._carry(f"h_{self.names[name]}", "", conditions)
            case ("create", k, kind, attributes):
                yield self._arrive(kind, k)
                for name, value in attributes:
                    yield f"({self.kinds[kind]}_{self.names[name]} ?c{k} {self._value(value)})"
            case _:
                raise NotCompilable(f"the effect '{effect[0]}' is not known here")

    def _leave(self, kind: str, k: int) -> str:
        return f"(not ({self.kinds[kind]} ?c{k}))"

    def _arrive(self, kind: str, k: int) -> str:
        return f" ({self.kinds[kind]} ?c{k})"

    def _carry(self, source: str, target: str, conditions: list[str]) -> str:
        """A fact's value goes over to another (or away): a parameter is cheaper than a conditional effect."""
        self._carried += 1
        value = f"?w{self._carried}"
        conditions.append(f"({source} {value})")
        return f"(not ({source} {value}))" + (f" ({target} {value})" if target else "")

    # Conditions

    def _literal(self, literal: Literal) -> str:  # noqa: PLR0912
        match literal:
            case ("not", inner):
                return negation(self._literal(inner))
            case ("kind", k, kind):
                if k == 1 and self._assumed is not None:
                    return TRUE if self._assumed[0] == kind else FALSE
                return f"({self.kinds[kind]} ?c{k})" if kind in self.kinds else FALSE
            case ("empty", k):
                if k == 1 and self._assumed is not None:
                    return TRUE if self._assumed[0] is None else FALSE
                return conjunction([f"(not ({p} ?c{k}))" for p in self.kinds.values()])
            case ("value", k, name, value):
                known = self.known_value(value)
                having = [self.kinds[kind] for kind in self._having(name, k)]
                return disjunction(
                    [f"({p}_{self.names[name]} ?c{k} {known})" for p in having] if known else []
                )
            case ("same", k, name):
                if self._assumed is not None and (
                    self._assumed[1] is None or name not in self.schema[self._assumed[1]]
                ):
                    return FALSE
                having = [self.kinds[kind] for kind in self._having(name, k)]
                return disjunction([
                    f"(and (h_{self.names[name]} {v}) ({p}_{self.names[name]} ?c{k} {v}))"
                    for p in having for v in self.values.values()
                ])  # fmt: skip
            case ("held",):
                if self._assumed is not None or not self.frame.holding:
                    return TRUE if self._assumed is not None and self._assumed[1] is not None else FALSE
                return "(not (free))"
            case ("held_kind", kind):
                if self._assumed is not None:
                    return TRUE if self._assumed[1] == kind else FALSE
                return f"(h_{self.kinds[kind]})" if kind in self.kinds else FALSE
            case ("held_value", name, value):
                known = self.known_value(value)
                return f"(h_{self.names[name]} {known})" if known and name in self.names else FALSE
            case ("mine", name, value):
                if name == self.frame.facing and is_vector(value):
                    return f"(facing d{_COMPASS.index(value)})"
                known = self.known_value(value)
                return f"({self.mine[name]} {known})" if known and name in self.mine else FALSE
        raise NotCompilable(f"not a literal: {literal}")

    def _having(self, name: str, k: int) -> list[str]:
        """Classes that have an attribute and may lie k cells ahead."""
        found = [kind for kind, names in self.schema.items() if name in names]
        if k == 1 and self._assumed is not None:
            return [kind for kind in found if kind == self._assumed[0]]
        return found

    def _goal(self) -> str:
        return conjunction([self._condition(one) for one in self.goal])

    def _condition(self, condition: Condition) -> str:
        match condition:
            case ("all_on", kind, other):
                mine = [e for e in self.state if e.kind == kind]
                theirs = [e for e in self.state if e.kind == other]
                if not mine or not theirs:
                    raise NotCompilable("there is nothing to put on anything")
                if self.kinds[kind] not in self._moving:
                    return conjunction([f"({self.kinds[other]} {_cell(e.cell)})" for e in mine if e.cell])
                if len(mine) == len(theirs) and self.kinds[other] not in self._moving:
                    return conjunction([f"({self.kinds[kind]} {_cell(e.cell)})" for e in theirs if e.cell])
                return f"(forall (?c - cell) (or (not ({self.kinds[kind]} ?c)) ({self.kinds[other]} ?c)))"
            case ("none", kind):
                return f"(forall (?c - cell) (not ({self.kinds[kind]} ?c)))" if kind in self.kinds else TRUE
            case ("act", _):
                raise NotCompilable("the goal asks for an action")
        place, pattern = condition
        if place == "held":
            return disjunction([self._matching(kind, pattern, "") for kind in self._suiting(pattern)])
        ways = disjunction([self._matching(kind, pattern, "?c") for kind in self._suiting(pattern)])
        if place == "some":
            return f"(exists (?c - cell) {ways})"
        if place == "here":
            return f"(exists (?c - cell) (and (me ?c) {ways}))"
        return f"(exists (?c ?b - cell ?d - dir) (and (me ?b) (facing ?d) (next ?b ?c ?d) {ways}))"

    def _suiting(self, pattern: Pattern) -> list[str]:
        kind = pattern[0]
        found = [k for k in self.kinds if kind in (ANY, k) or (kind == MENTIONED and k in self.words)]
        return [k for k in found if all(name in self.schema[k] for name, _ in pattern[1])]

    def _matching(self, kind: str, pattern: Pattern, cell: str) -> str:
        """That what is held, or lies in a cell, is of a class and matches a pattern."""
        predicate = self.kinds[kind]
        parts = [f"({predicate} {cell})" if cell else f"(h_{predicate})"]
        for name, wanted in pattern[1]:
            values = [
                text
                for (_, v), text in self.values.items()
                if (v in self.words if wanted == MENTIONED else v == wanted)
            ]
            base = f"{predicate}_{self.names[name]} {cell}" if cell else f"h_{self.names[name]}"
            parts.append(disjunction([f"({base} {v})" for v in values]))
        return conjunction(parts)


def _turned(vector: Vector, m: tuple[Vector, Vector]) -> Vector:
    return m[0][0] * vector[0] + m[0][1] * vector[1], m[1][0] * vector[0] + m[1][1] * vector[1]


def _cell(cell: tuple[int, int] | None) -> str:
    assert cell is not None
    return f"c{cell[0]}_{cell[1]}".replace("-", "m")
