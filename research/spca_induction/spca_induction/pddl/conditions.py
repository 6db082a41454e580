"""Conditions of rules and goals as PDDL, simplified as they are put together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from spca_induction.goals import ANY, MENTIONED, Condition, Goal, Pattern
from spca_induction.literals import Literal
from spca_induction.pddl.vocabulary import COMPASS, NotCompilable, Vocabulary, cell_name
from spca_induction.view import is_vector

Assumed = tuple[str | None, str | None]
"""The class in the next cell, and the class of what is held; None for nothing."""
TRUE, FALSE = "(and)", "(or)"


def formula(literal: Literal, words: Vocabulary, assumed: Assumed | None) -> str:  # noqa: PLR0912
    """A condition of a rule as a precondition."""
    match literal:
        case ("not", inner):
            return negation(formula(inner, words, assumed))
        case ("kind", k, kind):
            if k == 1 and assumed is not None:
                return TRUE if assumed[0] == kind else FALSE
            return f"({words.kinds[kind]} ?c{k})" if kind in words.kinds else FALSE
        case ("empty", k):
            if k == 1 and assumed is not None:
                return TRUE if assumed[0] is None else FALSE
            return conjunction([f"(not ({p} ?c{k}))" for p in words.kinds.values()])
        case ("value", k, name, value):
            known = words.known_value(value)
            having = [words.kinds[kind] for kind in _having(name, k, words, assumed)]
            return disjunction([f"({p}_{words.names[name]} ?c{k} {known})" for p in having] if known else [])
        case ("same", k, name):
            if assumed is not None and (assumed[1] is None or name not in words.schema[assumed[1]]):
                return FALSE
            having = [words.kinds[kind] for kind in _having(name, k, words, assumed)]
            return disjunction([
                f"(and (h_{words.names[name]} {v}) ({p}_{words.names[name]} ?c{k} {v}))"
                for p in having for v in words.values.values()
            ])  # fmt: skip
        case ("held",):
            if assumed is not None or not words.frame.holding:
                return TRUE if assumed is not None and assumed[1] is not None else FALSE
            return "(not (free))"
        case ("held_kind", kind):
            if assumed is not None:
                return TRUE if assumed[1] == kind else FALSE
            return f"(h_{words.kinds[kind]})" if kind in words.kinds else FALSE
        case ("held_value", name, value):
            known = words.known_value(value)
            return f"(h_{words.names[name]} {known})" if known and name in words.names else FALSE
        case ("mine", name, value):
            if name == words.frame.facing and is_vector(value):
                return f"(facing d{COMPASS.index(value)})"
            known = words.known_value(value)
            return f"({words.mine[name]} {known})" if known and name in words.mine else FALSE
    raise NotCompilable(f"not a literal: {literal}")


def _having(name: str, k: int, words: Vocabulary, assumed: Assumed | None) -> list[str]:
    """Classes that have an attribute and may lie k cells ahead."""
    found = [kind for kind, names in words.schema.items() if name in names]
    if k == 1 and assumed is not None:
        return [kind for kind in found if kind == assumed[0]]
    return found


class GoalFormula:
    """Writes goals; `moving` are the predicates of the classes that do not stay where they are."""

    def __init__(self, words: Vocabulary, mission: str, moving: Collection[str]) -> None:
        self._words, self._mission, self._moving = words, mission.split(), moving

    def text(self, goal: Goal) -> str:
        """The goal of the problem."""
        return conjunction([self._condition(one) for one in goal])

    def _condition(self, condition: Condition) -> str:
        kinds = self._words.kinds
        match condition:
            case ("all_on", kind, other):
                mine = [e for e in self._words.state if e.kind == kind]
                theirs = [e for e in self._words.state if e.kind == other]
                if not mine or not theirs:
                    raise NotCompilable("there is nothing to put on anything")
                one, two = kinds[kind], kinds[other]
                if one not in self._moving:
                    return conjunction([f"({two} {cell_name(e.cell)})" for e in mine if e.cell])
                if len(mine) == len(theirs) and two not in self._moving:
                    return conjunction([f"({one} {cell_name(e.cell)})" for e in theirs if e.cell])
                return f"(forall (?c - cell) (or (not ({one} ?c)) ({two} ?c)))"
            case ("none", kind):
                return f"(forall (?c - cell) (not ({kinds[kind]} ?c)))" if kind in kinds else TRUE
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
        found = [
            k for k in self._words.kinds if kind in (ANY, k) or (kind == MENTIONED and k in self._mission)
        ]
        return [k for k in found if all(name in self._words.schema[k] for name, _ in pattern[1])]

    def _matching(self, kind: str, pattern: Pattern, cell: str) -> str:
        """That what is held, or lies in a cell, is of a class and matches a pattern."""
        predicate = self._words.kinds[kind]
        parts = [f"({predicate} {cell})" if cell else f"(h_{predicate})"]
        for name, wanted in pattern[1]:
            values = [
                text
                for (_, v), text in self._words.values.items()
                if (v in self._mission if wanted == MENTIONED else v == wanted)
            ]
            base = f"{predicate}_{self._words.names[name]} {cell}" if cell else f"h_{self._words.names[name]}"
            parts.append(disjunction([f"({base} {v})" for v in values]))
        return conjunction(parts)


def conjunction(parts: Iterable[str]) -> str:
    """All of them."""
    listed = [part for part in dict.fromkeys(parts) if part != TRUE]
    if FALSE in listed:
        return FALSE
    return listed[0] if len(listed) == 1 else f"(and {' '.join(listed)})" if listed else TRUE


def consistent(parts: Iterable[str]) -> list[str]:
    """Conditions of a conjunction; only `FALSE` where one is the contrary of another."""
    listed = list(dict.fromkeys(parts))
    taken = set(listed)
    return [FALSE] if any(negation(part) in taken for part in listed) else listed


def disjunction(parts: Iterable[str]) -> str:
    """One of them."""
    listed = [part for part in dict.fromkeys(parts) if part != FALSE]
    if TRUE in listed:
        return TRUE
    return listed[0] if len(listed) == 1 else f"(or {' '.join(listed)})" if listed else FALSE


def negation(part: str) -> str:
    """The contrary."""
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    return part[5:-1] if part.startswith("(not ") else f"(not {part})"


def not_all(parts: Iterable[str]) -> str:
    """That one of them is false."""
    return disjunction([negation(part) for part in parts])


def with_contraries(action: str, moving: Collection[str]) -> str:
    """The action with a predicate of its own for the absence of each moving class.

    The planner turns places of one thing into one variable; that the thing is not in a cell would be a
    disjunction over all others then, and multiply the actions.
    """
    head, effect, tail = action.partition(":effect")

    def absent(match: re.Match[str]) -> str:
        return f"(x{match[1]}{match[2]})" if match[1] in moving or match[1].startswith("h_") else match[0]

    head = re.sub(r"\(not \(((?:h_)?k\d+)((?: \?\w+)?)\)\)", absent, head)

    def both(match: re.Match[str]) -> str:
        if match[1]:
            return f"{match[0]} (x{match[2]}{match[3]})"
        return f"{match[0]} (not (x{match[2]}{match[3]}))"

    return head + effect + re.sub(r"(\(not )?\(((?:h_)?k\d+)((?: \?\w+)?)\)(?(1)\))", both, tail)
