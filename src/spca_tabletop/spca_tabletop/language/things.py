"""Noun phrases: each means every set of things that it may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise, product
from typing import Any

from spca_core.kinds import DOMED, KINDS, SOLIDS, SUPPORTS, is_round
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import Place, relations
from spca_core.scene import TIE
from spca_tabletop.language.chart import Grammar, Spoken
from spca_tabletop.language.lexicon import FORMS, SHARED, VALUED
from spca_tabletop.language.talk import (
    ANYTHING,
    AXES,
    LIFTABLE,
    NO_DIRECTION,
    ROWS,
    TANGIBLE,
    Contradiction,
    NoneOfThem,
    NoSuchThing,
    Sight,
    Talk,
    Things,
    Undecided,
    combine,
    refuse,
)

rule = Grammar(VALUED)
"""The grammar of task texts; every file of rules adds to it."""
CLEARLY_LARGER = 1.15
"""Ratio of two areas."""
_OFF_LINE = 1.15
"""How much longer the way from one thing to another is, at most, by one that is between them."""
_CLEARLY = 0.01
"""Metres by which a thing must be farther left to be left of another, or nearer to be the nearest."""
_DESCRIBING = {row.name: row.ahead for row in relations() if row.ahead is not None}
"""The relations by which a thing is told from others: "the cube left of the blue one"."""
_MOST, _LEAST = ("largest", "larger", "tallest", "longest"), ("smallest", "smaller", "flattest", "little")
Test = Callable[[list[str], Talk, "Nominal"], list[str]]


@dataclass(frozen=True)
class Nominal(Spoken):
    """A noun with all that restricts it; `tests` narrow what it may be, in the order of their ranks."""

    kind: str = ""
    plural: bool = False
    one: bool = False
    colour: str = ""
    other: bool = False
    vague: bool = True
    matching: str = ""
    tests: tuple[Quality, ...] = ()
    trailed: bool = False
    """Whether what restricts it stands behind the noun: it may be of what is named before, too."""

    def like(self, kind: str, plural: bool = False) -> Nominal:
        """Of that kind, where its own noun was left out."""
        return replace(self, kind=self.kind or kind, plural=self.plural or (plural and not self.kind))


Modifier = Callable[[Nominal], Nominal]


@dataclass(frozen=True)
class Quality(Spoken):
    """What tells a thing from others: a test of a rank, and that in words."""

    test: Test
    told: str = ""
    rank: int = 0
    both: bool = False
    """Whether it is of two that were said."""
    beside: Test | None = None
    """The things that it tells where others are to: not being there is not said of these."""
    placing: bool = False
    """Whether it may say where something is to be, as well: "near the blue cube"."""

    def __call__(self, noun: Nominal) -> Nominal:
        """Restrict a noun by it."""
        return replace(noun, text="", vague=False, tests=(*noun.tests, self))


@dataclass(frozen=True)
class Det:
    """How many: `quantifier` is the, any, all or each."""

    quantifier: str = ""
    number: int | None = None
    out_of: int | None = None
    other: bool = False
    part: bool = False
    """True for some out of those named: "one of the cubes"."""
    hued: bool = False  # so many of each colour


@dataclass(frozen=True)
class Thing(Spoken):
    """A noun phrase. It has alternatives (`either`) or is a pronoun, or has a noun."""

    det: Det = Det()
    noun: Nominal = Nominal()
    pronoun: str = ""
    either: tuple[Thing, ...] = ()
    apart: tuple[Thing, ...] = ()
    anew: Thing | None = None
    """What it is in place of, which was taken back."""
    shared: tuple[Thing, ...] = ()
    """What is to stay there, or to come there, too: "the same mat as the blue cube"."""
    together: int = 0
    """Of what is listed without nouns ("red, green and blue"), which have one in common: where that began."""

    @property
    def several(self) -> bool:
        """True if it is of several things as such: "the cubes", "each plate"."""
        every = self.det.quantifier in ("all", "each")
        return self.noun.plural or every or self.pronoun in ("them", "others")

    @property
    def any(self) -> bool:
        """True if it leaves open which."""
        return self.det.quantifier == "any" or bool(self.either)

    @property
    def so_many(self) -> bool:
        """True if it is of a number of them, whichever: "one of the cubes", "two", not "a cube"."""
        told = self.det.number not in (None, 1) or self.text.lower().startswith("one")
        return self.det.quantifier == "any" and told

    @property
    def elliptic(self) -> bool:
        """True if its noun was left out."""
        return not (self.noun.kind or self.pronoun or self.either)

    def like(self, kind: str, plural: bool = False) -> Thing:
        """Of that kind, where its own noun was left out."""
        if not (self.elliptic or self.either):
            return self
        either = tuple(one.like(kind, plural) for one in self.either)
        return replace(self, noun=self.noun.like(kind, plural), either=either)

    def every(self) -> Thing:
        """All that it may be."""
        if self.pronoun or self.det.quantifier != "any":
            return self
        refuse(self.so_many, f"I do not know which ones '{self.text}' are; name them.")
        return replace(self, det=replace(self.det, quantifier="all", number=None))


Phrase = tuple[Thing, ...]
"""Several noun phrases in a list."""


def found_by(
    phrase: Iterable[Thing], talk: Talk, kinds: Things, subject: str = ""
) -> Iterable[tuple[Things, Talk]]:
    """Every way to take a list of noun phrases, of things of these `kinds`, likeliest first."""

    def taking(thing: Thing) -> Callable[[Talk], Iterable[tuple[Things, Talk]]]:
        return lambda before: ways(thing, before, kinds, subject)

    return combine(map(taking, phrase), talk)


def ways(thing: Thing, talk: Talk, kinds: Things, subject: str = "") -> Iterator[tuple[Things, Talk]]:
    """Every way to take a noun phrase. `subject` is what "of its colour" and "another plate" refer to."""
    if thing.either:
        for one in thing.either:
            if one.several or one.det.quantifier == "any":
                raise NotUnderstood(f"I do not know how many '{thing.text}' are; say it for one thing.")
            yield from ways(one, talk, kinds, subject)
        return
    for symbols in _meant(thing, talk, kinds, subject):
        after = talk
        noun = _noun(thing, talk, kinds) if not thing.pronoun else thing.noun
        if noun.kind in (*SOLIDS, *SHARED, "thing") and not (thing.noun.other or thing.det.other):
            after = talk.but(last=(noun.kind, noun.colour))
        elif noun.kind in SUPPORTS and not (thing.noun.other or thing.det.other):
            after = talk.but(last_place=(noun.kind, noun.colour))
        new = tuple(s for s in symbols if s not in after.mentioned)
        yield symbols, after.but(mentioned=(*after.mentioned, *new))


def named(thing: Thing, talk: Talk, kinds: Things = TANGIBLE) -> list[str]:
    """All things that a phrase may mean within the description of another one."""
    refuse(thing.det.number not in (None, 1) and thing.any, f"I do not know which ones '{thing.text}' are.")
    found: list[str] = []
    for one in thing.either or (thing,):
        every = Det("all", None if one.any else one.det.number)
        whole = replace(one, det=every) if one.noun.kind or one.elliptic else one
        found += [symbol for symbols in _meant(whole, talk, kinds) for symbol in symbols]
    return list(dict.fromkeys(found))


def _noun(thing: Thing, talk: Talk, kinds: Things) -> Nominal:
    """The noun with its kind, which is supplied where it was left out."""
    noun = thing.noun
    if noun.kind or thing.pronoun:
        return noun
    counted = noun == Nominal(one=True, plural=True) and kinds == ANYTHING  # "on two"
    refuse(counted, f"I do not know what '{thing.text}' are; name them.")
    other = noun.other or thing.det.other
    said = [kind for at, kind in talk.table.named if at < thing.start]
    nothing = not (said or other or noun.one or noun.colour) and kinds == ANYTHING  # "everything on the left"
    refuse(nothing and any(test.rank == 3 for test in noun.tests), NO_DIRECTION)
    of_place = talk.last_place[0] and kinds in (ANYTHING, tuple(SUPPORTS))
    kind, colour = talk.last_place if of_place else talk.last
    kind = kind if {*kinds} & {*SHARED.get(kind, (kind,))} or kind == "thing" else ""
    if (other or any(test.rank == 3 for test in noun.tests)) and not noun.colour and kind:
        alike = (s for s in talk.table.of(*SHARED.get(kind, (kind,))) if talk.table.colours.get(s) == colour)
        # "red on the mat, the other one …"
        bare = thing.det.part or (other and {*alike} <= {*talk.mentioned})
        return replace(noun, kind=kind, colour="" if bare else colour)
    hued = [s for s in talk.mentioned if talk.table.colours.get(s) == noun.colour]
    both = kinds == TANGIBLE and any(talk.table.kind(s) in SOLIDS for s in hued)
    if kinds == ANYTHING and noun.colour and not noun.one and thing.det.quantifier == "the":
        # "yellow on the red and green on the blue plate"
        after = [kind for at, kind in talk.table.named if at > thing.start]
        said += [kind for kind in after[:2] if kind in SUPPORTS]
    options = [k for k in dict.fromkeys(said) if k == "thing" or {*kinds} & {*SHARED.get(k, (k,))}]
    bare = noun.plural or any(text.endswith(" one") for _, text in talk.spoken)
    if not noun.one or not options or (bare and {*options} <= {*SUPPORTS}):  # "the reds stay out"
        options = list(dict.fromkeys((*options, "")))
    if both and not noun.one and {*options} - {""} <= {*SUPPORTS}:  # "red on the plate, touch red"
        options = [""]
    if len(options) > 1:
        supplied = dict(talk.table.supplied)
        if (key := thing.together or thing) not in supplied:
            raise Undecided(key, options)
        return replace(noun, kind=supplied[key])
    return replace(noun, kind=options[0])


def _wanted(noun: Nominal, kinds: Things) -> Things:
    """The kinds that a noun may mean where things of `kinds` are expected."""
    if noun.kind in SHARED:
        return tuple(k for k in SHARED[noun.kind] if k in kinds) or SHARED[noun.kind]
    if noun.kind not in ("", "thing"):
        return (noun.kind,)
    if not noun.kind and kinds[0] in SOLIDS:
        return LIFTABLE
    return tuple(kind for kind in kinds if kind != "table" or not noun.kind)


def _meant(thing: Thing, talk: Talk, kinds: Things, subject: str = "") -> Iterable[Things]:
    if any(t.so_many for t in thing.apart):
        return _all_but_some(thing, talk, kinds, subject)
    if thing.pronoun:
        return [_without(things, thing, "", talk, kinds) for things in _pronoun(thing, talk, kinds)]
    noun, det, table = _noun(thing, talk, kinds), thing.det, talk.table
    if noun.kind in ("table", "ground"):
        return [(TABLE_SYMBOL if noun.kind == "table" else GROUND_SYMBOL,)]
    if noun.matching and (det.number or 1) > 1 and thing.any:  # "two cubes of different colours"
        plain = _meant(replace(thing, noun=replace(noun, matching="")), talk, kinds, subject)
        hues = {"own": 1, "other": det.number}[noun.matching]
        if some := [one for one in plain if len({table.colours.get(s) for s in one}) == hues]:
            return some
        raise Impossible(f"'{thing.text}': there are not that many. {table.seen()}")
    if noun.matching:
        return _matching(thing, noun, talk, subject)
    # "put the red cube on the plate nearest to it"
    found = _candidates(thing, noun, talk if talk.subject else talk.but(subject=subject), kinds)
    if det.out_of not in (None, len(found)):
        raise Impossible(f"'{thing.text}': there are not {det.out_of}, but {len(found)}. {table.seen()}")
    if noun.other or det.other:
        found = _unmentioned(found, thing, noun, talk, subject)
    return _counted(thing, noun, found, talk, kinds)


def _all_but_some(thing: Thing, talk: Talk, kinds: Things, subject: str) -> Iterator[Things]:
    """As in "all cubes but one", "every cube except one of the red ones": whichever are left out."""
    (whole, *others) = _meant(replace(thing, apart=()), talk, kinds, subject)
    refuse(others, f"I do not know of which ones '{thing.text}' leaves some out; name them.")
    out = (t.like(_noun(thing, talk, kinds).kind) for t in thing.apart)
    for left_out, _ in found_by(out, talk.but(group=whole), kinds):
        if {*left_out} <= {*whole}:
            yield tuple(s for s in whole if s not in left_out)


def _counted(thing: Thing, noun: Nominal, found: list[str], talk: Talk, kinds: Things) -> Iterable[Things]:
    """So many of those that a description fits."""
    det, table = thing.det, talk.table
    if det.quantifier == "any":
        if det.number is None:
            raise NotUnderstood(f"I do not know how many '{thing.text}' are; say a number.")
        hues = dict.fromkeys(table.colours.get(s) for s in found) if det.hued else [None]
        each = [[s for s in found if hue in (None, table.colours.get(s))] for hue in hues]
        if min(map(len, each)) < det.number:
            raise Impossible(f"'{thing.text}': there are not that many. {table.seen()}")
        return (tuple(chain(*one)) for one in product(*(combinations(k, det.number) for k in each)))
    if det.quantifier in ("all", "each") or noun.plural or det.number not in (None, 1):
        if det.number not in (None, len(found)):
            if det.number == len(talk.group) and set(talk.group) <= set(found):
                return [talk.group]
            there = f"are {len(found)}" if len(found) != 1 else "is only one"
            raise Impossible(f"'{thing.text}': there {there}, not {det.number}. {table.seen()}")
        if len(found) == 1 and noun.one and noun.plural and det.quantifier in ("", "the"):
            raise NotUnderstood(f"'{thing.text}': there is only one. {table.seen()}")
        return [tuple(found)]
    if len(found) == 1:
        return [tuple(found)]
    for symbol in reversed(talk.mentioned):
        vague = det.quantifier and noun.vague and not noun.colour
        that = thing.text.lower().startswith(("that ", "this ")) and symbol in found
        if that or (vague and table.kind(symbol) in _wanted(noun, kinds)):
            return [(symbol,)]
    listed = ", ".join(map(words_of, found))
    which = f"which one '{thing.text}' is; there are: {listed}"
    raise NotUnderstood(f"I do not know {which}. Say which, or say 'any'.")


def _without(found: Sequence[str], thing: Thing, kind: str, talk: Talk, kinds: Things) -> Things:
    """Those that are left once the exceptions are taken out."""
    out: set[str] = set()
    for other in thing.apart:
        these = named(other.like(kind), talk, kinds)
        several = other.several or other.either or other.pronoun or (other.det.number or 1) > 1
        refuse(len(these) > 1 and not several, f"I do not know which one '{other.text}' is; say which.")
        out |= {*these}
    if kind != "thing" and not out <= set(found):
        raise NotUnderstood(f"'{thing.apart[0].text}' is none of those that '{thing.text}' means.")
    return tuple(s for s in found if s not in out)


def _candidates(thing: Thing, noun: Nominal, talk: Talk, kinds: Things) -> list[str]:
    table = talk.table
    if noun.kind == "tray" and not table.of("tray"):
        noun = replace(noun, kind="plate")  # some call a plate that
    wanted = _wanted(noun, kinds)
    found = [s for k in wanted for s in table.of(k) if noun.colour in ("", table.colours.get(s))]
    if not found and (not noun.kind or noun.one):  # "put the red cube on purple", "on the pink one"
        found = [s for k in kinds for s in table.of(k) if noun.colour == table.colours.get(s)]
    if not found and noun.colour == "turquoise":  # as some call cyan
        return _candidates(thing, replace(noun, colour="cyan"), talk, kinds)
    bare = f"{noun.colour} {noun.kind or wanted[0]}".strip()
    if not found and not thing.apart:
        movable = " that I can move" * (noun.kind == "thing" and kinds == LIFTABLE)
        missing = NoSuchThing if thing.elliptic or noun.one else Impossible
        raise missing(f"There is no {bare}{movable}. {table.seen()}")
    all_of_them = found
    for quality in sorted(noun.tests, key=lambda one: one.rank):
        found = quality.test(found, talk, noun)
    if thing.apart:
        found = [*_without(found, thing, noun.kind, talk, kinds)]
    if thing.several or thing.any:
        found = [s for s in found if s not in talk.left_out]
    if not found:
        lying = [(s, on) for s in all_of_them if (on := table.support_of(s)) not in ("", TABLE_SYMBOL)]
        where = ", ".join(f"the {words_of(s)} is on the {words_of(on)}" for s, on in lying)
        if thing.apart and not noun.tests:
            raise Impossible(f"'{thing.text}': nothing is left then. {table.seen()}")
        told = "".join(f" that is {one.told}" for one in noun.tests if one.told)
        if any(one.told.removeprefix("not ").startswith("a ") for one in noun.tests):  # a kind
            bare = f"{noun.colour} {noun.kind or 'thing'}".strip()
        refusal = NoneOfThem if thing.any else NoSuchThing
        more = f" {where.capitalize()}." if where else ""
        raise refusal(f"There is no {bare}{told}. {table.seen()}{more}")
    return found


def _unmentioned(found: list[str], thing: Thing, noun: Nominal, talk: Talk, subject: str) -> list[str]:
    refuse(not (talk.mentioned or thing.any), f"I do not know which things '{thing.text}' means; name them.")
    table = talk.table
    before = {*talk.mentioned, *(s for s in table.of(*SUPPORTS) if subject in table.above([s]))}
    left = [s for s in found if s not in before]
    if not left:
        raise Contradiction(f"'{thing.text}': there is no other one. {table.seen()}")
    kinds = _wanted(noun, ANYTHING)
    alike = (s for s in before if table.kind(s) in kinds and noun.colour in ("", table.colours.get(s)))
    told = noun.colour and not noun.tests if thing.any else noun.kind
    if told and len(left) == len(found) and not any(alike):
        raise NotUnderstood(f"I do not know what '{thing.text}' is set against; leave out 'other'.")
    return left


def _matching(thing: Thing, noun: Nominal, talk: Talk, subject: str) -> Iterable[Things]:
    """What has the colour of the subject, or has not."""
    table = talk.table
    present = [kind for kind in SUPPORTS if table.of(kind)]
    kind = noun.kind or (present[0] if len(present) == 1 else "plate")
    if table.kind(subject) not in SOLIDS or kind not in SUPPORTS:
        raise NotUnderstood(f"I do not know what '{thing.text}' means here; name the colour.")
    number = len(table.of(kind)) if noun.plural else 1
    if noun.tests or noun.colour or noun.other or thing.det.number not in (None, number):
        raise NotUnderstood(f"I do not know which one '{thing.text}' is.")
    places, colour, on = table.of(kind), table.colours.get(subject, ""), table.support_of(subject)
    hues = {table.colours.get(s) for s in table.of(*SOLIDS)}
    if noun.matching == "own" and on in places and hues.isdisjoint(table.colours.get(p) for p in places):
        return [(on,)]  # no place is of anybody's colour: its own is the one that it is on
    if noun.matching == "other":
        return [(p,) for p in places if table.colours.get(p) != colour]
    found = [p for p in places if table.colours.get(p) == colour]
    if len({table.colours.get(p) for p in places}) < len(places):
        raise NotUnderstood(f"Some {kind}s are of one colour; say which is meant.")
    if not found:
        raise Contradiction(f"There is no {colour} {kind} for the {words_of(subject)}. {table.seen()}")
    return [tuple(found)]


def _pronoun(thing: Thing, talk: Talk, kinds: Things) -> Iterable[Things]:
    solids, det = tuple(talk.table.of(*SOLIDS)), thing.det
    if thing.pronoun == "it":
        unclear = not talk.subject or (thing.text.lower() == "that one" and talk.ruled("left"))
        refuse(unclear, f"I do not know what '{thing.text}' refers to; name the thing.")
        thing_off, support = talk.cleared
        return [(support if kinds == ANYTHING and talk.subject == thing_off else talk.subject,)]
    if thing.pronoun == "others":
        refuse(not talk.mentioned, f"I do not know which things '{thing.text}' means; name them.")
        left = tuple(s for s in solids if s not in talk.mentioned)
        if det.number not in (None, len(left)):
            left = tuple(s for s in left if talk.table.kind(s) == talk.last[0])
        if not left or det.number not in (None, len(left)):
            refuse(not left, f"I do not know which things '{thing.text}' means; name them.")
            raise Impossible(f"'{thing.text}': there are {len(left)} others. {talk.table.seen()}")
        return [left]
    if thing.pronoun == "there":
        places, piles = [s for s in talk.mentioned if talk.table.kind(s) in SUPPORTS], talk.stacked()
        refuse(bool(places) == bool(piles), "I do not know where 'there' is; name the place.")
        return [(places[-1] if places else piles[-1][1],)]
    group = tuple(s for s in talk.group or solids if s not in talk.left_out)
    placed = {a[1] for a in talk.atoms if a[0] == "on"}
    kind, hue = (talk.table.kind(group[0]), "") if talk.group and group else talk.last
    more = {*group} <= placed if talk.group else placed and kind not in ("", "thing")
    if det.quantifier == "any" and more and thing.text == "one":
        # "two on red, one on blue"; "a cube in the bowl, one on the mat"
        rest = [s for s in solids if s not in placed and talk.table.kind(s) in SHARED.get(kind, (kind,))]
        group = tuple(s for s in rest if talk.table.colours.get(s) == hue) or tuple(rest)
    if det.quantifier == "any":
        refuse(len(group) < (det.number or 1), f"I do not know which '{thing.text}' are; name them.")
        return combinations(group, det.number or 1)
    if det.number not in (None, len(group)):
        raise NotUnderstood(f"I do not know which {det.number} things '{thing.text}' refers to; name them.")
    return [group]


# --- nouns


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


rule.means(Nominal(one=True), "Noun -> ONE")
rule.means(Nominal(one=True, plural=True), "Noun -> ONES")


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


rule.means(
    lambda noun: replace(noun, text="", other=True, vague=False), "Plain -> OTHER", "Left -> LEFT_OVER"
)


def after_noun(noun: Nominal, colour: str) -> Nominal:
    """As those say it in whose language the adjective follows."""
    refuse(noun.plural or not noun.kind, f"I do not know what '{colour}' is about; say 'the {colour} one'.")
    return in_colour(colour)(noun)


def _each(holds: Callable[[str, Sight], bool], told: str) -> Quality:
    return Quality(lambda found, talk, _: [s for s in found if holds(s, talk.table)], told)


def _meaning(thing: Thing, told: str) -> Quality:
    """Of what another phrase means as well."""
    return Quality(
        lambda found, talk, of: [s for s in found if s in named(thing.like(of.kind), talk)], told, 4
    )


def at_side(side: str) -> Quality:
    return Quality(_at(side), side, 3)


rule.means(_each(lambda s, table: table.stacked(s), "in a tower"), "Side -> OF|FROM THE TOWER|STACK")
rule.means(_each(lambda s, table: table.kind(s) in SOLIDS, "movable"), "Quality -> CAN_MOVE")
rule.means(_each(lambda s, table: is_round(table.kind(s)), "round"), "Adjective -> ROUND")
rule.means(
    _each(lambda s, table: ("clear", s) in table.facts, "free"), "Adjective -> FREE|EMPTY", "Side -> BARE"
)


def of_kind(*said: tuple[str, bool]) -> Quality:
    kinds = {kind for one in said for kind in _wanted(Nominal(one[0]), ANYTHING)}
    return _each(lambda s, table: table.kind(s) in kinds, " or ".join(f"a {one[0]}" for one in said))


def of_such_colours(said: Things | str) -> Quality:
    """As in "everything red or green"."""
    hues = (said,) if isinstance(said, str) else said
    return _each(lambda s, table: table.colours.get(s) in hues, " or ".join(hues))


def _flat_sides(s: str, table: Sight) -> float:
    """How much longer than wide a thing is; 0 of what is round."""
    a, b, _ = sorted((*table.sizes.get(s, (1, 1, 0))[:2], 0.0), reverse=True)
    return a / b if KINDS[table.kind(s)].outline == "rectangle" else 0.0


rule.means(_each(lambda s, table: _flat_sides(s, table) > 1.3, "long"), "Adjective -> LONG")
rule.means(_each(lambda s, table: 0 < _flat_sides(s, table) < 1.1, "square"), "Adjective -> SQUARE")
rule.means(_each(lambda s, table: table.kind(s) in DOMED, "rolling"), "Quality -> ROLLS")


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
    return _meaning(Thing(Det("the"), noun, text=noun.text), noun.text)


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


def both_from(first: int, other: int, noun: Nominal | None, side: str) -> Phrase:
    """As in "the second and the fourth item from the left"."""
    each = ((n, counted_from(n, noun, side)) for n in (first, other))
    return tuple(Thing(Det("the"), one, text=f"number {n}") for n, one in each)


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
    near = relation in _DESCRIBING or relation == "next_to"

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


rule.means(Quality(_outer, "outer", 3), "Adj -> OUTER|OUTSIDE")
rule.means(lacking(Quality(_outer, "outer", 3)), "Adj -> INNER")
rule.means(where(Thing(pronoun="there", text="there"), relation="on"), "Here -> THERE")
for _row in (row for row in relations() if 1 in row.things and not row.put):
    _forms = (form for form in _row.forms if not {*VALUED}.intersection(form.split()))
    rule(*(f"Where -> {form.replace('Things', 'Thing')}" for form in _forms), relation=_row.name)(where)


def _holds(
    relation: str, thing: str, others: Sequence[str], table: Sight, every: Callable[..., bool]
) -> bool:
    if relation in _DESCRIBING:
        if any(s not in table.places for s in (thing, *others)):
            raise NotUnderstood(f"I do not know what is {relation.replace('_', ' ')} what here.")
        ahead, places = _DESCRIBING[relation], table.places
        return bool(others) and all(ahead(places[thing], places[other]) > _CLEARLY for other in others)
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
        sizes, kinds = talk.table.sizes, _wanted(noun, ANYTHING)
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
            raise NotUnderstood(f"'{extent} {noun.kind or 'one'}': some are of the same size; name a colour.")
        middle = areas[len(areas) // 2 :][:1] if len(areas) % 2 else []
        told = ranked[nth - 1 : nth] if top or low else middle
        return [s for _, s in told if s in only]

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


# --- how many of them


rule.means(Det("the"), "Det -> THE")
rule.means(Det("all", 2), "Det -> BOTH OF? THE?")


def how_many(*said: int | Det | None, quantifier: str, other: bool = False) -> Det:
    """So many, or so many out of some."""
    number = next((one for one in said if isinstance(one, int)), None)
    out_of = [one.number for one in said if isinstance(one, Det)]
    if quantifier != "any":
        return Det(quantifier, number or next(iter(out_of), None), other=other)
    return Det(quantifier, number or 1, next(iter(out_of), None), other, part=bool(out_of))


def thing(det: Det | None, noun: Nominal) -> Thing:
    det = det or Det()
    told = noun.tests or noun.colour or noun.other or det.number or det.quantifier not in ("", "the", "all")
    if noun.kind in ("table", "ground") and told:
        raise NotUnderstood(f"There is one table; I do not know what '{noun.text}' is.")
    one_of_them = det.quantifier in ("all", "each") and any(t.rank == 3 for t in noun.tests)
    unclear = not noun.plural and (det == Det("all", 2) or one_of_them)  # "every second cube from the left"
    refuse(unclear, f"I do not know which ones '{noun.text}' are; name them.")
    if det.quantifier == "any" and det.number == 1 and noun.plural:
        det = det if det.part else replace(det, number=None)
    bare = noun == Nominal(one=True, text=noun.text, start=noun.start)
    if bare and det.quantifier in ("any", "") and not det.other:
        return Thing(Det("any", 1), pronoun="them")
    return Thing(det, replace(noun, trailed=noun.trailed and det == Det()))


rule.means(Thing(pronoun="it"), "Thing -> IT")
rule.means(Thing(pronoun="others"), "Thing -> OTHERS")


def of_each_colour(det: Det, noun: Nominal | None = None) -> Thing:
    """As in "two cubes of each colour", "one of each colour"."""
    refuse(det.quantifier != "any" or (noun and noun.colour), "I do not know how many of each colour.")
    return Thing(replace(det, hued=True), replace(noun or Nominal("thing"), plural=False))


def last_of(*said: int | tuple[str, bool]) -> Thing:
    """As in "stack two of them, the third one stays": the one that is left of so many."""
    number = next((one for one in said if isinstance(one, int)), None)
    kind = next((one[0] for one in said if isinstance(one, tuple)), "")
    refuse(number == 1, "I do not know what comes first here; name it.")
    return Thing(Det("the", out_of=number, other=True, part=True), Nominal(kind, one=not kind, vague=False))


def of_the_colour_of(other: Thing) -> Quality:
    """As in "the plate of the same colour as the left cube"."""
    told = f"of the colour of {other.text}"
    return Quality(lambda found, talk, _: [s for s in found if talk.table.colours.get(s) in {
        talk.table.colours.get(o) for o in named(other, talk)}], told, 1)  # fmt: skip


rule.means(Thing(Det("all"), pronoun="them"), "Thing -> THEM", "Thing -> ALL OF? THEM?")
rule.means(Thing(Det("all", 2), pronoun="them"), "Thing -> THEM? BOTH", "Thing -> BOTH OF THEM")
rule.means(Thing(Det("each"), pronoun="them"), "Thing -> EACH", "Thing -> EACH OF THEM")
rule.means(Thing(Det("any", 1), pronoun="them"), "Thing -> ANY|ONE|EITHER OF THEM")


def everything(one: Quality | None = None, *, quantifier: str) -> Thing:
    noun = Nominal(kind="thing", plural=quantifier == "all")
    return Thing(Det(quantifier, 1 if quantifier == "any" else None), one(noun) if one else noun)


def same_as(said: tuple[str, bool], other: Thing) -> Thing:
    """As in "the same mat as the blue cube": what that is on, or is to be on."""
    refuse(said[0] in (*SOLIDS, "thing"), f"I do not know which {said[0]} that is; name it.")

    def test(found: list[str], talk: Talk, _: Nominal) -> list[str]:
        things = named(other, talk, LIFTABLE)
        put = {a[2] for a in talk.atoms if a[0] == "on" and a[1] in things}
        return [s for s in found if s in (put or {talk.table.support_of(t) for t in things})]

    return Thing(Det("the"), Quality(test, f"under {other.text}")(Nominal(*said)), shared=(other,))


def apposed(det: Det | None, noun: Nominal, other: Det, again: Nominal) -> Thing:
    """As in "the red one, the red cube (I mean)", "a bowl, the green one": one thing, named twice."""
    fixed, before = {"table", "ground"} & {noun.kind, again.kind}, det or Det("the")
    if before == other == Det("any", 1) and not (noun.plural or noun.colour or noun.tests):
        return Thing(other, again.like(noun.kind))  # "a cube, any red cube"
    one = before.quantifier in ("the", "any") and before.number in (None, 1) and other.quantifier == "the"
    named = [{*SHARED.get(n.kind, (n.kind,))} for n in (noun, again) if n.kind not in ("", "thing")]
    one = one and (len(named) < 2 or bool(named[0] & named[1])) and not (det is None and again.other)
    if noun.plural or again.plural or fixed or not one or len({noun.colour, again.colour} - {""}) > 1:
        raise NotUnderstood(f"I do not know how '{again.text}' goes with what is said before it.")
    if not again.kind:  # "the left one" is of the red ones
        again = replace(again, colour=again.colour or noun.colour, tests=(*noun.tests, *again.tests))
    same = Thing(other, again.like(noun.kind), text=again.text)
    return Thing(other, _meaning(same, f"'{again.text}'")(noun.like(again.kind)))


def so_many(number: int = 1, *, quantifier: str, pronoun: str, other: bool = False) -> Thing:
    several = Nominal(one=True, plural=number > 1) if not pronoun else Nominal()
    return Thing(Det(quantifier, number, other=other), several, pronoun=pronoun)


def corrected(taken_back: Thing, thing: Thing, *, alike: bool = True) -> Thing:
    """As in "the left blue cube, no, the right one"."""
    noun, before = thing.like(taken_back.noun.kind, taken_back.noun.plural).noun, taken_back.noun
    kinds = [{*SHARED.get(one.kind, (one.kind,))} for one in (noun, before) if one.kind not in ("", "thing")]
    other = alike and len(kinds) > 1 and kinds[0].isdisjoint(SUPPORTS) != kinds[1].isdisjoint(SUPPORTS)
    if taken_back == thing or thing.pronoun or taken_back.several != thing.several or other:
        raise NotUnderstood(f"I do not know what '{thing.text}' is in place of; say the whole task anew.")
    of_it = thing.elliptic and noun.tests and before.tests and not noun.colour
    if thing.elliptic and not (noun.colour or of_it) and before.colour and not taken_back.several:

        def test(found: list[str], talk: Talk, _: Nominal) -> list[str]:
            if len([s for s in found if talk.table.colours.get(s) == before.colour]) > 1:
                told = f"whether '{thing.text}' is {before.colour}, too"
                raise NotUnderstood(f"I do not know {told}; say which.")
            return found

        noun = Quality(test)(noun)
    if twice := thing.anew or (taken_back if taken_back.anew else None):  # "blue, no, yellow, no, red"
        noun = Quality(lambda found, talk, of: found if named(twice.like(of.kind), talk) else [])(noun)
    return replace(thing, noun=replace(noun, colour=before.colour) if of_it else noun, anew=taken_back)


def meant(thing: Thing, again: Thing) -> Thing:
    """As in "the red cube, the left one I mean", or, of another colour, in its place."""
    colours = {thing.noun.colour, again.noun.colour} - {""}
    kinds = {thing.noun.kind, again.noun.kind} - {"", "thing"}
    bare = thing.pronoun or again.pronoun or thing.either or again.either or thing.apart or again.apart
    refuse(bare or again.det.quantifier != "the" or len(kinds) > 1, f"I do not know what '{again.text}' is.")
    sides = all(any(test.rank == 3 for test in one.noun.tests) for one in (thing, again))
    if sides or len(colours) > 1:  # what is taken back has to be there
        there = Quality(lambda found, talk, _: found if named(thing.like(again.noun.kind), talk) else [])
        one = corrected(thing, again)
        return replace(one, noun=there(one.noun), text="")
    return apposed(thing.det, thing.noun, again.det, again.noun)


def apart_from(thing: Thing, others: Phrase) -> Thing:
    """As in "all cubes except the blue one"."""
    if not (thing.several or thing.any) or thing.pronoun or thing.apart or thing.noun.matching:
        raise NotUnderstood(f"I do not know what '{thing.text}' leaves out; say which ones are meant.")
    return replace(thing, text="", apart=others)


def contrasted(thing: Thing, other: Thing) -> Thing:
    """As in "the red cube, not the green one, …": said to be sure."""
    if thing.several or thing.any or thing.pronoun or other.pronoun or other.any:
        raise NotUnderstood(f"I do not know what 'not {other.text}' is about; say it in its own sentence.")
    same = _meaning(other.like(thing.noun.kind), other.text)
    return replace(thing, noun=lacking(same)(thing.noun), text="")


def all_but(others: Phrase) -> Thing:
    last = others[-1].noun  # "all but the red cube", "all but two cubes" are of cubes; not "all but the ball"
    alike = last.colour or last.tests or others[-1].any
    return Thing(Det("all"), Nominal(last.kind if alike else "thing"), apart=others)


def of_colours(said: tuple[str, bool], colours: Things) -> Phrase:
    """As in "the cubes red, blue and green"."""
    refuse(len(colours) < 2, "I do not know which ones are meant; name each.")
    return tuple(Thing(Det("the"), Nominal(said[0], colour=c), text=f"{c} {said[0]}") for c in colours)


def described(adjective: Modifier, number: int, noun: Nominal) -> Thing:
    """As in "the outer two cubes"."""
    return thing(Det("the", number), adjective(noun))


def series(one: Any, more: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    return (one, *more)


def listed(thing: Thing, others: Phrase, *, pause: bool = False) -> Phrase:
    """A list; "the red, the green and the blue cube" are cubes all three."""
    refuse(pause and others[0].pronoun == "it", f"I do not know what to do with '{thing.text}'.")
    # "two cubes and the ball, but not the red one"
    both = any(t.rank == 4 for t in others[-1].noun.tests) or (thing.noun.kind and others[-1].noun.trailed)
    both = both and (thing.any or thing.several)
    refuse(both, f"I do not know whether '{others[0].text}' is said of '{thing.text}', too; say it of each.")
    anew = next((t.text for t in others if t.anew), "")  # "red and green, no, blue"
    refuse(anew, f"I do not know how many of them '{anew}' is in place of; say the whole task anew.")
    if thing.noun.kind and others[0].elliptic and not others[0].noun.one:
        raise NotUnderstood(f"I do not know what '{others[0].text}' is.")
    if others[0].noun.one and others[0].noun.plural and thing.elliptic and others[0].det == Det():
        others = (replace(others[0], noun=replace(others[0].noun, one=False)), *others[1:])  # of one each
    one = thing.like(others[0].noun.kind, others[0].noun.plural)
    same = replace(others[0], text=one.text, start=one.start, noun=one.noun)
    at_side = {t.noun.colour for t in others if t.elliptic and any(q.rank == 3 for q in t.noun.tests)} - {""}
    hued = [t for t in (thing, *others) if t.elliptic and t.det == Det() and t.noun.colour and not t.noun.one]
    there = any(quality.rank == 3 for t in hued for quality in t.noun.tests)  # "green on the left, red …"
    refuse(there and pause, f"'{thing.text}': say whether it is there, or is to be.")
    twice = not one.noun.tests and one.noun.colour in at_side  # "a row of red and green, red on the left"
    refuse(twice, f"'{one.text}' is said twice; say in its own sentence where it is to be.")
    again = one == same and replace(others[0].noun, text=one.noun.text, start=one.noun.start) == one.noun
    refuse(again and one.any, f"'{one.text}' is said twice; say how many.")  # "a cube, any cube"
    bare = one.elliptic and all(t.elliptic for t in others)
    return tuple(replace(t, together=thing.start + 1) if bare else t for t in _some((one, *others)))


def _some(phrase: Phrase) -> Phrase:
    """As in "red, blue, red, blue": some one of each colour that is said more than once."""
    one = Det("any", 1)
    bare = [t.elliptic and t.det in (Det(), one) and not (t.noun.one or t.noun.tests) for t in phrase]
    hues = [t.noun.colour if so else "" for t, so in zip(phrase, bare, strict=True)]
    again = [hue and hues.count(hue) > 1 for hue in hues]
    return tuple(replace(t, det=one) if more else t for t, more in zip(phrase, again, strict=True))


def hues(*said: str | None) -> Phrase:
    """As in "red green blue", said without a pause."""
    return _some(tuple(Thing(noun=Nominal(colour=colour), text=colour) for colour in said if colour))


def either(thing: Thing, other: Thing) -> Thing:
    """One of two or more."""
    options = other.either or (other,)
    return Thing(Det("any", 1), either=(thing.like(options[0].noun.kind), *options))


rule.read(FORMS["things"], globals())
