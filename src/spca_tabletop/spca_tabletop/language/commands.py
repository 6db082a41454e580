"""Commands: to touch, hold, put, pack, clear, sort, swap."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from spca_core.kinds import CONTAINERS, KINDS, SOLIDS, SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import Relation, Values
from spca_tabletop.language.bans import is_of_solids, sparing
from spca_tabletop.language.clauses import EVERYTHING, about, allowed, and_also, coming_from, doing, not_there
from spca_tabletop.language.goal import GONE, NO_PLACE, ONE_AIM
from spca_tabletop.language.lexicon import AXES, LIFTABLE, NO_DIRECTION, PUT_OR_THERE, ROWS, TANGIBLE
from spca_tabletop.language.phrases import meant
from spca_tabletop.language.places import Destination, Destinations, placed, related, spot_of
from spca_tabletop.language.talk import Atom, Contradiction, Meaning, Talk, Things, clause, refuse, stands
from spca_tabletop.language.things import Det, Nominal, Phrase, Quality, Thing, all_of, found_by, named, rule

_TABLE = Destination(relation="on", things=(Thing(Det("the"), Nominal(kind="table")),))
_IT = Thing(pronoun="it", text="it")
Given = tuple[Phrase, Destinations | Destination]


def touch(phrase: Phrase) -> Meaning:
    def then(things: Things, talk: Talk) -> Talk:
        refuse(any(talk.table.kind(t) not in TANGIBLE for t in things), "I can touch cubes and plates only.")
        return talk.but(verb="touch").claim("touched", things)

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
        refuse(is_of_solids(there, talk), bad)  # "it looks empty, give it a cube"
        return given(talk)

    return meaning


def place_once(things: Collection[str], talk: Talk) -> None:
    """Refuse to take away again what was put somewhere."""
    refuse(any(a[1] in things and a[0] != "touched" for a in talk.atoms), ONE_AIM)


def hold(things: Things, talk: Talk) -> Talk:
    place_once(things, talk)
    return talk.but(held=(*talk.held, *((t, talk.stage) for t in things if t not in dict(talk.held))))


def lift(phrase: Phrase = (_IT,), source: Destination | None = None) -> Meaning:
    several = source and (len(phrase) > 1 or phrase[0].several)  # of which none is "it"
    held = doing(phrase, hold, source=source)
    return lambda talk: (after.but(subject="") for after in held(talk)) if several else held(talk)


@clause
def held_on(phrase: Phrase | None, *, talk: Talk) -> Iterator[Talk]:
    for things, after in found_by(phrase or (), talk, LIFTABLE):
        let_go = not talk.held or not {*things} <= {*dict(talk.held)}
        refuse(let_go, "I do not know what I am not to let go of; say what to hold.")
        yield after


@clause
def lift_to(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    refuse(any(p.slot == "over" for p in places), "I can hold a thing, but not over a certain place.")
    refuse(any(p.relation == "on" for p in places), PUT_OR_THERE)
    yield from put(phrase, None, places)(talk)


def take_down(phrase: Phrase, source: Destination) -> Meaning:
    one = len(phrase) == 1 and not phrase[0].several
    refuse(one or any(t.noun.kind == "table" for t in source.things), NO_PLACE)
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
    phrase = coming_from(not_there(phrase, places, added), source)
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
def put_such(said: tuple[Phrase, Destinations], one: Quality, *, bare: bool, talk: Talk) -> Iterator[Talk]:
    """As in "put a cube on the mat that is not red": of the cube, where that tells no mat from another."""
    phrase, (*before, place) = said
    refuse(not place.things, f"I do not know what is '{one.told}'; say it of that.")
    there, those = (replace(p[-1], noun=one(p[-1].noun)) for p in (place.things, phrase))
    near, far = all_of(there, talk), all_of(those, talk)
    idle = (those.noun.kind == "thing" or one.told[:2] == "no") and near == all_of(place.things[-1], talk)
    if far not in ([], all_of(phrase[-1], talk)) and (idle or not near):
        phrase = (*phrase[:-1], those)
    else:
        place = replace(place, things=(*place.things[:-1], there))
    given = put(phrase, None, (*before, place))
    yield from (allowed(given) if bare else given)(talk)


def put_but(said: Given, others: Phrase, *, bare: bool = False) -> Meaning:
    phrase, where = said
    nearest = where[-1].things[-1:] if isinstance(where, tuple) else ()
    some = len(phrase) == 1 and (phrase[0].several or phrase[0].any)
    vague = not some or any(t.several or t.any for t in nearest)
    refuse(vague, f"I do not know what '{others[0].text}' is left out of.")
    rest = (replace(phrase[0], apart=(*phrase[0].apart, *others)),)
    given = put(rest, None, where) if isinstance(where, tuple) else put_away(rest, where)
    return allowed(given) if bare else given


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
    refuse(talk.held, PUT_OR_THERE)
    if all(t.noun.kind in SUPPORTS for t in others):  # "… in the bowl, the plate stays"
        yield from and_also(put(phrase, None, places), sparing(others, how="untouched"))(talk)
        return
    same = tuple(t.like(phrase[0].noun.kind) for t in others)
    spared = sparing(same, how="untouched", solid=True)
    there = []
    with suppress(NotUnderstood, Impossible, Contradiction):  # what is there already may be left so
        there = [one for one in and_also(put(phrase, None, places), spared)(talk) if not any(
            (a[1],) in one.ruled("untouched") and a not in one.table.facts for a in one.atoms)]  # fmt: skip
    yield from there or and_also(put_but(said, same), spared)(talk)


def pack(phrase: Phrase) -> Meaning:
    """Into what there is one of to pack things into."""
    if all(t.noun.kind in CONTAINERS for t in phrase):  # "pack the tray"
        return contain(phrase, EVERYTHING)

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
    several = source and not from_table and (len(phrase) > 1 or phrase[0].several)
    refuse(from_table and source and len(source.things) > 1, "Off what is it to go? Name one thing only.")
    refuse(from_table and source and "away" in source.text, "Off the table, or elsewhere on it? Say which.")

    def then(things: Things, talk: Talk) -> Talk:
        if source is None:
            place_once(things, talk)
            refuse({*things} & {*talk.tower.members}, f"'{phrase[0].text}' is of the tower; say where to.")
            return talk.but(placeless=(*talk.placeless, *((t, len(talk.wants)) for t in things)))
        if from_table:
            return talk.claim(GONE[0], things)
        refuse(talk.held, NO_PLACE)  # "take red off its mat and blue off its own"
        off = {talk.table.support_of(t) for t in things} - {*things}
        # unless another place is said for it: "off its mat, and put it in the tray"
        down = talk.rule("unstacked", *((t,) for t in things)).claim("on", things, TABLE_SYMBOL)
        # "everything off the mat; put red on it"; of a single thing that is unclear
        thing = things[0] if len(things) == 1 else ""
        return down.but(cleared=(thing, off.pop() if several and len(off) == 1 else ""))

    gone = doing(phrase, then, source=None if from_table else source)
    return lambda talk: (a.but(subject=a.cleared[1]) for a in gone(talk)) if several else gone(talk)


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
        put = {a[1] for a in talk.atoms if a[0] == "on" and a[2] in supports}
        place_once({*supports * removed, *put}, talk)
        on = {a[1] for a in before.table.facts if a[0] == "on" and a[2] in supports}
        things = tuple(s for s in talk.table.of(*SOLIDS) if s in on)
        if removed and all(talk.table.support_of(s) not in ("", TABLE_SYMBOL) for s in supports):
            things = supports  # "take off the blocks that are on the red one"
        if not things:
            raise Impossible("Nothing lies on it; if it is to go itself, say where to.")
        free = () if places else tuple((s,) for s in things)
        for after in placed(things, places or (_TABLE,), (), before.rule("unstacked", *free)):
            mentioned = tuple(dict.fromkeys((*after.mentioned, *things)))
            off = things[0] if len(things) == 1 else "", "" if things == supports else supports[-1]
            it = things if removed else supports
            yield after.about(things).but(subject=it[-1], cleared=off, mentioned=mentioned)


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
    plain = tuple(replace(t, noun=replace(t.noun, matching="")) for t in phrase or EVERYTHING)
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


for _row in ROWS.values():
    rule(*(f"Clause -> {form}" for form in _row.orders), row=_row)(_ordered)
    if _row.rests == GROUND_SYMBOL:
        rule("Clause -> THROW|TOSS Things OFF", row=_row, cost=-1, alone=True)(_ordered)
        rule("Clause -> TOSS Things", row=_row, cost=2)(_ordered)
