"""What programs made of rules, and the explorer, find in the sandbox beside `spca_worldcoder.prelude`.

Like that it is plain source text to the worker, which leaves out the imports of this project.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from spca_worldcoder.prelude import Entity, find, wc_load
from spca_worldcoder.search import WcModel, wc_way

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from spca_worldcoder.prelude import StateKey
    from spca_worldcoder.search import Came


def only(things: Sequence[Entity]) -> Entity | None:
    """The only one in a list, or None."""
    return things[0] if len(things) == 1 else None


def has(things: Sequence[Entity], kind: str) -> bool:
    """Return whether one of a kind is in a list."""
    return any(one.kind == kind for one in things)


def has_value(things: Sequence[Entity], name: str, value: Any) -> bool:
    """Return whether something in a list has a value."""
    return any(name in one.values and one.values[name] == value for one in things)


def agrees(things: Sequence[Entity], held: Entity | None, name: str) -> bool:
    """Return whether something in a list agrees with what is held in an attribute."""
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
    """Return whether there are entities of a kind and each shares its cell with one of another."""
    cells = {(one.x, one.y) for one in state if one.kind == other}
    mine = [one for one in state if one.kind == kind]
    return bool(mine) and all((one.x, one.y) in cells for one in mine)


def is_like(
    one: Entity, kind: str, words: Collection[str], mentioned: Sequence[str] = (), **values: Any
) -> bool:
    """Return whether an entity is of a kind (`*` any, `?` one that the mission names) with such values."""
    if kind == "?":
        if one.kind not in words:
            return False
    elif kind not in ("*", one.kind):
        return False
    return all(one[name] in words for name in mentioned) and all(one[name] == v for name, v in values.items())


def said(mission: str, *patterns: str) -> bool:
    """Return whether a mission is one of these; `*` stands for one word."""
    words = mission.split()
    wanted = [pattern.split() for pattern in patterns]
    alike = [w for w in wanted if len(w) == len(words)]
    return any(all(one in ("*", word) for one, word in zip(w, words, strict=True)) for w in alike)


# For the explorer.


def wc_named(state: Sequence[Entity], words: Collection[str]) -> int:
    """How many entities there are, what is held among them, of classes that a mission names."""
    held = [v for one in state for v in one.values.values() if isinstance(v, Entity)]
    return sum(one.kind in words for one in (*state, *held))


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
    near: list[Entity] = []
    if heading is not None:
        cells = cells_ahead(state, me, heading[0], heading[1], reach)
        for k in range(1, reach + 1):
            # An entity is shown by its class and the values that effects change.
            shown = [
                " ".join([one.kind, *(f"{n}={v}" for n, v in one.values.items() if n in counts["variable"])])
                for one in cells[k]
            ]
            parts.append("|" + ",".join(sorted(shown)))
            if k == 1:
                dull += max(counts["dull"].get(kind, 0.0) for kind in [one.kind for one in cells[1]] or [""])
                if not any(one.kind in counts["moved"] for one in cells[1]):
                    break
        near = cells[1]
    if holding:
        parts.append("&" + (held.kind if isinstance(held, Entity) else ""))
        if isinstance(held, Entity):
            parts += ["=" + name for name in held.values if agrees(near, held, name)]
    return "".join(parts), dull


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
