"""Cells from which a thing that can only be pushed never comes to where the goal wants it.

Found in the rules themselves: the thing is pushed about alone, without any other thing that moves. A search
need not look at states in which such a thing lies elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from spca_core.errors import Cancelled
from spca_induction.pddl.vocabulary import grid_around
from spca_induction.rulebook import Rulebook
from spca_programs.state import Entity, State, state_of

Cell = tuple[int, int]

_MOST_STATES = 20_000
"""Of the mover among things that stay; where there are more, nothing is said about cells."""


def live_cells(
    rules: Rulebook,
    state: State,
    actions: Sequence[str],
    kind: str,
    moving: Collection[str],
    goals: Collection[Cell],
    cancelled: Callable[[], bool],
) -> set[Cell]:
    """Cells from which one thing of a class can be pushed to one of `goals`, if nothing else is in the way.

    Args:
        rules: What was learned. They may know no border, so the mover is followed only on the state's grid.
        state: Where everything is.
        actions: All actions of the world.
        kind: The class of the thing.
        moving: All classes that do not stay where they are, except the mover's.
        goals: The cells where the goal wants it.
        cancelled: Whether to stop.

    Returns:
        The cells; none where the mover can come to be in too many ways for a search.

    Raises:
        Cancelled: `cancelled` says so.
    """
    assert rules.frame is not None
    me = next(e for e in state if e.kind == rules.frame.mover)
    still = [e for e in state if e.kind not in moving and e is not me]
    thing = next(e for e in state if e.kind == kind)
    standing = _reached(rules, [*still, me], actions, set(grid_around(state, 1)), cancelled)
    if not standing:
        return set()
    sources: dict[Cell, set[Cell]] = defaultdict(set)
    spots = {(one.x, one.y) for one in standing}
    for mover in standing:
        _go_on(cancelled)
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


def _reached(
    rules: Rulebook, things: Sequence[Entity], actions: Sequence[str], grid: Collection[Cell],
    cancelled: Callable[[], bool],
) -> set[Entity]:  # fmt: skip
    """The mover wherever, and however, it can come to be on the grid among things that stay.

    Nothing where that is too much.
    """
    assert rules.frame is not None
    kind = rules.frame.mover
    first = state_of(things)
    seen, frontier = {first}, [first]
    while frontier:
        _go_on(cancelled)
        if len(seen) > _MOST_STATES:
            return set()
        before = frontier.pop()
        for action in actions:
            after = rules.predict(before, action)
            if after not in seen and any(e.kind == kind and e.cell in grid for e in after):
                seen.add(after)
                frontier.append(after)
    return {e for state in seen for e in state if e.kind == kind}


def _go_on(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled("the search was cancelled")
