"""Describes a scene in four to eight short sentences without numbers, for a planner's prompt."""

from __future__ import annotations

from collections.abc import Sequence

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.relation import Place, relations
from spca_core.scene import Fact, SceneObject
from spca_sense.detection import UNKNOWN

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
    cubes = [o for o in objects if o.kind == "cube"]
    plates = [o for o in objects if o.kind == "plate"]
    solids = [o for o in objects if o.kind in SOLIDS] + [o for o in objects if o.kind == "unknown"]
    supports = [o for o in objects if o.kind in SUPPORTS]
    sentences = [_inventory(solids, "cube"), _inventory(supports, "plate"), _resting(facts)]
    sentences += _order(cubes, facts) + _near_and_far(facts, cubes) + _order(plates, facts)
    sentences += _touching(facts)
    return (*sentences, _gripper_and_hidden(objects, facts))


def _the(symbol: str) -> str:
    return f"the {name_of(symbol)}"


def _article(words: str) -> str:
    if words.startswith("other "):
        return f"an{words}"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _inventory(things: Sequence[SceneObject], kind: str) -> str:
    if not things:
        return f"There is no {kind}."
    return f"There is {_join([_article(name_of(o.id)) for o in things])}."


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
    clauses = []
    for support in sorted(supports, key=lambda s: (first.get(s, 1), s)):
        things = sorted(supports[support])
        clauses.append(
            f"{_join([_the(t) for t in things])} {'is' if len(things) == 1 else 'are'} "
            f"{told.get(support, f'on {_the(support)}')}"
        )
    return _sentence("; ".join(clauses))


def _order(things: Sequence[SceneObject], facts: Sequence[Fact]) -> list[str]:
    """Tell the order from left to right, when both ends are beyond doubt."""
    ids = {o.id for o in things}
    ends = {f.predicate for f in facts if f.predicate in ("leftmost", "rightmost") and f.args[0] in ids}
    out = {f.args[0] for f in facts if f.predicate == "held"}
    out |= {f.args[0] for f in facts if f.predicate == "on" and f.args[1] == GROUND_SYMBOL}
    row = sorted((o for o in things if o.id not in out), key=lambda o: -o.pose.position[1])
    if len(row) < 2 or len(ends) < 2:
        return []
    kind = "plates" if row[0].kind == "plate" else "cubes"
    return [f"From left to right the {kind} are {_join([_the(o.id) for o in row])}."]


def _near_and_far(facts: Sequence[Fact], things: Sequence[SceneObject]) -> list[str]:
    ids = {o.id for o in things}
    role = {
        f.predicate: f.args[0] for f in facts if f.predicate in ("nearest", "farthest") and f.args[0] in ids
    }
    if len(ids) < 2 or not role:
        return []
    clauses = []
    if "nearest" in role:
        clauses.append(f"{_the(role['nearest'])} is the nearest cube to the robot")
    if "farthest" in role:
        clauses.append(f"{_the(role['farthest'])} is the farthest{'' if clauses else ' cube from the robot'}")
    return [_sentence(" and ".join(clauses))]


def _touching(facts: Sequence[Fact]) -> list[str]:
    pairs = [f.args for f in facts if f.predicate == "next_to" and f.args[0] < f.args[1]]
    if not pairs:
        return []
    return [_sentence("; ".join(f"{_the(a)} and {_the(b)} stand side by side and touch" for a, b in pairs))]


def _gripper_and_hidden(objects: Sequence[SceneObject], facts: Sequence[Fact]) -> str:
    held = [f.args[0] for f in facts if f.predicate == "held"]
    words = f"the gripper holds {_the(held[0])}" if held else "the gripper is empty"
    hidden = [o.id for o in objects if not o.visible and o.id not in held]
    if hidden:
        verb = "is" if len(hidden) == 1 else "are"
        words += f", and {_join([_the(i) for i in hidden])} {verb} out of sight"
    return _sentence(words)
