"""Effects over roles: what a step changes, without naming a cell, and how to find them in a transition.

A role says which entity is meant: ("cell", k, class) that of a class k cells ahead, ("any", k) the only one
there. Effects, each a tuple:

("step", m)                  the mover goes m cells ahead
("turn", name, matrix)       a direction of the mover is multiplied by a 2 × 2 matrix
("push", role, m)            an entity goes m cells on
("set", role, name, value)   an attribute becomes a constant
("remove", role)             an entity goes away
("take", role)               an entity goes into the mover's hold
("put", k)                   what is held comes to lie k cells ahead
"""

from __future__ import annotations

import itertools
from typing import Any

from spca_induction.view import REACH, Frame, Vector, View, is_vector
from spca_programs.state import Entity, State, difference, state_of

Role = tuple[Any, ...]
Effect = tuple[Any, ...]
Template = tuple[Effect, ...]
"""Effects that happen together; empty: nothing changes."""

MATRICES = (
    ((0, 1), (-1, 0)), ((0, -1), (1, 0)), ((-1, 0), (0, -1)),  # rotations first: they are the simpler guess
    ((1, 0), (0, -1)), ((-1, 0), (0, 1)), ((0, 1), (1, 0)), ((0, -1), (-1, 0)),
)  # fmt: skip
_COSTS = {"set": 1.5}
"""Of an effect, where it is not 1."""
_OF_ANY = 0.05
"""What it costs not to name the class."""
_MOST_ALTERNATIVES = 48


def turned(vector: Vector, m: tuple[Vector, Vector]) -> Vector:
    """Multiply a vector by a matrix."""
    return m[0][0] * vector[0] + m[0][1] * vector[1], m[1][0] * vector[0] + m[1][1] * vector[1]


def cost(template: Template) -> float:
    """Compute the description length of an effect template."""
    turns = [MATRICES.index(effect[2]) for effect in template if effect[0] == "turn"]
    total = sum(_COSTS.get(effect[0], 1.0) for effect in template) + 0.1 * sum(turns)
    return total + _OF_ANY * sum(role[0] == "any" for role in roles(template))


def roles(template: Template) -> list[Role]:
    """The roles that must be filled for the effects to make sense."""
    return [effect[1] for effect in template if effect[0] in ("push", "set", "remove", "take")]


def touched(template: Template) -> set[int]:
    """How many cells ahead the cells lie that the effects name or change."""
    pushed = {effect[1][1] + effect[2] for effect in template if effect[0] == "push"}
    return (
        {role[1] for role in roles(template)} | pushed | {e[1] for e in template if e[0] in ("step", "put")}
    )


def fill(role: Role, view: View) -> Entity | None:
    """The entity in a role; None where it is not filled."""
    here = view.cells[role[1]] if role[1] < len(view.cells) else ()
    if role[0] == "cell":
        return next((e for e in here if e.kind == role[2]), None)
    return here[0] if len(here) == 1 else None


def apply(template: Template, view: View, frame: Frame) -> State | None:
    """The state after the effects; None where a role is not filled or a direction is missing."""
    things = list(view.state)
    me = view.me
    things.remove(me)
    for effect in template:
        changed = _apply_one(effect, view, frame, things, me)
        if changed is None:
            return None
        me = changed
    return state_of([*things, me])


def _apply_one(effect: Effect, view: View, frame: Frame, things: list[Entity], me: Entity) -> Entity | None:
    """Change `things` in place; returns the mover as it is then, or None where the effect does not apply."""
    match effect:
        case ("step", m):
            return None if view.heading is None else me.at(view.ahead(m))
        case ("turn", name, m):
            value = me.get(name)
            return me.having(**{name: turned(value, m)}) if is_vector(value) else None
        case ("put", k):
            if view.held is None or view.heading is None:
                return None
            things.append(view.held.at(view.ahead(k)))
            return me.having(**{frame.holding: None})
    one = fill(effect[1], view)
    if one is None or one not in things:
        return None
    things.remove(one)
    match effect:
        case ("push", _, m):
            if (cell := _pushed(one, view, m)) is None:
                return None
            things.append(one.at(cell))
        case ("set", _, name, value):
            if not any(key == name for key, _ in one.attributes):
                return None
            things.append(one.having(**{name: value}))
        case ("take", _):
            if not frame.holding:
                return None
            me = me.having(**{frame.holding: one.at(None)})
    return me


def explanations(view: View, after: State, frame: Frame) -> list[Template]:
    """Templates that turn the view's state into `after`, in no order; empty where the language has none."""
    gone, new = difference(view.state, after)
    parts: list[list[Effect]] = []
    mine = next((e for e in new if e.kind == frame.mover), None)
    if view.me in gone:
        if mine is None:
            return []
        gone.remove(view.me)
        new.remove(mine)
        if not _explain_mover(view, mine, frame, gone, new, parts):
            return []
    if not _explain_others(view, gone, new, parts):
        return []
    found = itertools.islice(itertools.product(*parts), _MOST_ALTERNATIVES)
    return [t for t in (tuple(sorted(p, key=repr)) for p in found) if apply(t, view, frame) == after]


def _explain_mover(
    view: View, mine: Entity, frame: Frame, gone: list[Entity], new: list[Entity], parts: list[list[Effect]]
) -> bool:
    """Explain what became of the mover; takes what it took or put from `gone` and `new`."""
    me = view.me
    if me.cell != mine.cell:
        parts.append([("step", 1)] if view.heading is not None and view.ahead(1) == mine.cell else [])
    for name, old in me.attributes:
        value = mine.get(name)
        if value == old:
            continue
        if name != frame.holding:
            both = is_vector(old) and is_vector(value)
            parts.append([("turn", name, m) for m in MATRICES if both and turned(old, m) == value])
            continue
        if isinstance(old, Entity):
            put = next((e for e in new if e.at(None) == old), None)
            spot = _spot(view, put.cell) if put is not None else None
            if put is None or spot is None:
                return False
            new.remove(put)
            parts.append([("put", spot)])
        if isinstance(value, Entity):
            taken = next((e for e in gone if e.at(None) == value), None)
            if taken is None:
                return False
            gone.remove(taken)
            parts.append([("take", role) for role in _roles_of(taken, view)])
    return all(parts)


def _explain_others(view: View, gone: list[Entity], new: list[Entity], parts: list[list[Effect]]) -> bool:
    """Explain what became of all the rest."""
    for one in gone:
        here = next((e for e in new if e.kind == one.kind and e.cell == one.cell), None)
        moved = next((e for e in new if e.kind == one.kind and e.attributes == one.attributes), None)
        found = _roles_of(one, view)
        if here is not None:
            new.remove(here)
            changed = [(name, here.get(name)) for name, old in one.attributes if here.get(name) != old]
            parts += [[("set", role, name, value) for role in found] for name, value in changed]
        elif moved is not None:
            new.remove(moved)
            parts.append([("push", role, 1) for role in found if _pushed(one, view, 1) == moved.cell])
        else:
            parts.append([("remove", role) for role in found])
    return not new and all(parts)


def _pushed(one: Entity, view: View, m: int) -> tuple[int, int] | None:
    if view.heading is None or one.x is None or one.y is None:
        return None
    return one.x + m * view.heading[0], one.y + m * view.heading[1]


def _spot(view: View, cell: tuple[int, int] | None) -> int | None:
    """Return how many cells ahead a cell is, 0 to `REACH`; None if it is not."""
    ahead = range(REACH + 1) if view.heading is not None else ()
    return next((k for k in ahead if view.ahead(k) == cell), None)


def _roles_of(one: Entity, view: View) -> list[Role]:
    """Roles that a changed entity could have been changed in."""
    found: list[Role] = []
    for k, here in enumerate(view.cells):
        if one in here:
            found += [("cell", k, one.kind), *([("any", k)] if len(here) == 1 else [])]
    return found


def lifted(template: Template) -> Template | None:
    """The template with its class in the next cells left open; None where there is nothing to leave open."""
    opened = [
        tuple(("any", part[1]) if isinstance(part, tuple) and part[0] == "cell" else part for part in effect)
        for effect in template
    ]
    made = tuple(opened)
    return None if made == template else made
