"""Where the learner stands in a state: who moves, which way an action looks, what is held, what lies ahead.

All of it is found in the data by statistics; nothing here knows a world.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spca_worldcoder.records import Transition
from spca_worldcoder.state import Entity, State

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
    """Whether a value is a unit vector along an axis."""
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


def find_frame(data: Sequence[Transition]) -> Frame | None:
    """The frame that the data speak for; None while nothing single has ever changed."""
    mover = _find_mover(data)
    if mover is None:
        return None
    values: dict[str, set[Any]] = defaultdict(set)
    steps: dict[str, Counter[Vector]] = defaultdict(Counter)
    facings: dict[str, list[tuple[Entity, Vector]]] = defaultdict(list)
    for seen in data:
        before, after = _one(seen.before, mover), _one(seen.after, mover)
        for me in (before, after):
            if me is not None:
                for name, value in me.attributes:
                    values[name].add(value)
        if before is None or after is None or before.cell == after.cell or None in (before.x, after.x):
            continue
        assert before.x is not None and before.y is not None and after.x is not None and after.y is not None
        step = (after.x - before.x, after.y - before.y)
        facings[seen.action].append((before, step))
        if abs(step[0]) + abs(step[1]) == 1:
            steps[seen.action][step] += 1
    facing = next((n for n, v in sorted(values.items()) if v and all(is_vector(x) for x in v)), "")
    holding = next((n for n, v in sorted(values.items()) if any(isinstance(x, Entity) for x in v)), "")
    moves = []
    for action, counted in sorted(steps.items()):
        follows = facing and sum(me.get(facing) == step for me, step in facings[action]) * 2 > len(
            facings[action]
        )
        if not follows:
            moves.append((action, counted.most_common(1)[0][0]))
    return Frame(mover, facing, holding, tuple(moves))


def _find_mover(data: Sequence[Transition]) -> str | None:
    """The class with one entity in every state that changes most often."""
    single: set[str] | None = None
    changes: Counter[str] = Counter()
    for seen in data:
        counted = Counter(e.kind for e in seen.before if e.cell is not None)
        once = {kind for kind, count in counted.items() if count == 1}
        single = once if single is None else single & once | (once - _kinds(data[0].before))
        if seen.before != seen.after:
            changes.update(e.kind for e in set(seen.before) - set(seen.after))
    alone = {kind for kind in single or () if all(_count(seen.after, kind) == 1 for seen in data)}
    ranked = sorted(alone, key=lambda kind: (-changes[kind], kind))
    return ranked[0] if ranked and changes[ranked[0]] else None


def _kinds(state: State) -> set[str]:
    return {e.kind for e in state}


def _count(state: State, kind: str) -> int:
    return sum(e.kind == kind for e in state)


def _one(state: State, kind: str) -> Entity | None:
    return next((e for e in state if e.kind == kind), None)
