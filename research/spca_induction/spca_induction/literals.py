"""Conditions of rules: what may be said about a view, and what saying it costs.

("kind", k, class)         something of the class lies k cells ahead
("empty", k)               nothing lies there
("value", k, name, value)  something there has the value
("same", k, name)          something there agrees with what is held in an attribute
("held",)                  something is held
("held_kind", class)       something of the class is held
("not", literal)           the contrary of any of these
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spca_induction.view import View

Literal = tuple[Any, ...]
Conjunction = tuple[Literal, ...]

_COST = {
    "kind": (1.0, 1.2),
    "empty": (1.1, 0.5),
    "value": (1.8, 0.9),
    "same": (1.3, 0.0),
    "held": (1.0, 0.0),
    "held_kind": (1.4, 0.5),
}
"""Of a literal, and what its contrary costs more."""
_VARIABLE_VALUE = 1.2
_FILLED = 0.9
"""That a cell is taken into which something is to be put: the likeliest reason why that fails."""


def facts(view: View) -> set[Literal]:
    """All literals that are true of a view, but for the contraries."""
    found: set[Literal] = set()
    for k, here in enumerate(view.cells):
        if not here:
            found.add(("empty", k))
        for one in here:
            found.add(("kind", k, one.kind))
            for name, value in one.attributes:
                if isinstance(value, (str, bool, int)) or value is None:
                    found.add(("value", k, name, value))
                if view.held is not None and value is not None and view.held.get(name) == value:
                    found.add(("same", k, name))
    if view.held is not None:
        found |= {("held",), ("held_kind", view.held.kind)}
    return found


def holds(literal: Literal, view: View) -> bool:
    """Return whether a literal is true of a view."""
    return literal[1] not in facts(view) if literal[0] == "not" else literal in facts(view)


def cost(literal: Literal, variable: Collection[str] = (), filled: Collection[int] = ()) -> float:
    """Compute the description length of a literal.

    Cheap to ask for are attributes that effects change (`variable`) and whether those of the next cells are
    free that the effect fills (`filled`).
    """
    if literal[0] == "not":
        if literal[1][0] == "empty" and literal[1][1] in filled:
            return _FILLED
        return cost(literal[1], variable) + _COST[literal[1][0]][1]
    base = _COST[literal[0]][0]
    if literal[0] == "value" and literal[2] in variable:
        base = _VARIABLE_VALUE
    return base if literal[0].startswith("held") else base + abs(literal[1] - 1)


def conjunction_cost(
    literals: Conjunction, variable: Collection[str] = (), filled: Collection[int] = ()
) -> float:
    """Compute the description length of a conjunction."""
    return sum(cost(one, variable, filled) for one in literals) + 0.5 * (len(literals) - 1)


def true_of(view: View, reach: int, kinds: Collection[str], shared: Collection[str]) -> set[Literal]:
    """The literals that are true of a view and may serve as conditions, looking `reach` cells ahead.

    `kinds` are the classes that a cell may lack, `shared` the attributes in which something in the next cell
    may differ from what is held.
    """
    true = facts(view)
    found = {one for one in true if _ahead(one) <= (1 if one[0] == "same" else reach)}
    for k in range(1, min(reach + 1, len(view.cells))):
        contrary: list[Literal] = [("empty", k), *(("kind", k, kind) for kind in kinds)]
        contrary += [("same", k, name) for name in shared if k == 1]
        found |= {("not", one) for one in contrary if one not in true}
    return found if ("held",) in true else {*found, ("not", ("held",))}


def context(view: View, variable: Collection[str] = ()) -> Conjunction:
    """The neighbourhood of a step as a conjunction: what lies in the next cell, and what is held.

    Values are left out unless they are of attributes that change; whether the held thing agrees with what
    lies ahead is in.
    """
    ahead = {name for one in view.cells[1:2] for e in one for name, _ in e.attributes}
    both = [name for name, _ in view.held.attributes if name in ahead] if view.held is not None else []

    def tells(one: Literal) -> bool:
        if one[0] == "not":
            return one[1][0] in ("same", "held")
        return one[0] == "held_kind" or (_ahead(one) == 1 and (one[0] != "value" or one[2] in variable))

    return tuple(sorted(filter(tells, true_of(view, 1, (), both)), key=repr))


def _ahead(literal: Literal) -> int:
    """How many cells ahead lies what a literal is about; 0 for what is held."""
    return literal[1] if literal[0] in ("empty", "kind", "value", "same") else 0
