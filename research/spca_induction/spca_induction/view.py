"""The learner's view of a state: who moves, which way an action looks, what is held, what lies ahead.

All of it is found in the data by statistics; nothing here knows a world.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from spca_programs.experience import Transition
from spca_programs.state import Entity, State

Vector = tuple[int, int]
REACH = 3
"""How many cells ahead rules may look."""


@dataclass(frozen=True)
class Frame:
    """The mover's class, its attributes for direction and for what it holds, and what moves it.

    `moves` are the actions that always step the same way, with their unit vectors.
    """

    mover: str
    facing: str = ""
    holding: str = ""
    moves: tuple[tuple[str, Vector], ...] = ()

    def heading(self, me: Entity, action: str) -> Vector | None:
        """The unit vector of an action: its own, or the mover's."""
        for name, vector in self.moves:
            if name == action:
                return vector
        value = me.get(self.facing) if self.facing else None
        return value if is_vector(value) else None

    @property
    def compass(self) -> dict[str, Vector]:
        """The vectors of the moving actions."""
        return dict(self.moves)


@dataclass(frozen=True)
class View:
    """A state seen from the mover, looking along `heading` (None: the action has no direction known)."""

    state: State
    me: Entity
    heading: Vector | None
    cells: tuple[tuple[Entity, ...], ...]
    """What lies 0, 1, … cells ahead, the mover left out."""
    held: Entity | None

    def ahead(self, steps: int) -> Vector:
        """The cell `steps` ahead. Only with a heading."""
        assert self.heading is not None and self.me.x is not None and self.me.y is not None
        return self.me.x + steps * self.heading[0], self.me.y + steps * self.heading[1]


def is_vector(value: Any) -> bool:
    """Return whether a value is a unit vector along an axis."""
    return (
        isinstance(value, tuple)
        and not isinstance(value, Entity)
        and len(value) == 2
        and abs(value[0]) + abs(value[1]) == 1
    )


def look(state: State, action: str, frame: Frame) -> View | None:
    """The view for an action; None where there is no mover on the grid."""
    me = next((e for e in state if e.kind == frame.mover), None)
    if me is None or me.x is None or me.y is None:
        return None
    heading = frame.heading(me, action)
    spots = [(me.x, me.y)]
    if heading is not None:
        spots += [(me.x + k * heading[0], me.y + k * heading[1]) for k in range(1, REACH + 1)]
    cells = tuple(tuple(e for e in state if (e.x, e.y) == spot and e is not me) for spot in spots)
    held = me.get(frame.holding) if frame.holding else None
    return View(state, me, heading, cells, held if isinstance(held, Entity) else None)


class FrameFinder:
    """Finds the frame that the data speak for, transition by transition."""

    def __init__(self) -> None:
        self._first: set[str] = set()
        """Classes of the first state."""
        self._single: set[str] | None = None
        self._alone: set[str] = set()
        """Classes with one entity on the grid in every state before, and with one in every state after."""
        self._changes: Counter[str] = Counter()
        self._pairs: dict[str, Counter[tuple[str, Entity, Entity]]] = defaultdict(Counter)
        """By class: (action, the entity before, the same after)."""

    def add(self, seen: Transition) -> None:
        """One more transition."""
        counted = Counter(e.kind for e in seen.before if e.x is not None and e.y is not None)
        once = {kind for kind, count in counted.items() if count == 1}
        after = {kind for kind, count in Counter(e.kind for e in seen.after).items() if count == 1}
        if self._single is None:
            self._first, self._single, self._alone = {e.kind for e in seen.before}, once, after
        else:
            self._single = self._single & once | (once - self._first)
            self._alone &= after
        if seen.before != seen.after:
            self._changes.update(e.kind for e in set(seen.before) - set(seen.after))
        ends = {e.kind: e for e in seen.after if e.kind in after}
        for one in seen.before:
            if one.kind in once and one.kind in ends:
                self._pairs[one.kind][seen.action, one, ends[one.kind]] += 1

    def frame(self) -> Frame | None:
        """The frame; None while nothing single has ever changed.

        The mover is the class with one entity in every state that changes most often.
        """
        ranked = sorted((self._single or set()) & self._alone, key=lambda kind: (-self._changes[kind], kind))
        if not ranked or not self._changes[ranked[0]]:
            return None
        values: dict[str, set[Any]] = defaultdict(set)
        steps: dict[str, Counter[Vector]] = defaultdict(Counter)
        moved: dict[str, list[tuple[Entity, Vector, int]]] = defaultdict(list)
        for (action, before, after), times in self._pairs[ranked[0]].items():
            for name, value in (*before.attributes, *after.attributes):
                values[name].add(value)
            if before.cell == after.cell or before.cell is None or after.cell is None:
                continue
            step = (after.cell[0] - before.cell[0], after.cell[1] - before.cell[1])
            moved[action].append((before, step, times))
            if abs(step[0]) + abs(step[1]) == 1:
                steps[action][step] += times
        facing = next((n for n, v in sorted(values.items()) if all(is_vector(x) for x in v)), "")
        holding = next((n for n, v in sorted(values.items()) if any(isinstance(x, Entity) for x in v)), "")
        moves = []
        for action, counted in sorted(steps.items()):
            along = sum(times for me, step, times in moved[action] if facing and me.get(facing) == step)
            if along * 2 <= sum(times for _, _, times in moved[action]):
                moves.append((action, counted.most_common(1)[0][0]))
        return Frame(ranked[0], facing, holding, tuple(moves))
