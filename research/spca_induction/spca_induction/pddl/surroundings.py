"""What each action does in all surroundings that it can meet, found by asking the rules.

Rules speak of the mover, of what it holds and of what lies ahead of it. So a few dozen surroundings stand for
all states of a world, wherever in it the mover is.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from spca_core.errors import Cancelled
from spca_induction.rulebook import Rulebook
from spca_induction.view import Vector
from spca_programs.state import Entity, State, state_of

Cell = tuple[int, int]

_MOST = 100_000
"""Surroundings to be tried at most."""


class NotCompilable(Exception):
    """The rules, the state or the goal have no form in PDDL."""


class Row(NamedTuple):
    """What an action makes of the mover and of what lies 0, 1, … cells ahead; the mover goes `steps` cells.

    The mover and the contents of cells are written without a place. None instead of a content stands for any,
    which stays.
    """

    action: str
    heading: Vector | None
    mover: Entity
    contents: tuple[State | None, ...]
    steps: int
    mover_after: Entity
    contents_after: tuple[State | None, ...]


class Surroundings:
    """All movers, contents and rows that can come about from a state. Raises NotCompilable, Cancelled."""

    def __init__(
        self, rules: Rulebook, state: State, actions: Sequence[str], cancelled: Callable[[], bool]
    ) -> None:
        if rules.frame is None:
            raise NotCompilable("nothing is known to move")
        self.rules, self.state, self.actions, self.frame = rules, state, actions, rules.frame
        self._cancelled = cancelled
        me = next((e for e in state if e.kind == self.frame.mover), None)
        if me is None or me.cell is None:
            raise NotCompilable("the mover is nowhere")
        self.me, self.start = me, me.cell
        lying: dict[Cell, list[Entity]] = defaultdict(list)
        for one in state:
            if one is not me and one.cell is not None:
                lying[one.cell].append(one.at(None))
        self.lying = {cell: state_of(things) for cell, things in lying.items()}
        """What lies where."""
        self.movers = {me.at(None): None}
        self.contents: dict[State, None] = dict.fromkeys([(), *self.lying.values()])
        # Else things put upon each other would make ever new contents, as long as no refusal was met.
        self._most_together = max(2, *map(len, self.contents))
        self.rows = self._merged(self._all_rows())

    def _cells_of(self, action: str) -> list[int]:
        """How many cells ahead the cells lie on which the outcome of an action may depend."""
        return sorted({k for clause in self.rules.clauses(action) for k in clause.cells})

    def _all_rows(self) -> list[Row]:
        """Try everything in all surroundings, until nothing new comes of it."""
        looked_at = {action: self._cells_of(action) for action in self.actions}
        tried: dict[tuple[object, ...], Row | None] = {}
        size = 0
        while size != len(self.movers) + len(self.contents):
            size = len(self.movers) + len(self.contents)
            many = sum(len(self.contents) ** len(cells) for cells in looked_at.values())
            if many * len(self.movers) > _MOST:
                raise NotCompilable("there are too many surroundings")
            for action, cells in looked_at.items():
                met = itertools.product(tuple(self.contents), repeat=len(cells))
                for key in itertools.product([action], tuple(self.movers), met):
                    if key not in tried:
                        tried[key] = row = self._row(action, key[1], dict(zip(cells, key[2], strict=True)))
                        if row is not None:
                            self.movers.setdefault(row.mover_after)
                            self.contents.update((c, None) for c in row.contents_after if c is not None)
        return [row for row in tried.values() if row is not None]

    def _row(self, action: str, mover: Entity, contents: dict[int, State]) -> Row | None:
        """The row for contents of some cells; None where nothing changes, or too much is put together."""
        self._go_on()
        heading = self.frame.heading(mover, action)
        if heading is None and any(contents):
            raise NotCompilable(f"'{action}' has no direction")
        dx, dy = heading or (0, 0)
        spots = {(k * dx, k * dy): k for k in contents}
        things = [one.at(spot) for spot, k in spots.items() for one in contents[k]]
        before = state_of([mover.at((0, 0)), *things])
        after = self.rules.predict(before, action)
        if after == before:
            return None
        me = next(e for e in after if e.kind == mover.kind)
        steps = (me.x or 0) * dx + (me.y or 0) * dy
        found: dict[int, list[Entity]] = {k: [] for k in contents}
        for one in after:
            if one is not me:
                found[spots[one.x or 0, one.y or 0]].append(one.at(None))
        if max(map(len, found.values()), default=0) > self._most_together:
            return None
        line = range(max(contents, default=-1) + 1)
        lying = tuple(contents.get(k) for k in line)
        lying_after = tuple(state_of(found[k]) if k in found else None for k in line)
        return Row(action, heading, mover, lying, steps, me.at(None), lying_after)

    def _merged(self, rows: list[Row]) -> list[Row]:
        """The rows, with a cell left open where any content comes to the same."""
        for k in reversed(range(max((len(row.contents) for row in rows), default=0))):
            alike: dict[Row, list[Row]] = defaultdict(list)
            for row in rows:
                before, after = [*row.contents], [*row.contents_after]
                if before[k:] and before[k] == after[k]:
                    before[k] = after[k] = None
                alike[row._replace(contents=tuple(before), contents_after=tuple(after))].append(row)
            rows = []
            for opened, own in alike.items():
                rows += [opened] if len(own) == len(self.contents) else own
        return rows

    @cached_property
    def moving(self) -> set[str]:
        """The classes of which things move, come to be or go away."""
        found = set()
        for row in self.rows:
            for content, after in zip(row.contents, row.contents_after, strict=True):
                kinds, kinds_after = (Counter(e.kind for e in c or ()) for c in (content, after))
                found |= {kind for kind in kinds | kinds_after if kinds[kind] != kinds_after[kind]}
        return found

    def _go_on(self) -> None:
        if self._cancelled():
            raise Cancelled("the search was cancelled")


def grid_around(cells: Iterable[Cell], margin: int = 0) -> list[Cell]:
    """The cells of the smallest rectangle that holds some, and of so many more on each side."""
    xs, ys = zip(*cells, strict=True)
    columns = range(min(xs) - margin, max(xs) + margin + 1)
    return [(x, y) for x in columns for y in range(min(ys) - margin, max(ys) + margin + 1)]
