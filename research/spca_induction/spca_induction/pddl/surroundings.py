"""What each action does in all surroundings that it can meet, found by asking the rules.

Rules speak of the mover, of what it holds and of what lies ahead of it. So a few dozen surroundings stand for all
states of a world, wherever in it the mover is.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from spca_core.errors import Cancelled
from spca_induction.effects import roles
from spca_induction.rulebook import Rulebook
from spca_induction.view import Frame, Vector
from spca_programs.state import Entity, State, state_of

Cell = tuple[int, int]
Content = State
"""What lies in a cell, the mover left out; its entities lie nowhere."""

_MOST = 100_000
"""Surroundings to be tried at most."""


class NotCompilable(Exception):
    """The rules, the state or the goal have no form in PDDL."""


class Row(NamedTuple):
    """Effect of an action in surroundings: `mover` and what lies in some `cells` ahead become others.

    The mover lies nowhere, before and after; it goes `steps` cells ahead. None instead of a content stands for
    any, which stays.
    """

    action: str
    heading: Vector | None
    mover: Entity
    cells: tuple[int, ...]
    contents: tuple[Content | None, ...]
    steps: int
    mover_after: Entity
    contents_after: tuple[Content | None, ...]


class Surroundings:
    """All movers, contents and rows that can come about from a state. Raises NotCompilable, Cancelled."""

    def __init__(
        self, rules: Rulebook, state: State, actions: Sequence[str], cancelled: Callable[[], bool]
    ) -> None:
        if rules.frame is None:
            raise NotCompilable("nothing is known to move")
        self.state, self.frame = state, rules.frame
        self._rules, self._cancelled = rules, cancelled
        me = next((e for e in state if e.kind == self.frame.mover), None)
        if me is None or me.cell is None:
            raise NotCompilable("the mover is nowhere")
        self.me = me
        lying: dict[Cell, list[Entity]] = defaultdict(list)
        for one in state:
            if one is not me and one.cell is not None:
                lying[one.cell].append(one.at(None))
        self.lying: dict[Cell, Content] = {cell: state_of(things) for cell, things in lying.items()}
        """What lies where."""
        self.movers = {me.at(None): None}
        self.contents: dict[Content, None] = dict.fromkeys([(), *self.lying.values()])
        # Else things put upon each other would make ever new contents, as long as no refusal was met.
        self._most_together = max(2, *map(len, self.contents))
        self._looked_at = {action: self._cells_of(action) for action in actions}
        self.rows = self._merged(self._all_rows())

    def _cells_of(self, action: str) -> tuple[int, ...]:
        """The cells ahead on which the outcome of an action may depend."""
        clauses = self._rules.clauses(action)
        if any(role[0] in ("the", "all") for clause in clauses for role in roles(clause.effects)):
            raise NotCompilable("a clause is about things wherever they are")
        return tuple(sorted({k for clause in clauses for k in clause.cells}))

    def _all_rows(self) -> list[Row]:
        """Try everything in all surroundings, until nothing new comes of it."""
        tried: dict[tuple[object, ...], Row | None] = {}
        size = 0
        while size != len(self.movers) + len(self.contents):
            size = len(self.movers) + len(self.contents)
            many = sum(len(self.contents) ** len(cells) for cells in self._looked_at.values())
            if many * len(self.movers) > _MOST:
                raise NotCompilable("there are too many surroundings")
            for action, cells in self._looked_at.items():
                combinations = itertools.product(
                    tuple(self.movers), itertools.product(tuple(self.contents), repeat=len(cells))
                )
                for mover, contents in combinations:
                    if (action, mover, contents) not in tried:
                        tried[action, mover, contents] = row = self._row(action, mover, cells, contents)
                        if row is not None:
                            self.movers.setdefault(row.mover_after)
                            self.contents.update(
                                dict.fromkeys(c for c in row.contents_after if c is not None)
                            )
        return [row for row in tried.values() if row is not None]

    def _row(
        self, action: str, mover: Entity, cells: tuple[int, ...], contents: tuple[Content, ...]
    ) -> Row | None:
        """The row; None where nothing changes, or too much comes to lie in one cell."""
        if self._cancelled():
            raise Cancelled("the search was cancelled")
        heading = self.frame.heading(mover, action)
        if heading is None and any(cells):
            raise NotCompilable(f"'{action}' has no direction")
        dx, dy = heading or (0, 0)
        spots = {(k * dx, k * dy): k for k in cells}
        things = [e.at(cell) for (cell, _), c in zip(spots.items(), contents, strict=True) for e in c]
        before = state_of([mover.at((0, 0)), *things])
        after = self._rules.predict(before, action)
        if after == before:
            return None
        me = next(e for e in after if e.kind == self.frame.mover)
        assert me.x is not None and me.y is not None
        found: dict[int, list[Entity]] = {k: [] for k in cells}
        for one in after:
            if one is not me:
                if one.cell not in spots:
                    raise NotCompilable(f"'{action}' moves something to where it does not look")
                found[spots[one.cell]].append(one.at(None))
        steps = me.x * dx + me.y * dy
        if steps < 0:
            raise NotCompilable("the mover steps back")
        if max(map(len, found.values()), default=0) > self._most_together:
            return None
        return Row(
            action, heading, mover, cells, contents, steps, me.at(None), tuple(map(state_of, found.values()))
        )

    def _merged(self, rows: list[Row]) -> list[Row]:
        """The rows, with a cell left open where any content comes to the same."""
        for place in reversed(range(max((len(row.cells) for row in rows), default=0))):
            alike: dict[Row, list[Row]] = defaultdict(list)
            for row in rows:
                stays = place < len(row.cells) and row.contents[place] == row.contents_after[place]
                alike[_opened(row, place) if stays else row].append(row)
            rows = [
                row for opened, own in alike.items()
                for row in ([opened] if len(own) == len(self.contents) else own)
            ]  # fmt: skip
        return rows

    @property
    def moving(self) -> set[str]:
        """The classes of which things move, come to be or go away."""
        found = set()
        for row in self.rows:
            for content, after in zip(row.contents, row.contents_after, strict=True):
                kinds, kinds_after = (Counter(e.kind for e in c or ()) for c in (content, after))
                found |= {kind for kind in kinds | kinds_after if kinds[kind] != kinds_after[kind]}
        return found


def _opened(row: Row, place: int) -> Row:
    """The row with a place that stays as it is, whatever lies there."""
    contents, after = list(row.contents), list(row.contents_after)
    contents[place] = after[place] = None
    return row._replace(contents=tuple(contents), contents_after=tuple(after))


def grid_around(cells: Iterable[Cell], margin: int = 0) -> list[Cell]:
    """The cells of the smallest rectangle that holds some, and of so many more on each side."""
    xs, ys = zip(*cells, strict=True)
    columns = range(min(xs) - margin, max(xs) + margin + 1)
    return [(x, y) for x in columns for y in range(min(ys) - margin, max(ys) + margin + 1)]


def live_cells(
    rules: Rulebook, frame: Frame, state: State, actions: Sequence[str], kind: str, still: Sequence[Entity],
    goals: Iterable[Cell], cancelled: Callable[[], bool],
) -> set[Cell]:  # fmt: skip
    """Cells from which a thing of a class can be pushed to one of `goals`, if only what is `still` is in the way.

    The search need not look at states in which such a thing lies elsewhere. Raises Cancelled.
    """
    me = next(e for e in state if e.kind == frame.mover)
    thing = next(e for e in state if e.kind == kind)
    # The rules may know no border, so the mover is followed only on the state's grid.
    grid = set(grid_around([e.cell for e in state if e.cell is not None], 1))
    movers, frontier = {me}, [me]
    while frontier:
        before = state_of([*still, frontier.pop()])
        for action in actions:
            if cancelled():
                raise Cancelled("the search was cancelled")
            one = next(e for e in rules.predict(before, action) if e.kind == frame.mover)
            if one not in movers and one.cell in grid:
                movers.add(one)
                frontier.append(one)
    sources: dict[Cell, set[Cell]] = defaultdict(set)
    spots = {mover.cell for mover in movers}
    for mover, action in itertools.product(movers, actions):
        heading = frame.heading(mover, action)
        if heading is None or mover.x is None or mover.y is None:
            continue
        cell = (mover.x + heading[0], mover.y + heading[1])
        if cell in spots:
            after = rules.predict(state_of([*still, mover, thing.at(cell)]), action)
            there = next((e.cell for e in after if e.kind == kind), None)
            if there is not None and there != cell:
                sources[there].add(cell)
    live = set(goals)
    left = list(live)
    while left:
        new = sources[left.pop()] - live
        live |= new
        left += new
    return live
