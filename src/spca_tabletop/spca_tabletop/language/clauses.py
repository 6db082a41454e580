"""Clauses: what is to be done, how it shall end, what must not be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, islice, pairwise, permutations, product

from spca_core.kinds import CONTAINERS, KINDS, SOLIDS, STACKABLE, SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import Relation, Values, things_of
from spca_core.scene import TIE
from spca_tabletop.language import towers
from spca_tabletop.language.chart import Spoken
from spca_tabletop.language.goal import GONE, NO_PLACE
from spca_tabletop.language.lexicon import FORMS, SHARED, UNREAD
from spca_tabletop.language.places import (
    NO_DIRECTION,
    Destination,
    Destinations,
    come_from,
    placed,
    related,
    spot_of,
)
from spca_tabletop.language.talk import (
    ANYTHING,
    AXES,
    LIFTABLE,
    ROWS,
    TANGIBLE,
    Atom,
    Contradiction,
    Meaning,
    Talk,
    Things,
    clause,
    every,
    in_turn,
    refuse,
    stands,
)
from spca_tabletop.language.things import (
    CLEARLY_LARGER,
    Det,
    Nominal,
    Phrase,
    Quality,
    Thing,
    found_by,
    meant,
    named,
    ranked_from,
    rule,
)

_TABLE = Destination(relation="on", things=(Thing(Det("the"), Nominal(kind="table")),))
_EVERY_SOLID = (Thing(Det("all"), Nominal(kind="thing"), text="everything"),)
_ONE_TOWER = "I can build one tower at a time; say the other one in its own task."
_PUT_OR_THERE = "I do not know: is it to go there, or is it there? Say 'put', or 'that is'."
_IT = Thing(pronoun="it", text="it")
Given = tuple[Phrase, Destinations | Destination]
Going = Callable[[Things, Talk], Talk | Iterable[Talk]]


def about(phrase: Phrase, talk: Talk, kinds: Things = LIFTABLE) -> Iterator[tuple[Things, Talk]]:
    """Every way to take what a clause is about; something has to be done with each."""
    for things, after in found_by(phrase, talk, kinds):
        if len(set(things)) < len(things):
            if any(t.any for t in phrase):
                continue
            raise NotUnderstood(f"'{phrase[-1].text}' is of what was named already; name each once.")
        if kinds == LIFTABLE and (fixed := [t for t in things if talk.table.kind(t) not in SOLIDS]):
            raise NotUnderstood(f"I cannot move the {words_of(fixed[0])}.")
        text = " and ".join(t.text for t in phrase)
        series = things if 1 < len(phrase) == len(things) else after.series
        yield things, after.but(spoken=(*after.spoken, *((t, text) for t in things)), series=series)


@clause
def doing(
    phrase: Phrase,
    then: Going,
    kinds: Things = LIFTABLE,
    verb: str = "",
    source: Destination | None = None,
    *,
    talk: Talk,
) -> Iterator[Talk]:
    """A clause about things, maybe from somewhere: what it makes of each way to take them."""

    def onward(way: tuple[Things, Talk]) -> Iterator[Talk]:
        things, one = way
        listed = 1 < len(phrase) == len(things) and not any(t.any for t in phrase)
        ways = then(things, come_from(things, source, one.but(verb=verb, listed=listed)))
        # "all cubes except the red one; that one …"
        apart = [o.like(t.noun.kind) for t in phrase for o in t.apart if len(things) > 1 and not o.several]
        it = named(apart[0], one, LIFTABLE) if len(apart) == 1 else ()
        ways = [ways] if isinstance(ways, Talk) else ways
        # "any cube except the red one; that one …" may be of either
        left = [()] * any(t.any and t.apart for t in phrase)
        group = {"group": things} if any(t.several for t in phrase) else {}
        return (after.about(things).about(it).rule("left", *left).but(**group) for after in ways)

    yield from every(about(_coming_from(phrase, source), talk, kinds), onward)


# --- commands


def touch(phrase: Phrase) -> Meaning:
    def then(things: Things, talk: Talk) -> Talk:
        refuse(any(talk.table.kind(t) not in TANGIBLE for t in things), "I can touch cubes and plates only.")
        return talk.claim("touched", things)

    return doing(phrase, then, TANGIBLE, "touch")


def touch_along(phrase: Phrase, side: str) -> Meaning:
    """As in "touch the cubes from left to right": in the order in which they stand."""

    def then(things: Things, talk: Talk) -> Talk:
        refuse(len(things) < 2, "I do not know the order of what; name two things at least.")
        ranked = ranked_from(things, side, talk)
        wrong = any(b[0] - a[0] < TIE for a, b in pairwise(ranked))
        refuse(wrong, "Two are equally far along; name them one by one.")
        return _in_turn(tuple(s for _, s in ranked), talk.but(latest=()).claim("touched", things))

    return doing(phrase, then, TANGIBLE)


@clause
def alone(meaning: Meaning, *, talk: Talk) -> Iterator[Talk]:
    """As in "touch only …", "put only … there": nothing else is."""
    for after in meaning(talk):
        new = [a for a in after.atoms if a not in talk.atoms]
        refuse(after.ruled("counted"), "I do not know of which things only; name them.")
        left = {*talk.table.of(*SOLIDS)} - {a[1] for a in new}
        told = "I do not know whether others may be on theirs; leave out 'only'."  # "on its mat"
        refuse(left and after.ruled("matched") != talk.ruled("matched"), told)
        built = after.tower.active or after.bridge
        yield from nothing_else()(after) if built or after.verb == "touch" else _others_off(new, after)


@clause
def nothing_else(*, talk: Talk) -> Iterator[Talk]:
    about = {t for atom in talk.atoms for t in atom[1:]} | {*talk.mentioned}
    yield talk.rule("untouched", *((s,) for s in talk.table.of(*TANGIBLE) if s not in about))


def _others_off(there: Collection[Atom], talk: Talk) -> Iterator[Talk]:
    """Nothing else is to be there in the end."""
    if not there or any(a[0] != "on" or talk.table.kind(a[2]) not in SUPPORTS for a in there):
        raise NotUnderstood("I can keep others off a plate, a tray or a bowl only; leave out 'only'.")
    others = dict.fromkeys((s, a[2]) for a in there for s in talk.table.of(*SOLIDS))
    yield talk.rule("off", *(pair for pair in others if ("on", *pair) not in there))


def onto(thing: Thing, support: Thing) -> Meaning:
    """As in "red cube, blue plate"."""
    told = support.det.quantifier or support.noun.kind in SUPPORTS
    vague = thing.noun.tests or (support.noun.tests and not told)
    if thing.noun.kind in SUPPORTS or vague or thing.pronoun or support.pronoun or support.anew:
        raise NotUnderstood(f"I do not know where '{thing.text}' is to be; say on, in or next to what.")
    return contain((support,), (thing,))


def goes_there(there: Thing, things: Phrase) -> Meaning:
    """As in "Blue plate: the green cube."."""
    vague = there.noun.kind not in SUPPORTS or any(t.noun.kind in SUPPORTS or t.elliptic for t in things)
    refuse(vague, f"I do not know what is to be done with '{there.text}'; say what goes where.")
    return contain((there,), things)


def contain(there: Phrase, things: Phrase, *, each: bool = False, passed: bool = False) -> Meaning:
    if passed and all(t.noun.kind in SUPPORTS for t in things):  # "give the red cube a mat"
        there, things = things, there
    bad = f"'{there[0].text}' takes nothing; name a plate, a mat, a bowl or a tray."
    refuse(any(t.noun.kind not in SUPPORTS and not t.pronoun for t in there), bad)
    there = tuple(replace(t, det=Det("each")) for t in there) if each else there
    given = put(things, None, (Destination(relation="on", things=there),))

    def meaning(talk: Talk) -> Iterable[Talk]:
        refuse(_is_of_solids(there, talk), bad)  # "it looks empty, give it a cube"
        return given(talk)

    return meaning


def _is_of_solids(phrase: Phrase, talk: Talk) -> bool:
    """Whether a pronoun among them is of something that was just put somewhere."""
    said = (s for t in phrase if t.pronoun for s in named(t, talk, ANYTHING))
    return any(talk.table.kind(s) in SOLIDS for s in said)


def hold(things: Things, talk: Talk) -> Talk:
    again = any(a[1] in things and a[0] != "touched" for a in talk.atoms)
    refuse(again, "I can aim at one arrangement only, not at one after the other.")
    return talk.but(held=(*talk.held, *((t, talk.stage) for t in things if t not in dict(talk.held))))


def lift(phrase: Phrase = (_IT,), source: Destination | None = None) -> Meaning:
    return doing(phrase, hold, source=source)


@clause
def held_on(phrase: Phrase | None, *, talk: Talk) -> Iterator[Talk]:
    for things, after in found_by(phrase or (), talk, LIFTABLE):
        let_go = not talk.held or not {*things} <= {*dict(talk.held)}
        refuse(let_go, "I do not know what I am not to let go of; say what to hold.")
        yield after


@clause
def lift_to(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    refuse(any(p.slot == "over" for p in places), "I can hold a thing, but not over a certain place.")
    refuse(any(p.relation == "on" for p in places), _PUT_OR_THERE)
    yield from put(phrase, None, places)(talk)


def take_down(phrase: Phrase, source: Destination) -> Meaning:
    refuse(any(t.noun.kind == "table" for t in source.things) or not any(t.several for t in phrase), NO_PLACE)
    return put_away(phrase, source)


def pick(phrase: Phrase, source: Destination | None, *, picked: bool) -> Meaning:
    return doing(phrase, lambda new, talk: talk.rule("picked", *((t,) for t in new * picked)), source=source)


def put(
    phrase: Phrase, source: Destination | Destinations | None, places: Destinations = (), added: bool = False
) -> Meaning:
    if isinstance(source, tuple):
        places, source = source, None
    bare = any(p.relation in AXES and not p.values for p in places)
    refuse(bare and (len(phrase) > 1 or len(places) > 1), NO_DIRECTION)
    phrase = _coming_from(_not_there_yet(phrase, places, added), source)
    return doing(phrase, lambda things, talk: placed(things, places, phrase, talk), source=source)


@clause
def put_meant(thing: Thing, places: Destinations, again: Thing, *, near: bool, talk: Talk) -> Iterator[Talk]:
    """As in "put the red cube on the mat, the left one I mean": what is put, unless the mat is meant."""
    if near and again.noun.colour and places[-1].things:  # "on the red plate, no, the green one"
        with suppress(Impossible):
            named(again.like(places[-1].things[-1].noun.kind), talk, tuple(SUPPORTS))
            raise NotUnderstood(f"I do not know what '{again.text}' is in place of; say it anew.")
    yield from put((meant(thing, again),), None, places)(talk)


def given(phrase: Phrase, where: Destinations | Destination) -> Given:
    return phrase, where


@clause
def put_such(said: tuple[Phrase, Destinations], one: Quality, *, talk: Talk) -> Iterator[Talk]:
    """As in "put a cube on the mat that is not red": of the cube, where that tells no mat from another."""
    phrase, (*before, place) = said
    refuse(not place.things, f"I do not know what is '{one.told}'; say it of that.")
    there, those = (replace(p[-1], noun=one(p[-1].noun)) for p in (place.things, phrase))
    near, far = _all_of(there, talk), _all_of(those, talk)
    idle = (those.noun.kind == "thing" or one.told[:2] == "no") and near == _all_of(place.things[-1], talk)
    if far not in ([], _all_of(phrase[-1], talk)) and (idle or not near):
        phrase = (*phrase[:-1], those)
    else:
        place = replace(place, things=(*place.things[:-1], there))
    yield from put(phrase, None, (*before, place))(talk)


def _all_of(thing: Thing, talk: Talk) -> list[str]:
    with suppress(Impossible):
        return named(replace(thing, det=Det("all"), noun=replace(thing.noun, other=False)), talk)
    return []


def put_but(said: Given, others: Phrase) -> Meaning:
    phrase, where = said
    nearest = where[-1].things[-1:] if isinstance(where, tuple) else ()
    some = len(phrase) == 1 and (phrase[0].several or phrase[0].any)
    vague = not some or any(t.several or t.any for t in nearest)
    refuse(vague, f"I do not know what '{others[0].text}' is left out of.")
    rest = (replace(phrase[0], apart=(*phrase[0].apart, *others)),)
    return put(rest, None, where) if isinstance(where, tuple) else put_away(rest, where)


def put_otherwise(said: Given, others: Phrase, where: Destinations | Destination) -> Meaning:
    """As in "all cubes on the red plate except the blue one, which goes on the green cube"."""
    same = tuple(t.like(said[0][0].noun.kind) for t in others)
    rest = put(same, None, where) if isinstance(where, tuple) else put_away(same, where)
    return and_also(put_but(said, same), rest)


@clause
def put_leaving(said: tuple[Phrase, Destinations], *left: Phrase, talk: Talk) -> Iterator[Talk]:
    """As in "put everything in the tray but leave the ball where it is"; "… not the ball, the ball stays"."""
    phrase, places = said
    others = tuple(t for one in left for t in one)
    refuse(phrase[0].apart, f"I do not know what '{others[0].text}' is left out of.")
    refuse(talk.held, _PUT_OR_THERE)
    if all(t.noun.kind in SUPPORTS for t in others):  # "… in the bowl, the plate stays"
        yield from and_also(put(phrase, None, places), _spared(others, how="untouched"))(talk)
        return
    same = tuple(t.like(phrase[0].noun.kind) for t in others)
    spared = _spared(same, how="untouched", solid=True)
    there = []
    with suppress(NotUnderstood, Impossible, Contradiction):  # what is there already may be left so
        there = [one for one in and_also(put(phrase, None, places), spared)(talk) if not any(
            (a[1],) in one.ruled("untouched") and a not in one.table.facts for a in one.atoms)]  # fmt: skip
    yield from there or and_also(put_but(said, same), spared)(talk)


def pack(phrase: Phrase) -> Meaning:
    """Into what there is one of to pack things into."""
    if all(t.noun.kind in CONTAINERS for t in phrase):  # "pack the tray"
        return contain(phrase, _EVERY_SOLID)

    def then(things: Things, talk: Talk) -> Talk:
        boxes = talk.table.of(*(kind for kind in CONTAINERS if KINDS[kind].room == "many"))
        refuse(len(boxes) != 1, NO_PLACE)
        return talk.claim("on", things, boxes[0])

    return doing(phrase, then)


def put_it(places: Destinations) -> Meaning:
    """As in "take the red cube and put on the plate"."""
    return put((_IT,), None, places)


def put_each(thing: Thing, places: Destinations) -> Meaning:
    return put((replace(thing, det=Det("each")),), None, places)


def put_away(phrase: Phrase, source: Destination | None) -> Meaning:
    """To a place that is yet to be said."""
    from_table = source and any(t.noun.kind == "table" for t in source.things)
    refuse(from_table and source and len(source.things) > 1, "Off what is it to go? Name one thing only.")

    def then(things: Things, talk: Talk) -> Talk:
        if source is None:
            refuse({*things} & {*talk.tower.members}, f"'{phrase[0].text}' is of the tower; say where to.")
            return talk.but(placeless=(*talk.placeless, *((t, len(talk.wants)) for t in things)))
        # unless another place is said for it: "off its mat, and put it in the tray"
        down = talk.rule("unstacked", *((t,) for t in things))
        return talk.claim(GONE[0], things) if from_table else down.claim("on", things, TABLE_SYMBOL)

    return doing(phrase, then, source=None if from_table else source)


def _ordered(
    phrase: Phrase, said: Values | Destination | None = None, *, row: Relation, alone: bool = False
) -> Meaning:
    def then(things: Things, talk: Talk) -> Talk:
        lying = alone and any(talk.table.support_of(thing) != TABLE_SYMBOL for thing in things)
        refuse(lying, f"Off what is '{phrase[0].text}' to go? Say 'off the table', or what it lies on.")
        put = {a[1]: a[2] for a in talk.atoms if a[0] == "on"}
        on_table = row.skill or {put.get(t, talk.table.support_of(t)) for t in things} == {TABLE_SYMBOL}
        refuse(not on_table, "I can do that with what stands on the table only.")
        return related(things, row, (), said if isinstance(said, tuple) else (), talk)

    return doing(phrase, then, source=said if isinstance(said, Destination) else None)


@clause
def clear(phrase: Phrase, places: Destinations = (), *, removed: bool = False, talk: Talk) -> Iterator[Talk]:
    for supports, before in found_by(phrase, talk, (*SUPPORTS, *SOLIDS, "table")):
        if any(talk.table.kind(s) not in TANGIBLE for s in supports) or any(t.any for t in phrase):
            raise NotUnderstood("I can clear certain plates or cubes only.")
        on = {a[1] for a in before.table.facts if a[0] == "on" and a[2] in supports}
        things = tuple(s for s in talk.table.of(*SOLIDS) if s in on)
        if removed and all(talk.table.support_of(s) not in ("", TABLE_SYMBOL) for s in supports):
            things = supports  # "take off the blocks that are on the red one"
        if not things:
            raise Impossible("Nothing lies on it; if it is to go itself, say where to.")
        free = () if places else tuple((s,) for s in things)
        for after in placed(things, places or (_TABLE,), (), before.rule("unstacked", *free)):
            mentioned = tuple(dict.fromkeys((*after.mentioned, *things)))
            yield after.about(things).but(cleared=(things[-1], supports[-1]), mentioned=mentioned)


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


@clause
def shift(phrase: Phrase, said: tuple[str, bool], side: str, *, talk: Talk) -> Iterator[Talk]:
    """Each on the next such place to that side; for the one at the end that is for what follows to say."""
    axis, sign = AXES[side]
    row = sorted(talk.table.of(said[0]), key=lambda s: sign * talk.table.places[s][axis])
    for things, after in about(phrase, talk):
        on = {t: talk.table.support_of(t) for t in things}
        if axis != 1 or said[1] or not {*on.values()} <= {*row} or len({*on.values()}) < len(things):
            raise NotUnderstood(f"I do not know from which {said[0]} to which each of them is to go.")
        last = tuple(t for t in things if on[t] == row[0])
        moved = [("on", t, row[row.index(s) - 1]) for t, s in on.items() if t not in last]
        before = after.but(placeless=(*after.placeless, *((t, len(after.wants)) for t in last)))
        yield before.ask(moved).but(subject=last[-1] if last else "")


def unstack(phrase: Phrase | None = None, *, apart: bool = False) -> Meaning:
    def then(things: Things, talk: Talk) -> Talk:
        down = [t for t in things if talk.table.kind(talk.table.support_of(t)) in SOLIDS] if apart else []
        return talk.claim("on", down or things, TABLE_SYMBOL).rule("unstacked", *((t,) for t in things))

    return doing(phrase or _EVERY_SOLID, then)


def release(phrase: Phrase | None) -> Meaning:
    return doing(phrase or (), lambda _, talk: talk.but(released=(*talk.released, talk.stage)))


def sort(phrase: Phrase | None, places: Destinations | None, *, matching: str) -> Meaning:
    """Each on the plate of its colour, or of another one, if no other places were named."""
    places = places or (Destination(relation="on", things=(Thing(text="its plate"),)),)
    if not all(place.things for place in places):
        raise NotUnderstood("I do not know by which colours to sort; name plates, or what to put where.")
    there = tuple(
        replace(p, things=tuple(replace(t, noun=replace(t.noun, matching=t.noun.matching or matching),
                                        det=Det()) for t in p.things))
        for p in places
    )  # fmt: skip
    plain = tuple(replace(t, noun=replace(t.noun, matching="")) for t in phrase or _EVERY_SOLID)
    return doing(plain, lambda things, talk: placed(things, there, plain, talk))


def swap(phrase: Phrase, other: Phrase = ()) -> Meaning:
    """Each of two goes where the other one is."""
    phrase = (*phrase, *(t.like(phrase[-1].noun.kind) for t in other))

    def then(things: Things, talk: Talk) -> Iterator[Talk]:
        places = [talk.table.support_of(t) for t in things]
        refuse(len(things) != 2 or any(t.any for t in phrase), "I can swap two certain things; name them.")
        one, other = things
        if places == [TABLE_SYMBOL, TABLE_SYMBOL]:
            swapped = ((one, other), (other, one))
            yield talk.ask([stands(thing, "at", (), spot_of(to, talk)) for thing, to in swapped])
            return
        refuse("" in places or places[0] == places[1], "I can swap what lies on or in different things only.")
        if any(a[0] == "on" and a[2] in things and a[1] not in things for a in talk.table.facts):
            raise NotUnderstood("I can swap things that nothing else lies on only; say what goes where.")
        # one on the other: the tower is turned over
        yield talk.ask([("on", one, other if places[1] == one else places[1]),
                        ("on", other, one if places[0] == other else places[0])])  # fmt: skip

    return doing(phrase, then)


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


def by_size(phrase: Phrase = _EVERY_SOLID, *, stacked: bool = False) -> Meaning:
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


# --- building

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
    if alone or (one[0] and any(p.relation == "slot" for p in places)):  # "with blue at the bottom" is of it
        raise NotUnderstood(f"I do not know what to do with '{one[0][0].text}'.")
    return ((*one[0], *phrase), (*one[1], *places), upwards if one[2] is None else one[2])


def stack(phrase: Phrase, more: Detail | None) -> Meaning:
    members, places, upwards = more or ((), (), None)
    refuse(members, f"I do not know what to do with '{members and members[0].text}'.")

    def then(things: Things, talk: Talk) -> Iterator[Talk]:
        if len(things) > 1 or any(p.relation == "on_each_other" for p in places):
            refuse(talk.tower.active, _ONE_TOWER)
            yield from _tower(things, phrase, places, upwards, talk)
        elif not places or upwards is not None:
            raise NotUnderstood(f"I do not know where to with {phrase[0].text}; say onto what.")
        else:
            yield from placed(things, places, phrase, talk)

    return doing(_not_there_yet(phrase, places), then, verb="stack")


def tower(size: int | None) -> int:
    return size or 0


rule.means(0, "Heap -> STACK")


def as_high(extent: str) -> int:
    """As in "the highest tower you can build": of all there is."""
    refuse(extent not in ("largest", "tallest"), "I do not know how high a tower is to be; say of how many.")
    return towers.ALL


rule.means(towers.ALL, "Tower -> THE|A? TOP TOWER")


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
    refuse(talk.tower.of < 2, "I do not know which tower that is; say how many there are.")
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
    for place in places:
        if place.relation == "slot":
            found = [towers.at_slot(things, place.slot, one) for one in found]
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
    kinds = [one[0] for one in said if isinstance(one, tuple)]
    refuse({*kinds} - {*STACKABLE}, "I can build a pyramid of cubes only.")
    return next((one for one in said if isinstance(one, int)), 1)


def layered(more: Detail | int | None, layers: tuple[int, ...]) -> Meaning:
    """As in "a pyramid: three at the bottom, two above, one on top"."""
    size = sum(layers)
    said = more if isinstance(more, int) else next((t.det.number for t in more[0]), None) if more else None
    refuse(layers != (*range(len(layers), 0, -1),) or said not in (None, size), towers.BRIDGE)
    return pyramid(more or size)


# --- what goes where, after any verb


def arrangement(phrase: Phrase, places: Destinations) -> Meaning:
    row = any(p.relation == "abreast" for p in places) and len(phrase) == 1
    refuse(row and phrase[0].elliptic and phrase[0].det == Det(), "Name two things at least for a row.")
    return _unforbidden(put(phrase, None, places), placed=True)


def there_go(places: Destinations | Destination, phrase: Phrase, *, slot: bool) -> Meaning:
    """As in "into the tray: blue, green and yellow", or in a tower "at the top red"."""
    places = (places,) if isinstance(places, Destination) else places
    wrong = any((p.relation == "slot") != slot for p in places)
    one = phrase[0].text == "one" and any(t.elliptic for t in places[-1].things)  # "next to the blue one"
    one = one or phrase[0].noun.kind in SUPPORTS  # "then on the red plate"
    refuse(wrong or one, f"I do not know what to do with '{phrase[0].text}'.")
    return arrangement(phrase, places)


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

    return _unforbidden(meaning)


@clause
def of_kind_only(noun: Nominal, other: Nominal | None = None, *, talk: Talk) -> Iterator[Talk]:
    """As in "… Cubes only.", "… The cubes, I mean, not the plates.": of other readings there are none."""
    said = (talk.mentioned, *(a[1:] for a in talk.atoms)) if other else (a[1:2] for a in talk.atoms)
    about = {talk.table.kind(s) for a in said for s in a} - {"", "table"}
    so = talk.atoms and about <= {noun.kind, *SHARED.get(noun.kind, ())} - {other.kind if other else ""}
    refuse(not so, f"I do not know what is to be of '{noun.text}' only; say it of each thing.")
    yield talk


@clause
def _unforbidden(meaning: Meaning, *, talk: Talk, placed: bool = False) -> Iterable[Talk]:
    refuse(talk.forbidding, "I do not know whether that must not be, either; say it in its own sentence.")
    refuse(placed and talk.held, _PUT_OR_THERE)  # "grab red and green on the blue plate"
    return meaning(talk)


# --- how it shall end


def state(phrase: Phrase, places: Destinations) -> Meaning:
    return doing(phrase, lambda things, talk: placed(things, places, phrase, talk))


@clause
def so_it_is(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    """What may be about the table as it is now; what is not so yet is to come."""
    for after in state(phrase, places)(talk):
        so = after.wants != talk.wants and talk.table.facts.issuperset(after.atoms[len(talk.wants) :])
        yield _describing(talk, after) if so else after


@clause
def which(places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    refuse(not talk.mentioned, "I do not know what 'which' refers to.")
    things = talk.mentioned[-1:]
    yield from (_describing(talk, after.about(things)) for after in placed(things, places, (), talk))


def _describing(talk: Talk, after: Talk) -> Talk:
    """Take what a clause asks for as what is so."""
    described = (*after.described, *after.atoms[len(talk.wants) :])
    one = after.but(wants=talk.wants, described=described, latest=talk.latest)
    return one.but(subject=talk.subject or after.subject)


@clause
def contact(phrase: Phrase, others: Phrase, *, talk: Talk) -> Iterator[Talk]:
    for things, one in about(phrase, talk, TANGIBLE):
        for targets, after in found_by(others, one, ANYTHING):
            yield after.rule("contact", *product(things, targets)).about(things)


@clause
def mutual(phrase: Phrase, *, talk: Talk) -> Iterator[Talk]:
    for things, after in about(phrase, talk, TANGIBLE):
        refuse(len(things) < 2, "I do not know what it should touch.")
        known = {frozenset(pair) for pair in after.pairs}
        yield after.rule("mutual", *(pair for pair in pairwise(things) if frozenset(pair) not in known))


@clause
def there_is(phrase: Phrase, where: Quality | None = None, *, talk: Talk) -> Iterator[Talk]:
    """Check that what is said to be there is there; "it" is that, from now on."""
    found: list[str] = []
    said_of = f"I do not know what I am to do with what you say of '{phrase[0].text}'."
    refuse(where and phrase[0].pronoun, said_of)  # "so I can see it yellow"
    for thing in phrase:
        every = thing if thing.det.number in (None, 1) else replace(thing, det=Det("all", thing.det.number))
        found += named(replace(every, noun=where(every.noun)) if where else every, talk)
    last = phrase[-1].noun  # "there are two red cubes: the left one …"
    kinds = {last.kind} if last.kind else {talk.table.kind(s) for s in found}
    kind = kinds.pop() if len(kinds) == 1 else "thing"
    among = len(found) > 1 and len(phrase) == 1 and kind in (*SOLIDS, *SHARED, "thing")
    yield talk.about(found).but(last=(kind, last.colour) if among else talk.last)


# --- what must not be


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


# "I like towers"
rule.means(lambda talk: [talk], "Clause -> ATTITUDE TOWER|ROW|BRIDGE|PYRAMID|STACK")
rule.means(_EVERY_SOLID, "No -> NOTHING")
rule.means((Thing(Det("all"), pronoun="them", text="none of them"),), "No -> NONE")


def none(phrase: Phrase) -> Phrase:
    counted = next((t.text for t in phrase if t.det.number not in (None, 1)), "")
    refuse(counted, f"I do not know which ones 'no {counted}' forbids; name them.")
    return tuple(replace(t.every(), det=Det("all")) for t in phrase)


def _every(phrase: Phrase) -> Phrase:
    """Extend a prohibition to all: "do not touch any other cube", "… the red or the blue one"."""
    return tuple(one.every() for thing in phrase for one in thing.either or (thing,))


@clause
def _spared(
    phrase: Phrase, *, talk: Talk, how: str, of: Things = (), solid: bool = False, added: bool = False
) -> Iterator[Talk]:
    """Keep things as `how` says: themselves, or from being what a predicate says `of` them.

    `solid`: a bare colour ("blue stays") is of what could be moved. `added`: or of a place said before.
    """
    refuse(any(t.pronoun and t.text == "one" for t in phrase), "I do not know which one must not; name it.")
    bare = all(t.elliptic and t.noun.colour and not t.noun.one for t in phrase)  # "leave blue"
    supports = talk.table.of(*SUPPORTS) if added and bare and any(a[0] == "on" for a in talk.atoms) else ()
    unclear = {t.noun.colour for t in phrase} & {talk.table.colours[s] for s in supports}
    refuse(unclear, f"I do not know what must not be '{phrase[0].text}'; name it.")
    stays, solid = solid, solid or bare or any(t.noun.other for t in phrase)
    talk = talk if ("on", *talk.cleared) in talk.table.facts else talk.but(cleared=("", ""))
    for things, after in found_by(_every(phrase), talk, LIFTABLE if solid else ANYTHING):
        refuse(TABLE_SYMBOL in things, "Everything rests on the table; say what else must be left alone.")
        one = after.rule(how, *((*of, thing) for thing in things)).but(forbidding=not stays)
        # "the green cube, not the red one; that one …" may be of either
        # "without moving the blue cube, stack the red one on it"
        yield one.but(subject="") if added else one if talk.subject else one.about(things)


for _row in ROWS.values():
    rule(*(f"Clause -> {form}" for form in _row.orders), row=_row)(_ordered)
    if _row.rests == GROUND_SYMBOL:
        rule("Clause -> THROW|TOSS Things OFF", row=_row, cost=-1, alone=True)(_ordered)
        rule("Clause -> TOSS Things", row=_row, cost=2)(_ordered)
    rule(*(f"Neg -> {form}" for form in _row.bans), how="banned", of=(_row.name,))(_spared)


@clause
def never_put(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    """As in "never put a larger block on a smaller one", "never put a cube on the table"."""
    elsewhere = any(p.relation != "on" for p in places)
    refuse(elsewhere, "I can mind only what must not be put on what; say it like that.")
    lower, one = tuple(t for p in places for t in p.things), talk.but(forbidding=True)
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
    kinds = LIFTABLE if phrase == _EVERY_SOLID else TANGIBLE  # "nothing" names no plate that "there" could be
    no_cube = (
        len(phrase) == 1 and phrase[0].det == Det("all") and phrase[0].noun.vague and phrase[0].noun.kind
    )
    if all(t.det.quantifier == "the" and t.noun.kind for t in phrase):  # "the red cube must not be there"
        talk = _emptied([s for t in phrase for s in named(t, talk)], places, talk)
    if no_cube and not (phrase[0].noun.colour or phrase[0].apart):
        talk = _emptied(named(phrase[0], talk, LIFTABLE), places, talk)
    for things, before in found_by(_every(phrase), talk.but(forbidding=True), kinds):
        there = [a[2] for a in talk.before if a[0] == "on" and phrase[0].elliptic and phrase[0].noun.colour]
        those = [t for p in places for t in p.things if there and not t.noun.matching]
        again = any(named(t, talk, ANYTHING) == there for t in those)  # "green on purple, no blue on purple"
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
        solid = place.into and any(talk.table.kind(b) in SOLIDS for _, b in pairs)
        refuse(solid or not pairs, f"I do not know what must not be '{place.text}'; name it.")
        yield after.rule("off" if on else "apart", *pairs)


_OWN = (Destination(relation="on", things=(Thing(Det(), Nominal(matching="own"), text="its own"),)),)
rule.means(must_not_be(_EVERY_SOLID, _OWN), "Neg -> UNMATCHED")


@clause
def kept_empty(phrase: Phrase, *, talk: Talk) -> Iterable[Talk]:
    told = f"I do not know what '{phrase[0].text}' is that stays empty; name it."
    refuse(_is_of_solids(phrase, talk), told)
    kept = must_not_be(_EVERY_SOLID, (Destination(relation="on", things=phrase),))(talk)
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
            there = {talk.table.kind(a[2]) for a in one.latest if a[0] == "on"}
            kind = max(there) if len(there) == 1 else ""  # "on the blue plate, not on the green one"
            barred = replace(place, things=tuple(t.like(kind) for t in place.things))
            it = others if len(things) == 1 == len(others) else {one.subject}  # "behind the bowl, not in it"
            ways = [b for a in ways for b in _barred(things, barred, a.but(subject=max(it)))]
        yield from ways


@clause
def apart(phrase: Phrase = _EVERY_SOLID, *, talk: Talk, how: str) -> Iterator[Talk]:
    """None of them touches another one, or, as in "no stacking", is on one."""
    kinds, pairs_of = (LIFTABLE, permutations) if how == "off" else (TANGIBLE, combinations)
    for things, after in found_by(_every(phrase), talk.but(forbidding=True), kinds):
        refuse(len(things) < 2, "I do not know what it must not touch.")
        yield after.rule(how, *pairs_of(things, 2))


# --- one after the other


def _then(talk: Talk, word: str) -> Talk:
    building = talk.tower.active or talk.bridge or bool(talk.stacked())
    return talk.but(stage=talk.stage + 1, marks=(*talk.marks, (talk.stage + 1, word, building)))


@clause
def first(meaning: Meaning, *, talk: Talk) -> Iterator[Talk]:
    """What comes first, and something has to follow."""
    refuse(talk.wants or talk.tower.slots or talk.tower.runs, "What comes first has to be said first.")
    yield from (_then(after, "first") for after in meaning(talk))


def only(meaning: Meaning) -> Meaning:
    return lambda talk: meaning(talk.but(latest=(), before=talk.latest or talk.before, forbidding=False))


def and_also(before: Meaning, meaning: Meaning) -> Meaning:
    return lambda talk: every(before(talk), lambda one: meaning(one.but(latest=(), before=one.latest)))


def and_then(before: Meaning, meaning: Meaning) -> Meaning:
    return and_also(before, lambda talk: meaning(_then(talk, "then")))


def _there_too(phrase: Phrase) -> Meaning:
    """As in "put the red cube on the plate, then the blue one": to the same place."""

    def more(things: Things, talk: Talk) -> Iterator[Talk]:
        there = {(a[0], *a[2:]) for a in talk.before}
        own = {(a[1],) for a in talk.before}.intersection(talk.ruled("matched"))  # "on its plate"
        same = not own and all(
            a[0] in GONE or (a[0] == "on" and talk.table.kind(a[1]) in SUPPORTS) for a in there
        )
        if talk.tower.active or talk.bridge or not same or len(there) != 1 or any(t.any for t in phrase):
            raise NotUnderstood(f"I do not know what to do with {' and '.join(t.text for t in phrase)}.")
        ((predicate, *place),) = there
        yield talk.claim(predicate, things, *place)

    return _unforbidden(doing(phrase, more))


def _go_on(phrase: Phrase) -> Meaning:
    touched, put_there = mention(phrase), _there_too(phrase)
    return lambda talk: (touched if talk.verb == "touch" or talk.tower.active else put_there)(talk)


def likewise(before: Meaning, phrase: Phrase) -> Meaning:
    """As in "the red cube goes in the tray, and so does the green one"."""

    def meaning(talk: Talk) -> Iterable[Talk]:
        try:
            yield from _go_on(phrase)(talk)
        except NotUnderstood as error:  # nor is anything else meant
            raise Impossible(str(error)) from error

    return and_also(before, meaning)


@clause
def at_last(before: Meaning, phrase: Phrase = (), *, talk: Talk) -> Iterator[Talk]:
    """As in "touch the red cube, and the blue one last", "put the red cube in the tray last"."""
    for one in before(talk):
        things = {a[1] for a in one.latest}
        if not phrase:
            building = one.tower.active or one.bridge or len(one.ruled("off")) > len(talk.ruled("off"))
            unclear = not building and (len(things) != 1 or not talk.wants)
            refuse(unclear, "I do not know what comes last; say it in its own clause.")
            yield one if building else _apart(things, one, first=False)  # "red on top at the end"
            continue
        for said, after in found_by(phrase, one, TANGIBLE):
            if {*said} <= things:
                yield _apart(said, after, first=False)
                break
        else:
            yield from _go_on(phrase)(_then(one, "last").but(latest=(), before=one.latest))


@clause
def at_first(*said: Meaning | Phrase, talk: Talk) -> Iterator[Talk]:
    """As in "put the cubes on the plates, start with the red one"."""
    phrase, meaning = (*said, lambda talk: [talk])[:2] if isinstance(said[0], tuple) else said[::-1]
    assert isinstance(phrase, tuple) and not isinstance(meaning, tuple)
    for one in meaning(talk):
        for things, after in found_by(phrase, one, TANGIBLE):
            yield _apart(things, after, first=True)


def _apart(things: Collection[str], talk: Talk, *, first: bool) -> Talk:
    """Those come before all others that something is asked of, or after."""
    about = [a[1] for a in talk.atoms]
    others = [s for s in dict.fromkeys(about) if s not in things]
    unclear = len({*about}) < len(about) or any(a[0] == "on" and a[2] == TABLE_SYMBOL for a in talk.atoms)
    if unclear or not {*things} <= {*about} or not others or talk.tower.active or talk.bridge or talk.stage:
        raise NotUnderstood("I do not know how to heed that order; say 'first … then …'.")
    return talk.rule("before", *((s, o) if first else (o, s) for s in things for o in others))


@clause
def instead(taken_back: Meaning, back: Spoken, meaning: Meaning, *, talk: Talk) -> Iterator[Talk]:
    """As in "put it on the red plate, no wait, put it on the blue one": of the same things, or places."""

    def about(after: Talk) -> tuple[set[str], set[str], Atom]:
        new = after.atoms[len(talk.wants) :]
        there = (new[0][0], *new[0][2:]) if len(new) == 1 else ()
        return {a[1] for a in new if a[0] != "touched"}, {slot for slot, _ in after.tower.slots}, there

    refusal = NotUnderstood(UNREAD["CORRECTION"].format(back.text.strip(" ,")))
    listed = any(a[0] == "touched" and n == talk.stage for n, a in talk.wants)  # "red and green, no, blue"
    for one in taken_back(talk):
        *things, there = about(one)
        if not any(things) and (listed or not there):
            raise refusal
        same = talk.but(subject=one.subject, group=one.group, mentioned=one.mentioned, last=one.last)
        for after in meaning(same.but(last_place=one.last_place)):
            *others, place = about(after)
            if (not any(things) or things != others) and (not there or there != place):
                raise refusal
            yield after


rule.means(Spoken(), "Back -> CORRECTION")


def elsewhere(phrase: Phrase, barred: Destinations, places: Destinations) -> Meaning:
    """As in "not in the red bowl but in another one"."""
    return and_also(must_not_be(phrase, barred), only(put(phrase, None, places)))


@clause
def kept_at(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    """As in "keep the red cube on the plate": it stays there, or is put there."""
    ways = [*state(phrase, places)(talk)]
    so = [way for way in ways if talk.table.facts.issuperset(way.atoms[len(talk.wants) :])]
    listed = len(phrase) > 1 and not so  # "leave red, blue on the blue plate"
    unclear = listed or 0 < len(so) < len(ways)
    refuse(unclear, "I do not know whether they are to stay so; say which one goes where.")
    yield from ways


@clause
def one_each(*, talk: Talk) -> Iterator[Talk]:
    """As in "one on each mat": exactly one, of whatever can be moved."""
    (kind, *others) = dict.fromkeys(talk.table.kind(s) for s in talk.table.of(*SUPPORTS)) or [""]
    refuse(others or not kind, "I do not know on each of what; say what goes on which.")
    one = (Thing(Det("any", 1), Nominal(kind="thing"), text="one"),)
    each = (Destination(relation="on", things=(Thing(Det("each"), Nominal(kind)),)),)
    more = len(talk.table.of(*SOLIDS)) > len(talk.table.of(kind))
    there = put(one, None, each)
    yield from (alone(there) if more else there)(talk)


def as_for(phrase: Phrase, meaning: Meaning) -> Meaning:
    """As in "the green one, put it on the plate"."""
    refuse(any(t.any and t.elliptic for t in phrase), f"I do not know what '{phrase[0].text}' is; name it.")
    kinds = tuple(SUPPORTS) if all(t.noun.kind in SUPPORTS for t in phrase) else LIFTABLE
    return doing(phrase, lambda things, talk: iter(meaning(talk.about(things))), kinds)


@clause
def then(meaning: Meaning, *, after: bool = False, talk: Talk) -> Iterable[Talk]:
    """As in "then the blue one", or "the blue one afterwards", where something has to come before."""
    begun = bool(talk.wants or talk.tower.active)
    refuse(after and not begun, "I do not know after what.")
    return meaning(_then(talk, "then") if begun else talk)


@clause
def along_with(phrase: Phrase, *, talk: Talk) -> Iterator[Talk]:
    yield from (towers.go_on(things, phrase, True, one) for things, one in about(phrase, talk))


@clause
def in_order(before: Meaning = lambda talk: [talk], phrase: Phrase = (), *, talk: Talk) -> Iterator[Talk]:
    for one in before(talk):
        row = one.listed and {a[0] for a in one.latest} == {"abreast"}  # it stands as it was named
        row = row or (bool(one.tower.runs) and not one.latest)
        if not phrase and (row or (one.stage and len(one.latest) == 1)):
            yield one  # "touch red, then green, in this order"
            continue
        refuse(phrase and (one.tower.active or one.verb == "stack"), towers.WHICH_WAY)
        named_singly = not any(t.several or t.any for t in phrase) if phrase else one.listed
        if not named_singly or len(one.latest) < 2:
            raise NotUnderstood("I do not know what to do in which order; name the things one by one.")
        if not phrase:
            yield _in_turn(tuple(dict.fromkeys(a[1] for a in one.latest)), one)
        for things, after in found_by(phrase, one, TANGIBLE) if phrase else ():
            yield _in_turn(things, after)


def _in_turn(things: Things, talk: Talk) -> Talk:
    """Order what was asked for last by what it is about."""
    if {a[1] for a in talk.latest} != set(things) or len(set(things)) < len(things):
        raise NotUnderstood("I do not know what to do in that order; name every thing once.")
    stages = {atom: talk.stage + things.index(atom[1]) for atom in talk.latest}
    wants = sorted(((stages.get(a, n), a) for n, a in talk.wants), key=lambda w: w[0])
    return talk.but(wants=tuple(wants), stage=talk.stage + len(things))


# --- what goes without saying


def _not_there_yet(phrase: Phrase, places: Destinations, added: bool = False) -> Phrase:
    """As in "put another cube on the plate": one that is not on it."""
    targets = tuple(p.things[0] for p in places if p.relation in ("on", "to") and len(p.things) == 1)
    targets = tuple(t for t in targets if not t.noun.matching)
    more = [t for t in phrase if targets and (t.noun.other or t.det.other or (added and t.any))]
    return _lying(phrase, targets, False, more.__contains__)


def _coming_from(phrase: Phrase, source: Destination | None) -> Phrase:
    """As in "a cube from the table": where it comes from says which one, unless that is clear already."""
    if source is None:
        return phrase
    told = f"{'off' if 'away' in source.text else 'on'} {source.things[0].text}"  # "away from the bowl"
    bare = [t for t in phrase if not (t.pronoun or t.noun.colour or t.noun.tests)]
    return _lying(phrase, source.things, True, bare.__contains__, told)


def _lying(phrase: Phrase, on: Phrase, there: bool, which: Callable[[Thing], bool], told: str = "") -> Phrase:
    """Some of them narrowed to what lies there, or to what does not."""

    def test(found: list[str], talk: Talk, _: Nominal) -> list[str]:
        below = {n for t in on for n in named(t, talk, ANYTHING)}
        left = [s for s in found if (talk.table.support_of(s) in below) == there]
        solid = told.startswith("off") or {talk.table.kind(s) for s in below} <= {*SOLIDS}
        refuse(there and solid and not left, f"Nothing like that lies on {on[0].text}; say where to put it.")
        return left

    return tuple(replace(t, noun=Quality(test, told)(t.noun)) if which(t) else t for t in phrase)


rule.read(FORMS["clauses"], globals())
_VERBS = {"PUT", "ADD", "TAKE", "TOUCH", "LIFT", "PICK", "STACK", "BUILD", "THROW", "TOSS", "REMOVE", "SWAP",
          "SORT", "LINE_UP", "CLEAR", "EMPTY", "FILL", "DISCARD", "TURN"}  # fmt: skip
rule.rules["Command"] += [
    replace(one, left="Command") for one in rule.rules["Clause"] if one.right[0] in _VERBS
]
"""Clauses that begin with their verb: one may follow another without a pause."""
