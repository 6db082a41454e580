"""What every program finds in the sandbox: entities and lookups. Put in front of a program's source.

It is run by the worker as plain source text, so it imports nothing of this project. Names that begin with
`wc_` are for the host; a program cannot change what the host believes, since every step of a plan is checked
again from outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # annotations are not evaluated, so the sandbox needs none of these
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    EntityKey = tuple[Any, ...]
    """(class, x, y, attributes): equal for equal entities."""
    StateKey = frozenset[EntityKey]

    # The two functions that the source after this one defines.
    def transition(state: list[Entity], action: str) -> list[Entity]: ...  # noqa: D103
    def reward(  # noqa: D103
        before: list[Entity], action: str, after: list[Entity], mission: str
    ) -> tuple[float, bool]: ...


class Entity:
    """One thing: `kind`, `x`, `y`, and attributes as in `door["color"]`."""

    __slots__ = ("_holds", "_key", "kind", "values", "x", "y")

    def __init__(
        self, kind: str, x: int | None = None, y: int | None = None, values: Mapping[str, Any] | None = None
    ) -> None:
        self.kind, self.x, self.y = kind, x, y
        self.values: dict[str, Any] = dict(values or {})
        self._holds = any(isinstance(value, Entity) for value in self.values.values())
        self._key: tuple[Any, ...] | None = None

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.values = {**self.values, name: value}  # copies share them
        self._holds = self._holds or isinstance(value, Entity)
        self._key = None

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def copy(self) -> Entity:
        """A copy of it, and of what it holds: a program may change that, too."""
        made = Entity.__new__(Entity)
        made.kind, made.x, made.y, made.values, made._key = self.kind, self.x, self.y, self.values, self._key
        made._holds = self._holds
        if self._holds:
            made.values = {n: v.copy() if isinstance(v, Entity) else v for n, v in self.values.items()}
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entity) and wc_entity_key(self) == wc_entity_key(other)

    def __hash__(self) -> int:
        return hash(wc_entity_key(self))

    def __repr__(self) -> str:
        return f"Entity({self.kind!r}, {self.x}, {self.y}, {self.values})"


def find(state: Sequence[Entity], kind: str) -> Entity | None:
    """The first entity of a kind, or None."""
    for one in state:
        if one.kind == kind:
            return one
    return None


def find_all(state: Sequence[Entity], kind: str) -> list[Entity]:
    """All entities of a kind."""
    return [one for one in state if one.kind == kind]


def things_at(state: Sequence[Entity], x: int | None, y: int | None) -> list[Entity]:
    """All entities in a cell."""
    return [one for one in state if one.x == x and one.y == y]


def pick(things: Sequence[Entity], kind: str) -> Entity | None:
    """The first of a kind in a list, or None."""
    return find(things, kind)


def only(things: Sequence[Entity]) -> Entity | None:
    """The only one in a list, or None."""
    return things[0] if len(things) == 1 else None


def has(things: Sequence[Entity], kind: str) -> bool:
    """Return whether one of a kind is in a list."""
    return any(one.kind == kind for one in things)


def has_value(things: Sequence[Entity], name: str, value: Any) -> bool:
    """Return whether something in a list has a value."""
    return any(name in one.values and one.values[name] == value for one in things)


def agrees(things: Sequence[Entity], held: Entity | None, name: str) -> bool:
    """Return whether something in a list agrees with what is held in an attribute."""
    return held is not None and held[name] is not None and any(one[name] == held[name] for one in things)


def cells_ahead(state: Sequence[Entity], me: Entity, dx: int, dy: int, count: int) -> list[list[Entity]]:
    """What lies 0, 1, …, `count` cells ahead, `me` left out; nothing if `me` is in no cell."""
    found: list[list[Entity]] = [[] for _ in range(count + 1)]
    if me.x is None or me.y is None:
        return found
    spots: dict[tuple[int | None, int | None], int] = {
        (me.x + k * dx, me.y + k * dy): k for k in range(count, -1, -1)
    }
    for one in state:
        k = spots.get((one.x, one.y))
        if k is not None and one is not me:
            found[k].append(one)
    return found


def the_other(state: Sequence[Entity], one: Entity) -> Entity | None:
    """The other entity of the same kind (of several, the one that is alike)."""
    others = [e for e in state if e.kind == one.kind and (e.x, e.y) != (one.x, one.y)]
    alike = [e for e in others if e.values == one.values]
    chosen = alike if len(alike) == 1 else others
    return chosen[0] if len(chosen) == 1 else None


def turned(vector: Sequence[int], matrix: Sequence[Sequence[int]]) -> tuple[int, int]:
    """A vector multiplied by a matrix."""
    (a, b), (c, d) = matrix
    return (a * vector[0] + b * vector[1], c * vector[0] + d * vector[1])


def count_on(state: Sequence[Entity], kind: str, other: str) -> int:
    """How many entities of a kind share their cell with one of another, in pairs."""
    cells: dict[tuple[int | None, int | None], int] = {}
    for one in state:
        if one.kind == other and one.x is not None:
            cells[one.x, one.y] = cells.get((one.x, one.y), 0) + 1
    return sum(cells.get((one.x, one.y), 0) for one in state if one.kind == kind and one.x is not None)


def all_on(state: Sequence[Entity], kind: str, other: str) -> bool:
    """Return whether there are entities of a kind and each shares its cell with one of another."""
    cells = {(one.x, one.y) for one in state if one.kind == other}
    mine = [one for one in state if one.kind == kind]
    return bool(mine) and all((one.x, one.y) in cells for one in mine)


def is_like(
    one: Entity, kind: str, words: Collection[str], mentioned: Sequence[str] = (), **values: Any
) -> bool:
    """Return whether an entity is of a kind (`*` any, `?` one that the mission names) with such values."""
    if kind == "?":
        if one.kind not in words:
            return False
    elif kind not in ("*", one.kind):
        return False
    return all(one[name] in words for name in mentioned) and all(one[name] == v for name, v in values.items())


def said(mission: str, *patterns: str) -> bool:
    """Return whether a mission is one of these; `*` stands for one word."""
    words = mission.split()
    for pattern in patterns:
        wanted = pattern.split()
        if len(wanted) == len(words) and all(w in ("*", word) for w, word in zip(wanted, words, strict=True)):
            return True
    return False


# For the host.


def wc_value(value: Any) -> Any:
    """A value out of JSON."""
    if isinstance(value, list):
        if len(value) == 4 and isinstance(value[0], str):
            return wc_entity(value)
        return tuple(value)
    return value


def wc_entity(item: Sequence[Any]) -> Entity:
    """An entity out of JSON."""
    return Entity(item[0], item[1], item[2], {name: wc_value(v) for name, v in item[3].items()})


def wc_plain(value: Any) -> Any:
    """A value as JSON."""
    if isinstance(value, Entity):
        return [value.kind, value.x, value.y, {str(n): wc_plain(v) for n, v in value.values.items()}]
    if isinstance(value, (tuple, list)):
        return [wc_plain(v) for v in value]
    return value


def wc_load(state: Sequence[Sequence[Any]]) -> list[Entity]:
    """A state out of JSON."""
    return [wc_entity(item) for item in state]


def wc_dump(state: Sequence[Entity]) -> list[Any]:
    """A state as JSON."""
    return [wc_plain(one) for one in state]


def wc_entity_key(one: Entity) -> EntityKey:
    """What makes an entity equal to another."""
    if one._key is None or one._holds:  # what is held changes without its holder
        one._key = tuple((n, wc_entity_key(v) if isinstance(v, Entity) else v) for n, v in one.values.items())
    return one.kind, one.x, one.y, one._key


def wc_copy(state: Sequence[Entity]) -> list[Entity]:
    """A state that may be changed."""
    return [one.copy() for one in state]


def wc_step(state: Sequence[Sequence[Any]], action: str) -> list[Any]:
    """The program's next state, as JSON."""
    return wc_dump(transition(wc_load(state), action))


def wc_follow(state: Sequence[Sequence[Any]], plan: Sequence[str]) -> list[Any]:
    """The states that actions lead to, as JSON."""
    found, now = [], wc_load(state)
    for action in plan:
        now = transition(wc_copy(now), action)
        found.append(wc_dump(now))
    return found


def wc_pay(
    before: Sequence[Sequence[Any]], action: str, after: Sequence[Sequence[Any]], mission: str
) -> list[Any]:
    """The program's reward and whether the episode ends, as JSON."""
    paid, done = reward(wc_load(before), action, wc_load(after), mission)
    return [float(paid), bool(done)]


def wc_named(state: Sequence[Entity], words: Collection[str]) -> int:
    """How many entities there are, what is held among them, of classes that a mission names."""
    held = [v for one in state for v in one.values.values() if isinstance(v, Entity)]
    return sum(one.kind in words for one in (*state, *held))


def wc_context(
    state: Sequence[Entity], action: str, frame: Sequence[Any], counts: Mapping[str, Any]
) -> tuple[str, float]:
    """The name of a step's surroundings, and how dull the classes in them have been."""
    mover, facing, holding, moves, reach = frame
    me = find(state, mover)
    if me is None or me.x is None:
        return action, 0.0
    heading = moves.get(action) or (me[facing] if facing else None)
    shared = "move" if action in moves else action
    held = me[holding] if holding else None
    known = f"{action}&{held.kind if isinstance(held, Entity) else ''}"
    parts, dull = [shared], counts["known"].get(known, 0.0)
    if heading is not None:
        cells = cells_ahead(state, me, heading[0], heading[1], reach)
        for k in range(1, reach + 1):
            parts.append("|" + ",".join(sorted(wc_look(one, counts) for one in cells[k])))
            if k == 1:
                dull += max(
                    [counts["dull"].get(one.kind, 0.0) for one in cells[k]] or [counts["dull"].get("", 0.0)]
                )
            if k == 1 and not any(one.kind in counts["moved"] for one in cells[1]):
                break
        near = cells[1]
    else:
        near = []
    if holding:
        parts.append("&" + (held.kind if isinstance(held, Entity) else ""))
        if isinstance(held, Entity):
            parts += [
                "=" + n for n, v in held.values.items() if any(one[n] == v and v is not None for one in near)
            ]
    return "".join(parts), dull


def wc_look(one: Entity, counts: Mapping[str, Any]) -> str:
    """An entity as a context shows it: class, and the values that effects change."""
    shown = [f"{n}={v}" for n, v in one.values.items() if n in counts["variable"]]
    return " ".join([one.kind, *shown])
