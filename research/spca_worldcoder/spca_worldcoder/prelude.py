"""What every program finds in the sandbox: entities and lookups. Put in front of a program's source.

It is run by the worker as plain source text, so it imports nothing of this project. Names that begin with
`wc_` are for the host; a program cannot change what the host believes, since every step of a plan is checked
again from outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # annotations are not evaluated, so the sandbox needs none of these
    from collections.abc import Mapping, Sequence
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
