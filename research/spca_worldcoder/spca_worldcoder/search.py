"""Search in a program, run by the worker behind `prelude` and in front of the program's source.

Like the prelude it is plain source text to the worker. Plans are checked again from outside.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # in the worker these names are there already
    from collections.abc import Sequence
    from typing import Any

    from spca_worldcoder.prelude import (
        Entity,
        StateKey,
        reward,
        transition,
        wc_copy,
        wc_entity_key,
        wc_load,
    )

    Came = dict[StateKey, tuple[StateKey, str] | None]
    """How each state of a search was reached: from which state, by which action; None for the first."""


class WcModel:
    """The program as a graph of states: keys, and what each action leads to."""

    def __init__(self, actions: Sequence[str], mission: str, budget: int) -> None:
        self.actions, self.mission, self.left = actions, mission, budget
        self.states: dict[StateKey, list[Entity]] = {}

    def key(self, state: list[Entity]) -> StateKey:
        """A state's key; the state is kept."""
        key = frozenset(wc_entity_key(one) for one in state)
        if key not in self.states:
            self.states[key] = state
        return key

    def after(self, key: StateKey, action: str) -> tuple[StateKey, float, bool] | None:
        """Key of the next state, reward, end; None when the budget is used up or the program fails."""
        if self.left <= 0:
            return None
        self.left -= 1
        before = self.states[key]
        try:
            after = transition(wc_copy(before), action)
            next_key = self.key(after)
            if next_key == key:
                return next_key, 0.0, False
            paid, done = reward(before, action, self.states[next_key], self.mission)
        except Exception:
            return key, 0.0, False
        return next_key, float(paid), bool(done)


def wc_way(came: Came, key: StateKey) -> list[str]:
    """The actions that led to a state."""
    plan = []
    while (step := came[key]) is not None:
        key, action = step
        plan.append(action)
    return plan[::-1]


def wc_plan_novelty(
    state: Sequence[Sequence[Any]], mission: str, actions: Sequence[str], budget: int
) -> list[str] | None:
    """A plan by iterated width 1: breadth first, keeping only states with something new in them."""
    model = WcModel(actions, mission, budget)
    first = model.key(wc_load(state))
    came: Came = {first: None}
    queue, novel = deque([first]), set(first)
    while queue:
        key = queue.popleft()
        for action in actions:
            found = model.after(key, action)
            if found is None:
                return None
            after, paid, done = found
            if after in came or (done and paid <= 0):
                continue
            came[after] = (key, action)
            if done:
                return wc_way(came, after)
            if not novel.issuperset(after):
                novel |= after
                queue.append(after)
    return None


def wc_plan_value(
    state: Sequence[Sequence[Any]], mission: str, actions: Sequence[str], budget: int, depth: int = 40
) -> list[str] | None:
    """A plan by value iteration (discount 0.99) over the states that so many actions lead to.

    Where the budget ends, what was met by then is all there is.
    """
    model, discount = WcModel(actions, mission, budget), 0.99
    first = model.key(wc_load(state))
    ways: dict[StateKey, list[tuple[str, StateKey, float, bool]]] = {first: []}
    layer = [first]
    for _ in range(depth):
        further = []
        for key in layer:
            for action in actions:
                found = model.after(key, action)
                if found is not None and found[0] != key:
                    ways[key].append((action, *found))
                    if found[0] not in ways:
                        ways[found[0]] = []
                        if not found[2]:
                            further.append(found[0])
        layer = further

    values = dict.fromkeys(ways, 0.0)

    def worth(way: tuple[str, StateKey, float, bool]) -> float:
        return way[2] + (0.0 if way[3] else discount * values[way[1]])

    for _ in range(depth):
        values = {key: max(map(worth, own), default=0.0) for key, own in ways.items()}
    plan: list[str] = []
    key, done, paid = first, False, 0.0
    while ways[key] and not done and len(plan) < depth:
        action, key, paid, done = max(ways[key], key=worth)
        plan.append(action)
    return plan if done and paid > 0 else None
