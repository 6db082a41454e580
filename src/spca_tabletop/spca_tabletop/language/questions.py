"""Questions about the scene: the answer stands in place of a goal."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps

from spca_core.kinds import SOLIDS
from spca_core.names import words_of
from spca_core.ports.proposer import Answered, Impossible, NotUnderstood
from spca_core.relation import resting
from spca_tabletop.language.lexicon import ANYTHING, TANGIBLE
from spca_tabletop.language.talk import Meaning, Talk, clause
from spca_tabletop.language.things import Det, Nominal, Quality, Thing, named, rule


def answering(answer: Callable[..., str]) -> Callable[..., Meaning]:
    """Make a question's meaning of a function that answers it."""

    @clause
    @wraps(answer)
    def meaning(*said: object, talk: Talk) -> list[Talk]:
        try:
            told = answer(*said, talk=talk)
        except Answered:
            raise
        except (NotUnderstood, Impossible) as error:  # that, too, is an answer
            told = str(error)
        raise Answered(told)

    return meaning


def _listed(things: list[str]) -> str:
    return ", ".join(f"the {words_of(s)}" for s in things) or "nothing"


@answering
def what_is_seen(*, talk: Talk) -> str:
    return " ".join(talk.table.scene.sentences) or talk.table.seen()


@answering
def how_many(noun: Nominal, test: Quality | None = None, *, talk: Talk) -> str:
    found: list[str] = []
    with suppress(NotUnderstood):
        found = named(Thing(noun=noun, text=noun.text), talk)
    found = test.test(found, talk, noun) if test else found
    count = f"{len(found)}: {_listed(found)}" if found else "none"
    return f"There {'is' if len(found) == 1 else 'are'} {count}."


@answering
def what_is(noun: Nominal | None, test: Quality | None = None, *, talk: Talk) -> str:
    things = named(Thing(Det("all"), noun), talk) if noun else talk.table.of(*TANGIBLE)
    found = test.test(things, talk, replace(noun or Nominal(), plural=False)) if test else things
    told = "none" if noun and not found else _listed(found)
    raise Answered(f"{told[0].upper()}{told[1:]}.", found)


@answering
def is_there(thing: Thing, test: Quality | None = None, *, talk: Talk) -> str:
    whole = replace(thing, noun=test(thing.noun)) if test else thing
    try:
        return f"Yes: {_listed(named(replace(whole, det=Det('all')), talk))}."
    except Impossible as error:
        return f"No. {error}"


@answering
def what_is_held(*, talk: Talk) -> str:
    return f"I hold {_listed([s for s in talk.table.of(*SOLIDS) if ('held', s) in talk.table.facts])}."


@answering
def is_it(thing: Thing, test: Quality, *, talk: Talk) -> str:
    if test.told.startswith("on ") and " or " in test.told:  # "is it on the yellow mat or on the purple one?"
        where_is(thing)(talk)
    things = named(thing, talk)
    return "Yes." if test.test(things, talk, thing.noun) == things else "No."


@answering
def what_colour(thing: Thing, *, talk: Talk) -> str:
    colours = talk.table.colours
    return " ".join(f"The {words_of(s)} is {colours.get(s, 'colourless')}." for s in named(thing, talk))


@answering
def is_on_each(thing: Thing, noun: Nominal, *, talk: Talk) -> str:
    things = {*named(replace(thing, det=Det("all")), talk)}
    places = named(Thing(Det("all"), noun, text=noun.text), talk)
    bare = [s for s in places if not things.intersection(talk.table.above([s]))]
    return f"No: not on {_listed(bare)}." if bare else "Yes."


@answering
def where_is(*said: Thing, talk: Talk) -> str:
    def where(symbol: str) -> str:
        if ("held", symbol) in talk.table.facts:
            return "in the gripper"
        on = talk.table.support_of(symbol)
        return resting(on) if on else "where I cannot see what it rests on"

    return " ".join(f"The {words_of(s)} is {where(s)}." for s in named(said[0], talk, ANYTHING))


@answering
def how_far(thing: Thing, other: Thing, *, talk: Talk) -> str:
    places, ends = talk.table.places, named(other, talk)
    pairs = [(s, e) for s in named(thing, talk) for e in ends if {s, e} <= places.keys()]
    far = {pair: 100 * math.dist(*(places[one][:2] for one in pair)) for pair in pairs}
    told = (f"The {words_of(s)} is {cm:.0f} cm from the {words_of(e)}." for (s, e), cm in far.items())
    return " ".join(told) or "I can tell how far two things are from each other only."


@answering
def how_big(thing: Thing, *, talk: Talk) -> str:
    def size(symbol: str) -> str:
        long, wide, high = (f"{round(100 * metres, 1):g} cm" for metres in talk.table.sizes[symbol])
        return f"The {words_of(symbol)} is {long} long, {wide} wide and {high} high."

    return " ".join(size(s) for s in named(thing, talk) if s in talk.table.sizes) or "I do not see how big."


rule.means(Thing(Det("all"), Nominal("thing"), text="anything"), "Anything -> ANYTHING|SOMETHING")
