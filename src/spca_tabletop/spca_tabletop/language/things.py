"""Noun phrases: each means every set of things that it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, product

from spca_core.kinds import CONTAINERS, SOLIDS, SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import things_of
from spca_tabletop.language.chart import Grammar, Spoken
from spca_tabletop.language.lexicon import ANYTHING, LIFTABLE, NO_DIRECTION, SHARED, TANGIBLE, VALUED
from spca_tabletop.language.talk import Choices, Contradiction, Talk, Things, combine, refuse

rule = Grammar(VALUED)
"""The grammar of task texts; every file of rules adds to it."""
Test = Callable[[list[str], Talk, "Nominal"], list[str]]


class NoSuchThing(Impossible):
    """A thing is spoken of as if it were there, and it is not: "the cube that is on the blue plate"."""


class NoneOfThem(Impossible):
    """Some thing is spoken of, and none is like that; perhaps it is not spoken of like that."""


class Undecided(Exception):
    """A noun was left out, and the text leaves open which: what it is supplied by, and the kinds."""


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


def found_by(phrase: Iterable[Thing], talk: Talk, kinds: Things, subject: str = "") -> Choices:
    """Every way to take a list of noun phrases, of things of these `kinds`, likeliest first."""
    return combine([partial(ways, thing, kinds=kinds, subject=subject) for thing in phrase], talk)


def ways(thing: Thing, talk: Talk, kinds: Things, subject: str = "") -> Iterator[tuple[Things, Talk]]:
    """Every way to take a noun phrase. `subject` is what "of its colour" and "another plate" refer to."""
    if thing.either:
        for one in thing.either:
            if one.several or one.det.quantifier == "any":
                raise NotUnderstood(f"I do not know how many '{thing.text}' are; say it for one thing.")
            yield from ways(one, talk, kinds, subject)
        return
    for symbols in _meant(thing, talk, kinds, subject):
        noun = _noun(thing, talk, kinds) if not thing.pronoun else thing.noun
        solid, said = noun.kind in (*SOLIDS, *SHARED, "thing"), (noun.kind, noun.colour)
        last = {"last": said} if solid else {"last_place": said} if noun.kind in SUPPORTS else {}
        after = talk if thing.noun.other or thing.det.other else talk.but(**last)
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


def all_of(thing: Thing, talk: Talk) -> list[str]:
    """Everything that a phrase may mean, if anything."""
    with suppress(Impossible):
        return named(replace(thing, det=Det("all"), noun=replace(thing.noun, other=False)), talk)
    return []


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


def wanted_kinds(noun: Nominal, kinds: Things) -> Things:
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
    """So many of those that a description fits; "the brick" is rather what was just called that."""
    det, table = thing.det, talk.table
    if det.quantifier == "any":
        if det.number is None:
            raise NotUnderstood(f"I do not know how many '{thing.text}' are; say a number.")
        hues = dict.fromkeys(table.colours.get(s) for s in found) if det.hued else [None]
        each = [[s for s in found if hue in (None, table.colours.get(s))] for hue in hues]
        if min(map(len, each)) < det.number:
            raise Impossible(f"'{thing.text}': there are not that many. {table.seen()}")
        return (tuple(chain(*one)) for one in product(*(combinations(k, det.number) for k in each)))
    if det.quantifier in ("all", "each") or noun.plural or det.number not in (None, 1) or len(found) == 1:
        if det.number not in (None, len(found)):
            if det.number == len(talk.group) and set(talk.group) <= set(found):
                return [talk.group]
            there = f"are {len(found)}" if len(found) != 1 else "is only one"
            raise Impossible(f"'{thing.text}': there {there}, not {det.number}. {table.seen()}")
        if len(found) == 1 and noun.one and noun.plural and det.quantifier in ("", "the"):
            raise NotUnderstood(f"'{thing.text}': there is only one. {table.seen()}")
        return [tuple(found)]
    unsaid = {*CONTAINERS} - {kind for _, kind in table.named}  # what was called a "box"
    called = {s: text.split()[-1:] == thing.text.split()[-1:] for s, text in talk.spoken}
    mentioned = [s for s in talk.mentioned if called.get(s, True) or True not in called.values()]
    mentioned.sort(key=lambda s: noun.kind in SHARED and table.kind(s) in unsaid)
    for symbol in reversed(mentioned):
        vague = det.quantifier and noun.vague and not noun.colour
        that = thing.text.lower().startswith(("that ", "this ")) and symbol in found
        if that or (vague and table.kind(symbol) in wanted_kinds(noun, kinds)):
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
    wanted = wanted_kinds(noun, kinds)
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
    kinds = wanted_kinds(noun, ANYTHING)
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
        thing_off, support = talk.cleared
        it = support if kinds == ANYTHING and talk.subject == thing_off else talk.subject
        if kinds == LIFTABLE and it == support and talk.table.kind(it) in SUPPORTS:
            it = thing_off  # "clear the mat and put it on the plate"
        that = thing.text.lower() == "that one"  # "green on blue, and that one in the tray"
        it = next((a[2] for a in talk.before if that and a[:2] == ("on", it) and a[2] in solids), it)
        unclear = not it or (that and (talk.ruled("left") or {a[1] for a in talk.before} > {talk.subject}))
        unclear = unclear or (talk.subject,) in talk.ruled("counted")
        refuse(unclear, f"I do not know what '{thing.text}' refers to; name the thing.")
        return [(it,)]
    if thing.pronoun == "others":
        left = tuple(s for s in solids if s not in talk.mentioned)
        if det.number not in (None, len(left)):
            left = tuple(s for s in left if talk.table.kind(s) == talk.last[0])
        refuse(not (talk.mentioned and left), f"I do not know which things '{thing.text}' means; name them.")
        if det.number not in (None, len(left)):
            raise Impossible(f"'{thing.text}': there are {len(left)} others. {talk.table.seen()}")
        return [left]
    if thing.pronoun == "there":
        places, piles = [s for s in talk.mentioned if talk.table.kind(s) in SUPPORTS], talk.stacked()
        there = places[-1] if places else piles[-1][1] if piles else ""
        last = next((a[0] for a in reversed(talk.atoms) if there in things_of(a[-1])), "")
        beside = last in ("at", "next_to") and thing.text != "it"
        refuse(beside or bool(places) == bool(piles), "I do not know where 'there' is; name the place.")
        return [(there,)]
    group = tuple(s for s in talk.group or solids if s not in talk.left_out)
    group = tuple(s for s in group if kinds != LIFTABLE or s in solids)
    placed = {a[1] for a in talk.atoms if a[0] in ("on", "at", "next_to")}
    kind, hue = talk.last
    if talk.group and group:
        kind, hue = talk.table.kind(group[0]), hue * ({talk.table.colours.get(s) for s in group} == {hue})
    more = {*group} <= placed if talk.group else placed and kind not in ("", "thing")
    if det.quantifier == "any" and more and thing.text == "one":
        # "two on red, one on blue"; "a cube in the bowl, one on the mat"
        rest = [s for s in solids if s not in placed and talk.table.kind(s) in SHARED.get(kind, (kind,))]
        others = () if hue and group[1:] else tuple(rest)  # "put the red cubes there, one …" is of red ones
        group = tuple(s for s in rest if talk.table.colours.get(s) == hue) or others
    if det.quantifier == "any":
        refuse(len(group) < (det.number or 1), f"I do not know which '{thing.text}' are; name them.")
        return combinations(group, det.number or 1)
    if det.number not in (None, len(group)):
        raise NotUnderstood(f"I do not know which {det.number} things '{thing.text}' refers to; name them.")
    return [group]
