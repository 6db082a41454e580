"""States of a world: bags of entities, each with a class, perhaps a cell of the grid, and attributes.

In JSON an entity is `[class, x, y, {attribute: value}]`; x and y are null for what lies nowhere. A value is
text, a whole number, true, false, null, a vector `[dx, dy]`, or an entity (what something holds).
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from spca_core.errors import InputError


class Entity(NamedTuple):
    """One thing: equal when everything about it is equal. Attributes are sorted by name."""

    kind: str
    """Its class."""
    x: int | None
    y: int | None
    attributes: tuple[tuple[str, Any], ...] = ()

    @property
    def cell(self) -> tuple[int, int] | None:
        """(x, y), or None for what lies nowhere."""
        return None if self.x is None or self.y is None else (self.x, self.y)

    def get(self, name: str) -> Any:
        """An attribute's value; None where there is none."""
        for key, value in self.attributes:
            if key == name:
                return value
        return None

    def having(self, **changes: Any) -> Entity:
        """A copy with some attributes changed."""
        return entity(self.kind, self.x, self.y, **{**dict(self.attributes), **changes})

    def at(self, cell: tuple[int, int] | None) -> Entity:
        """A copy at another cell, or nowhere."""
        x, y = cell if cell is not None else (None, None)
        return Entity(self.kind, x, y, self.attributes)


State = tuple[Entity, ...]
"""All entities, sorted (`state_of`), so that equal worlds are equal tuples."""


def entity(kind: str, x: int | None = None, y: int | None = None, /, **attributes: Any) -> Entity:
    """An entity; the attributes in any order."""
    return Entity(kind, x, y, tuple(sorted(attributes.items())))


def state_of(entities: Iterable[Entity]) -> State:
    """The state with these entities."""
    return tuple(sorted(entities, key=_order))


def _order(one: Entity) -> tuple[Any, ...]:
    return (one.kind, one.x is None, one.x or 0, one.y or 0, repr(one.attributes))


def kinds_in(state: State) -> set[str]:
    """The classes of all entities, of what something holds too."""
    held = [value for one in state for _, value in one.attributes if isinstance(value, Entity)]
    return {one.kind for one in (*state, *held)}


def to_json(value: Any) -> Any:
    """A state, or what is in one, as plain JSON."""
    if isinstance(value, Entity):
        return [value.kind, value.x, value.y, {name: to_json(v) for name, v in value.attributes}]
    return [to_json(one) for one in value] if isinstance(value, tuple) else value


def from_json(value: Any) -> State:
    """The state in plain JSON. InputError for anything else."""
    if not isinstance(value, list):
        raise InputError(f"a state is a list of entities, not {type(value).__name__}")
    return state_of(_entity(item) for item in value)


def _entity(item: Any, deepest: int = 8) -> Entity:
    if deepest < 0:
        raise InputError("not an entity: it holds one that holds one, and so on, too deep")
    match item:
        case [str() as kind, (int() | None) as x, (int() | None) as y, dict() as attributes]:
            return entity(kind, x, y, **{str(name): _value(v, deepest) for name, v in attributes.items()})
    raise InputError(f"not an entity: {reprlib.repr(item)[:80]}", hint="[class, x, y, {attribute: value}]")


def _value(value: Any, deepest: int) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case [int() as dx, int() as dy]:
            return (dx, dy)
        case [str(), _, _, dict()]:
            return _entity(value, deepest - 1)
    raise InputError(
        f"not an attribute's value: {reprlib.repr(value)[:80]}",
        hint="text, a number, [dx, dy], an entity or null",
    )


def difference(before: State, after: State) -> tuple[list[Entity], list[Entity]]:
    """Return the entities that are gone and those that are new, as bags."""
    gone, new = list(before), []
    for one in after:
        if one in gone:
            gone.remove(one)
        else:
            new.append(one)
    return gone, new


def in_words(before: State, after: State) -> str:
    """The change of a step in one line."""
    gone, new = difference(before, after)
    if not gone and not new:
        return "nothing changes"
    return "; ".join([*(f"gone: {name_of(e)}" for e in gone), *(f"new: {name_of(e)}" for e in new)])


def name_of(one: Entity) -> str:
    """An entity in short words: `door (5, 2) colour=red`."""
    cell = "" if one.cell is None else f" ({one.x}, {one.y})"
    values: Mapping[str, Any] = dict(one.attributes)
    shown = (f"{k}={f'[{name_of(v)}]' if isinstance(v, Entity) else v}" for k, v in values.items())
    return " ".join([one.kind + cell, *shown])


def described(state: State) -> str:
    """All entities in short words; those of a kind that have a cell and nothing else share one entry."""
    alike: dict[str, list[str]] = {}
    for one in state:
        if one.cell is not None and not one.attributes:
            alike.setdefault(one.kind, []).append(f"({one.x}, {one.y})")
    others = [name_of(one) for one in state if one.cell is None or one.attributes]
    return "; ".join([*others, *(f"{kind} {' '.join(cells)}" for kind, cells in alike.items())])
