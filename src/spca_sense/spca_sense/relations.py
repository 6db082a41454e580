"""Spatial relations of perceived objects, from poses alone: the predicates of `spca_core.scene.RELATIONS`.

And a scene in four to eight short sentences without numbers, for a planner's prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import cv2
import numpy as np

from spca_core.geometry import Array
from spca_core.kinds import CONTAINERS, KINDS, SOLIDS, SUPPORTS, UNKNOWN
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.relation import Place, relations
from spca_core.scene import TIE, Fact, SceneObject
from spca_sense.outline import footprint, gap, overlap, polygon_area
from spca_sense.view import LEVEL, NOISE

TOUCH = 0.004
"""Distance in metres below which two things stand side by side."""
MIN_SHARE = 0.03
"""Share of a thing's footprint that must lie over what carries it."""

LEAN = np.radians(2.0)
"""Angle in radians from which a thing leans."""


def relate(
    objects: Sequence[SceneObject], held: str | None, table_top: float
) -> tuple[list[Fact], list[str]]:
    """Return all relations among `objects`, and notes about what is doubtful.

    `held` is the id of the one in the gripper.
    """
    facts: list[Fact] = []
    notes: list[str] = []
    resting = [o for o in objects if o.id != held]
    kinds = {o.id: o.kind for o in objects}
    for thing in resting:
        supports = _supports(thing, resting, table_top)
        facts += [_fact("on", thing.id, support) for support in supports]
        for row in (r for r in relations() if r.meaning and r.rests in ("", *supports)):
            facts += [_fact(row.name, thing.id, s) for s in supports if kinds.get(s) in row.of]
        if not supports:
            notes.append(f"{thing.id} rests on nothing that is known")
    inside = {f.args for f in facts if f.predicate == "on" and kinds.get(f.args[1]) in CONTAINERS}
    pairs = _neighbours([o for o in resting if o.kind in (*SOLIDS, *CONTAINERS)])
    facts += [f for f in pairs if not {f.args, f.args[::-1]} & inside]
    alike = ((a, b) for a in objects for b in objects if a.kind == b.kind and a.kind in (*SOLIDS, *SUPPORTS))
    facts += [_fact("larger", a.id, b.id) for a, b in alike if min(a.size[:2]) > min(b.size[:2]) + LEVEL]
    if held is not None:
        facts.append(_fact("held", held))
    carrying = {f.args[1] for f in facts if f.predicate == "on"}
    facts += [_fact("clear", o.id) for o in objects if o.id not in carrying]
    fallen = {f.args[0] for f in facts if f.predicate == "on" and f.args[1] == GROUND_SYMBOL}
    for kind in (k for k in (*SOLIDS, *SUPPORTS) if k in kinds.values()):
        roles, ties = _roles([o for o in resting if o.kind == kind and o.id not in fallen])
        facts += roles
        notes += ties
    return facts, notes


def _fact(predicate: str, *args: str) -> Fact:
    return Fact(predicate=predicate, args=args)


def _supports(thing: SceneObject, others: Sequence[SceneObject], table_top: float) -> list[str]:
    """Return what an object rests on: other objects, else the table or the ground.

    A leaning object may rest on both.
    """
    own = footprint(thing)
    area = thing.size[0] * thing.size[1]
    upwards = thing.pose.matrix()[2, :3]
    leaning = upwards[2] < np.cos(LEAN)
    reach = 2 * LEVEL if leaning else NOISE
    found: dict[str, Array] = {}
    for other in others:
        into = other.kind in CONTAINERS and thing.kind in SOLIDS  # may be lower than half the walls
        lower = other.deck if into else other.pose.position[2]
        below = abs(thing.bottom - other.deck) < reach and lower < thing.pose.position[2]
        if below and other.id != thing.id:
            shared = overlap(own, footprint(other))
            if polygon_area(shared) > MIN_SHARE * area:
                found[other.id] = shared
    names = list(found)
    lowest = thing.pose.position[2] - float(np.abs(upwards) @ thing.size) / 2
    if any(o.id in found and o.kind in CONTAINERS for o in others):
        return names  # however it leans there
    tipping = bool(found) and thing.bottom - table_top < max(thing.size) and _tips_over(thing, found.values())
    low = (not found or leaning) and abs(lowest - table_top) < 2 * NOISE
    if tipping or low or (not found and _leans_beside(thing, others, table_top)):
        names.append(TABLE_SYMBOL)
    elif not found and abs(lowest) < 4 * NOISE:
        names.append(GROUND_SYMBOL)
    return names


def _leans_beside(thing: SceneObject, others: Sequence[SceneObject], table_top: float) -> bool:
    """Return whether a thing that seems to hang low over the table leans on one that it reaches over."""
    if not 0 < thing.bottom - table_top < thing.size[2]:
        return False
    own = footprint(thing)
    beside = (o for o in others if o.id != thing.id and o.top > thing.bottom)
    return any(len(overlap(own, footprint(o))) > 2 for o in beside)


def _tips_over(thing: SceneObject, carried: Iterable[Array]) -> bool:
    """Return whether a thing's centre is off its `carried` parts: it leans then, however level it looks."""
    area = cv2.convexHull(np.vstack([*carried]).astype(np.float32))
    x, y, _ = thing.pose.position
    return cv2.pointPolygonTest(area, (x, y), True) < -NOISE


def _neighbours(things: Sequence[SceneObject]) -> list[Fact]:
    facts = []
    for a, b in combinations(things, 2):
        if a.kind in CONTAINERS or b.kind in CONTAINERS:
            level = a.bottom < b.top and b.bottom < a.bottom + NOISE and a.bottom < b.bottom + NOISE
        else:
            level = abs(a.pose.position[2] - b.pose.position[2]) < (a.size[2] + b.size[2]) / 4
        if level and gap(footprint(a), footprint(b)) < TOUCH:
            facts += [_fact("next_to", a.id, b.id), _fact("next_to", b.id, a.id)]
    return facts


def _roles(things: Sequence[SceneObject]) -> tuple[list[Fact], list[str]]:
    """Return the roles among things of one kind, and notes about ties; left is +y, near is small x.

    If two are equal within the error of perception, one of them still gets the role, because a task about the
    leftmost cube can mean either. A note says that the two are equal.
    """
    facts: list[Fact] = []
    notes: list[str] = []
    if len(things) < 2:  # what is alone of its kind is everything at once
        return facts, notes
    orders: dict[str, Callable[[SceneObject], float]] = {
        "leftmost": lambda o: -o.pose.position[1],
        "rightmost": lambda o: o.pose.position[1],
        "nearest": lambda o: o.pose.position[0],
        "farthest": lambda o: -o.pose.position[0],
    }
    for role, key in orders.items():
        ranked = sorted(things, key=key)
        if key(ranked[1]) - key(ranked[0]) < TIE:
            notes.append(f"{ranked[0].id} and {ranked[1].id} are equally {role}")
        facts.append(_fact(role, ranked[0].id))
    if len(things) % 2:
        half = len(things) // 2
        before, middle, after = sorted(things, key=orders["leftmost"])[half - 1 : half + 2]
        if min(abs(middle.pose.position[1] - o.pose.position[1]) for o in (before, after)) < TIE:
            notes.append(f"no {middle.kind} is clearly the middle one")
        facts.append(_fact("middle", middle.id))
    return facts, notes


_FURTHER = {"2": "other", "3": "further", "4": "additional"}
"""Words for the second, third and fourth thing of one colour and kind; the text must not count."""


def name_of(symbol: str) -> str:
    """Return the words for a thing, without an article.

    >>> name_of("cube_red"), name_of("cube_red_2"), name_of("unknown")
    ('red cube', 'other red cube', 'unknown thing')
    """
    base, _, last = symbol.rpartition("_")
    if last.isdigit():
        return f"{_FURTHER.get(last, 'extra')} {name_of(base)}"
    return "unknown thing" if symbol == UNKNOWN else words_of(symbol)


def describe(objects: Sequence[SceneObject], facts: Sequence[Fact]) -> tuple[str, ...]:
    """Return the sentences of a scene; equal scenes give equal sentences."""
    cubes = [o for o in objects if KINDS[o.kind].cubic]
    plates = [o for o in objects if KINDS[o.kind].spacious]
    solids = [o for o in objects if o.kind in SOLIDS] + [o for o in objects if o.kind == UNKNOWN]
    supports = [o for o in objects if o.kind in SUPPORTS]
    sentences = (
        _inventory(solids, "cube"),
        _inventory(supports, "plate"),
        _resting(facts),
        _order(cubes, facts),
        _near_and_far(cubes, facts),
        _order(plates, facts),
        _touching(facts),
        _gripper_and_hidden(objects, facts),
    )
    return tuple(filter(None, sentences))


def _the(symbol: str) -> str:
    return f"the {name_of(symbol)}"


def _article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'}{'' if words.startswith('other ') else ' '}{words}"


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _inventory(things: Sequence[SceneObject], kind: str) -> str:
    return f"There is {_join([_article(name_of(o.id)) for o in things]) if things else f'no {kind}'}."


def _resting(facts: Sequence[Fact]) -> str:
    supports: dict[str, list[str]] = {}
    for fact in facts:
        if fact.predicate == "on":
            supports.setdefault(fact.args[1], []).append(fact.args[0])
    if not supports:
        return "Nothing stands on the table."
    rows = {row.name: row for row in relations() if row.put == "on"}
    told = {f.args[1]: Place(rows[f.predicate], f.args[1:]).words for f in facts if f.predicate in rows}
    first = {TABLE_SYMBOL: 0, GROUND_SYMBOL: 2}
    return _sentence(
        "; ".join(
            f"{_join([_the(t) for t in sorted(things)])} {'is' if len(things) == 1 else 'are'} "
            f"{told.get(support, f'on {_the(support)}')}"
            for support, things in sorted(supports.items(), key=lambda s: (first.get(s[0], 1), s[0]))
        )
    )


def _row(things: Sequence[SceneObject], facts: Sequence[Fact], axis: int) -> list[SceneObject]:
    """Return what stands about, in order along an axis; nothing where an end of it is in doubt."""
    out = {f.args[0] for f in facts if f.predicate == "held" or f.args[1:] == (GROUND_SYMBOL,)}
    row = sorted((o for o in things if o.id not in out), key=lambda o: o.pose.position[axis])
    places = [o.pose.position[axis] for o in row]
    return row if row[1:] and min(places[1] - places[0], places[-1] - places[-2]) >= TIE else []


def _order(things: Sequence[SceneObject], facts: Sequence[Fact]) -> str:
    row = [_the(o.id) for o in reversed(_row(things, facts, 1))]
    return f"From left to right the {things[0].kind}s are {_join(row)}." if row else ""


def _near_and_far(things: Sequence[SceneObject], facts: Sequence[Fact]) -> str:
    row = [_the(o.id) for o in _row(things, facts, 0)]
    told = f"{row[0]} is the nearest cube to the robot and {row[-1]} is the farthest" if row else ""
    return _sentence(told)


def _touching(facts: Sequence[Fact]) -> str:
    pairs = [map(_the, f.args) for f in facts if f.predicate == "next_to" and f.args[0] < f.args[1]]
    return _sentence("; ".join(f"{a} and {b} stand side by side and touch" for a, b in pairs))


def _gripper_and_hidden(objects: Sequence[SceneObject], facts: Sequence[Fact]) -> str:
    held = [f.args[0] for f in facts if f.predicate == "held"]
    words = f"the gripper holds {_the(held[0])}" if held else "the gripper is empty"
    if hidden := [_the(o.id) for o in objects if not o.visible and o.id not in held]:
        words += f", and {_join(hidden)} {'is' if len(hidden) == 1 else 'are'} out of sight"
    return _sentence(words)
