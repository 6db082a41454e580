"""Conditions of rules: what may be said about a view, and what saying it costs.

("kind", k, class)         something of the class lies k cells ahead
("empty", k)               nothing lies there
("value", k, name, value)  something there has the value
("same", k, name)          something there agrees with what is held in an attribute
("held",)                  something is held
("held_kind", class) and ("held_value", name, value)
("mine", name, value)      the mover has the value
("not", literal)           the contrary of any of these
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spca_induction.view import View
from spca_programs.state import Entity

Literal = tuple[Any, ...]
Conjunction = tuple[Literal, ...]

_FAR = 1.0
_COST = {
    "kind": (1.0, 1.2),
    "empty": (1.1, 0.5),
    "value": (1.8, 0.9),
    "same": (1.3, 0.0),
    "held": (1.0, 0.0),
    "held_kind": (1.4, 0.5),
    "held_value": (2.0, 1.0),
    "mine": (3.0, 1.0),
}
"""Of a literal, and what its contrary costs more."""
_VARIABLE_VALUE = 1.2
_FILLED = 0.9
"""That a cell is taken into which something is to be put: the likeliest reason why that fails."""


def holds(literal: Literal, view: View) -> bool:
    """Return whether a literal is true of a view."""
    match literal:
        case ("not", inner):
            return not holds(inner, view)
        case ("kind", k, kind):
            return k < len(view.cells) and any(e.kind == kind for e in view.cells[k])
        case ("empty", k):
            return k < len(view.cells) and not view.cells[k]
        case ("value", k, name, value):
            return k < len(view.cells) and any(
                n == name and v == value for e in view.cells[k] for n, v in e.attributes
            )
        case ("same", k, name):
            if view.held is None or k >= len(view.cells):
                return False
            mine = view.held.get(name)
            return mine is not None and any(e.get(name) == mine for e in view.cells[k])
        case ("held",):
            return view.held is not None
        case ("held_kind", kind):
            return view.held is not None and view.held.kind == kind
        case ("held_value", name, value):
            return view.held is not None and view.held.get(name) == value
        case ("mine", name, value):
            return bool(view.me.get(name) == value)
    raise ValueError(f"not a literal: {literal}")


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
    if literal[0] in ("kind", "empty", "value", "same") and literal[1] != 1:
        base += _FAR * abs(literal[1] - 1)
    return base


def conjunction_cost(
    literals: Conjunction, variable: Collection[str] = (), filled: Collection[int] = ()
) -> float:
    """Compute the description length of a conjunction."""
    return sum(cost(one, variable, filled) for one in literals) + 0.5 * (len(literals) - 1)


def true_of(  # noqa: PLR0912
    view: View, reach: int, mover_too: bool, kinds: Collection[str], shared: Collection[str]
) -> set[Literal]:
    """All literals that are true of a view, looking `reach` cells ahead; the negative ones too.

    `kinds` are the classes that a cell may lack, `shared` the attributes in which something there may differ
    from what is held. A literal is in the set exactly when `holds` says so.
    """
    found: set[Literal] = set()
    for k in (*range(1, reach + 1), 0):
        if k >= len(view.cells):
            continue
        here = view.cells[k]
        if not here:
            found.add(("empty", k))
        elif k:
            found.add(("not", ("empty", k)))
        for one in here:
            found.add(("kind", k, one.kind))
            for name, value in one.attributes:
                if isinstance(value, (str, bool, int)) or value is None:
                    found.add(("value", k, name, value))
        if k:
            for kind in kinds:
                if ("kind", k, kind) not in found:
                    found.add(("not", ("kind", k, kind)))
        if k == 1:
            for name in shared:
                same = ("same", k, name)
                found.add(same if holds(same, view) else ("not", same))
    if view.held is None:
        found.add(("not", ("held",)))
    else:
        found.add(("held",))
        found.add(("held_kind", view.held.kind))
        found.update(("held_value", n, v) for n, v in view.held.attributes if not isinstance(v, Entity))
    if mover_too:
        for name, value in view.me.attributes:
            if not isinstance(value, Entity) and value is not None:
                found.add(("mine", name, value))
    return found


def context(view: View, variable: Collection[str] = ()) -> Conjunction:
    """The neighbourhood of a step as a conjunction: what lies in the next cell, and what is held.

    Values are left out unless they are of attributes that change; whether the held thing agrees with what
    lies ahead is in.
    """
    literals: list[Literal] = []
    ahead = view.cells[1] if len(view.cells) > 1 else ()
    if len(view.cells) > 1 and not ahead:
        literals.append(("empty", 1))
    for one in ahead:
        literals.append(("kind", 1, one.kind))
        for name, value in one.attributes:
            if name in variable and (isinstance(value, (str, bool, int)) or value is None):
                literals.append(("value", 1, name, value))
    if view.held is None:
        literals.append(("not", ("held",)))
    else:
        literals.append(("held_kind", view.held.kind))
        for name, value in view.held.attributes:
            if any(n == name for e in ahead for n, _ in e.attributes):
                agree = any(e.get(name) == value for e in ahead)
                literals.append(("same", 1, name) if agree else ("not", ("same", 1, name)))
    return tuple(sorted(set(literals), key=repr))
