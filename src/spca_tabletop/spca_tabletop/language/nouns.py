"""Nouns and what tells one thing from others: colours, kinds, sizes, sides, places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

from spca_core.kinds import DOMED, KINDS, SOLIDS, is_round
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import Place, relations
from spca_core.scene import TIE
from spca_tabletop.language.lexicon import ANYTHING, AXES, ROWS, SHARED, VALUED
from spca_tabletop.language.talk import Sight, Talk, Things, refuse
from spca_tabletop.language.things import Det, Nominal, Quality, Test, Thing, named, rule, wanted_kinds

CLEARLY_LARGER = 1.15
"""Ratio of two areas."""
_OFF_LINE = 1.15
"""How much longer the way from one thing to another is, at most, by one that is between them."""
_CLEARLY = 0.01
"""Metres by which a thing must be farther left to be left of another, or nearer to be the nearest."""
_MOST, _LEAST = ("largest", "larger", "tallest", "longest"), ("smallest", "smaller", "flattest", "little")
Modifier = Callable[[Nominal], Nominal]


def noun(said: tuple[str, bool]) -> Nominal:
    return Nominal(kind=said[0], plural=said[1])


def so_called(said: tuple[str, bool], more: tuple[str, bool]) -> Nominal:
    """As in "the box thing"."""
    refuse(more[0] != "thing", f"I do not know what a '{said[0]} {more[0]}' is.")
    return noun(said)


def of_a_colour(colour: str) -> Nominal:
    return Nominal(one=True, plural=True, colour=colour)


def numbered(colour: str, number: int, said: tuple[str, bool]) -> Nominal:
    """As in "the red 2 cube", as a second one of its colour is called."""
    refuse(said[1], f"I do not know which ones '{colour} {number}' are.")
    told = f"{colour} {number} "
    return _each(lambda s, _: words_of(s).startswith(told), told + said[0])(Nominal(*said, colour=colour))


def modified(modifier: Modifier, noun: Nominal | None, *, after: bool = False, so: bool = False) -> Nominal:
    one = modifier(noun or Nominal())
    tests = tuple(replace(test, placing=False) for test in one.tests) if so else one.tests  # "that is …"
    return replace(one, trailed=True, tests=tests) if after else one


def in_colour(colour: str) -> Modifier:
    def coloured(noun: Nominal) -> Nominal:
        refuse(noun.colour, f"A thing has one colour, not {colour} and {noun.colour}.")
        return replace(noun, text="", colour=colour)

    return coloured


def matching(said: str) -> Modifier:
    def matched(noun: Nominal) -> Nominal:
        refuse(noun.matching, "A thing has one colour.")
        return replace(noun, text="", matching=said, vague=False)

    return matched


def after_noun(noun: Nominal, colour: str) -> Nominal:
    """As those say it in whose language the adjective follows."""
    refuse(noun.plural or not noun.kind, f"I do not know what '{colour}' is about; say 'the {colour} one'.")
    return in_colour(colour)(noun)


def _each(holds: Callable[[str, Sight], bool], told: str) -> Quality:
    return Quality(lambda found, talk, _: [s for s in found if holds(s, talk.table)], told)


def denoting(one: Thing, told: str) -> Quality:
    """Of what another phrase means as well."""
    return Quality(lambda found, talk, of: [s for s in found if s in named(one.like(of.kind), talk)], told, 4)


def at_side(side: str, *, placing: bool = False) -> Quality:
    return Quality(_at(side), side, 3, placing=placing)


def of_kind(*said: tuple[str, bool]) -> Quality:
    kinds = {kind for one in said for kind in wanted_kinds(Nominal(one[0]), ANYTHING)}
    return _each(lambda s, table: table.kind(s) in kinds, " or ".join(f"a {one[0]}" for one in said))


def of_such_colours(said: Things | str) -> Quality:
    """As in "everything red or green"."""
    hues = (said,) if isinstance(said, str) else said
    return _each(lambda s, table: table.colours.get(s) in hues, " or ".join(hues))


def _flat_sides(s: str, table: Sight) -> float:
    """How much longer than wide a thing is; 0 of what is round."""
    a, b, _ = sorted((*table.sizes.get(s, (1, 1, 0))[:2], 0.0), reverse=True)
    return a / b if KINDS[table.kind(s)].outline == "rectangle" else 0.0


def of_extent(*said: Any) -> Quality:
    """As in "the biggest", "the second biggest"."""
    *number, extent = said
    bad = number and extent not in _MOST + _LEAST
    refuse(bad, f"I do not know which one is number {said[0]}, '{extent}'.")
    told = " of the ".join((*(f"number {n}" for n in number), extent))
    return Quality(_of_extent(extent, *number), told, 2)


def compared(extent: str, other: Thing) -> Quality:
    """As in "the block that is bigger than the yellow one", "which is bigger, the red or the blue one?"."""

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        those, so = named(other.like(noun.kind), talk), []
        for s in (s for s in found if not other.either or s in those):
            rivals = [s, *(o for o in those if o != s)]
            with suppress(NotUnderstood):  # of the same size
                so += [s] * (_of_extent(extent)(rivals, talk, replace(noun, plural=False)) == [s])
        return so

    return Quality(test, f"{extent} than {other.text}", 1)


def itself(one: Any) -> Any:
    return one


def identical(noun: Nominal) -> Quality:
    """As in "the cube that is the left one"."""
    return denoting(Thing(Det("the"), noun, text=noun.text), noun.text)


def lacking(one: Quality) -> Quality:
    refuse(one.both, f"I do not know what of '{one.told}' is not so; say it of each.")

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        inside = one.test(found, talk, noun)
        others = one.beside(found, talk, noun) if one.beside and not noun.plural else ()
        return [s for s in found if s not in inside and s not in others]

    return Quality(test, f"not {one.told}", one.rank)


def and_so(one: Quality, other: Quality) -> Quality:
    """As in "the cube that is on the left and isn't red"."""

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        both = sorted((one, other), key=lambda quality: quality.rank)
        return both[1].test(both[0].test(found, talk, noun), talk, noun)

    return Quality(test, f"{one.told} and {other.told}", max(one.rank, other.rank), True)


def counted_from(number: int, noun: Nominal | None, side: str) -> Nominal:
    return Quality(_at(side, number - 1, number), f"number {number} from that side", 3)(noun or Nominal())


def outermost(*said: Any, side: str = "") -> Thing:
    """As in "the two leftmost cubes", "the first two from the left", "the top two"."""
    first, number = (1, 1, *(one for one in said if isinstance(one, int)))[-2:]
    side = side or next(one for one in said if isinstance(one, str))
    noun = next((one for one in said if isinstance(one, Nominal)), Nominal("thing", number > 1))
    refuse(first != 1, "I can count some from a side from the first one on only.")
    return Thing(Det("the", number), Quality(_at(side, 0, number), side, 3)(noun))


def _outer(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
    """The leftmost and the rightmost one."""
    one = replace(noun, plural=False)
    return [s for side in ("leftmost", "rightmost") for s in _at(side)(found, talk, one)]


def of_those(noun: Nominal, *said: Any) -> Nominal:
    """As in "the left one of the cubes", "the taller of the two cylinders", "of the cubes, the red one"."""
    (group,) = (one for one in said if isinstance(one, Nominal))
    other = noun.kind not in ("", group.kind) or (group.colour and noun.colour) or group.other
    bad = other or not group.plural or any(t.rank for t in group.tests)
    refuse(bad, f"I do not know what '{noun.text}' is of.")

    def test(found: list[str], talk: Talk, _: Nominal) -> list[str]:
        number = next((one for one in said if isinstance(one, int)), len(found))
        alike = [[s for s in found if talk.table.kind(s) == kind] for kind in SHARED.get(group.kind, ())]
        those = [one for one in (found, *alike) if len(one) == number]  # "of the two blocks", beside a cube
        refuse(len(those) != 1, f"'{noun.text}': they are {len(found)} that it is of.")
        return those[0]

    tests = (*group.tests, Quality(test), *noun.tests)
    return replace(noun, text="", kind=group.kind, colour=noun.colour or group.colour, tests=tests)


def unlike(noun: Nominal, said: Things, *, of: str = "") -> Nominal:
    one = lacking(of_such_colours(said))
    about = f"I do not know what '{one.told}' is about."
    refuse(noun.colour, about)  # "blue but not green" is of two things

    def test(found: list[str], talk: Talk, _: Nominal) -> list[str]:
        left = one.test(found, talk, noun)
        refuse(of == "all" and left == found, about)  # "a cube on the mat, not red" is of the cube
        return left

    return Quality(test, one.told)(noun)


def distant(relation: str, reference: Thing) -> Quality:
    """The one that is closest to something, or farthest from it."""
    sign, told = (1 if relation == "closest_to" else -1), relation.replace("_", " ")

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        others = named(reference, talk)
        places = talk.table.places
        found = [s for s in found if s not in others]
        unsaid = len(found) == 1 and reference.elliptic
        refuse(unsaid, f"I do not know what '{reference.text}' is; name its kind.")
        if noun.plural or len(others) != 1 or any(s not in places for s in (*found, *others)):
            raise NotUnderstood(f"I can find the one thing that is {told} one other only.")
        distances = sorted((sign * math.dist(places[s][:2], places[others[0]][:2]), s) for s in found)
        if len(distances) > 1 and distances[1][0] - distances[0][0] < _CLEARLY:
            raise NotUnderstood(f"Two are about as far from '{reference.text}'; name the colour.")
        return [s for _, s in distances[:1]]

    return Quality(test, f"{told} {reference.text}", 1, placing=True)


def between(one: Thing, other: Thing) -> Quality:
    """Of those whose shadow falls between two others, the one that is on their line."""

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        ends = [named(t.like(other.noun.kind or noun.kind), talk) for t in (one, other)]
        places = talk.table.places
        if any(len(end) != 1 for end in ends) or any(s not in places for s in (*found, *ends[0], *ends[1])):
            raise NotUnderstood(f"I do not know what is between '{one.text}' and '{other.text}' here.")
        (a,), (b,) = ends
        found = [s for s in found if s not in (a, b)]
        most = _OFF_LINE * math.dist(places[a], places[b])
        return [s for s in found if math.dist(places[s], places[a]) + math.dist(places[s], places[b]) < most]

    return Quality(test, f"between {one.text} and {other.text}")


def where(reference: Thing, *, relation: str, outside: bool = False) -> Quality:
    """In a relation to another thing, or not."""
    every = all if reference.several else any
    near = relation == "next_to" or (relation in ROWS and ROWS[relation].ahead is not None)

    def those(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        alone = reference.pronoun == "others" and not talk.mentioned  # "behind all the others"
        like = reference.like(noun.kind) if near else reference
        with suppress(Impossible):
            return talk.table.of(*SOLIDS) if alone else named(like, talk, ANYTHING)
        return []

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        others = those(found, talk, noun)
        vague = len(found) == 1 < len(others) and not (every is all or reference.any or reference.pronoun)
        refuse(vague, f"I do not know which one '{reference.text}' is; say which.")
        rest = {s: [o for o in others if o != s] for s in found}
        deep = relation == "on" and noun.plural  # what stands on it on others is on it, too
        over = talk.table.above({*others} - {TABLE_SYMBOL}) if deep else ()
        return [s for s in found if s in over or _holds(relation, s, rest[s], talk.table, every)]

    told = f"{relation.replace('_', ' ')} {reference.text}"
    beside = None if relation == "on" or reference.any else those
    so = Quality(test, told, beside=beside, placing=relation != "on")
    return lacking(so) if outside else so


def _holds(relation: str, thing: str, others: list[str], table: Sight, every: Callable[..., bool]) -> bool:
    if relation in ROWS and (ahead := ROWS[relation].ahead):  # "left of the blue one"
        if any(s not in table.places for s in (thing, *others)):
            raise NotUnderstood(f"I do not know what is {relation.replace('_', ' ')} what here.")
        place = table.places
        return bool(others) and all(ahead(place[thing], place[other]) > _CLEARLY for other in others)
    if relation == "next_to":
        return any({("next_to", thing, o), ("next_to", o, thing)} & table.facts for o in others)
    if relation in ROWS:
        seen = {o.id: o for o in table.scene.things}
        return bool(others) and every(
            (relation, thing, o) in table.facts
            or (thing in seen and Place(ROWS[relation], (o,)).holds(seen[thing], table.scene.things))
            for o in others
        )
    pairs = [(other, thing) if relation == "under" else (thing, other) for other in others]
    return bool(others) and every(("on", *pair) in table.facts for pair in pairs)


def _of_extent(extent: str, nth: int = 1) -> Test:
    """The largest, the smallest or the medium one, by the area that it covers; or the `nth` of such."""

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        sizes, kinds = talk.table.sizes, wanted_kinds(noun, ANYTHING)
        if len(only := found) == 1:
            solid = talk.table.kind(only[0]) in SOLIDS
            found = [s for s in talk.table.of(*kinds) if (talk.table.kind(s) in SOLIDS) == solid]
        of_two = extent in ("larger", "smaller") and len(found) != 2
        if extent == "little" and all(s in sizes for s in found):  # said of what is dear, too
            each = sorted(sizes[s][0] * sizes[s][1] for s in found)
            if not each or len(only) == 1 or each[-1] < each[0] * CLEARLY_LARGER:
                return only
        if of_two or noun.plural or any(s not in sizes for s in found):
            raise NotUnderstood(f"I do not know which one the {extent} one is; name its colour.")
        high = extent in ("tallest", "flattest")
        measure = (lambda x, y, z: z) if high else max if extent == "longest" else (lambda x, y, z: x * y)
        areas = sorted((measure(*sizes[s]), s) for s in found)
        top, low = extent in _MOST, extent in _LEAST
        ranked = areas[::-1] if top else areas
        ends = sorted(ranked[max(nth - 2, 0) : nth + 1]) if top or low else areas
        if len(areas) < 2 or any(b[0] < a[0] * CLEARLY_LARGER for a, b in pairwise(ends)):
            raise NotUnderstood(f"'{extent} {noun.kind or 'one'}': some are of the same size; go by colour.")
        middle = areas[len(areas) // 2 :][:1] if len(areas) % 2 else []
        return [s for _, s in (ranked[nth - 1 : nth] if top or low else middle) if s in only]

    return test


def ranked_from(found: Sequence[str], side: str, talk: Talk) -> list[tuple[float, str]]:
    """Things, and how far (m) they are from that side of the world, the one at it first."""
    axis, sign = AXES[side]
    return sorted((sign * talk.table.places[s][axis], s) for s in found)


def _at(side: str, first: int = 0, last: int = 1) -> Test:
    """Those at that side, counted from it: of several by where they are, else of all of the kind as seen."""

    def test(found: list[str], talk: Talk, noun: Nominal) -> list[str]:
        refuse(noun.plural and last - first == 1, f"I do not know how many the {side} ones are; name them.")
        found = [s for s in found if side not in ("highest", "lowest") or talk.table.stacked(s)] or found
        if len(found) <= last - first or any(s not in talk.table.places for s in found):
            here = [s for s in found if (side, s) in talk.table.facts or last - first > 1]
            if side in ("highest", "lowest"):
                tower = [s for s in talk.table.of(*SOLIDS) if talk.table.stacked(s)]
                here = [s for s in found if tower and s == ranked_from(tower, side, talk)[0][1]]
            return [] if first else here
        ranked = ranked_from(found, side, talk)
        if side == "middle":
            ranked = ranked[len(ranked) // 2 :] if len(ranked) % 2 else []
        elif any(ranked[n][0] - ranked[n - 1][0] < TIE for n in (first, last) if 0 < n < len(ranked)):
            told = side + {"nearest": " to me", "farthest": " from me"}.get(side, "")
            raise NotUnderstood(f"Two are equally {told}; name one of them in another way.")
        return [s for _, s in ranked[first:last]]

    return test


rule.means(Nominal(one=True), "Noun -> ONE")
rule.means(Nominal(one=True, plural=True), "Noun -> ONES")
rule.means(lambda one: replace(one, text="", other=True, vague=False), "Plain -> OTHER", "Left -> LEFT_OVER")
rule.means(_each(lambda s, table: table.stacked(s), "in a tower"), "Side -> OF|FROM THE TOWER|STACK")
rule.means(_each(lambda s, table: table.kind(s) in SOLIDS, "movable"), "Quality -> CAN_MOVE")
rule.means(_each(lambda s, table: is_round(table.kind(s)), "round"), "Adjective -> ROUND")
rule.means(
    _each(lambda s, table: ("clear", s) in table.facts, "free"), "Adjective -> FREE|EMPTY", "Side -> BARE"
)
rule.means(_each(lambda s, table: _flat_sides(s, table) > 1.3, "long"), "Adjective -> LONG")
rule.means(_each(lambda s, table: 0 < _flat_sides(s, table) < 1.1, "square"), "Adjective -> SQUARE")
rule.means(_each(lambda s, table: table.kind(s) in DOMED, "rolling"), "Quality -> ROLLS")
rule.means(Quality(_outer, "outer", 3), "Adj -> OUTER|OUTSIDE")
rule.means(lacking(Quality(_outer, "outer", 3)), "Adj -> INNER")
rule.means(where(Thing(pronoun="there", text="there"), relation="on"), "Here -> THERE")
for _row in (row for row in relations() if 1 in row.things and not row.put):
    _forms = (form for form in _row.forms if not {*VALUED}.intersection(form.split()))
    rule(*(f"Where -> {form.replace('Things', 'Thing')}" for form in _forms), relation=_row.name)(where)
