"""What every program finds in the sandbox: entities, lookups, and search. Put in front of a program's source.

It is run by the worker as plain source text, so it imports nothing of this project. Names that begin with
`wc_` are for the host; a program cannot change what the host believes, since every step of a plan is checked
again from outside.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # annotations are not evaluated, so the sandbox needs none of these
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    EntityKey = tuple[Any, ...]
    """(class, x, y, attributes): equal for equal entities."""
    StateKey = frozenset[EntityKey]
    Place = tuple[Any, ...]
    """(class, x, y)."""
    Came = dict[StateKey, tuple[StateKey, str] | None]
    """How each state of a search was reached: from which state, by which action; None for the first."""

    # The two functions that the source after this one defines.
    def transition(state: list[Entity], action: str) -> list[Entity]: ...  # noqa: D103
    def reward(  # noqa: D103
        before: list[Entity], action: str, after: list[Entity], mission: str
    ) -> tuple[float, bool]: ...


class Entity:
    """One thing: `kind`, `x`, `y`, and attributes as in `door["color"]`."""

    __slots__ = ("_key", "kind", "values", "x", "y")

    def __init__(
        self, kind: str, x: int | None = None, y: int | None = None, values: Mapping[str, Any] | None = None
    ) -> None:
        self.kind, self.x, self.y = kind, x, y
        self.values: dict[str, Any] = dict(values or {})
        self._key: tuple[Any, ...] | None = None

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.values = {**self.values, name: value}  # copies share them
        self._key = None

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def copy(self) -> Entity:
        """A copy of it."""
        made = Entity.__new__(Entity)
        made.kind, made.x, made.y, made.values, made._key = self.kind, self.x, self.y, self.values, self._key
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entity) and wc_entity_key(self) == wc_entity_key(other)

    def __hash__(self) -> int:
        return hash(wc_entity_key(self))

    def __repr__(self) -> str:
        return f"Entity({self.kind!r}, {self.x}, {self.y}, {self.values})"


def find(state: Sequence[Entity], kind: str) -> Entity | None:
    """The first entity of a kind, or None."""
    for one in state:
        if one.kind == kind:
            return one
    return None


def find_all(state: Sequence[Entity], kind: str) -> list[Entity]:
    """All entities of a kind."""
    return [one for one in state if one.kind == kind]


def things_at(state: Sequence[Entity], x: int | None, y: int | None) -> list[Entity]:
    """All entities in a cell."""
    return [one for one in state if one.x == x and one.y == y]


def pick(things: Sequence[Entity], kind: str) -> Entity | None:
    """The first of a kind in a list, or None."""
    return find(things, kind)


def only(things: Sequence[Entity]) -> Entity | None:
    """The only one in a list, or None."""
    return things[0] if len(things) == 1 else None


def has(things: Sequence[Entity], kind: str) -> bool:
    """Whether one of a kind is in a list."""
    return any(one.kind == kind for one in things)


def has_value(things: Sequence[Entity], name: str, value: Any) -> bool:
    """Whether something in a list has a value."""
    return any(name in one.values and one.values[name] == value for one in things)


def agrees(things: Sequence[Entity], held: Entity | None, name: str) -> bool:
    """Whether something in a list agrees with what is held in an attribute."""
    return held is not None and held[name] is not None and any(one[name] == held[name] for one in things)


def cells_ahead(state: Sequence[Entity], me: Entity, dx: int, dy: int, count: int) -> list[list[Entity]]:
    """What lies 0, 1, …, `count` cells ahead, `me` left out; nothing if `me` is in no cell."""
    found: list[list[Entity]] = [[] for _ in range(count + 1)]
    if me.x is None or me.y is None:
        return found
    spots: dict[tuple[int | None, int | None], int] = {
        (me.x + k * dx, me.y + k * dy): k for k in range(count, -1, -1)
    }
    for one in state:
        k = spots.get((one.x, one.y))
        if k is not None and one is not me:
            found[k].append(one)
    return found


def the_other(state: Sequence[Entity], one: Entity) -> Entity | None:
    """The other entity of the same kind (of several, the one that is alike)."""
    others = [e for e in state if e.kind == one.kind and (e.x, e.y) != (one.x, one.y)]
    alike = [e for e in others if e.values == one.values]
    chosen = alike if len(alike) == 1 else others
    return chosen[0] if len(chosen) == 1 else None


def turned(vector: Sequence[int], matrix: Sequence[Sequence[int]]) -> tuple[int, int]:
    """A vector multiplied by a matrix."""
    (a, b), (c, d) = matrix
    return (a * vector[0] + b * vector[1], c * vector[0] + d * vector[1])


def count_on(state: Sequence[Entity], kind: str, other: str) -> int:
    """How many entities of a kind share their cell with one of another, in pairs."""
    cells: dict[tuple[int | None, int | None], int] = {}
    for one in state:
        if one.kind == other and one.x is not None:
            cells[one.x, one.y] = cells.get((one.x, one.y), 0) + 1
    return sum(cells.get((one.x, one.y), 0) for one in state if one.kind == kind and one.x is not None)


def all_on(state: Sequence[Entity], kind: str, other: str) -> bool:
    """Whether there are entities of a kind and each shares its cell with one of another."""
    cells = {(one.x, one.y) for one in state if one.kind == other}
    mine = [one for one in state if one.kind == kind]
    return bool(mine) and all((one.x, one.y) in cells for one in mine)


def is_like(
    one: Entity, kind: str, words: Collection[str], mentioned: Sequence[str] = (), **values: Any
) -> bool:
    """Whether an entity is of a kind (`*` any, `?` one that the mission names) with such values."""
    if kind == "?":
        if one.kind not in words:
            return False
    elif kind not in ("*", one.kind):
        return False
    return all(one[name] in words for name in mentioned) and all(one[name] == v for name, v in values.items())


def said(mission: str, *patterns: str) -> bool:
    """Whether a mission is one of these; `*` stands for one word."""
    words = mission.split()
    for pattern in patterns:
        wanted = pattern.split()
        if len(wanted) == len(words) and all(w in ("*", word) for w, word in zip(wanted, words, strict=True)):
            return True
    return False


# For the host.


def wc_value(value: Any) -> Any:
    """A value out of JSON."""
    if isinstance(value, list):
        if len(value) == 4 and isinstance(value[0], str):
            return wc_entity(value)
        return tuple(value)
    return value


def wc_entity(item: Sequence[Any]) -> Entity:
    """An entity out of JSON."""
    return Entity(item[0], item[1], item[2], {name: wc_value(v) for name, v in item[3].items()})


def wc_plain(value: Any) -> Any:
    """A value as JSON."""
    if isinstance(value, Entity):
        return [value.kind, value.x, value.y, {str(n): wc_plain(v) for n, v in value.values.items()}]
    if isinstance(value, (tuple, list)):
        return [wc_plain(v) for v in value]
    return value


def wc_load(state: Sequence[Sequence[Any]]) -> list[Entity]:
    """A state out of JSON."""
    return [wc_entity(item) for item in state]


def wc_dump(state: Sequence[Entity]) -> list[Any]:
    """A state as JSON."""
    return [wc_plain(one) for one in state]


def wc_entity_key(one: Entity) -> EntityKey:
    """What makes an entity equal to another."""
    if one._key is None:
        one._key = tuple((n, wc_entity_key(v) if isinstance(v, Entity) else v) for n, v in one.values.items())
    return one.kind, one.x, one.y, one._key


def wc_copy(state: Sequence[Entity]) -> list[Entity]:
    """A state that may be changed."""
    return [one.copy() for one in state]


def wc_step(state: Sequence[Sequence[Any]], action: str) -> list[Any]:
    """The program's next state, as JSON."""
    return wc_dump(transition(wc_load(state), action))


def wc_pay(
    before: Sequence[Sequence[Any]], action: str, after: Sequence[Sequence[Any]], mission: str
) -> list[Any]:
    """The program's reward and whether the episode ends, as JSON."""
    paid, done = reward(wc_load(before), action, wc_load(after), mission)
    return [float(paid), bool(done)]


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
    budget: int,
    depth: int,
) -> list[Any] | None:
    """The shortest way to the least tried step: `[cost, plan]` or None.

    `frame` is `[mover, facing, holding, moves]`, `counts` what was tried, as `wc_context` names it.
    """
    model = WcModel(actions, mission, budget)
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
        for action in actions:
            name, dull = wc_context(here, action, frame, counts)
            price = steps + dull + counts["weight"] * tried.get(name, 0)
            if best is None or price < best[0]:
                best = (price, key, action)
            found = model.after(key, action)
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


def wc_context(
    state: Sequence[Entity], action: str, frame: Sequence[Any], counts: Mapping[str, Any]
) -> tuple[str, float]:
    """The name of a step's surroundings, and how dull the classes in them have been."""
    mover, facing, holding, moves, reach = frame
    me = find(state, mover)
    if me is None or me.x is None:
        return action, 0.0
    heading = moves.get(action) or (me[facing] if facing else None)
    shared = "move" if action in moves else action
    held = me[holding] if holding else None
    known = f"{action}&{held.kind if isinstance(held, Entity) else ''}"
    parts, dull = [shared], counts["known"].get(known, 0.0)
    if heading is not None:
        cells = cells_ahead(state, me, heading[0], heading[1], reach)
        for k in range(1, reach + 1):
            parts.append("|" + ",".join(sorted(wc_look(one, counts) for one in cells[k])))
            if k == 1:
                dull += max(
                    [counts["dull"].get(one.kind, 0.0) for one in cells[k]] or [counts["dull"].get("", 0.0)]
                )
            if k == 1 and not any(one.kind in counts["moved"] for one in cells[1]):
                break
        near = cells[1]
    else:
        near = []
    if holding:
        parts.append("&" + (held.kind if isinstance(held, Entity) else ""))
        if isinstance(held, Entity):
            parts += [
                "=" + n for n, v in held.values.items() if any(one[n] == v and v is not None for one in near)
            ]
    return "".join(parts), dull


def wc_look(one: Entity, counts: Mapping[str, Any]) -> str:
    """An entity as a context shows it: class, and the values that effects change."""
    shown = [f"{n}={v}" for n, v in one.values.items() if n in counts["variable"]]
    return " ".join([one.kind, *shown])


def wc_way(came: Came, key: StateKey) -> list[str]:
    """The actions that led to a state."""
    plan = []
    while (step := came[key]) is not None:
        key, action = step
        plan.append(action)
    return plan[::-1]


def wc_novelty(
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


def wc_tree(
    state: Sequence[Sequence[Any]], mission: str, actions: Sequence[str], budget: int, depth: int = 30
) -> list[str] | None:
    """A plan by Monte Carlo tree search (UCB with c = 1), states met before left out.

    Actions that share more words with the mission are tried first.
    """
    model = WcModel(actions, mission, budget)
    words = set(mission.split())
    order = sorted(actions, key=lambda action: -len(words & set(action.split())))
    root = model.key(wc_load(state))
    came: Came = {root: None}
    untried = {root: list(order)}
    children: dict[StateKey, list[StateKey]] = {root: []}
    visits, gains = {root: 0}, {root: 0.0}
    while untried[root] or children[root]:
        path = [root]
        while not untried[path[-1]] and children[path[-1]]:
            known = math.log(visits[path[-1]])
            path.append(
                max(children[path[-1]], key=lambda c: gains[c] / visits[c] + math.sqrt(known / visits[c]))
            )
        key, gain = path[-1], 0.0
        if untried[key] and len(path) <= depth:
            action = untried[key].pop(0)
            found = model.after(key, action)
            if found is None:
                return None
            after, gain, done = found
            if after not in came:
                came[after] = (key, action)
                if done and gain > 0:
                    return wc_way(came, after)
                untried[after], children[after] = [] if done else list(order), []
                visits[after], gains[after] = 1, gain
                children[key].append(after)
        elif len(path) > 1:  # nothing is left to be found below
            children[path[-2]].remove(key)
        for one in path:
            visits[one] += 1
            gains[one] += gain
    return None


def wc_width(
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
    """Where the entities of a class are."""
    return frozenset(one[:3] for one in key if one[0] == kind)
