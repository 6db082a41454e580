"""What must not be, and what is left alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import TABLE_SYMBOL
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import things_of
from spca_tabletop.language.clauses import EVERYTHING
from spca_tabletop.language.lexicon import ANYTHING, LIFTABLE, ROWS, TANGIBLE, UNREAD
from spca_tabletop.language.places import Destination, Destinations
from spca_tabletop.language.talk import Contradiction, Meaning, Talk, Things, clause, refuse
from spca_tabletop.language.things import Det, Nominal, Phrase, Thing, all_of, found_by, named, rule


@clause
def unused(phrase: Phrase, *, talk: Talk, whole: bool = False) -> Iterator[Talk]:
    """As in "do not use the blue one": neither moved nor built upon; a `whole` clause is of nothing more."""
    for things, after in found_by(_every(phrase), talk, LIFTABLE):
        each = [(t,) for t in things]
        yield after.rule("untouched", *each).rule("unused", *each).but(forbidding=not whole)


@clause
def left_open(before: Meaning, *, talk: Talk) -> Iterator[Talk]:
    """As in "put a red cube in the tray, either of them": of what it was left open."""
    ways = [*before(talk)]
    refuse(len({way.latest for way in ways}) < 2, "I do not know of what it may be any; say it of that.")
    yield from ways


@clause
def vice_versa(before: Meaning, *, talk: Talk) -> Iterator[Talk]:
    """As in "red on the blue plate and vice versa": blue on the red one, too."""
    for one in before(talk):
        hue, kind, pair = one.table.colours.get, one.table.kind, one.latest[0][1:] if one.latest else ()
        back = [s for a, b in permutations(pair, 2) for s in one.table.of(kind(a)) if hue(s) == hue(b)]
        plain = [a[0] for a in one.latest] == ["on"] and kind(pair[-1]) in SUPPORTS and len(back) == 2
        refuse(not plain or {*back} == {*pair}, "I do not know what 'vice versa' is of; say it.")
        yield one.claim("on", back[:1], back[1])


@clause
def instead_of(before: Meaning, others: Phrase, *, talk: Talk) -> Iterator[Talk]:
    """As in "put it on the red plate instead of the blue one", which is of the kind of something there."""
    for one in before(talk):
        new = {s for atom in one.latest for s in atom[1:]} | ({*dict(one.held)} - {*dict(talk.held)})
        kinds = {one.table.kind(s) for s in new}
        for spared, _ in found_by(others, one, ANYTHING):
            vague = any({s, one.table.support_of(s)} & new or one.table.kind(s) not in kinds for s in spared)
            several = any(t.any or t.several for t in others)
            refuse(vague or several, f"I do not know what '{others[0].text}' is in place of.")
            yield one


@clause
def leaving_out(before: Meaning, phrase: Phrase, *, talk: Talk) -> Iterator[Talk]:
    """As in "stack any two, without the blue one": of what was left open, it is none."""
    for things, one in found_by(_every(phrase), talk, LIFTABLE):
        if not any(_asks_of(things, way) for way in before(talk)):
            raise NotUnderstood(f"I do not know what '{phrase[0].text}' is left out of.")
        for after in before(talk.but(left_out=(*talk.left_out, *things))):
            mentioned = tuple(dict.fromkeys((*after.mentioned, *one.mentioned)))
            one_left = after.rule("left", ())  # what "that one" may mean from now on
            yield from unused(phrase)(one_left.but(left_out=talk.left_out, mentioned=mentioned))


def _asks_of(things: Things, talk: Talk) -> bool:
    """Whether something is asked for of any of these, or may be: a tower is of whatever there is."""
    return talk.tower.active or talk.bridge or not {*things}.isdisjoint(t for a in talk.atoms for t in a[1:])


@clause
def among(phrase: Phrase, *, talk: Talk, number: int | None) -> Iterator[Talk]:
    """As in "one of them has to be blue", "both blue ones are among them", "the green one must not be"."""
    refuse(len(talk.group) < 2, "I do not know of which things that is one; name them.")
    for one in phrase:
        found = {s for t in _every((one,)) for s in named(t.like("thing"), talk, LIFTABLE)}
        told = (1 if one.any else len(found)) if number is None else number
        if len(found.intersection(talk.group)) != told:
            raise Contradiction("There are no such things.")
        talk = talk if number != 0 else talk.rule("untouched", *((s,) for s in found))
    yield talk


def none(phrase: Phrase) -> Phrase:
    counted = next((t.text for t in phrase if t.det.number not in (None, 1)), "")
    refuse(counted, f"I do not know which ones 'no {counted}' forbids; name them.")
    return tuple(replace(t.every(), det=Det("all")) for t in phrase)


def _every(phrase: Phrase) -> Phrase:
    """Extend a prohibition to all: "do not touch any other cube", "… the red or the blue one"."""
    return tuple(one.every() for thing in phrase for one in thing.either or (thing,))


@clause
def sparing(
    phrase: Phrase, *, talk: Talk, how: str, of: Things = (), solid: bool = False, added: bool = False
) -> Iterator[Talk]:
    """Keep things as `how` says: themselves, or from being what a predicate says `of` them.

    `solid`: a bare colour ("blue stays") is of what could be moved. `added`: or of a place said before.
    """
    refuse(any(t.pronoun and t.text == "one" for t in phrase), "I do not know which one must not; name it.")
    bare = all(t.elliptic and t.noun.colour and not t.noun.one for t in phrase)  # "leave blue"
    aside = [t for t in phrase if added and t.elliptic and (bare or t.noun.tests)]
    kinds = [kind for kind in SUPPORTS if talk.table.of(kind) and any(a[0] == "on" for a in talk.atoms)]
    unclear = any(all_of(t.like(kind), talk) for t in aside for kind in kinds)
    refuse(unclear, f"I do not know what must not be '{phrase[0].text}'; name it.")
    stays, solid = solid, solid or bare or bool(aside) or any(t.noun.other for t in phrase)
    talk = talk if ("on", *talk.cleared) in talk.table.facts else talk.but(cleared=("", ""))
    for things, after in found_by(_every(phrase), talk, LIFTABLE if solid else ANYTHING):
        refuse(TABLE_SYMBOL in things, "Everything rests on the table; say what else must be left alone.")
        one = after.rule(how, *((*of, thing) for thing in things)).but(forbidding=not stays)
        # "the green cube, not the red one; that one …" may be of either
        # "without moving the blue cube, stack the red one on it"
        yield one.but(subject="") if added else one if talk.subject else one.about(things)


@clause
def never_put(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    """As in "never put a larger block on a smaller one", "never put a cube on the table"."""
    lower, one = tuple(t for p in places for t in p.things), talk.but(forbidding=True)
    # "but not the one on the mat" is of what is put; "red on the plate, and do not put blue on it"
    vague = phrase[0].elliptic and phrase[0].noun.one and not (phrase[0].noun.colour or phrase[0].noun.tests)
    there = any(a[0] == "on" and talk.table.kind(a[2]) in SUPPORTS for a in talk.before)
    vague = vague or (there and is_of_solids(lower, talk))
    refuse(vague, f"I do not know what must not be '{places[0].text}'; name it.")
    elsewhere = any(p.relation != "on" for p in places)
    refuse(elsewhere, "I can mind only what must not be put on what; say it like that.")
    if any(t.noun.matching for t in lower):  # "put no cube on its own plate"
        yield from must_not_be(phrase, places)(talk)
        return
    both = (*phrase, *lower)
    if [{one.told for one in t.noun.tests} for t in both] == [{"larger"}, {"smaller"}]:
        other = any(t.noun.colour or t.noun.other or t.noun.matching for t in both)
        refuse(other, f"I do not know which of them '{' and '.join(t.text for t in phrase)}' are.")
        areas = {s: a * b for s, (a, b, _) in talk.table.sizes.items() if talk.table.kind(s) in SOLIDS}
        larger = (pair for pair in permutations(areas, 2) if areas[pair[0]] > 1.15 * areas[pair[1]])
        yield one.rule("unfit", *larger)
        return
    for things, before in found_by(_every(phrase), one, LIFTABLE):
        for under, after in found_by(_every(lower), before, ANYTHING):
            new = after.rule("unfit", *((a, b) for a, b in product(things, under) if a != b))
            yield new if talk.subject or len(things) != 1 else new.about(things)


@clause
def must_not_be(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    kinds = LIFTABLE if phrase == EVERYTHING else TANGIBLE  # "nothing" names no plate that "there" could be
    one, whole = phrase[0], len(phrase) == 1 and phrase[0].det == Det("all")
    others = [t.noun for p in places for t in p.things if t.noun.other and not t.noun.colour]
    if whole and [noun.kind or one.noun.kind for noun in others] == [one.noun.kind]:  # "no cube … any other"
        yield from apart(phrase, how="off" if places[0].relation == "on" else "apart")(talk)
        return
    if all(t.det.quantifier == "the" and t.noun.kind for t in phrase):  # "the red cube must not be there"
        talk = _emptied([s for t in phrase for s in named(t, talk)], places, talk)
    if whole and one.noun.vague and one.noun.kind and not (one.noun.colour or one.apart):  # "no cube"
        talk = _emptied(named(one, talk, LIFTABLE), places, talk)
    for things, before in found_by(_every(phrase), talk.but(forbidding=True), kinds):
        there = [a[2] for a in talk.before if a[0] == "on" and phrase[0].elliptic and phrase[0].noun.colour]
        of = [t for p in places for t in p.things if not (t.noun.matching or (t.pronoun and one.noun.one))]
        again = there and any(named(t, talk, ANYTHING) == there for t in of)  # "green on pink, no blue on it"
        refuse(again, UNREAD["CORRECTION"].format(f"no {phrase[0].text}"))
        found: Iterable[Talk] = [before]
        for place in places:
            found = [after for one in found for after in _barred(things, place, one)]
        yield from found


def _emptied(things: Collection[str], places: Destinations, talk: Talk) -> Talk:
    """With those that lie there now off it, on the table unless another place is said for them."""
    there = [t for p in places if p.relation == "on" and not p.slot for t in p.things if not t.noun.matching]
    below = {s for t in there for s in named(t, talk, ANYTHING) if talk.table.kind(s) in SUPPORTS}
    lying = sorted(a[1] for a in talk.table.facts if a[0] == "on" and a[2] in below and a[1] in things)
    return talk.rule("unstacked", *((s,) for s in lying)).claim("on", lying, TABLE_SYMBOL) if lying else talk


def _barred(things: Things, place: Destination, talk: Talk) -> Iterator[Talk]:
    in_it = place.into and talk.tower.active and place.things[0].pronoun == "it"
    refuse(place.slot in ("apart", "each"), f"I do not know what is to be '{place.text}'; say it first.")
    if place.relation == "slot" or in_it:
        more = tuple((place.slot or "any", thing) for thing in things)
        yield talk.but(tower=replace(talk.tower, barred=(*talk.tower.barred, *more)))
        return
    if place.relation == "on_each_other":
        yield talk.rule("off", *permutations(things, 2))
        return
    on = place.relation == "on"
    other = not on and place.relation != "next_to"
    refuse(other, "I can mind what must not be on or next to what; say it so.")
    if on and any(t.noun.matching for t in place.things):
        ways: list[tuple[tuple[Things, ...], Talk]] = [((), talk)]
        for thing in things:
            ways = [((*pairs, *((thing, b) for b in below)), after) for pairs, one in ways
                    for below, after in found_by(place.things, one, tuple(SUPPORTS), thing)]  # fmt: skip
    else:
        found = found_by(_every(place.things), talk, ANYTHING if on else LIFTABLE)
        ways = [(tuple((a, b) for a in things for b in those if a != b), after) for those, after in found]
    for pairs, after in ways:
        if not on and any(talk.table.kind(b) in SUPPORTS for _, b in pairs):
            raise Impossible(f"I can keep nothing away from a plate or the like: '{place.text}'.")
        solid = place.into and any(talk.table.kind(b) in SOLIDS for _, b in pairs)
        refuse(solid or not pairs, f"I do not know what must not be '{place.text}'; name it.")
        yield after.rule("off" if on else "apart", *pairs)


def is_of_solids(phrase: Phrase, talk: Talk) -> bool:
    """Whether a pronoun among them is of something that was just put somewhere."""
    said = (s for t in phrase if t.pronoun for s in named(t, talk, ANYTHING))
    return any(talk.table.kind(s) in SOLIDS for s in said)


@clause
def kept_empty(phrase: Phrase, *, talk: Talk) -> Iterable[Talk]:
    refuse(is_of_solids(phrase, talk), f"I do not know what '{phrase[0].text}' is that stays empty; name it.")
    kept = must_not_be(EVERYTHING, (Destination(relation="on", things=phrase),))(talk)
    return (one.but(forbidding=False) for one in kept)  # "the mat empty, the cube in the tray"


@clause
def but_not_there(*said: Meaning | Destination, talk: Talk) -> Iterator[Talk]:
    """As in "next to red but not next to blue": of what has just been put somewhere."""
    found = [before(talk) for before in said if not isinstance(before, Destination)]
    for one in found[0] if found else [talk]:
        things = tuple(dict.fromkeys(a[1] for a in one.latest))
        ways: Iterable[Talk] = [one]
        for place in (place for place in said if isinstance(place, Destination)):
            refuse(not things, f"I do not know what must not be '{place.text}'.")
            others = {t for a in one.latest for other in a[2:] for t in things_of(other)}
            there = {talk.table.kind(t) for t in others}
            same = {a[0] == "on" for a in one.latest} == {place.relation == "on"}
            kind = max(there) if same and len(there) == 1 else ""  # "on the blue plate, not on the green one"
            barred = replace(place, things=tuple(t.like(kind) for t in place.things))
            it = others if len(things) == 1 == len(others) else {one.subject}  # "behind the bowl, not in it"
            ways = [b for a in ways for b in _barred(things, barred, a.but(subject=max(it)))]
        yield from ways


@clause
def apart(phrase: Phrase = EVERYTHING, *, talk: Talk, how: str, bare: bool = False) -> Iterator[Talk]:
    """None of them touches another one, or, as in "no stacking", is on one."""
    others = any(t.pronoun == "others" or t.noun.other or t.det.other for t in phrase)
    refuse(bare and others, f"'{phrase[0].text}': leave them alone, or keep them apart? Say which.")
    kinds, pairs_of = (LIFTABLE, permutations) if how == "off" else (TANGIBLE, combinations)
    for things, after in found_by(_every(phrase), talk.but(forbidding=True), kinds):
        refuse(len(things) < 2, "I do not know what it must not touch.")
        yield after.rule(how, *pairs_of(things, 2))


# "I like towers"
rule.means(lambda talk: [talk], "Clause -> ATTITUDE TOWER|ROW|BRIDGE|PYRAMID|STACK")
rule.means(EVERYTHING, "No -> NOTHING")
rule.means((Thing(Det("all"), pronoun="them", text="none of them"),), "No -> NONE")
_OWN = (Destination(relation="on", things=(Thing(Det(), Nominal(matching="own"), text="its own"),)),)
rule.means(must_not_be(EVERYTHING, _OWN), "Neg -> UNMATCHED")
for _row in ROWS.values():
    rule(*(f"Neg -> {form}" for form in _row.bans), how="banned", of=(_row.name,))(sparing)
