"""Destinations things are to be: on, in, next to, across, at the edge, in a tower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from spca_core.kinds import CONTAINERS, SOLIDS, SUPPORTS
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import Place, Relation, Values, place_of
from spca_tabletop.language import towers
from spca_tabletop.language.chart import Spoken
from spca_tabletop.language.goal import GONE, SIDE_TOUCHING
from spca_tabletop.language.lexicon import AHEAD, ANYTHING, AXES, LIFTABLE, NO_DIRECTION, ROWS
from spca_tabletop.language.phrases import how_many
from spca_tabletop.language.talk import CLOSE, Contradiction, Talk, Things, combine, every, refuse, stands
from spca_tabletop.language.things import Det, Nominal, Phrase, Thing, found_by, named, rule, ways

_TO_OTHERS = {"next_to": (*LIFTABLE, *CONTAINERS), "under": LIFTABLE, "across": LIFTABLE}
_NEXT = (10,)  # millimetres between what is to be next to each other, on a certain side
_TOUCHING = (0,)
_AROUND = 300  # millimetres by which a table may go on beyond what is on it
_OF_ALL = ("abreast", "on_each_other")
_WHICH_WHERE = "I do not know which of them should go where; say it for each."


@dataclass(frozen=True)
class Destination(Spoken):
    """A place: a relation, and the things that it is to."""

    relation: str = ""
    things: Phrase = ()
    slot: str = ""
    respectively: bool = False
    values: Values = ()
    """Numbers of a relation that has some."""
    into: bool = False
    """Whether it cannot be on a solid."""


Destinations = tuple[Destination, ...]


def on_one_or_other(one: Phrase, other: Thing) -> Destination:
    refuse(len(one) != 1, _WHICH_WHERE)
    ways = (one[0], other.like(one[0].noun.kind))
    return Destination(relation="on", things=(Thing(Det("any", 1), either=ways),))


def on_such(said: tuple[str, bool], *, slot: str = "", **told: Any) -> Destination:
    """As in "on the same mat", "on different plates", "on a mat of its own"."""
    thing = Thing(how_many(**told), Nominal(*said), text=said[0])
    return Destination(relation="on", things=(thing,), slot=slot)


def to(things: Phrase, **told: Any) -> Destination:
    for new, old in ((t.noun.kind, t.anew.noun.kind) for t in things if t.anew):
        unclear = new and old and new != old and not {new, old} <= {*SUPPORTS}
        refuse(unclear, f"I do not know what '{things[0].text}' is in place of; say the whole task anew.")
    return Destination(things=things, **told)


def where_it_was(said: tuple[str, bool], things: Phrase) -> Destination:
    """As in "on the mat where the blue cube was"."""
    return Destination(relation="where", things=things, slot=said[0])


def rather(taken_back: Destination, place: Destination) -> Destination:
    refuse(taken_back == place, f"'{place.text}' was said already.")
    # "on the red plate, no, on the green one"
    kind = next((t.noun.kind for t in taken_back.things if taken_back.relation == place.relation), "")
    return replace(place, things=tuple(t.like(kind) for t in place.things), text="")


def beside_at(one: Destination, other: Destination) -> Destination:
    """As in "beside the bowl, left of it", "behind the bowl, close to it"."""
    near, side = sorted((one, other), key=lambda place: place.relation != "next_to")
    to_it = len(other.things) == 1 and other.things[0].pronoun == "it"
    wrong = near.relation != "next_to" or side.relation not in AHEAD.values() or side.values
    refuse(wrong or not to_it, f"I do not know what is to be '{other.text}'; name it.")
    return replace(side, things=one.things, values=_TOUCHING if "touching" in near.text else CLOSE, text="")


def on_its_side(*said: Any) -> Destination:
    """As in "on its left", "next to the blue cube, on its left"."""
    beside = [one for one in said if isinstance(one, Thing)]
    spacing = next((one for one in said if isinstance(one, tuple)), _NEXT * len(beside))
    whose, side = (one for one in said if isinstance(one, str))
    row = ROWS.get(f"{side.removesuffix('most')}_of")
    refuse(whose != "own" or row is None, NO_DIRECTION)
    it = (Thing(pronoun="it", text="it"),)
    return Destination(relation=row.name if row else "", things=(*beside,) or it, values=spacing)


def one_on_each(place: Destination) -> Destination:
    """As in "on the plates, one per plate"."""
    if place.relation not in ("on", "to") or len(place.things) != 1:
        raise NotUnderstood(f"I do not know one on each of what '{place.text}' is.")
    there = place.things[0]
    told = there.noun.matching == "own" or there.det.quantifier in ("each", "all")
    return replace(place, text="", slot="each" if told else "apart")


rule.means(Destination(relation="on_each_other"), "Place -> ON EACH_OTHER", "Place -> ONE_ON_OTHER")
rule.means(Destination(relation="abreast"), "Place -> SIDE_BY_SIDE")
rule.means(Destination(relation="abreast", slot="row"), "Place -> IN_A_ROW")
rule.means(Destination(relation="slot", slot="top"), "Place -> TOP")
rule.means(Destination(relation="slot", slot="bottom"), "Place -> BOTTOM")
rule.means(Destination(relation="slot", slot="middle"), "Place -> IN|AT|ON THE? MIDDLE", "Place -> MIDDLE")
_TABLE = Thing(Det("the"), Nominal(kind="table"))
rule.means(Destination(relation="from", things=(_TABLE,)), "Source -> OVERBOARD")


def for_each(thing: Thing) -> Destination:
    refuse(thing.noun.matching, f"I do not know how many each '{thing.text}' is for; say it in another way.")
    return Destination(relation="on", things=(replace(thing, det=Det("each")),))


def level(number: int, upwards: bool) -> Destination:
    """As in "second from the bottom" of a tower."""
    return Destination(relation="slot", slot=str(number if upwards else -number))


_THERE = Destination(relation="on", things=(Thing(pronoun="there", text="there"),))
rule.means(_THERE, "Place -> ON|IN? THERE", "Place -> ON|IN IT TOO")


def _in(*said: Thing | Phrase | Values, row: Relation) -> Destination:
    parts = [part for one in said for part in ((one,) if isinstance(one, Thing) else one)]
    values = tuple(part for part in parts if isinstance(part, int))
    things = [part for part in parts if isinstance(part, Thing)]
    bare = (t.noun for t in things if t.elliptic and t.det == Det() and not (t.noun.one or t.noun.colour))
    refuse(any({test.rank for test in one.tests} == {3} for one in bare), NO_DIRECTION)  # "in front"
    named = next((t.noun.kind for t in reversed(things) if t.noun.kind), "")  # "the red and the blue cube"
    phrase = tuple(thing.like(named) for thing in things)
    return Destination(relation=row.put or row.name, things=phrase, values=values, into=bool(row.put))


for _row in ROWS.values():
    rule(*(f"Place -> {form}" for form in _row.forms), row=_row, cost=int(_row.gives_way))(_in)


def spot_of(thing: str, talk: Talk) -> Values:
    """Where a thing is seen to be, millimetres in x and y. Raises NotUnderstood for one in the gripper."""
    held = f"I hold the {words_of(thing)}; say where it is to go, such as: put it on the table."
    refuse(("held", thing) in talk.table.facts, held)
    return tuple(round(1000 * v) for v in talk.table.places[thing][:2])


def to_the_side(*said: Any) -> Destination:
    """To that side, so far from where it is."""
    (side,) = (one for one in said if isinstance(one, str))
    return Destination(relation=side, values=next((one for one in said if isinstance(one, tuple)), ()))


def and_table(*said: Any) -> Destinations:
    place = next(one for one in said if isinstance(one, Destination))
    vague = place.relation == "on" and any(t.elliptic and not t.noun.colour for t in place.things)
    if ("table", False) not in said or vague:  # "the cube on the left onto the table" is of one place
        raise NotUnderstood("Two places are one too many; say it for each thing.")
    table = Destination(relation="on", things=(_TABLE,))
    return tuple(one if isinstance(one, Destination) else table for one in said)


def placed(things: Things, places: Destinations, said: Phrase, talk: Talk) -> Iterator[Talk]:
    """Every way to put things there. "Red on blue on green": the second "on" is of what the first one named.

    `said` are the phrases that named the things, where there were any.
    """
    for item in (*said, *(t for p in places for t in p.things)):
        tests = (t for t in item.noun.tests if not t.placing or (t.rank == 3 and item in said))
        noun = replace(item.noun, tests=tuple(tests))
        alike = named(replace(item, det=Det("all"), noun=noun), talk, ANYTHING) if noun != item.noun else ()
        refuse(len(alike) == 1, f"'{item.text}': say whether it is there, or is to be.")
    for out in (t for p in places for there in p.things[-1:] for t in there.apart if there.several):
        # "the cubes on the plates except the red one", "a cube on every plate, but not the red one"
        if out.elliptic and any(t.several or (t.any and "not " in places[-1].text) for t in said):
            raise Impossible(f"I do not know what '{out.text}' is left out of; name it with its noun.")
    there = [p for p in places if p.relation != "on_each_other"]
    if len(places) == 2 and len(there) == 1 and there[0].relation in ("on", "to"):
        (place,) = there  # "on the plate, one on the other"
        for base, after in found_by(place.things, talk, ANYTHING):
            refuse(len(base) != 1 or talk.table.kind(base[0]) in SOLIDS, _WHICH_WHERE)
            one = towers.of_these(things, said, after)
            yield one.but(tower=replace(one.tower, base=base[0]))
        return
    ways: list[tuple[Things, Talk]] = [(things, talk)]
    for place, more in pairwise(places):  # "on B and C on D" is of two things
        refuse(any(t.anew for t in place.things), f"I do not know what '{more.text}' is in place of.")
        several = len(place.things) > 1 or any(t.either for t in place.things)
        several = several and place.relation in ("on", "to", "next_to")
        if several and more.relation not in _OF_ALL and [t.noun.kind for t in more.things] != ["table"]:
            raise NotUnderstood(_WHICH_WHERE)
    places = sorted(places, key=lambda p: p.relation == "abreast")  # type: ignore[assignment]
    level = any(t.noun.kind in SUPPORTS for p in places for t in p.things if p.relation == "on")
    chain = {p.relation for p in places} == {"next_to"}  # "red beside blue beside green"
    for number, place in enumerate(places):
        first = said if number == 0 else ()
        ways = list(every(ways, lambda way, p=place, f=first: _placed(  # type: ignore[misc]
            way[0], p, way[1].pairs[-1][1:] if chain and way[1].pairs != talk.pairs else things, f, way[1],
            level)))  # fmt: skip
    yield from (after for _, after in ways)


def _placed(
    resting: Things, place: Destination, things: Things, said: Phrase, talk: Talk, level: bool
) -> Iterator[tuple[Things, Talk]]:
    relation = place.relation
    if relation in ("on", "to"):
        there = _beside_it_too(resting, place, talk)
        yield from [(resting, there)] if there else _on(resting, place, things, said, talk)
        return
    if relation == "slot":
        yield things, towers.at_slot(things, place.slot, talk, ordered=len(said) > 1)
    elif relation == "on_each_other":
        yield things, towers.of_these(things, said, talk)
    elif relation == "where":
        yield from ((things, after) for after in _in_place_of(things, place, talk))
    elif relation == "abreast":
        yield things, _abreast(things, talk, level, place.slot == "row")
    elif place.values and relation not in ROWS:
        axis, sign = AXES[relation]
        spots = {t: [*spot_of(t, talk)] for t in things}
        for spot in spots.values():
            spot[axis] -= sign * place.values[0]
            along = [1000 * p[axis] for p in talk.table.places.values()]
            if not min(along) - _AROUND < spot[axis] < max(along) + _AROUND:
                raise Impossible(f"'{place.text}' is too far: I see no table there.")
        yield things, talk.ask([stands(t, "at", (), tuple(spot)) for t, spot in spots.items()])
    elif relation in AXES and any(a[0] == "abreast" for a in talk.atoms) and len(things) == 1:
        yield things, talk.but(ends=(*talk.ends, (relation, things[0])))
    elif relation not in (*ROWS, *_TO_OTHERS):
        raise NotUnderstood(NO_DIRECTION)
    else:
        yield from ((things, after) for after in _by_others(things, place, talk))


def _by_others(things: Things, place: Destination, talk: Talk) -> Iterator[Talk]:
    if len(things) > 1 and any(t.noun.matching for t in place.things):  # "each beside its own plate"
        for one in _by_others(things[:1], place, talk):
            yield from _by_others(things[1:], place, one)
        return
    relation, row, subject = place.relation, ROWS.get(place.relation), things[0] if len(things) == 1 else ""
    kinds = _TO_OTHERS[relation] if row is None else (*row.of, "table") if row.of else ANYTHING
    beside = relation == "next_to" or (row is not None and row.gives_way)
    if any(t.pronoun == "it" for t in place.things):  # is that the row, or what it is put on?
        below = any(a[:2] == ("on", talk.subject) and talk.table.kind(a[2]) in SUPPORTS for a in talk.atoms)
        said = [a[0] for a in talk.before]
        in_row = {*said} == {"abreast"} or said[:2] == ["at", "at"] or place.text.endswith("end")
        refuse(below if beside else in_row, f"I do not know what '{place.text}' is of; name it.")
    talk = _beside_what(place, row, talk) if row and row.ahead else talk
    them = relation == "next_to" and any(t.pronoun == "them" for t in place.things)
    if them and {*talk.group} <= {*things}:
        above = {a[1] for a in talk.stacked()}  # what stands beside a tower stands beside its lowest
        there = [s for s in talk.mentioned if s not in {*things, *above} and talk.table.kind(s) in SOLIDS]
        refuse(not there, f"I do not know what '{place.text}' is beside; name it.")
        talk = talk.but(group=tuple(there))
    like = talk.table.kind(subject) if beside or (row and row.ahead) else ""
    # "the red cube beside the blue one"
    alike = [t.like(like) if t.noun.one and t.noun.colour else t for t in place.things]
    for targets, after in found_by(alike, talk, kinds, subject):
        asked = related(things, row, targets, place.values, after) if row else None
        yield asked or _relative(things, relation, targets, after)


def _in_place_of(things: Things, place: Destination, talk: Talk) -> Iterator[Talk]:
    """As in "red where blue is": that has to leave, to where is for another clause to say."""
    for others, after in found_by(place.things, talk, LIFTABLE):
        refuse(len(others) != 1 or len(things) != 1, _WHICH_WHERE)
        on = talk.table.support_of(others[0])
        elsewhere = place.slot not in ("", talk.table.kind(on))  # "on the mat where …" of what is in a bowl
        refuse(not on or others == things or elsewhere, f"I do not know where '{place.things[0].text}' is.")
        spot = stands(things[0], "at", (), spot_of(others[0], talk))
        gone = after.but(placeless=(*after.placeless, (others[0], 0)))
        yield gone.ask([spot if on == TABLE_SYMBOL else ("on", things[0], on)])


def _beside_what(place: Destination, row: Relation, talk: Talk) -> Talk:
    """As in "green goes right of the blue cube, and red left of it": of the blue one, too."""
    last = talk.atoms[-1] if talk.wants else ("",)
    other = place_of(last[2]) if last[0] == "at" and last[1] == talk.subject else None
    ahead = other.relation.ahead if other and len(other.things) == 1 else None
    if ahead is None or row.ahead is None or all(t.pronoun != "it" for t in place.things):
        return talk
    here, there = (1.0, 2.0, 0.0), (0.0, 0.0, 0.0)  # a way that tells all sides apart
    if ahead(here, there) == -row.ahead(here, there) and other:
        return talk.but(subject=other.things[0])
    if ahead(here, there) != row.ahead(here, there):
        raise Impossible(f"I do not know what '{place.text}' is of; name it.")
    return talk


def related(things: Things, row: Relation, others: Things, values: Values, talk: Talk) -> Talk:
    """Ask for a relation of things on the table; what its numbers depend on is fixed by what is seen now."""
    if row.of and any(talk.table.kind(other) not in row.of for other in others):
        where = row.told([f"a {kind}" for kind in row.of], values) if row.told else row.name
        raise NotUnderstood(f"Things can be {where} only.")
    refuse(TABLE_SYMBOL in others and "table" not in row.of, NO_DIRECTION)
    refuse(values == _TOUCHING, SIDE_TOUCHING)
    others = tuple(other for other in others if other != TABLE_SYMBOL)
    refuse({*things} & {*others}, "A thing cannot be related to itself; name another one.")
    if len(others) not in row.things:
        raise NotUnderstood(f"I do not know what '{row.name.replace('_', ' ')}' is about; name each thing.")
    seen = {thing.id: thing for thing in talk.table.scene.things}
    for thing in things:
        refuse(thing not in seen, f"I do not see where the {words_of(thing)} is.")
        place = Place(row, others, row.fixed(seen[thing], values)).symbol
        talk = talk.ask([(row.name, thing, *others) if row.skill else ("at", thing, place)])
    if len(things) == 1 == len(others) and talk.table.kind(others[0]) in SUPPORTS:
        talk = talk.but(cleared=(*things, *others))
    return talk.but(group=(*things, *others)) if len(things) == len(others) == 1 else talk


def _relative(things: Things, relation: str, targets: Things, talk: Talk) -> Talk:
    if relation == "next_to":
        for target in targets:
            kind = talk.table.kind(target)
            refuse(kind not in (*SOLIDS, *CONTAINERS), f"I cannot put things next to the {words_of(target)}.")
            talk = talk.claim("next_to", things, target)
            if kind in SOLIDS:
                talk = talk.but(pairs=(*talk.pairs, (things[-1], target)), group=(things[-1], target))
        return talk
    if relation == "under":
        refuse(TABLE_SYMBOL in targets, "I can put nothing under the table.")
        refuse(len(things) != 1 or len(targets) != 1, "Only one thing can be right under another; name it.")
        return talk.claim("on", targets, things[0]).put_down(things)
    return towers.across(things, targets, talk)


def _abreast(things: Things, talk: Talk, level: bool, row: bool) -> Talk:
    refuse(len(things) < 2, "I do not know what should stand side by side; name them all in one list.")
    if any(a[0] == "at" and a[1] in things for a in talk.latest):
        raise Impossible("I can make a row where there is room for it only, not at a certain place.")
    if level:
        on = {talk.table.kind(a[2]) for a in talk.atoms if a[0] == "on" and a[1] in things}
        refuse(row or not on, "I can make a row on the table only.")
        if on.intersection(CONTAINERS):
            raise Impossible("I can put things next to each other on the table or on a plate only.")
        return talk  # each on the plate itself, none on top of another
    for pair in pairwise(things):
        talk = talk.ask([("abreast", *pair)])
        talk = talk.but(pairs=(*talk.pairs, pair), group=pair)
    return talk.put_down(things)


def _beside_it_too(things: Things, place: Destination, talk: Talk) -> Talk | None:
    """As in "red next to the tray, and blue there, too"; "on it" may be on either."""
    last = talk.atoms[-1] if talk.wants else ("",)
    near, said = place_of(last[-1]), place.things[0].pronoun
    vague = said == "it" and not place.into and last[1:2] == (talk.subject,) == talk.cleared[:1]
    if vague and near and near.relation.ahead:  # "red left of the plate, then blue on top of it"
        raise Impossible(f"I do not know on which of the two '{place.text}' is; name it.")
    alike = last[0] == "next_to" or (near and not near.values and not near.relation.ahead)
    return talk.claim(last[0], things, last[-1]) if alike and said == "there" else None


def _on(
    resting: Things, place: Destination, things: Things, said: Phrase, talk: Talk
) -> Iterator[tuple[Things, Talk]]:
    phrase = place.things
    if any(t.noun.matching for t in phrase):
        yield from ((resting, after) for after in _on_matching(resting, phrase, talk))
        return
    if there := _same_as_before(resting, place, talk):
        yield resting, _together(resting, there, False, place, talk)
        return
    if place.into and talk.table.kind(talk.subject) in SOLIDS and phrase[0].pronoun == "it":
        phrase = (replace(_THERE.things[0], text="it"), *phrase[1:])  # what it is in
    apart = place.slot == "apart"
    if apart or (place.slot != "same" and _distributed(resting, said, phrase, talk)):
        yield from ((resting, after) for after in _one_for_each(resting, phrase[0], talk, apart))
        return
    hues = [t.noun.colour for t in (*said, *phrase)]  # "red ones to red"
    alike = len(hues) == 2 and hues[0] == hues[1] != "" and said[0].several and phrase[0].elliptic
    kinds = tuple(SUPPORTS) if place.into or alike else ANYTHING
    for targets, before in found_by(phrase, talk, kinds, resting[0] if len(resting) == 1 else ""):
        too = [("on", s, targets[0]) for other in phrase[0].shared for s in named(other, before, LIFTABLE)]
        after = before.ask([atom for atom in too if atom not in before.atoms])
        told = "".join(t.text for t in said[:1] if phrase[0].pronoun == "there" and not t.pronoun)
        again = told and ("on", resting[0], targets[0]) in talk.atoms
        refuse(again, f"I do not know whether '{told}' is to go there, too; say it of each.")
        same, noun = targets == resting, phrase[0].noun
        flat = noun.colour and phrase[0].elliptic and not noun.one and not place.into
        if flat and (same or talk.ruled("flat")):  # "red on red", and, like that, "green on blue"
            vague = talk.stacked() or talk.verb == "stack"
            refuse(vague, f"Is '{phrase[0].text}' a plate or a cube? Say it with its noun.")
            yield from _on(resting, replace(place, into=True), things, said, talk.rule("flat", ()))
            return
        if same and noun.vague and not noun.colour:
            raise NotUnderstood(f"The {words_of(targets[0])} cannot be on top of itself.")
        of = [talk.table.kind(t) for t in targets]
        solid = [kind in SOLIDS for kind in of]
        if place.into and any(solid):
            why = ("Nothing goes into the {}; say 'on'." if all(solid) else
                   "I do not know what to do with the {}; say it in its own sentence.")  # fmt: skip
            raise NotUnderstood(why.format(words_of(targets[solid.index(True)])))
        alone = all(solid) and place.relation == "to"
        counts = {len(resting), len(said), len(phrase), len(targets)}
        one_to_one = len(counts) == 1 and not any(t.several for t in phrase)
        pairwise_said = place.respectively and len(resting) == len(targets)
        if place.respectively and not (one_to_one or pairwise_said):
            raise NotUnderstood("There are not as many places as things to go there; say it for each.")
        each = {t.det.quantifier for t in phrase} <= {"each", "all" if not all(solid) else "each"}
        if len(targets) > 1 and each and set(of) != {"ground"} and not alone:
            yield from ((resting, way) for way in _some_on_each(resting, targets, said, after))
        elif all(solid) and len(resting) == len(targets) == 1 and place.relation != "to":
            yield targets, after.claim("on", resting, targets[0])
        else:
            next_things = resting if len(targets) > 1 or alone else things
            yield next_things, _together(resting, targets, one_to_one or pairwise_said, place, after)


def _same_as_before(resting: Things, place: Destination, talk: Talk) -> Things:
    """As in "red in the blue bowl, and green in the same bowl": as before, not only as each other."""
    if place.slot != "same" or not (len(resting) == 1 or {*talk.mentioned} - {*resting}):
        return ()
    options = named(place.things[0], talk, ANYTHING)
    there = tuple(s for s in options if s in talk.mentioned and s not in resting)
    vague = len(there) > 1 or (not there and len(resting) == 1)
    refuse(vague, f"I do not know which one is meant '{place.text}'; name it.")
    return there


def _together(resting: Things, targets: Things, paired: bool, place: Destination, talk: Talk) -> Talk:
    solid = all(talk.table.kind(t) in SOLIDS for t in targets)
    if {talk.table.kind(t) for t in targets} == {"ground"}:
        return talk.claim(GONE[0], resting)
    if solid and place.relation == "to":  # on it, or next to it? that is for what follows to say
        pending = tuple((thing, len(talk.atoms)) for thing in resting)
        return talk.but(placeless=(*talk.placeless, *pending), group=(*resting, *targets))
    if len(targets) == 1:
        return talk.claim("on", resting, targets[0])
    if paired:
        return talk.ask([("on", *pair) for pair in zip(resting, targets, strict=True)])
    if solid and len(resting) == 1 and len(set(targets)) == len(targets):
        return towers.across(resting, targets, talk)
    raise NotUnderstood(_WHICH_WHERE)


def _distributed(resting: Things, said: Phrase, phrase: Phrase, talk: Talk) -> bool:
    """Return whether each has its own: "each on a plate", "cubes on the plates", "cubes on a mat"."""
    target, kind = phrase[0], phrase[0].noun.kind
    if len(phrase) != 1 or target.pronoun:
        return False
    different = target.det.other and target.noun.plural  # "on different plates"
    refuse(different and len(resting) < 2, _WHICH_WHERE)
    if different or len(resting) < 2:
        return different
    alone = kind in SUPPORTS and all(talk.table.room(s, resting) < len(resting) for s in talk.table.of(kind))
    split = alone and not target.text.startswith("one ")  # "both cubes on one mat" are not
    each = bool(said) and all(t.det.quantifier == "each" or (split and t.several) for t in said)
    one = (target.det.quantifier == "any" and target.det.number == 1) or target.either
    several = target.noun.plural and target.det.quantifier in ("", "the") and not target.det.number
    all_said = bool(said) and all(t.several for t in said)
    return bool(each and one) or (several and all_said and kind in SUPPORTS)


def _one_for_each(things: Things, target: Thing, talk: Talk, apart: bool) -> Iterator[Talk]:
    """Each thing on one of its own; on a different one for each where "another" or "one on each" is said."""
    other = target.noun.other or target.det.other
    plain = replace(target, noun=replace(target.noun, other=False), det=replace(target.det, other=False))
    options, table = named(plain, talk, ANYTHING), talk.table
    if target.noun.other:  # "keep the green bowl free, and put the cubes into the other bowls"
        options = [o for o in options if o not in talk.mentioned] or options
    if not (other or apart) and sum(table.room(o, things) for o in options) < len(things):
        yield talk.claim("on", things, options[0])  # whose room the goal tells
        return

    # Where one does not take them all, they are spread evenly.
    alone = apart or target.det.other or (other and len(things) <= len(options))
    most = len(things) if table.room(options[0], things) == len(things) else -(-len(things) // len(options))

    def put(rest: Things, before: Talk, used: Things) -> Iterator[Talk]:
        if not rest:
            yield before
            return
        for option in options:
            there = [*rest[:1], *(t for t, place in zip(things, used, strict=False) if place == option)]
            full = len(there) > min(most, table.room(option, there)) or (alone and option in used)
            on = table.above([option]) if target.noun.other else ()  # "the other mats"
            if not full and not (other and (rest[0] in on or option == table.support_of(rest[0]))):
                yield from put(rest[1:], before.claim("on", rest[:1], option), (*used, option))

    way = None
    for way in put(things, talk, ()):
        yield way.but(mentioned=(*way.mentioned, *(o for o in options if o not in way.mentioned)))
    if way is None:
        raise Contradiction(f"There are not enough places like '{target.text}' for that.")


def _some_on_each(resting: Things, targets: Things, said: Phrase, talk: Talk) -> Iterator[Talk]:
    """As in "put a cube on each plate", "two cubes in each tray": other ones in each."""
    refuse(not said or any(not t.any or t.either for t in said), _WHICH_WHERE)
    lying = {a[1]: a[2] for a in talk.atoms if a[0] == "on" and talk.table.kind(a[2]) in SUPPORTS}

    def fill(rest: Things, before: Talk, used: frozenset[str]) -> Iterator[Talk]:
        if not rest:
            yield before
            return
        clean = before.but(mentioned=talk.mentioned)
        phrases = [lambda t, one=one: ways(one, t, LIFTABLE) for one in said]
        for chosen, after in combine(phrases, clean):
            elsewhere = any(lying.get(c, rest[0]) != rest[0] for c in chosen)
            if len(set(chosen)) == len(chosen) and not used & set(chosen) and not elsewhere:
                yield from fill(rest[1:], after.claim("on", chosen, rest[0]), used | set(chosen))

    started = talk.but(spoken=tuple(s for s in talk.spoken if s[0] not in resting))
    way = None
    for way in fill(targets, started, frozenset()):
        yield way
    if way is None:
        raise Contradiction("There are not enough things for that.")


def _on_matching(things: Things, phrase: Phrase, talk: Talk) -> Iterator[Talk]:
    found: list[tuple[Things, Talk]] = [((), talk)]
    for thing in things:
        following = []
        for taken, before in found:
            for targets, after in found_by(phrase, before, tuple(SUPPORTS), thing):
                refuse(len(targets) != 1, f"'{phrase[0].text}' are several where only one can be meant.")
                if phrase[0].noun.matching == "own" or targets[0] not in taken:
                    there = after.claim("on", [thing], targets[0]).rule("matched", (thing,))
                    following.append(((*taken, *targets), there))
        found = following
    if not found:
        raise Contradiction("There are not enough places of other colours.")
    yield from (after for _, after in found)


def come_from(things: Things, source: Destination | None, talk: Talk) -> Talk:
    """Check that things are where they are to be taken from. Everything stands on the table, in the end."""
    for phrase in (t for t in (source.things if source else ()) if t.noun.kind != "table"):
        own = phrase.noun.matching == "own"  # "off its mat": the one that it is on
        whole = Thing(Det("all"), replace(phrase.noun, matching="")) if own else phrase
        above = talk.table.above(named(whole, talk, ANYTHING))
        for thing in things:
            told = f"The {words_of(thing)} does not lie on {phrase.text}"
            refuse(thing not in above, f"{told}; say where to put it.")
    return talk
