"""Values passed through the sandbox: read-only records in, plain JSON out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any


class Thing:
    """A record from the other side: `thing.x`, `thing["x"]`, `"x" in thing`. It cannot be changed."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "_fields")
        if name in fields:
            return fields[name]
        raise AttributeError(f"no '{name}' here; there is: {', '.join(fields) or 'nothing'}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("read-only: make a new value instead")

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return "(" + ", ".join(f"{k}={v!r}" for k, v in self._fields.items()) + ")"


def wrap(value: Any) -> Any:
    """Return JSON from the host with every object as a Thing."""
    if isinstance(value, dict):
        return Thing({k: wrap(v) for k, v in value.items()})
    return [wrap(v) for v in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return the JSON form of a value.

    Raises TypeError for what has none, ValueError for numbers that are not finite.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"numbers must be finite, not {value}")
        return value
    if isinstance(value, Thing):
        return {k: plain(v) for k, v in value._fields.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        if not all(isinstance(k, str) for k in value):
            raise TypeError("a dict needs text keys to be sent")
        return {k: plain(v) for k, v in value.items()}
    raise TypeError(f"a {type(value).__name__} cannot be sent; use numbers, text, lists and dicts")


def record_maker(name: str, fields: list[list[Any]]) -> Callable[..., Thing]:
    """Make a helper such as `pose(x, y, z, yaw=0.0)`: a function that makes a Thing of its arguments.

    `fields` lists each parameter as [name] or [name, default].
    """
    parameters = ", ".join("=".join([field[0], *map(repr, field[1:])]) for field in fields)
    made: dict[str, Any] = {}
    exec(f"def {name}({parameters}): return Thing(locals())", {"Thing": Thing}, made)
    maker: Callable[..., Thing] = made[name]
    return maker
