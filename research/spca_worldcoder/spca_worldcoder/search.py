"""Search in a program, run by the worker behind `prelude` and in front of the program's source.

Like the prelude it is plain source text to the worker. Plans are checked again from outside.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # in the worker these names are there already
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spca_worldcoder.prelude import (
        Entity,
        EntityKey,
        StateKey,
        reward,
        transition,
        wc_context,
        wc_copy,
        wc_entity_key,
        wc_load,
        wc_named,
    )

    Place = tuple[Any, ...]
    """(class, x, y)."""
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


def wc_explore(
    state: Sequence[Sequence[Any]],
    mission: str,
    actions: Sequence[str],
    frame: Sequence[Any],
    counts: Mapping[str, Any],
) -> list[Any] | None:
    """The shortest way to the least tried step: `[cost, plan]` or None.

    `frame` is `[mover, facing, holding, moves]`, `counts` what was tried, as `wc_context` names it. A step
    after which less is left of what the mission names costs more: such an episode may be lost.
    """
    words = mission.split()
    model, depth = WcModel(actions, mission, 8000), 60
    first = model.key(wc_load(state))
    came: Came = {first: None}
    queue, novel = deque([(first, 0)]), set(first)
    best: tuple[float, StateKey, str] | None = None
    tried = counts["tried"]
    while queue:
        key, steps = queue.popleft()
        if best is not None and steps >= best[0]:
            break
        here = model.states[key]
        named = wc_named(here, words)
        for action in actions:
            name, dull = wc_context(here, action, frame, counts)
            price = steps + dull + counts["weight"] * tried.get(name, 0)
            found = model.after(key, action)
            if found is not None and found[0] != key:
                price += counts["loss"] * max(0, named - wc_named(model.states[found[0]], words))
            if best is None or price < best[0]:
                best = (price, key, action)
            if found is None:
                queue.clear()
                break
            after, _, done = found
            if after not in came and not done and steps < depth:
                came[after] = (key, action)
                # Width 1 reaches far places without all ways of leaving things about.
                if not novel.issuperset(after):
                    novel |= after
                    queue.append((after, steps + 1))
    if best is None:
        return None
    return [best[0], [*wc_way(came, best[1]), best[2]]]


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


def wc_plan_width(
    state: Sequence[Sequence[Any]], mission: str, actions: Sequence[str], budget: int
) -> list[str] | None:
    """A plan to an end that pays, by best-first width search over states with the mover's walks left out.

    The mover is the one thing whose own steps change nothing else; a node is the rest of the world with the
    part of it that the mover can walk to. Nodes are ordered by what was paid so far, novelty, and length.
    """
    model = WcModel(actions, mission, budget)
    first = model.key(wc_load(state))
    mover = wc_mover(model, first)
    dead = wc_dead(state, mission, actions, mover, budget // 4)
    seen: dict[StateKey, set[StateKey]] = {}
    novel: set[tuple[int, EntityKey]] = set()
    heap: list[tuple[float, int, int, int, StateKey, tuple[str, ...]]] = [(0.0, 0, 0, 0, first, ())]
    order = 0
    while heap and model.left > 0:
        gain, _, length, _, entry, plan = heapq.heappop(heap)
        rest = wc_rest(entry, mover)
        if entry in seen.get(rest, ()):
            continue
        walk: dict[StateKey, tuple[str, ...]] = {entry: ()}
        queue = deque([entry])
        leaving = []
        while queue:
            key = queue.popleft()
            for action in actions:
                found = model.after(key, action)
                if found is None:
                    break
                after, paid, done = found
                way = (*walk[key], action)
                if done:
                    if paid > 0:
                        return list(plan + way)
                    continue
                if after in walk or after == key:
                    continue
                if mover and wc_rest(after, mover) == rest:
                    walk[after] = way
                    queue.append(after)
                else:
                    leaving.append((after, paid, way))
        seen.setdefault(rest, set()).update(walk)
        for after, paid, way in leaving:
            others = wc_rest(after, mover)
            if after in seen.get(others, ()) or any(one[:3] in dead for one in others - rest):
                continue
            gained = gain - round(paid, 3)
            atoms = [(round(gained), one) for one in after]
            width = 0 if any(atom not in novel for atom in atoms) else 1
            novel.update(atoms)
            order += 1
            heapq.heappush(heap, (gained + 0.02 * width, width, length + len(way), order, after, plan + way))
    return None


def wc_rest(key: StateKey, mover: str) -> StateKey:
    """A state without its mover."""
    return frozenset(one for one in key if one[0] != mover) if mover else key


def wc_mover(model: WcModel, first: StateKey) -> str:
    """The class whose single entity changes alone at the first steps, or ""."""
    votes: dict[str, int] = {}
    frontier, seen = [first], {first}
    for _ in range(3):
        further = []
        for key in frontier:
            for action in model.actions:
                found = model.after(key, action)
                if found is None or found[0] == key:
                    continue
                gone, new = key - found[0], found[0] - key
                if len(gone) == 1 and len(new) == 1:
                    (one,), (other,) = gone, new
                    if one[0] == other[0] and sum(e[0] == one[0] for e in key) == 1:
                        votes[one[0]] = votes.get(one[0], 0) + 1
                if found[0] not in seen and len(seen) < 40:
                    seen.add(found[0])
                    further.append(found[0])
        frontier = further
    return max(sorted(votes), key=lambda kind: votes[kind]) if votes else ""


def wc_dead(  # noqa: PLR0912
    state: Sequence[Sequence[Any]], mission: str, actions: Sequence[str], mover: str, budget: int
) -> set[Place]:
    """Places (class, x, y) from which a thing that is moved about can no longer come to where it pays.

    Found in the model itself: all others of the class are taken away, and what is left is searched to its
    end.
    """
    if not mover:
        return set()
    things = wc_load(state)
    counted: dict[str, list[Entity]] = {}
    for one in things:
        if one.kind != mover and not one.values:
            counted.setdefault(one.kind, []).append(one)
    dead: set[Place] = set()
    for kind, several in counted.items():
        graph: dict[StateKey, list[StateKey]] = {}
        goals: set[StateKey] = set()
        starts: set[StateKey] = set()
        model = WcModel(actions, mission, budget)
        for one in several[:8]:
            single = [e.copy() for e in things if e.kind != kind or e is one]
            starts.add(model.key(single))
        frontier, seen, moved = list(starts), set(starts), False
        while frontier and model.left > 0:
            key = frontier.pop()
            for action in actions:
                found = model.after(key, action)
                if found is None:
                    break
                after, paid, done = found
                graph.setdefault(after, []).append(key)
                if done and paid > 0:
                    goals.add(after)
                if after not in seen:
                    moved = moved or wc_place(after, kind) != wc_place(key, kind)
                    seen.add(after)
                    if not done:
                        frontier.append(after)
            if not moved and len(seen) > 400:
                break
        if not moved or not goals or model.left <= 0:
            continue
        alive, back = set(goals), list(goals)
        while back:
            for key in graph.get(back.pop(), ()):
                if key not in alive:
                    alive.add(key)
                    back.append(key)
        good = {place for key in alive for place in wc_place(key, kind)}
        dead |= {place for key in seen for place in wc_place(key, kind)} - good
    return dead


def wc_place(key: StateKey, kind: str) -> frozenset[Place]:
    """Return the places of the entities of a class."""
    return frozenset(one[:3] for one in key if one[0] == kind)
