"""Sentences with their meanings, made of constituents, to check what the built-in grammar takes them for.

Nothing here is taken from the parser. A constituent has words and a meaning of its own; the meaning of a
sentence is composed of theirs, on a table of three cubes and plates, as every final state that would do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, permutations, product

Atom = tuple[str, ...]
COLOURS = ("green", "blue", "red")
CUBES = tuple(f"cube_{c}" for c in COLOURS)  # from left to right
PLATES = tuple(f"plate_{c}" for c in COLOURS)


@dataclass(frozen=True)
class Way:
    """One way to fulfil a task: what must hold in the end, what must not be done, what comes before what."""

    ends: frozenset[Atom] = frozenset()
    rules: frozenset[Atom] = frozenset()
    order: tuple[tuple[str, str], ...] = ()

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
    touches: bool = False
    lifts: bool = False


@dataclass(frozen=True)
class Sentence:
    """A task text. `ways` is empty where nothing would be right; `parts` says what it was made of."""

    text: str
    ways: tuple[Way, ...]
    parts: tuple[str, ...] = field(default=(), compare=False)


def cubes(rng: random.Random) -> Noun:
    """A noun phrase for cubes."""
    c, d = rng.sample(COLOURS, 2)
    one, other = f"cube_{c}", f"cube_{d}"
    rest = tuple(x for x in CUBES if x != one)
    block = rng.choice(("cube", "cube", "cube", "block"))
    singles = tuple((x,) for x in CUBES)
    sides = {"left": CUBES[0], "middle": CUBES[1], "right": CUBES[2]}
    side = rng.choice(tuple(sides))
    but = rng.choice(("except", "but", "except for", "apart from"))
    options: tuple[Callable[[], Noun], ...] = (
        lambda: Noun(f"the {c} {block}", ((one,),)),
        lambda: Noun(f"the {c} {block}", ((one,),)),
        lambda: Noun(f"the {c} {block}", ((one,),)),
        lambda: Noun(f"the {side} {block}", ((sides[side],),)),
        lambda: Noun(f"the {block} {'in' if side == 'middle' else 'on'} the {side}", ((sides[side],),)),
        lambda: Noun(
            rng.choice((f"a {block}", f"any {block}", f"one of the {rng.choice(('', 'three '))}{block}s")),
            singles, some=True,
        ),
        lambda: Noun(
            f"{rng.choice(('two', 'any two', 'two of the', 'two of the three'))} {block}s",
            tuple(combinations(CUBES, 2)), some=True,
        ),
        lambda: Noun(rng.choice((f"all {block}s", f"the {block}s", f"all three {block}s")), (CUBES,)),
        lambda: Noun(rng.choice((f"each {block}", f"every {block}")), (CUBES,), each=True),
        lambda: Noun(f"{rng.choice(('all cubes', 'all the cubes'))} {but} the {c} one", (rest,)),
        lambda: Noun(f"every cube {but} the {c} one", (rest,), each=True),
        lambda: Noun(f"the cubes that are not {c}", (rest,)),
        lambda: Noun(f"the {c} and the {d} {block}", ((one, other),)),
        lambda: Noun(f"the {c} {block} and the {d} {block}", ((one, other),)),
        lambda: Noun(f"{rng.choice(('', 'either '))}the {c} or the {d} {block}", ((one,), (other,))),
        lambda: Noun(f"any cube {but} the {c} one", tuple((x,) for x in rest), some=True),
    )  # fmt: skip
    return rng.choice(options)()


def plates(rng: random.Random) -> Noun:
    """A noun phrase for plates."""
    c, d = rng.sample(COLOURS, 2)
    plate = rng.choice(("plate", "plate", "dish", "disc"))
    one, other = f"plate_{c}", f"plate_{d}"
    rest = tuple((x,) for x in PLATES if x != one)
    singles = tuple((x,) for x in PLATES)
    options: tuple[Callable[[], Noun], ...] = (
        lambda: Noun(f"the {c} {plate}", ((one,),)),
        lambda: Noun(f"the {c} {plate}", ((one,),)),
        lambda: Noun(rng.choice((f"a {plate}", f"any {plate}", "one of the plates")), singles, some=True),
        lambda: Noun(f"{rng.choice(('a', 'any'))} {plate} that is not {c}", rest, some=True),
        lambda: Noun(
            f"any {plate} {rng.choice(('except', 'but', 'other than'))} the {c} one", rest, some=True
        ),
        lambda: Noun(f"the {c} or the {d} {plate}", ((one,), (other,)), some=True),
        lambda: Noun(f"{rng.choice(('each', 'every'))} plate", (PLATES,), each=True),
        lambda: Noun(f"the {c} and the {d} plate", ((one, other),)),
        lambda: Noun("the table", (("table",),)),
    )
    return rng.choice(options)()


# --- clauses


def touching(rng: random.Random) -> Clause:
    """Touch something."""
    what = rng.choice((cubes, cubes, plates))(rng)
    if "table" in what.text:
        what = cubes(rng)
    ways = tuple(Way(frozenset(("touched", x) for x in group)) for group in what.ways)
    subject = what.ways[0][0] if len(what.ways) == len(what.ways[0]) == 1 else ""
    return Clause(f"{rng.choice(('touch', 'tap'))} {what.text}", ways, subject, what.ways[0], touches=True)


def lifting(rng: random.Random) -> Clause:
    """Pick something up: there is one gripper."""
    what = cubes(rng)
    ways = tuple(Way(frozenset({("holding", *group)})) for group in what.ways if len(group) == 1)
    subject = what.ways[0][0] if len(what.ways) == len(what.ways[0]) == 1 else ""
    return Clause(
        f"{rng.choice(('pick up', 'lift', 'grasp', 'grab'))} {what.text}",
        ways,
        subject,
        what.ways[0],
        lifts=True,
    )


def putting(rng: random.Random) -> Clause:
    """Put things on plates, or on the table."""
    what, where = cubes(rng), plates(rng)
    verb, on = rng.choice(("put", "place", "move", "set")), rng.choice(("on", "onto"))
    subject = what.ways[0][0] if len(what.ways) == len(what.ways[0]) == 1 else ""
    several = not what.some and len(what.ways[0]) > 1 and " and " not in what.text
    if rng.random() < 0.2:
        own = rng.random() < 0.5
        text = rng.choice(
            ("the plate of its colour", "its own plate") if own else ("a plate of another colour",)
        )
        if len(what.ways[0]) > 1 and not what.each:
            text = "the plates of their colours" if own else "plates of another colour"
        pairs = [
            [(x, p) for x, p in zip(group, chosen, strict=True)]
            for group in what.ways
            for chosen in product(PLATES, repeat=len(group))
        ]
        fits = [ps for ps in pairs if all((x[5:] == p[6:]) == own for x, p in ps)]
        return Clause(f"{verb} {what.text} {on} {text}", _on(fits), subject, what.ways[0], several)
    ways = _on(_pairs(what, where))
    return Clause(f"{verb} {what.text} {on} {where.text}", ways, subject, what.ways[0], several)


def _pairs(what: Noun, where: Noun) -> list[list[tuple[str, str]]]:
    """Every way to bring things to places."""
    if where.each:  # so many of them on each, others on every one
        if not what.some:
            return []
        count = len(what.ways[0])
        allowed = {x for group in what.ways for x in group}
        found = [p for p in permutations(sorted(allowed), count * len(PLATES)) if len(allowed) >= len(p)]
        return [[(x, PLATES[i // count]) for i, x in enumerate(order)] for order in found]
    if len(where.ways[0]) > 1:  # two places, in turn
        two = [group for group in what.ways if len(group) == 2]
        ordered = len(what.ways) == 1 and " and the " in what.text
        return [list(zip(group, where.ways[0], strict=True)) for group in two if ordered]
    if len(where.ways) > 1 and len(what.ways[0]) > 1:  # the same for all, or one for each: both can be meant
        return [
            list(zip(group, (p for (p,) in chosen), strict=True))
            for group in what.ways
            for chosen in product(where.ways, repeat=len(group))
        ]
    return [[(x, p) for x in group] for group in what.ways for (p,) in where.ways]


def _on(pairs: Sequence[Sequence[tuple[str, str]]]) -> tuple[Way, ...]:
    return tuple(Way(frozenset(("on", x, p) for x, p in group)) for group in pairs)


def stacking(rng: random.Random, one: str = "cube") -> Clause:
    """Put a cube on or next to another one, or build with three."""
    a, b, c = rng.sample(COLOURS, 3)
    x, y, z = (f"cube_{colour}" for colour in (a, b, c))
    on = Way(frozenset({("on", x, y)}))
    edge = Way(frozenset({("on_edge", x, f"plate_{b}")}))
    tower = Way(frozenset({("on", x, y), ("on", y, z)}))
    return rng.choice((
        Clause(f"stack the {a} cube on the {b} {one}", (on,), x, (x, y)),
        Clause(f"put the {a} cube on top of the {b} {one}", (on,), x, (x, y)),
        Clause(f"put the {a} cube under the {b} cube", (Way(frozenset({("on", y, x)})),), "", (x, y)),
        Clause(f"put the {a} cube next to the {b} {one}", (Way(frozenset({("next_to", x, y)})),), x, (x, y)),
        Clause(f"place the {a} cube beside the {b} cube", (Way(frozenset({("next_to", x, y)})),), x, (x, y)),
        Clause(f"build a tower: {a} on top, {b} in the middle, {c} at the bottom", (tower,), "", (x, y, z)),
        Clause(f"stack the cubes from bottom to top: {c}, {b}, {a}", (tower,), "", (x, y, z)),
        Clause(f"stack the cubes from top to bottom: {a}, {b}, {c}", (tower,), "", (x, y, z)),
        Clause(f"build a tower: {c} at the bottom, then {b}, then {a}", (tower,), "", (x, y, z)),
        Clause(
            f"stack the three cubes, with {a} on top",
            tuple(Way(frozenset({("on", x, m), ("on", m, n)})) for m, n in ((y, z), (z, y))), "", (x, y, z),
        ),
        Clause(f"throw the {a} cube off the table", (Way(frozenset({("discarded", x)})),), x, (x,)),
        Clause(f"discard the {a} cube", (Way(frozenset({("discarded", x)})),), x, (x,)),
        Clause(f"put the {a} cube on the edge of the {b} plate", (edge,), x, (x,)),
    ))  # fmt: skip


def stacking_first(rng: random.Random) -> Clause:
    """The same where "the blue one" can only be a cube."""
    return stacking(rng, rng.choice(("one", "cube")))


CLAUSES = (touching, touching, lifting, putting, putting, putting, stacking_first, stacking_first)


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
    clause = rng.choice(CLAUSES)(rng)
    made = Sentence(clause.text, clause.ways, (clause.text,))
    kind = rng.random()
    if kind < 0.30:
        pass
    elif kind < 0.45:
        made = _with_second(rng, clause)
    elif kind < 0.75:
        made = _with_prohibition(rng, clause)
    elif kind < 0.90:
        made = _in_order(rng)
    else:
        made = _beyond(rng, clause)
    text = rng.choice(("{}.", "{}.", "Please {}.", "{}, please.", "Could you {}?")).format(made.text)
    text = text[0].upper() + text[1:]
    return Sentence(text, tuple(w for w in dict.fromkeys(made.ways) if _possible(w)), made.parts)


def _with_second(rng: random.Random, first: Clause) -> Sentence:
    """Two clauses; the second may speak of "it"."""
    c = rng.choice(COLOURS)
    if first.subject.startswith("cube") and first.touches and rng.random() < 0.4:
        text = f"{first.text} and put it on the {c} plate"
        second = (Way(frozenset({("on", first.subject, f"plate_{c}")})),)
        return Sentence(text, _both(first.ways, second), (first.text, "it"))
    second_clause = rng.choice((touching, putting, stacking))(rng)
    if first.lifts:  # perhaps only for a while
        first = touching(rng)
    joint = rng.choice((" and ", ". ", "; ", ", and "))
    return Sentence(
        first.text + joint + second_clause.text,
        _both(first.ways, second_clause.ways),
        (first.text, second_clause.text),
    )


def _with_prohibition(rng: random.Random, clause: Clause) -> Sentence:
    """Something that must be left alone, or must not be put somewhere, or must not end up there."""
    c, d = rng.sample(COLOURS, 2)
    cube, plate = f"cube_{c}", f"plate_{d}"
    others = frozenset(("kept", x) for x in CUBES if x not in clause.about)
    kept = (f"the {c} cube", frozenset({("kept", cube)}))
    both = (f"the {c} or the {d} cube", frozenset({("kept", cube), ("kept", f"cube_{d}")}))
    options: list[tuple[str, frozenset[Atom]]] = [
        (f"{clause.text} without touching {kept[0]}", kept[1]),
        (f"{clause.text}, without moving {kept[0]}", frozenset({("stays", cube)})),
        (f"{clause.text}, but leave {kept[0]} alone", kept[1]),
        (f"{clause.text}. Do not touch {kept[0]}", kept[1]),
        (f"{clause.text}. Never touch {kept[0]}", kept[1]),
        (f"{clause.text}. {kept[0].capitalize()} must not be touched", kept[1]),
        (f"{clause.text}. {kept[0].capitalize()} should not be moved", frozenset({("stays", cube)})),
        (f"{clause.text}. No cube must be on the {d} plate", frozenset(("unfit", x, plate) for x in CUBES)),
        (f"{clause.text}. No plate must be touched", frozenset(("kept", x) for x in PLATES)),
        (f"without disturbing {kept[0]}, {clause.text}", kept[1]),
        (f"{clause.text}. Do not touch {both[0]}", both[1]),
        (f"{clause.text}. Never put the {c} cube on the {d} plate", frozenset({("unfit", cube, plate)})),
        (f"{clause.text}. The {c} cube must not be on the {d} plate", frozenset({("unfit", cube, plate)})),
        (
            f"{clause.text}, but do not put any cube on the {d} plate",
            frozenset(("unfit", x, plate) for x in CUBES),
        ),
        (
            f"{clause.text}. The {c} cube must not touch the {d} cube",
            frozenset({("apart", cube, f"cube_{d}")}),
        ),
    ]
    if clause.subject:
        options += [
            (f"{clause.text} without touching it", frozenset({("kept", clause.subject)})),
            (f"{clause.text} and do not lift it", frozenset({("stays", clause.subject)})),
            (
                f"{clause.text}. It must not be on the {d} plate",
                frozenset({("unfit", clause.subject, plate)}),
            ),
        ]
        if others and len(clause.about) == 1:
            options += [(f"{clause.text} without touching the other cubes", others)]
    text, rules = rng.choice(options)
    if clause.several and text.endswith(f"but leave {kept[0]} alone"):  # an exception
        there = ("on", cube, "table")  # as it is
        without = tuple(Way(frozenset(a for a in w.ends if a[1] != cube or a == there)) for w in clause.ways)
        return Sentence(text, _both(tuple(w for w in without if w.ends), (Way(rules=rules),)), (text,))
    return Sentence(text, _both(clause.ways, (Way(rules=rules),)), (clause.text, text))


def _in_order(rng: random.Random) -> Sentence:
    """Several things, one after the other."""
    some = rng.sample(COLOURS, rng.choice((2, 3)))
    names = [f"cube_{c}" for c in some]
    order = tuple(pairwise(names))
    touched = frozenset(("touched", x) for x in names)
    a, b = some[:2]
    p, q = (rng.choice(COLOURS) for _ in range(2))
    way, listed = Way(touched, order=order), ", ".join(some)
    on = Way(frozenset({("on", names[0], f"plate_{p}"), ("on", names[1], f"plate_{q}")}), order=order[:1])
    held = Way(frozenset({("touched", names[0]), ("holding", names[1])}), order=order[:1])
    options = [
        (f"touch the cubes in this order: {listed}", way if len(some) == 3 else None),
        (f"touch the {a} cube" + "".join(f", then the {c} one" for c in some[1:]), way),
        (f"touch first the {a} cube" + "".join(f", then the {c} one" for c in some[1:]), way),
        (f"first touch the {a} cube" + "".join(f" and then the {c} cube" for c in some[1:]), way),
        (". Then ".join(f"touch the {c} cube" for c in some), way),
        (f"touch the {' cube, the '.join(some)} cube in that order", way),
        (f"put the {a} cube on the {p} plate, then put the {b} cube on the {q} plate", on),
        (f"first put the {a} cube on the {p} plate. Next, put the {b} cube on the {q} plate", on),
        (f"touch the {a} cube, then pick up the {b} one", held),
        (f"pick up the {a} cube, then touch the {b} cube", None),
        (f"touch the {a} cube, then the {b} cube, then the {a} cube again", None),
    ]
    text, found = rng.choice(options)
    return Sentence(text, (found,) if found else (), (text,))


def _beyond(rng: random.Random, clause: Clause) -> Sentence:
    """With a word that cannot be heeded: nothing but a refusal is right."""
    c = rng.choice(COLOURS)
    text = rng.choice(
        (
            f"{clause.text} again", f"{clause.text} twice", f"mostly {clause.text}", f"{clause.text} slowly",
            f"{clause.text} at the same time", f"{clause.text} upside down", f"{clause.text} together",
            f"{clause.text} there", f"{clause.text} up and down", f"if the {c} cube is free, {clause.text}",
            f"{clause.text} until the {c} cube moves", f"{clause.text} back", f"{clause.text} first thing",
            f"{clause.text} for two seconds", f"{clause.text} while holding the {c} cube",
            f"{clause.text}, whichever is nearest",
            f"{clause.text} 5 cm away", f"do not {clause.text}", f"{clause.text} with the {c} cube",
        )
    )  # fmt: skip
    if text.endswith("on top again"):  # as it was: the same end
        return Sentence(text, clause.ways, (text,))
    if re.search("on(to)? the table together$", text):  # side by side there
        rows = (pairwise(order) for way in clause.ways for order in permutations(a[1] for a in way.ends))
        beside = tuple(Way(frozenset(("abreast", *sorted(pair)) for pair in row)) for row in rows)
        return Sentence(text, tuple(way for way in beside if way.ends), (text,))
    return Sentence(text, (), (text,))


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
