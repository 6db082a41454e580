"""Sentences with their meanings, made of the parts in sentences.yaml, to check how the grammar reads them.

Nothing here is taken from the parser. A part has words and a meaning of its own; the meaning of a sentence is
composed of theirs, on a table of three cubes and plates, as every final state that would do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, permutations, product
from pathlib import Path

import yaml

from spca_testing.observations import CUBES, PLATES

Atom = tuple[str, ...]
PARTS = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text())
COLOURS = tuple(cube.removeprefix("cube_") for cube in CUBES)
SYMBOLS = {cube[5].upper(): cube for cube in CUBES}
RULES = ("kept", "stays", "unfit", "apart")


@dataclass(frozen=True)
class Way:
    """One way to fulfil a task: what must hold in the end, what must not be done, what comes before what."""

    ends: frozenset[Atom] = frozenset()
    rules: frozenset[Atom] = frozenset()
    order: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, atoms: Sequence[Atom]) -> Way:
        """Sort atoms."""
        rules = frozenset(a for a in atoms if a[0] in RULES)
        order = tuple((a[1], a[2]) for a in atoms if a[0] == "before")
        return cls(frozenset(a for a in atoms if a[0] != "before") - rules, rules, order)

    def and_(self, other: Way) -> Way:
        """Both of them."""
        return Way(self.ends | other.ends, self.rules | other.rules, self.order + other.order)


@dataclass(frozen=True)
class Noun:
    """Things: their words, and the sets of them that may be meant; `each` one by one, or `some`, any."""

    text: str
    ways: tuple[tuple[str, ...], ...]
    each: bool = False
    some: bool = False


@dataclass(frozen=True)
class Clause:
    """Something to do, as words and as the ways to do it. `subject` is what "it" refers to afterwards."""

    text: str
    ways: tuple[Way, ...]
    subject: str = ""
    about: tuple[str, ...] = ()
    several: bool = False
    """Whether it is of all of them as such, so that one of them may be left out."""


@dataclass(frozen=True)
class Sentence:
    """A task text. `ways` is empty where nothing would be right."""

    text: str
    ways: tuple[Way, ...]


def _part(rng: random.Random, name: str, **words: str) -> tuple[str, list[list[Atom]]]:
    """A text of a part of the file, and the alternatives that it means, each in words for things."""
    part = PARTS[name]
    text = rng.choice([*part])
    letters = dict(zip("abc", rng.sample(COLOURS, 3), strict=True))
    symbols = SYMBOLS | {k: f"cube_{c}" for k, c in letters.items()}
    symbols |= {f"p{k}": f"plate_{c}" for k, c in letters.items()}
    told = part[text] if isinstance(part, dict) else ""
    meant = [
        [tuple(symbols.get(word, word) for word in atom.split()) for atom in way.split(",")]
        for way in told.split("|")
    ]
    chosen = re.sub(r"\[(.*?)\]", lambda found: rng.choice(found[1].split("|")), text)
    return chosen.format(**letters, **words), meant


def noun(rng: random.Random, name: str) -> Noun:
    """A noun phrase for `cubes` or `plates`."""
    text, meant = _part(rng, name)
    how = meant[0][0][0]
    ways = tuple(tuple(word for word in atoms[0] if word not in ("some", "each")) for atoms in meant)
    return Noun(text, ways, how == "each", how == "some")


# --- clauses


def _of(what: Noun, text: str, ways: Sequence[Way], several: bool = False) -> Clause:
    subject = what.ways[0][0] if len(what.ways) == len(what.ways[0]) == 1 else ""
    return Clause(text, tuple(ways), subject, what.ways[0], several)


def touching(rng: random.Random) -> Clause:
    """Touch something."""
    what = noun(rng, rng.choice(("cubes", "cubes", "plates")))
    what = noun(rng, "cubes") if "table" in what.text else what
    ways = [Way(frozenset(("touched", x) for x in group)) for group in what.ways]
    return _of(what, f"{rng.choice(('touch', 'tap'))} {what.text}", ways)


def lifting(rng: random.Random) -> Clause:
    """Pick something up: there is one gripper."""
    what = noun(rng, "cubes")
    ways = [Way(frozenset({("holding", *group)})) for group in what.ways if len(group) == 1]
    return _of(what, f"{rng.choice(('pick up', 'lift', 'grasp', 'grab'))} {what.text}", ways)


def putting(rng: random.Random) -> Clause:
    """Put things on plates, or on the table."""
    what, where = noun(rng, "cubes"), noun(rng, "plates")
    place, pairs = where.text, _pairs(what, where)
    if rng.random() < 0.2:
        own, many = rng.random() < 0.5, len(what.ways[0]) > 1 and not what.each
        one = rng.choice(("the plate of its colour", "its own plate")) if own else "a plate of another colour"
        all_ = "the plates of their colours" if own else "plates of another colour"
        place = all_ if many else one
        pairs = [
            [*zip(group, chosen, strict=True)]
            for group in what.ways
            for chosen in product(PLATES, repeat=len(group))
            if all((x[5:] == p[6:]) == own for x, p in zip(group, chosen, strict=True))
        ]
    text = f"{rng.choice(('put', 'place', 'move', 'set'))} {what.text} {rng.choice(('on', 'onto'))} {place}"
    several = not what.some and len(what.ways[0]) > 1 and " and " not in what.text
    return _of(what, text, [Way(frozenset(("on", x, p) for x, p in group)) for group in pairs], several)


def _pairs(what: Noun, where: Noun) -> list[list[tuple[str, str]]]:
    """Every way to bring things to places."""
    if where.each:  # so many of them on each, others on every one
        count, allowed = len(what.ways[0]), sorted({x for group in what.ways for x in group})
        orders = permutations(allowed, count * len(PLATES)) if what.some else ()
        return [[(x, PLATES[i // count]) for i, x in enumerate(order)] for order in orders]
    if len(where.ways[0]) > 1:  # two places, in turn
        ordered = len(what.ways) == 1 and " and the " in what.text
        two = [group for group in what.ways if len(group) == 2 and ordered]
        return [list(zip(group, where.ways[0], strict=True)) for group in two]
    if len(where.ways) > 1 and len(what.ways[0]) > 1:  # the same for all, or one for each: both can be meant
        several = ((group, ways) for group in what.ways for ways in product(where.ways, repeat=len(group)))
        return [list(zip(group, (p for (p,) in ways), strict=True)) for group, ways in several]
    return [[(x, p) for x in group] for group in what.ways for (p,) in where.ways]


def stacking(rng: random.Random, first: bool = False) -> Clause:
    """Put a cube on or next to another one, build with three, or take one away."""
    text, meant = _part(rng, "stacking", one=rng.choice(("one", "cube")) if first else "cube")
    about = tuple(dict.fromkeys(x for atom in meant[0] for x in atom[1:] if x in CUBES))
    subject = meant[0][0][1] if len(meant[0]) == 1 and " under " not in text else ""
    return Clause(text, tuple(map(Way.of, meant)), subject, about)


FIRST = (touching, touching, lifting, putting, putting, putting, *[partial(stacking, first=True)] * 2)
"""Kinds of clauses that a sentence begins with, as often as each."""


# --- sentences


def sentences(count: int, seed: int = 0) -> Iterator[Sentence]:
    """So many different ones, the same for the same seed."""
    rng = random.Random(seed)
    found: set[str] = set()
    while len(found) < count:
        sentence = _sentence(rng)
        if sentence.text not in found:
            found.add(sentence.text)
            yield sentence


def _sentence(rng: random.Random) -> Sentence:
    clause, share = rng.choice(FIRST)(rng), rng.random()
    made = Sentence(clause.text, clause.ways)
    if 0.30 <= share < 0.45:
        made = _with_second(rng, clause)
    elif 0.45 <= share < 0.75:
        made = _banned(rng, clause)
    elif 0.75 <= share < 0.90:
        text, (atoms,) = _part(rng, "ordered")
        made = Sentence(text, (Way.of(atoms),) if any(atoms) else ())
    elif share >= 0.90:
        made = _beyond(rng, clause)
    text = rng.choice(("{}.", "{}.", "Please {}.", "{}, please.", "Could you {}?")).format(made.text)
    return Sentence(text[0].upper() + text[1:], tuple(w for w in dict.fromkeys(made.ways) if _possible(w)))


def _with_second(rng: random.Random, first: Clause) -> Sentence:
    """Two clauses; the second may speak of "it"."""
    does = {atom[0] for way in first.ways for atom in way.ends}
    if first.subject in CUBES and does == {"touched"} and rng.random() < 0.4:
        colour = rng.choice(COLOURS)
        there = Way.of([("on", first.subject, f"plate_{colour}")])
        return Sentence(f"{first.text} and put it on the {colour} plate", _both(first.ways, [there]))
    second = rng.choice((touching, putting, stacking))(rng)
    first = touching(rng) if does <= {"holding"} else first  # perhaps only for a while
    joint = rng.choice((" and ", ". ", "; ", ", and "))
    return Sentence(first.text + joint + second.text, _both(first.ways, second.ways))


def _banned(rng: random.Random, clause: Clause) -> Sentence:
    """Something must be left alone, or not be put somewhere, or not end up there."""
    text, (atoms,) = _part(rng, "banned", clause=clause.text)
    of_it = any("it" in atom or "others" in atom for atom in atoms)
    if (of_it and not clause.subject) or ("others" in atoms[0] and len(clause.about) != 1):
        return _banned(rng, clause)
    if text.endswith("other cubes"):
        atoms = [("kept", x) for x in CUBES if x not in clause.about]
    rules = Way.of([tuple(clause.subject if word == "it" else word for word in atom) for atom in atoms])
    if clause.several and text.endswith("alone"):  # an exception
        ((_, cube),) = atoms
        there = ("on", cube, "table")  # as it is
        ends = [frozenset(a for a in way.ends if a[1] != cube or a == there) for way in clause.ways]
        return Sentence(text, _both([Way(left) for left in ends if left], [rules]))
    return Sentence(text, _both(clause.ways, [rules]))


def _beyond(rng: random.Random, clause: Clause) -> Sentence:
    """With something that cannot be heeded, but for "on top again" and "on the table together"."""
    text, _ = _part(rng, "beyond", clause=clause.text)
    ways = clause.ways if text.endswith("on top again") else ()
    if re.search("on(to)? the table together$", text):
        rows = [order for way in clause.ways for order in permutations(a[1] for a in way.ends)]
        beside = [[("abreast", *sorted(pair)) for pair in pairwise(row)] for row in rows]
        ways = tuple(Way.of(pairs) for pairs in beside if pairs)
    return Sentence(text, ways)


def _both(some: Sequence[Way], others: Sequence[Way]) -> tuple[Way, ...]:
    return tuple(a.and_(b) for a in some for b in others)


# --- what can be, and what counts as right


def _possible(way: Way) -> bool:
    """Whether a final state can be, and be reached without breaking a rule."""
    placed: dict[str, set[Atom]] = {}
    below: dict[str, set[str]] = {}
    for atom in way.ends:
        if atom[0] in ("on", "on_edge", "holding", "discarded"):
            placed.setdefault(atom[1], set()).add(atom)
        if atom[0] == "on" and atom[2].startswith("cube"):
            below.setdefault(atom[2], set()).add(atom[1])
    gone = {a[1] for a in way.ends if a[0] in ("holding", "discarded")}
    used = set(below) | {x for a in way.ends if a[0] == "next_to" for x in a[1:]}
    beside = {x for a in way.ends if a[0] == "next_to" for x in a[1:]}
    aloft = {x for x in beside for a in placed.get(x, ()) if a[0] != "on" or a[2] != "table"}
    kept = {a[1] for a in way.rules if a[0] == "kept"}
    needed = {a[1] for a in way.ends if not (a[0] == "on" and a[2] == "table")}
    stays = {a[1] for a in way.rules if a[0] == "stays"}
    moved = {a[1] for a in way.ends if a[0] != "touched" and not (a[0] == "on" and a[2] == "table")}
    apart = [set(a[1:]) for a in way.rules if a[0] == "apart"]
    return not (
        any(len(atoms) > 1 for atoms in placed.values())
        or any(len(above) > 1 for above in below.values())
        or len([a for a in way.ends if a[0] == "holding"]) > 1
        or any(len(a) > 1 and a[1] in a[2:] for a in way.ends)
        or any(("on", b, a) in way.ends for _, a, b in (x for x in way.ends if x[0] == "on"))
        or gone & used
        or aloft
        or kept & needed
        or stays & moved
        or any(("on", *a[1:]) in way.ends for a in way.rules if a[0] == "unfit")
        or any(pair <= set(a[1:]) for pair in apart for a in way.ends)
    )


def agrees(goal: frozenset[Atom], way: Way) -> bool:
    """Whether a goal asks for just this way: all of it, and nothing else but what things stand on."""
    ends = {a for a in goal if a[0] not in ("kept", "stays", "unfit", "before", "put_down")}
    rules = {a for a in goal if a[0] in ("kept", "stays", "unfit")}
    more = ends - way.ends
    supported = {x for a in way.ends if a[0] in ("on", "next_to", "across") for x in a[2:]}
    if not way.ends <= ends or any(a[0] != "on" or a[2] != "table" or a[1] not in supported for a in more):
        return False
    wanted = {a for a in way.rules if a[0] != "apart"}
    wanted |= {("unfit", *pair) for a in way.rules if a[0] == "apart" for pair in permutations(a[1:])}
    for atom in wanted:
        stronger = atom[0] == "stays" and ("kept", *atom[1:]) in rules
        rules -= {atom, ("kept", *atom[1:])} if stronger else set()
        if not stronger and atom not in rules and atom[1].startswith("cube"):
            return False
    return rules <= wanted and all(_comes_before(goal, a, b) for a, b in way.order)


def _comes_before(goal: frozenset[Atom], a: str, b: str) -> bool:
    """Whether a goal keeps an order: by its rules, or because it cannot be otherwise."""
    after = {a}
    for _ in goal:
        after |= {atom[2] for atom in goal if atom[0] == "before" and atom[1] in after}
    return b in after or ("holding", b) in goal or ("on", b, a) in goal
