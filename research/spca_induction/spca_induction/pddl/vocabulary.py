"""The words of a state in PDDL: cells, classes, attributes, values, and the facts that hold.

Cells are objects; what lies in them is a predicate per class, and per class and attribute one more over
values. What the mover holds and what it is like are predicates without a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spca_induction.rulebook import Rulebook
from spca_induction.view import Vector, is_vector
from spca_programs.state import Entity, State

COMPASS: tuple[Vector, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""The directions `d0` to `d3`."""


class NotCompilable(Exception):
    """The rules, the state or the goal have no form in PDDL."""


class Vocabulary:
    """Names of everything that a state and the rules speak of. Raises NotCompilable."""

    def __init__(self, rules: Rulebook, state: State) -> None:
        if rules.frame is None:
            raise NotCompilable("nothing is known to move")
        self.state, self.frame = state, rules.frame
        me = next((e for e in state if e.kind == self.frame.mover), None)
        if me is None or me.cell is None:
            raise NotCompilable("the mover is nowhere")
        self.me = me
        cells = [e.cell for e in state if e is not me and e.cell is not None]
        self.single = len(cells) == len(set(cells))
        """Whether no two things share a cell."""
        held = me.get(self.frame.holding) if self.frame.holding else None
        self.held = held if isinstance(held, Entity) else None
        self.schema: dict[str, dict[str, None]] = {}
        """The attributes of each class."""
        self.values: dict[Any, str] = {}
        for one in [e for e in state if e is not me] + ([self.held] if self.held else []):
            known = self.schema.setdefault(one.kind, {})
            for name, value in one.attributes:
                if isinstance(value, tuple):
                    raise NotCompilable(f"{one.kind} has the attribute '{name}', which is no plain value")
                known.setdefault(name)
                self.value(value)
        for clause in (c for g in rules.groups for c in g.clauses):
            for effect in clause.effects:
                if effect[0] == "set":
                    self.value(effect[3])
                if effect[0] == "create":
                    known = self.schema.setdefault(effect[2], {})
                    for name, value in effect[3]:
                        known.setdefault(name)
                        self.value(value)
        self.kinds = {kind: f"k{i}" for i, kind in enumerate(sorted(self.schema))}
        names = sorted({n for known in self.schema.values() for n in known})
        self.names = {name: f"n{i}" for i, name in enumerate(names)}
        self.mine = {
            n: f"m{i}" for i, (n, v) in enumerate(me.attributes)
            if n not in (self.frame.holding, self.frame.facing) and not isinstance(v, tuple)
        }  # fmt: skip
        for name in self.mine:
            self.value(me.get(name))

    def value(self, value: Any) -> str:
        """The object of a value, made where there is none."""
        return self.values.setdefault((type(value).__name__, value), f"v{len(self.values)}")

    def known_value(self, value: Any) -> str | None:
        """The object of a value, if there is one."""
        return self.values.get((type(value).__name__, value))

    def attribute(self, kind: str, name: str) -> str:
        """The predicate of an attribute of a class."""
        return f"{self.kinds[kind]}_{self.names[name]}"

    def facts(self) -> Iterator[str]:
        """Yield the facts of the state, but for where the mover is."""
        taken = set()
        for one in self.state:
            if one is self.me or one.cell is None:
                continue
            if (one.kind, one.cell) in taken:
                raise NotCompilable(f"two of class {one.kind} share a cell")
            taken.add((one.kind, one.cell))
            yield f"({self.kinds[one.kind]} {cell_name(one.cell)})"
            for name, value in one.attributes:
                yield f"({self.attribute(one.kind, name)} {cell_name(one.cell)} {self.value(value)})"
        facing = self.me.get(self.frame.facing) if self.frame.facing else None
        if is_vector(facing):
            yield f"(facing d{COMPASS.index(facing)})"
        for name, predicate in self.mine.items():
            yield f"({predicate} {self.value(self.me.get(name))})"
        if self.held is None:
            yield "(free)"
        else:
            yield f"(h_{self.kinds[self.held.kind]})"
            yield from (f"(h_{self.names[n]} {self.value(v)})" for n, v in self.held.attributes)


def grid_around(state: Iterable[Entity], margin: int = 0) -> list[tuple[int, int]]:
    """The cells of the smallest rectangle that holds all things, and of so many more on each side."""
    spots = [e.cell for e in state if e.cell is not None]
    columns = range(min(x for x, _ in spots) - margin, max(x for x, _ in spots) + margin + 1)
    rows = range(min(y for _, y in spots) - margin, max(y for _, y in spots) + margin + 1)
    return [(x, y) for x in columns for y in rows]


def cell_name(cell: tuple[int, int] | None) -> str:
    """The object of a cell."""
    assert cell is not None
    return f"c{cell[0]}_{cell[1]}".replace("-", "m")
