"""Whole noun phrases: how many of them, pronouns, exceptions, lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import COLOURS, LIFTABLE, SHARED
from spca_tabletop.language.nouns import Modifier, counted_from, denoting, lacking
from spca_tabletop.language.talk import Talk, Things, refuse
from spca_tabletop.language.things import Det, Nominal, Phrase, Quality, Thing, all_of, named, rule


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


def of_each_colour(det: Det, noun: Nominal | None = None) -> Thing:
    """As in "two cubes of each colour", "one of each colour"."""
    refuse(det.quantifier != "any" or (noun and noun.colour), "I do not know how many of each colour.")
    return Thing(replace(det, hued=True), replace(noun or Nominal("thing"), plural=False))


def last_of(*said: int | str | tuple[str, bool]) -> Thing:
    """As in "stack two of them, the third one stays": the one that is left; not "the third red cube"."""
    number = next((one for one in said if isinstance(one, int)), None)
    kind = next((one[0] for one in said if isinstance(one, tuple)), "")
    refuse(number == 1 or len(said) > 2, f"From where is number {number} counted? Say 'from the left'.")
    return Thing(Det("the", out_of=number, other=True, part=True), Nominal(kind, one=not kind, vague=False))


def of_the_colour_of(other: Thing) -> Quality:
    """As in "the plate of the same colour as the left cube"."""
    told = f"of the colour of {other.text}"
    return Quality(lambda found, talk, _: [s for s in found if talk.table.colours.get(s) in {
        talk.table.colours.get(o) for o in named(other, talk)}], told, 1)  # fmt: skip


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
    return Thing(other, denoting(same, f"'{again.text}'")(noun.like(again.kind)))


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
    same = denoting(other.like(thing.noun.kind), other.text)
    return replace(thing, noun=lacking(same)(thing.noun), text="")


def all_but(others: Phrase) -> Thing:
    last = others[-1].noun  # "all but the red cube", "all but two cubes" are of cubes; not "all but the ball"
    if others[-1].det.part:  # "all but one of the red cubes"
        return Thing(Det("all"), replace(last, plural=True), apart=others)
    alike = last.colour or last.tests or others[-1].any
    return Thing(Det("all"), Nominal(last.kind if alike else "thing"), apart=others)


def of_colours(said: tuple[str, bool], colours: Things) -> Phrase:
    """As in "the cubes red, blue and green"."""
    refuse(len(colours) < 2, "I do not know which ones are meant; name each.")
    return tuple(Thing(Det("the"), Nominal(said[0], colour=c), text=f"{c} {said[0]}") for c in colours)


def described(adjective: Modifier, number: int, noun: Nominal) -> Thing:
    """As in "the outer two cubes"."""
    return thing(Det("the", number), adjective(noun))


def both_from(first: int, other: int, noun: Nominal | None, side: str) -> Phrase:
    """As in "the second and the fourth item from the left"."""
    each = ((n, counted_from(n, noun, side)) for n in (first, other))
    return tuple(Thing(Det("the"), one, text=f"number {n}") for n, one in each)


def series(one: Any, more: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    return (one, *more)


def listed(thing: Thing, others: Phrase, *, pause: bool = False) -> Phrase:
    """A list; "the red, the green and the blue cube" are cubes all three."""
    refuse(pause and others[0].pronoun == "it", f"I do not know what to do with '{thing.text}'.")
    # "left of red and the ball"
    vague = any(t.placing and t.told.split()[-1] in COLOURS for t in thing.noun.tests[-1:])
    refuse(vague, f"I do not know whether '{thing.text}' goes on; say it apart.")
    sides, said = {t.rank for t in others[0].noun.tests} == {3}, others[0].text
    vague = said == "one" or (sides and others[0].elliptic and said[:4] == "one ")
    refuse(vague, f"I do not know which one '{said}' is; name it.")
    # "two cubes and the ball, but not the red one"
    both = any(t.rank == 4 for t in others[-1].noun.tests) or (thing.noun.kind and others[-1].noun.trailed)
    apart, several = thing.apart and not pause and "," not in thing.text, thing.any or thing.several
    both = bool(apart or (both and several))
    refuse(both, f"I do not know whether '{others[0].text}' is said of '{thing.text}', too; say it of each.")
    anew = next((t.text for t in others if t.anew), "")  # "red and green, no, blue"
    refuse(anew, f"I do not know how many of them '{anew}' is in place of; say the whole task anew.")
    own = thing.noun.matching == "own" and thing.elliptic and not thing.noun.tests  # "red on its own, and …"
    if own or (thing.noun.kind and others[0].elliptic and not others[0].noun.one):
        raise NotUnderstood(f"I do not know what '{others[0].text}' is.")
    if others[0].noun.one and others[0].noun.plural and thing.elliptic and others[0].det == Det():
        others = (replace(others[0], noun=replace(others[0].noun, one=False)), *others[1:])  # of one each
    one = thing.like(others[0].noun.kind, others[0].noun.plural)
    if out := [t for t in others[-1].apart if t.elliptic and several]:  # "cubes and plates but the red one"

        def alone(found: list[str], talk: Talk, of: Nominal) -> list[str]:
            both = {*found}.intersection(all_of(out[0].like(of.kind), talk))
            refuse(both, f"I do not know what '{out[0].text}' is left out of; name it with its noun.")
            return found

        one = replace(one, noun=Quality(alone)(one.noun))
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


rule.means(Det("the"), "Det -> THE")
rule.means(Det("all", 2), "Det -> BOTH OF? THE?")
rule.means(Thing(pronoun="it"), "Thing -> IT")
rule.means(Thing(pronoun="others"), "Thing -> OTHERS")
rule.means(Thing(Det("all"), pronoun="them"), "Thing -> THEM", "Thing -> ALL OF? THEM?")
rule.means(Thing(Det("all", 2), pronoun="them"), "Thing -> THEM? BOTH", "Thing -> BOTH OF THEM")
rule.means(Thing(Det("each"), pronoun="them"), "Thing -> EACH", "Thing -> EACH OF THEM")
rule.means(Thing(Det("any", 1), pronoun="them"), "Thing -> ANY|ONE|EITHER OF THEM")
