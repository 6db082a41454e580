"""Rows, towers, bridges and pyramids that are to be built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise

from spca_core.kinds import SOLIDS, STACKABLE, SUPPORTS
from spca_core.names import TABLE_SYMBOL
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language import towers
from spca_tabletop.language.clauses import EVERYTHING, about, allowed, and_also, doing, not_there, state
from spca_tabletop.language.commands import place_once, put, touch
from spca_tabletop.language.lexicon import ANYTHING, LIFTABLE, SHARED, UNREAD
from spca_tabletop.language.nouns import CLEARLY_LARGER
from spca_tabletop.language.places import Destination, Destinations, come_from, placed
from spca_tabletop.language.talk import Meaning, Talk, Things, clause, in_turn, refuse
from spca_tabletop.language.things import Det, Nominal, Phrase, Thing, found_by, named, rule

_ONE_TOWER = "I can build one tower at a time; say the other one in its own task."
_OF_TOWERS = ("on", "to", "under", "across", "slot", "on_each_other")


@clause
def rebuilt(*said: Destination | Destinations | None, talk: Talk, over: bool = False) -> Iterator[Talk]:
    """As it stands, or upside down; there, or elsewhere."""
    on = {(a[2], a[1]) for a in talk.table.facts if a[0] == "on" and talk.table.kind(a[2]) in SOLIDS}
    tower = sorted({s for pair in on for s in pair}, key=lambda s: -len(talk.table.above([s])))
    refuse(not tower or not on.issuperset(pairwise(tower)), "I do not know which tower that is; name each.")
    order = tuple(tower[::-1] if over else tower)
    places = next((one for one in said if isinstance(one, tuple)), None)
    for source in (one for one in said if isinstance(one, Destination)):
        come_from(order, source, talk)
    there = [talk.claim("on", order[:1], talk.table.support_of(tower[0]))]
    for after in placed(order[:1], places, (), talk) if places else there:
        yield after.ask([("on", above, below) for below, above in pairwise(order)]).about(order)


def unstack(phrase: Phrase | None = None, *, apart: bool = False) -> Meaning:
    def then(things: Things, talk: Talk) -> Talk:
        place_once(() if apart else things, talk)
        down = [t for t in things if talk.table.kind(talk.table.support_of(t)) in SOLIDS] if apart else []
        return talk.claim("on", down or things, TABLE_SYMBOL).rule("unstacked", *((t,) for t in things))

    return doing(phrase or EVERYTHING, then)


def run_of(one: Phrase, more: Phrase) -> Phrase:
    """As in "red, then green, then blue"."""
    return (*one, *more)


def in_line(*said: Phrase | tuple[int, Phrase] | str) -> Meaning:
    """As in "line up red, green and blue from left to right": each close beside the one before."""
    *whole, phrase = (one for one in said if isinstance(one, tuple) and isinstance(one[0], Thing))
    (side,) = (one for one in said if isinstance(one, str))
    wrong = any(isinstance(one[0], int) and one[0] != len(phrase) for one in said)
    refuse(wrong, "These are not so many; name each of them.")

    def then(things: Things, talk: Talk) -> Iterator[Talk]:
        vague = any(t.several or (t.any and not t.noun.colour) for t in phrase) and things != talk.series
        refuse(vague or len(things) < 2, "I do not know the order of what; name the things one by one.")
        if not all(any({*things} == {*b} for b, _ in found_by(one, talk, LIFTABLE)) for one in whole):
            raise NotUnderstood("I do not know which of them are to be in the row; name each once.")
        yield from map(talk.ask, in_turn(things, side))

    return doing(phrase, then)


def line_up(phrase: Phrase, places: Destinations = ()) -> Meaning:
    return state(phrase, (*places, Destination(relation="abreast", slot="row" if places else "")))


def by_size(phrase: Phrase = EVERYTHING, *, stacked: bool = False) -> Meaning:
    """As in "line them up by size", "stack the blocks by size, the biggest one at the bottom"."""

    def then(things: Things, talk: Talk) -> Talk | Iterator[Talk]:
        areas = {s: a * b for s, (a, b, _) in talk.table.sizes.items() if s in things}
        order = tuple(sorted(things, key=areas.__getitem__))
        alike = any(areas[b] < areas[a] * CLEARLY_LARGER for a, b in pairwise(order))
        refuse(alike, "Some of them are of the same size; say which one goes where.")
        if not stacked:
            return placed(order, (Destination(relation="abreast"),), phrase, talk.but(series=order))
        told = towers.of_these(order, phrase, talk)
        return told.but(tower=replace(told.tower, listing=(None, order, True)))

    return doing(phrase, then)


def row_of(count: tuple[int, Phrase], phrase: Phrase = ()) -> Meaning:
    """As in "a row of three", "a row of three cubes: red, green, blue"."""
    number, noun = count[0], count[1][0].noun if count[1] else Nominal("cube", True)
    refuse(phrase and len(phrase) != number, f"These are not {number}; name each of them.")
    return line_up(phrase or (Thing(Det("any", number), noun, text=f"{number} of them"),))


def arrangement(phrase: Phrase, places: Destinations) -> Meaning:
    row = any(p.relation == "abreast" for p in places) and len(phrase) == 1
    refuse(row and phrase[0].elliptic and phrase[0].det == Det(), "Name two things at least for a row.")
    there, pile = allowed(put(phrase, None, places), placed=True), stack(phrase, ((), places, None))
    on = {p.relation for p in places} == {"on"}
    return lambda talk: (pile if on and talk.verb == "stack" and talk.tower.active else there)(talk)


def there_go(places: Destinations | Destination, phrase: Phrase, *, slot: bool) -> Meaning:
    """As in "into the tray: blue, green and yellow", or in a tower "at the top red"."""
    places = (places,) if isinstance(places, Destination) else places
    wrong = any((p.relation == "slot") != slot for p in places)
    last = [t for there in places[-1].things for t in (there, *there.apart)]
    one = phrase[0].text == "one" and any(t.elliptic for t in last)  # "next to the blue one"
    one = one or phrase[0].noun.kind in SUPPORTS  # "then on the red plate"
    refuse(wrong or one, f"I do not know what to do with '{phrase[0].text}'.")
    return arrangement(phrase, places)


Detail = tuple[Phrase, Destinations, bool | None]


def detail(*said: Destination | Phrase | bool) -> Detail:
    phrase = next((one for one in said if isinstance(one, tuple)), ())
    places = tuple(one for one in said if isinstance(one, Destination))
    return phrase, places, next((one for one in said if isinstance(one, bool)), None)


def details(one: Detail, more: Detail | None) -> Detail:
    phrase, places, upwards = more or ((), (), None)
    refuse(one[2] is not None and upwards is not None, "One order is enough.")
    alone = len(one[0]) == 1 and not (one[0][0].several or one[0][0].any)  # "with red over green over blue"
    alone = alone and any(p.relation == "on" for p in places)
    # "with blue at the bottom" is of it
    if alone or (one[0] and (phrase or any(p.relation == "slot" for p in places))):
        raise NotUnderstood(f"I do not know what to do with '{one[0][0].text}'.")
    return ((*one[0], *phrase), (*one[1], *places), upwards if one[2] is None else one[2])


def stack(phrase: Phrase, more: Detail | None) -> Meaning:
    members, places, upwards = more or ((), (), None)
    refuse(members, f"I do not know what to do with '{members and members[0].text}'.")

    def then(things: Things, talk: Talk) -> Iterator[Talk]:
        if len(things) > 1 or any(p.relation == "on_each_other" for p in places):
            for one in towers.next_one(talk) if talk.tower.active else [talk]:
                yield from _tower(things, phrase, places, upwards, one)
        elif not places or upwards is not None or any(p.relation not in _OF_TOWERS for p in places):
            raise NotUnderstood(f"I do not know where to with {phrase[0].text}; say onto what.")
        else:
            yield from placed(things, places, phrase, talk)

    return doing(not_there(phrase, places), lambda things, talk: then(things, talk.but(verb="stack")))


def tower(size: int | None) -> int:
    return size or 0


def as_high(extent: str) -> int:
    """As in "the highest tower you can build": of all there is."""
    refuse(extent not in ("largest", "tallest"), "I do not know how high a tower is to be; say of how many.")
    return towers.ALL


@clause
def build(more: Detail | None, size: int | None, before: Destinations = (), *, talk: Talk) -> Iterator[Talk]:
    phrase, places, upwards = more or ((), (), None)
    refuse(talk.tower.active, _ONE_TOWER)
    just_any = towers.any_of(phrase, talk)
    for things, one in islice(about(phrase, talk.but(verb="build")), 1 if just_any else None):
        refuse((size or 0) > 0 < len(things) != size, f"A tower of {size} cannot be made of {len(things)}.")
        sized = one.but(tower=replace(one.tower, size=size or None, active=True))
        for after in _tower(things, phrase, (*before, *places), upwards, sized):
            yield after.but(mentioned=talk.mentioned) if just_any else after.about(things)


@clause
def towers_of(number: int, each: tuple[int, Phrase] | int = 0, *, talk: Talk) -> Iterator[Talk]:
    """As in "two towers of three cubes each"."""
    size, phrase = each if isinstance(each, tuple) else (each, ())
    refuse(talk.tower.active or talk.stacked(), _ONE_TOWER)
    pieces = {*(talk.table.of("cube") or talk.table.of(*STACKABLE))} - {*talk.left_out}
    if any({*named(t, talk, LIFTABLE)} != pieces for t in phrase):
        raise NotUnderstood("I do not know of which things the towers are to be; name what is in each.")
    if max(size, 2) * number > len(pieces):
        raise Impossible(f"There are not enough things for {number} towers. {talk.table.seen()}")
    yield talk.but(tower=replace(talk.tower, size=size or None, of=number, active=True), verb="build")


def of_number(number: int, noun: tuple[str, bool] | None = None) -> tuple[int, Phrase]:
    return number, (Thing(Det("all"), Nominal(*noun)),) if noun else ()


@clause
def one_tower(more: Meaning | Phrase, *, talk: Talk) -> Iterator[Talk]:
    """As in "one has red on top, the other one blue"; or what one is made of."""
    fresh = not (talk.towers or talk.tower.slots or talk.tower.members or talk.tower.runs)
    refuse(fresh and talk.tower.of < 2, "I do not know which tower that is; say how many there are.")
    for one in [talk] if fresh else towers.next_one(talk):
        yield from (along_with(more) if isinstance(more, tuple) else more)(one)


def slots(phrase: Phrase, place: Destination, more: Meaning | None = None) -> Meaning:
    one = there_go(place, phrase, slot=True)
    return and_also(one, more) if more else one


def build_along(size: int | None, place: Destination | None, more: Meaning) -> Meaning:
    """As in "a tower green at the bottom red on top", said without a pause."""
    return and_also(build(((), (place,), None) if place else None, size), more)


@clause
def stands_there(place: Destination, *, talk: Talk) -> Iterator[Talk]:
    """As in "Build a tower of two. On the red plate."."""
    if not talk.tower.active or place.relation != "on":
        raise NotUnderstood(f"I do not know what is to be '{place.text}'; name it.")
    for base, after in found_by(place.things, talk, (*SUPPORTS, "table")):
        yield _based(base, place, after)


def _tower(
    things: Things, phrase: Phrase, places: Destinations, upwards: bool | None, talk: Talk
) -> Iterator[Talk]:
    found = [towers.of_these(things, phrase, talk)]
    told = {kind for _, kind in talk.table.named}.intersection(SUPPORTS)
    for place in places:
        another = place.relation == "on" and all(t.elliptic and t.det.other for t in place.things)
        if place.relation == "slot":
            found = [towers.at_slot(things, place.slot, one) for one in found]
        elif another and not told:
            continue  # "in one pile … in another"
        elif place.relation == "on":
            kind = talk.table.kind(things[0]) if things else ""
            on = [t.like(kind) if t.noun.one and t.noun.colour else t for t in place.things]  # "the blue one"
            found = [_based(base, place, after) for one in found for base, after in
                     found_by(on, one, (*SUPPORTS, "table"))]  # fmt: skip
        elif place.relation != "on_each_other":
            raise NotUnderstood(f"I can build a tower on the table or on a thing, but not '{place.text}'.")
    for one in found:
        if upwards is None:
            yield one
        elif things and len(things) == len(phrase) and not any(t.pronoun for t in phrase):
            yield towers.listed(things, upwards, one)
        else:
            yield one.but(tower=replace(one.tower, listing=(upwards, (), True)))


def _based(base: Things, place: Destination, talk: Talk) -> Talk:
    refuse(len(base) != 1 or talk.tower.base, f"A tower stands on one thing, not on '{place.text}'.")
    if talk.table.kind(base[0]) in SOLIDS:
        size = talk.tower.size and talk.tower.size + (talk.verb == "stack")  # two on the red one make three
        return talk.but(tower=replace(talk.tower, size=size, slots=(*talk.tower.slots, ("bottom", base[0]))))
    return talk.but(tower=replace(talk.tower, base=base[0]))


def bridge(more: Detail | None) -> Meaning:
    phrase, places, upwards = more or ((), (), None)
    refuse(upwards is not None or any(p.relation not in ("on", "across") for p in places), towers.BRIDGE)

    def meaning(talk: Talk) -> Iterator[Talk]:
        for things, one in about(phrase, talk):
            for supports, after in found_by([t for p in places for t in p.things], one, ANYTHING):
                solids = tuple(s for s in supports if talk.table.kind(s) in SOLIDS)
                if len(solids) == 2 and len(things) == 1:
                    yield towers.across(things, solids, after)
                elif any(s != TABLE_SYMBOL for s in supports):
                    raise NotUnderstood(towers.BRIDGE)
                else:
                    told = replace(after.tower, members=(*after.tower.members, *things))
                    yield after.but(bridge=True, tower=told).rule("counted", *((t,) for t in things))

    return meaning


def pyramid(more: Detail | tuple[int, Phrase] | int | None) -> Meaning:
    """As in "a pyramid of red, green and blue", "a six-cube pyramid", "a pyramid, three blocks"."""
    more = more[0] if isinstance(more, tuple) and isinstance(more[0], int) else more
    size = more if isinstance(more, int) else None
    phrase, places, upwards = more if isinstance(more, tuple) else ((), (), None)
    if any(p.relation != "on" or [t.noun.kind for t in p.things] != ["table"] for p in places):
        raise NotUnderstood("I can build a pyramid on the table only.")
    if upwards is not None and any(t.several or t.any for t in phrase):
        raise NotUnderstood("I do not know the order of what; name the cubes one by one.")

    def meaning(talk: Talk) -> Iterator[Talk]:
        for things, after in about(phrase, talk):
            order = things[::-1] if upwards is False else things
            told = replace(after.tower, members=(*after.tower.members, *things))
            yield after.but(bridge=True, heap=(after.stage, order, size), tower=told).put_down(things)

    return meaning


def layer(*said: int | tuple[str, bool]) -> int:
    kinds = {kind for one in said if isinstance(one, tuple) for kind in SHARED.get(one[0], one[:1])}
    refuse(kinds and not kinds & {*STACKABLE}, "I can build a pyramid of cubes only.")
    return next((one for one in said if isinstance(one, int)), 1)


def layered(more: Detail | int | None, layers: tuple[int, ...]) -> Meaning:
    """As in "a pyramid: three at the bottom, two above, one on top"."""
    size = sum(layers)
    said = more if isinstance(more, int) else next((t.det.number for t in more[0]), None) if more else None
    refuse(layers != (*range(len(layers), 0, -1),) or said not in (None, size), towers.BRIDGE)
    return pyramid(more or size)


def ordered(*said: bool | Phrase) -> Meaning:
    """As in "from bottom to top: red, green, blue"."""
    (phrase,) = (one for one in said if isinstance(one, tuple))
    vague = len(phrase) == 1 and phrase[0].several
    refuse(vague, "I do not know the order of what; name the things one by one.")
    return doing(phrase, lambda things, talk: towers.listed(things, True in said, talk))


def mention(phrase: Phrase) -> Meaning:
    """Go on with what was said last: "touch the red cube, then the blue one"."""

    def meaning(talk: Talk) -> Iterator[Talk]:
        listed = any(t.anew for t in phrase) and any(n == talk.stage for n, _ in talk.wants)
        refuse(listed, UNREAD["CORRECTION"].format(phrase[0].text))  # "touch red and green, no, blue"
        if talk.verb == "touch":
            refuse(phrase[0].noun.trailed, f"'{phrase[0].text}': is that so of all named? Say it of each.")
            for after in touch(phrase)(talk):
                refuse(after.wants == talk.wants, "I can touch a thing once only.")
                yield after
            return
        for things, said in about(phrase, talk):
            one, pending = said, said.tower.active and said.tower.listing is None
            told = towers.EACH if said.tower.of > 1 else towers.WHICH_WAY
            refuse(pending and any(t.several or t.any for t in phrase), told)
            if pending:
                one = said.but(tower=replace(said.tower, listing=(None, (), True)))
            yield towers.go_on(things, phrase, False, one).about(things)

    return allowed(meaning)


@clause
def along_with(phrase: Phrase, *, talk: Talk) -> Iterator[Talk]:
    refuse(any(t.so_many and not t.noun.colour for t in phrase), towers.EACH)  # "of four cubes"
    yield from (towers.go_on(things, phrase, True, one) for things, one in about(phrase, talk))


rule.means(0, "Heap -> STACK")
rule.means(towers.ALL, "Tower -> THE|A? TOP TOWER")
