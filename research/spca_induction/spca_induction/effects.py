"""Effects over roles: what a step changes, without naming a cell, and how to find them in a transition.

A role says which entity is meant: ("cell", k, class) that of a class k cells ahead, ("any", k) the only one
there, ("the", class) the only one of its class, ("all", class) every one. Effects, each a tuple:

("step", m)                  the mover goes m cells ahead
("turn", name, matrix)       a direction of the mover is multiplied by a 2 × 2 matrix
("mine", name, value)        an attribute of the mover becomes a constant
("push", role, m)            an entity goes m cells on
("set", role, name, value)   an attribute becomes a constant
("copy", role, name, from)   an attribute becomes that of the held entity
("remove", role)             an entity goes away
("take", role)               an entity goes into the mover's hold
("put", k)                   what is held comes to lie k cells ahead
("consume",)                 what is held is gone
("create", k, class, attributes)  a new entity k cells ahead
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
_COSTS = {
    "step": 1.0,
    "turn": 1.0,
    "mine": 2.5,
    "push": 1.0,
    "set": 1.5,
    "copy": 1.6,
    "remove": 1.0,
    "take": 1.0,
    "put": 1.0,
    "consume": 1.2,
    "create": 2.5,
}
_STEPS = (1, 2, 3, -1, -2, -3)
_MOST_ALTERNATIVES = 48


def turned(vector: Vector, m: tuple[Vector, Vector]) -> Vector:
    """Multiply a vector by a matrix."""
    return m[0][0] * vector[0] + m[0][1] * vector[1], m[1][0] * vector[0] + m[1][1] * vector[1]


def cost(template: Template) -> float:
    """Compute the description length of an effect template."""
    total = 0.0
    for effect in template:
        total += _COSTS[effect[0]]
        if effect[0] == "turn":
            total += 0.1 * MATRICES.index(effect[2])
        for part in effect[1:]:
            if isinstance(part, tuple) and part and part[0] in ("any", "the", "all"):
                total += {"any": 0.05, "the": 0.5, "all": 0.5}[part[0]]
    return total


def roles(template: Template) -> list[Role]:
    """The roles that must be filled for the effects to make sense."""
    found = []
    for effect in template:
        if effect[0] in ("push", "set", "copy", "remove", "take"):
            found.append(effect[1])
    return found


def touched(template: Template) -> set[int]:
    """How many cells ahead the cells lie that the effects name or change; 0 for the mover's own."""
    found = set()
    for effect in template:
        if effect[0] in ("step", "put", "create"):
            found.add(effect[1])
        elif effect[0] in ("push", "set", "copy", "remove", "take") and effect[1][0] in ("cell", "any"):
            found |= {effect[1][1], effect[1][1] + (effect[2] if effect[0] == "push" else 0)}
    return found


def fill(role: Role, view: View) -> list[Entity]:
    """The entities in a role; none where it is not filled."""
    if role[0] in ("cell", "any"):
        if role[1] >= len(view.cells):
            return []
        here = view.cells[role[1]]
        if role[0] == "cell":
            return [e for e in here if e.kind == role[2]][:1]
        return list(here) if len(here) == 1 else []
    found = [e for e in view.state if e.kind == role[1] and e is not view.me]
    return found if role[0] == "all" or len(found) == 1 else []


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


def _apply_one(effect: Effect, view: View, frame: Frame, things: list[Entity], me: Entity) -> Entity | None:  # noqa: PLR0912
    """Change `things` in place; returns the mover as it is then, or None where the effect does not apply."""
    match effect:
        case ("step", m):
            return None if view.heading is None else me.at(view.ahead(m))
        case ("turn", name, m):
            value = me.get(name)
            if not is_vector(value):
                return None
            return me.having(**{name: turned(value, m)})
        case ("mine", name, value):
            return me.having(**{name: value}) if any(key == name for key, _ in me.attributes) else None
        case ("put", k):
            if view.held is None or view.heading is None:
                return None
            things.append(view.held.at(view.ahead(k)))
            return me.having(**{frame.holding: None}) if me.get(frame.holding) == view.held else me
        case ("consume",):
            return None if view.held is None else me.having(**{frame.holding: None})
        case ("create", k, kind, attributes):
            if view.heading is None and k:
                return None
            cell = view.ahead(k) if view.heading is not None else view.me.cell
            assert cell is not None
            things.append(Entity(kind, cell[0], cell[1], attributes))
            return me
    found = fill(effect[1], view)
    if not found:
        return None
    for one in found:
        if one not in things:
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
            case ("copy", _, name, source):
                if view.held is None:
                    return None
                things.append(one.having(**{name: view.held.get(source)}))
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


def _explain_mover(  # noqa: PLR0912
    view: View, mine: Entity, frame: Frame, gone: list[Entity], new: list[Entity], parts: list[list[Effect]]
) -> bool:
    """Explain what became of the mover; takes what it took or put from `gone` and `new`."""
    me = view.me
    if me.cell != mine.cell:
        ways: list[Effect] = []
        if view.heading is not None:
            ways += [("step", m) for m in _STEPS if view.ahead(m) == mine.cell]
        if not ways:
            return False
        parts.append(ways)
    for name, old in me.attributes:
        value = mine.get(name)
        if value == old:
            continue
        if name == frame.holding:
            if isinstance(old, Entity):
                put = next((e for e in new if e.at(None) == old), None)
                spot = _spot(view, put.cell) if put is not None else None
                if put is not None and spot is not None:
                    new.remove(put)
                    parts.append([("put", spot)])
                else:
                    parts.append([("consume",)])
            if isinstance(value, Entity):
                taken = next((e for e in gone if e.at(None) == value), None)
                if taken is None:
                    return False
                gone.remove(taken)
                parts.append([("take", role) for role in _roles_of(taken, view)])
        else:
            turns: list[Effect] = []
            if is_vector(old) and is_vector(value):
                turns = [("turn", name, m) for m in MATRICES if turned(old, m) == value]
            parts.append([*turns, ("mine", name, value)])
    return all(parts)


def _explain_others(view: View, gone: list[Entity], new: list[Entity], parts: list[list[Effect]]) -> bool:
    """Explain what became of all the rest."""
    for one in list(gone):
        here = next((e for e in new if e.kind == one.kind and e.cell == one.cell), None)
        moved = next((e for e in new if e.kind == one.kind and e.attributes == one.attributes), None)
        found = _roles_of(one, view)
        if here is not None:
            new.remove(here)
            for name, old in one.attributes:
                value = here.get(name)
                if value != old:
                    ways: list[Effect] = [("set", role, name, value) for role in found]
                    if view.held is not None:
                        same = [n for n, v in view.held.attributes if v == value]
                        ways += [("copy", role, name, n) for role in found for n in same]
                    parts.append(ways)
        elif moved is not None:
            new.remove(moved)
            pushes = [
                ("push", role, m) for role in found for m in _STEPS if _pushed(one, view, m) == moved.cell
            ]
            parts.append(pushes)
        else:
            parts.append([("remove", role) for role in found])
    for one in new:
        spot = _spot(view, one.cell)
        if spot is None:
            return False
        parts.append([("create", spot, one.kind, one.attributes)])
    unique: list[list[Effect]] = []
    for ways in parts:
        if not ways:
            return False
        if ways not in unique:
            unique.append(ways)
    parts[:] = unique
    return True


def _pushed(one: Entity, view: View, m: int) -> tuple[int, int] | None:
    if view.heading is None or one.x is None or one.y is None:
        return None
    return one.x + m * view.heading[0], one.y + m * view.heading[1]


def _spot(view: View, cell: tuple[int, int] | None) -> int | None:
    """Return how many cells ahead a cell is, 0 to `REACH`; None if it is not."""
    if cell == view.me.cell:
        return 0
    if view.heading is None:
        return None
    return next((k for k in range(1, REACH + 1) if view.ahead(k) == cell), None)


def _roles_of(one: Entity, view: View) -> list[Role]:
    """Roles that a changed entity could have been changed in."""
    found: list[Role] = []
    for k, here in enumerate(view.cells):
        if one in here:
            found.append(("cell", k, one.kind))
            if len(here) == 1:
                found.append(("any", k))
    if sum(e.kind == one.kind for e in view.state) == 1:
        found.append(("the", one.kind))
    found.append(("all", one.kind))
    return found


def lifted(template: Template) -> Template | None:
    """The template with its class in the next cells left open; None where there is nothing to leave open."""
    made = tuple(
        tuple(("any", p[1]) if isinstance(p, tuple) and p and p[0] == "cell" else p for p in effect)
        for effect in template
    )
    return None if made == template else made
