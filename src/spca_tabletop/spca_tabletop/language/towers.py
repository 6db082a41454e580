"""Towers, bridges and pyramids: what is said of them, and the ways to build them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, pairwise, permutations, product

from spca_core.kinds import STACKABLE
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import AXES, SHARED
from spca_tabletop.language.talk import Atom, Contradiction, Talk, Things, Tower, in_turn, refuse
from spca_tabletop.language.things import Phrase

_MOST = 80
"""Towers that are looked at; where so many fit, it does not matter which."""
ALL = -1
"""The size of a tower of all there is."""
WHICH_WAY = "Say whether that is from bottom to top or from top to bottom."
EACH = "I can build several towers by what is in each, or on top; say it of each."
_ROWS = "A pyramid has three or six cubes; name them, the lowest row first."
BRIDGE = "A bridge is one cube on top of two others; name the three."


def of_these(things: Things, said: Phrase, talk: Talk) -> Talk:
    """A tower of certain things, or of just any, of which only the number counts."""
    tower = talk.tower
    if any_of(said, talk := talk.but(mentioned=()) if said and said[0].any else talk):
        tower = replace(tower, size=len(things))
        talk = talk.rule("counted", *((t,) for t in things))
    else:
        tower = replace(tower, members=tuple(dict.fromkeys((*tower.members, *things))))
    return talk.but(tower=replace(tower, active=True)).put_down(things)


def any_of(said: Phrase, talk: Talk) -> bool:
    """Return whether a phrase is of just any things to build with, so that only their number counts."""
    if len(said) != 1 or not said[0].any or said[0].either or said[0].pronoun or talk.mentioned:
        return False
    noun, det, of = said[0].noun, said[0].det, talk.table.of
    plain = not (noun.colour or noun.tests or noun.other or noun.matching or said[0].apart or det.other)
    pieces, alike = of("cube") or of(*STACKABLE), of(*SHARED.get(noun.kind, (noun.kind,)))
    return plain and (noun.kind in ("thing", "") or alike == pieces)


def at_slot(things: Things, slot: str, talk: Talk, ordered: bool = False) -> Talk:
    """The top, the bottom or the middle of a tower that is described, or all above the bottom, as listed."""
    tower = talk.tower
    if len(things) == 2 and slot == "bottom" and talk.bridge:
        return talk.but(pairs=(*talk.pairs, (things[0], things[1])))
    on_bottom = slot == "top" and [s for s, _ in tower.slots] == ["bottom"]
    if on_bottom and things[1:] and tower.listing is not None and tower.listing[1][1:]:
        # "red at the bottom, then blue, then green, yellow on top" goes on up to the last one
        upwards, before, _ = tower.listing
        tower = replace(tower, listing=(upwards, (*before, *things[:-1]), True))
        return at_slot(things[-1:], slot, talk.but(tower=tower).put_down(things[:-1]))
    told = tuple(dict.fromkeys((*tower.members, *(t for _, t in tower.slots), *things)))  # "the rest on top"
    if on_bottom and tower.size in (None, len(things) + 1) and len(told) == len(things) + 1 > 2:
        runs = (*tower.runs, (tower.slots[0][1], *things)) if ordered else tower.runs
        return talk.but(tower=replace(tower, members=told, active=True, runs=runs)).put_down(things)
    if len(things) != 1 or dict(tower.slots).get(slot, things[0]) != things[0]:
        refuse(talk.heap, _ROWS)
        raise NotUnderstood(f"Only one cube can be at the {slot if slot.isalpha() else 'same level'}.")
    tower = replace(tower, slots=tuple(dict.fromkeys((*tower.slots, (slot, things[0])))))
    if slot not in ("top", "bottom"):
        return talk.but(tower=tower).put_down(things)
    if tower.listing is None:
        tower = replace(tower, listing=(slot == "bottom", things, False))
    elif tower.listing[0] is None:  # "red, then blue, green on top"
        before = tuple(t for t in tower.listing[1] if t not in things)
        first = tower.listing[1][:1] == things
        order = (*things, *before) if first else (*before, *things)
        tower = replace(tower, listing=((slot == "bottom") == first, order, True))
    return talk.but(tower=tower).put_down(things)


def listed(things: Things, upwards: bool, talk: Talk) -> Talk:
    """Things of a tower in their order."""
    refuse(len(things) < 2, "I do not know the order of what; name the things one by one.")
    tower = replace(talk.tower, active=True, runs=(*talk.tower.runs, things if upwards else things[::-1]))
    return talk.but(tower=tower).put_down(things)


def go_on(things: Things, phrase: Phrase, along: bool, talk: Talk) -> Talk:
    """As in "green at the bottom, then blue, then red": things that continue a tower."""
    tower = talk.tower
    there = {*tower.members, *(thing for _, thing in tower.slots)}
    none = (not tower.active and tower.listing is None) or (along and there.intersection(things))
    refuse(none, f"I do not know what to do with {' and '.join(t.text for t in phrase)}.")
    tower = replace(tower, members=tuple(dict.fromkeys((*tower.members, *things))))
    if tower.listing is not None and not along:
        upwards, before, said = tower.listing
        tower = replace(tower, listing=(upwards, (*before, *things), said))
        talk = talk.but(marks=tuple(mark for mark in talk.marks if mark[0] != talk.stage))  # "then" is heeded
    return talk.but(tower=tower).put_down(things)


def across(things: Things, supports: Things, talk: Talk) -> Talk:
    """A thing that rests on two others."""
    refuse(len(things) != 1 or len(supports) != 2, BRIDGE)
    tower = replace(talk.tower, slots=(*(s for s in talk.tower.slots if s[0] != "top"), ("top", things[0])))
    pair = (supports[0], supports[1])
    return talk.but(bridge=True, pairs=(*talk.pairs, pair), tower=tower).put_down(things)


def pyramid(cubes: Things, size: int | None, talk: Talk) -> Talk:
    """A pyramid of three or six, from the lowest row up."""
    refuse((size or len(cubes)) != len(cubes) or len(cubes) not in (3, 6), _ROWS)
    width = 3 if len(cubes) == 6 else 2
    row, rest = cubes[:width], cubes[width:]
    atoms: list[Atom] = [("abreast", *pair) for pair in pairwise(row)]
    while rest:
        above, rest = rest[: len(row) - 1], rest[len(row) - 1 :]
        atoms += [("across", c, a, b) for c, (a, b) in zip(above, pairwise(row), strict=True)]
        row = above
    return talk.ask(atoms).put_down(cubes)


def finished(talk: Talk) -> Iterator[Talk]:
    """Once all is said: bridges, and what was listed of towers."""
    for one in _bridged(talk):
        tower = one.tower
        if tower.listing is not None:
            upwards, things, said = tower.listing
            alone = len(things) == 1 and any(things[0] in a for a in one.stacked())  # "red on it"
            refuse(upwards is None and not alone, WHICH_WAY)
            if len(things) > 1:
                told, end = dict(tower.slots), "bottom" if upwards else "top"
                named = {*things, *told.values()}
                more = len(told) > 1 and (tower.size or len({*tower.members, *named})) > len(named)
                refuse(more, "I do not know at which levels the others are to be; name them all in order.")
                if told.get(end) == things[0] and told.keys() <= {"bottom", "top"} and not one.stacked():
                    levels = ((str(n if upwards else -n), t) for n, t in enumerate(things, 1))
                    tower = replace(tower, slots=(*tower.slots, *levels))
                tower = replace(tower, runs=(*tower.runs, things if upwards else things[::-1]), active=True)
            elif said and not alone:
                raise NotUnderstood("I do not know the order of what; name the things one by one.")
            tower = replace(tower, listing=None)
        if one.series and tower.active and not tower.runs and tower.members == one.series:
            at = {-(slot == "top"): t for slot, t in tower.slots if slot in ("top", "bottom")}
            tower = replace(tower, runs=_as_listed(one.series, at))
        placed = {*dict(tower.slots)} - {"middle"} == set() and (one.ends or tower.slots)
        if placed and not tower.active and not tower.barred:
            yield from _in_row(one)
            return
        if (tower.slots or tower.barred) and not tower.active:
            if not one.stacked() and not {*dict(tower.slots)} >= {"top", "middle", "bottom"}:
                raise NotUnderstood("I do not know what it should be on top of, or under; name the cubes.")
            tower = replace(tower, active=True)
        yield one.but(tower=tower)


def _as_listed(things: Things, at: Mapping[int, str]) -> tuple[Things, ...]:
    """The order in which things were named, that way round in which those that are said are at their ends."""
    return tuple(way for way in (things, things[::-1]) if at and all(way[n] == t for n, t in at.items()))


def _in_row(talk: Talk) -> Iterator[Talk]:
    """As in "all in a row, green in the middle", whichever way round; "red at the left end"."""
    row = tuple(dict.fromkeys(t for a in talk.atoms if a[0] == "abreast" for t in a[1:]))
    others = [(n, a) for n, a in talk.wants if a[0] != "abreast"]
    said = (*talk.ends, *talk.tower.slots)
    at = {len(row) // 2 if side == "middle" else -(AXES[side][1] > 0): thing for side, thing in said}
    axes = {AXES[side][0] for side, _ in talk.ends}
    vague = len(axes) > 1 or ("middle" in dict(said) and len(row) % 2 == 0)
    if vague or not {*at.values()} <= {*row} or any(axes and a[0] == "at" and a[1] in row for _, a in others):
        last = words_of(said[-1][1])
        raise Contradiction(f"I do not know in the middle of what the {last} is to be, or at its end.")
    said_so = _as_listed(row, at) if {*row} == {*talk.series} else ()
    orders = (o for o in said_so or permutations(row) if all(o[n] == thing for n, thing in at.items()))
    for order in islice(orders, 12 if axes else _MOST):
        side = next((side for side, way in AXES.items() if axes and way == (*axes, -1)), "")
        ways = in_turn(order, side) if side else [[("abreast", *pair) for pair in pairwise(order)]]
        for atoms in ways if side or order[0] < order[-1] else ():
            yield talk.but(wants=(*others, *((talk.stage, a) for a in atoms)), tower=Tower(), ends=())


def _bridged(talk: Talk) -> Iterator[Talk]:
    """As in "blue and green side by side, red on top": the cube on top lies across the pair."""
    tower, slots = talk.tower, dict(talk.tower.slots)
    if not talk.bridge and (tower.active or not talk.pairs or "top" not in slots):
        yield talk
        return
    stacked = talk.stacked()
    if talk.heap is not None:
        stage, things, size = talk.heap
        apex = tuple(slots.values()) if {*slots} == {"top"} else ()
        cubes = things or tuple(c for c in talk.table.of("cube") if (c,) not in talk.ruled("unused"))
        alone = not (talk.pairs or stacked) and (tower.listing is None or tower.listing[1] == apex)
        if alone and (not (slots or tower.listing) or (apex and (size or len(cubes)) == 6)):
            done = pyramid((*(c for c in cubes if c not in apex), *apex), size, talk.but(stage=stage))
            yield done.but(stage=talk.stage, tower=replace(tower, members=(), slots=(), listing=None))
            return
    top, supports = slots.get("top", ""), talk.pairs[-1] if talk.pairs else ()
    if not top and len(stacked) == 2 and stacked[0][1] == stacked[1][1]:
        top, supports = stacked[0][1], (stacked[0][2], stacked[1][2])
    listing = tower.listing[1] if tower.listing is not None else ()
    told = dict.fromkeys((*tower.members, *listing))
    for above, pair in _completed(top, tuple(supports), tuple(told), talk):
        wants = tuple((n, a) for n, a in talk.wants if a not in stacked or a[1] != above or a[2] not in pair)
        stage = max((n for n, _ in talk.wants), default=0)
        kept = {frozenset(a[1:]) for _, a in wants if a[0] in ("next_to", "abreast")}
        beside = [] if frozenset(pair) in kept else [(stage, ("abreast", *pair))]
        more = (*beside, (max(stage, talk.stage), ("across", above, *pair)))
        yield talk.but(wants=(*wants, *more), tower=replace(tower, slots=(), members=(), listing=None))


def _completed(top: str, supports: Things, told: Things, talk: Talk) -> Iterator[tuple[str, Things]]:
    """Whatever of the three cubes was not said is one of those left, or any."""
    told = () if {*told} <= {top} else told
    things = told or tuple(talk.table.of("cube") or talk.table.of(*STACKABLE))
    rest = [t for t in things if t != top and t not in supports]
    if told and len(rest) + len(supports) + bool(top) != 3:
        raise Contradiction(BRIDGE)
    if top and len(supports) == 2:
        yield top, supports
    elif top and not supports and (len(rest) == 2 or not told):
        yield from ((top, pair) for pair in combinations(rest, 2))
    elif not top and len(supports) == 2 and len(rest) == 1:
        yield rest[0], supports
    elif not top and not supports and len(rest) >= 3:
        for above in rest:
            for pair in combinations([r for r in rest if r != above], 2):
                yield above, pair
    else:
        raise NotUnderstood(BRIDGE)


def next_one(talk: Talk) -> Iterator[Talk]:
    """Go on to the next of several towers."""
    for one in finished(talk):
        done = replace(one.tower, of=1)
        size = done.size if one.tower.of > 1 else None
        yield one.but(towers=(*one.towers, done), tower=Tower(size, active=True, of=one.tower.of - 1))


def all_built(talk: Talk, atoms: Collection[Atom]) -> Iterator[set[Atom]]:
    """Every way to build one tower or several, those of different things."""
    unsaid = [Tower(talk.tower.size, active=True)] * (talk.tower.of - 1)
    towers: Sequence[Tower] = (*talk.towers, replace(talk.tower, of=1), *unsaid)
    if len(towers) == 1:
        yield from built(talk, atoms)
        return
    below = {a[1]: a[2] for a in atoms if a[0] == "on" and talk.table.kind(a[2]) in STACKABLE}
    plain = not any(t.size or t.base or t.slots or t.members or t.runs for t in towers)
    refuse(below and not (plain and len({*below.values()} - {*below}) == len(towers)), EACH)
    spared = {*talk.left_out, *(t for (t,) in talk.ruled("unused"))}
    towers = _shared_out(() if below else towers, len({*talk.table.of("cube")} - spared))
    named = [{*t.members, *(s for _, s in t.slots), *(s for run in t.runs for s in run)} for t in towers]

    def more(number: int, used: frozenset[str]) -> Iterator[set[Atom]]:
        if number == len(towers):
            yield set()
            return
        others = used.union(*named[number + 1 :])
        if others & named[number]:
            raise Contradiction("A thing cannot be in two towers.")
        for tower in built(talk.but(tower=towers[number], left_out=(*talk.left_out, *others)), atoms):
            for rest in more(number + 1, used | {a[1] for a in tower}):
                yield tower | rest

    yield from islice(more(0, frozenset()), _MOST)


def _shared_out(towers: Sequence[Tower], pieces: int) -> list[Tower]:
    """Give each tower a size: what it is said to be of, else an equal share of the rest."""
    sizes = [t.size or len(t.members) for t in towers]
    share, rest = divmod(pieces - sum(sizes), sizes.count(0) or 1)
    if 0 in sizes and (rest or share < 2 or any({*dict(t.slots)} == {"top", "bottom"} for t in towers)):
        raise NotUnderstood("I do not know how high each tower is to be; say of how many.")
    return [replace(t, size=size or share) for t, size in zip(towers, sizes, strict=True)]


def built(talk: Talk, atoms: Collection[Atom]) -> Iterator[set[Atom]]:
    """The atoms of every tower as it was described; none but the empty set where no tower was."""
    tower, solids = talk.tower, set(talk.table.of(*STACKABLE))
    if not tower.active:
        yield set()
        return
    stacked = {(a[1], a[2]) for a in atoms if a[0] == "on" and a[2] in solids}
    said = [*tower.members, *(t for _, t in tower.slots), *(t for run in tower.runs for t in run)]
    # "three cubes, red not at the bottom": it is one of them
    said += [t for slot, t in tower.barred if slot != "any" and (tower.size or 0) > len({*said, t})]
    names = list(dict.fromkeys([*said, *(t for pair in sorted(stacked) for t in pair)]))
    barred = (t for slot, t in tower.barred if slot == "any")
    spared = {*talk.left_out, *(t for (t,) in talk.ruled("unused", "untouched")), *barred} - {*names}
    cubes = [c for c in talk.table.of("cube") or talk.table.of(*STACKABLE) if c not in spared]
    one_end = len(names) == 1 and not tower.members  # "a tower with red at the bottom"
    open_ended = {*dict(tower.slots)} == {"top", "bottom"} and not (tower.members or tower.runs or stacked)
    if open_ended and not tower.size and len(cubes) > len(names):
        raise NotUnderstood("Is the tower to be of these two only, or of all? Say how many, or name all.")
    size = tower.size or len(cubes if one_end or not names else names)
    if size == ALL:
        size = len(tower.members or {*cubes, *names})
    if size < 2:
        raise Contradiction("A tower needs two cubes at least.")
    if size > len({*cubes, *names}):
        raise Contradiction(f"There are {len(cubes)} cubes, not enough for a tower of {size}.")
    if len(names) > size:
        raise Contradiction(f"A tower of {size} cubes cannot be made of {len(names)}.")
    rests = combinations([c for c in cubes if c not in names], size - len(names))
    found = (order for more in rests for order in _orders((*names, *more), stacked, talk))
    for order in islice(found, _MOST):
        at = {a[2] for a in atoms if a[0] == "on" and a[1] == order[0]}
        base = tower.base or TABLE_SYMBOL
        floor = {("on", order[0], base)} if tower.base or not at else set()
        yield floor | {("on", above, below) for below, above in pairwise(order)}


def _orders(names: Things, stacked: set[tuple[str, str]], talk: Talk) -> Iterator[Things]:
    """Orders from the bottom up that agree with what was said, one level after the other."""
    size, tower = len(names), talk.tower
    known = {*tower.members, *(t for run in tower.runs for t in run)}
    more = (a for a, low in stacked if low in known and a not in {*known, *(b for _, b in stacked)})
    after = {pair for run in tower.runs for pair in combinations(run, 2)} | {*product(known, more)}
    below = dict(stacked)

    def fits(order: Things, name: str) -> bool:
        level = len(order)
        slot = "bottom" if level == 0 else "top" if level == size - 1 else "middle"
        here = {slot, str(level + 1), str(level - size)}
        if any((thing == name) != (at in here) and (thing == name or (at in here and at != "middle"))
               for at, thing in tower.slots):  # fmt: skip
            return False
        barred = any((at, name) in tower.barred for at in (*here, "any"))
        if barred or any(b == name and a in names and a not in order for a, b in after):
            return False
        under = order[-1] if order else ""
        over = [above for above, low in below.items() if low == under]
        return below.get(name, under) == under and (not over or name in over)

    def build(order: Things) -> Iterator[Things]:
        if len(order) == size:
            yield order
            return
        for name in names:
            if name not in order and fits(order, name):
                yield from build((*order, name))

    return build(())
