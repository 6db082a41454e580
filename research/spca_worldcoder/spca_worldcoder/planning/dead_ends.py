"""Cells from which a thing that can only be pushed never comes to where the goal wants it.

Found in the rules themselves: the thing is pushed about alone, without any other thing that moves. A search
need not look at states in which such a thing lies elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from spca_worldcoder.induction.rulebook import Rulebook
from spca_worldcoder.state import Entity, State, state_of

Cell = tuple[int, int]


def live_cells(
    rules: Rulebook,
    state: State,
    actions: Sequence[str],
    kind: str,
    moving: Collection[str],
    goals: Collection[Cell],
) -> set[Cell]:
    """Cells from which one thing of a class can be pushed to one of `goals`, if nothing else is in the way.

    `moving` are all classes that do not stay where they are, except the mover's.
    """
    assert rules.frame is not None
    me = next(e for e in state if e.kind == rules.frame.mover)
    still = [e for e in state if e.kind not in moving and e is not me]
    thing = next(e for e in state if e.kind == kind)
    standing = _reached(rules, [*still, me], actions)
    sources: dict[Cell, set[Cell]] = defaultdict(set)
    spots = {(one.x, one.y) for one in standing}
    for mover in standing:
        assert mover.x is not None and mover.y is not None
        for action in actions:
            heading = rules.frame.heading(mover, action)
            cell = None if heading is None else (mover.x + heading[0], mover.y + heading[1])
            if cell is None or cell not in spots:
                continue
            after = rules.predict(state_of([*still, mover, thing.at(cell)]), action)
            there = next((e.cell for e in after if e.kind == kind), None)
            if there is not None and there != cell:
                sources[there].add(cell)
    live, frontier = set(goals), list(goals)
    while frontier:
        new = sources[frontier.pop()] - live
        live |= new
        frontier += new
    return live


def _reached(rules: Rulebook, things: Sequence[Entity], actions: Sequence[str]) -> set[Entity]:
    """The mover wherever, and however, it can come to be among things that stay where they are."""
    assert rules.frame is not None
    first = state_of(things)
    seen, frontier = {first}, [first]
    while frontier:
        before = frontier.pop()
        for action in actions:
            after = rules.predict(before, action)
            if after not in seen:
                seen.add(after)
                frontier.append(after)
    return {e for state in seen for e in state if e.kind == rules.frame.mover}
