"""Clauses: what they are about, and what they tell of how it stands or shall end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise, product

from spca_core.kinds import SOLIDS
from spca_core.names import words_of
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import ANYTHING, LIFTABLE, PUT_OR_THERE, SHARED, TANGIBLE
from spca_tabletop.language.places import Destination, Destinations, come_from, placed
from spca_tabletop.language.talk import Meaning, Talk, Things, clause, every, refuse
from spca_tabletop.language.things import Det, Nominal, Phrase, Quality, Thing, found_by, named

EVERYTHING = (Thing(Det("all"), Nominal(kind="thing"), text="everything"),)
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
    phrase: Phrase, then: Going, kinds: Things = LIFTABLE, source: Destination | None = None, *, talk: Talk
) -> Iterator[Talk]:
    """A clause about things, maybe from somewhere: what it makes of each way to take them."""

    def onward(way: tuple[Things, Talk]) -> Iterator[Talk]:
        things, one = way
        listed = 1 < len(phrase) == len(things) and not any(t.any for t in phrase)
        ways = then(things, come_from(things, source, one.but(verb="", listed=listed)))
        # "all cubes except the red one; that one …"
        apart = [o.like(t.noun.kind) for t in phrase for o in t.apart if len(things) > 1 and not o.several]
        it = named(apart[0], one, LIFTABLE) if len(apart) == 1 else ()
        ways = [ways] if isinstance(ways, Talk) else ways
        # "any cube except the red one; that one …" may be of either
        left = [()] * any(t.any and t.apart for t in phrase)
        group = {"group": things} if any(t.several for t in phrase) else {}
        return (after.about(things).about(it).rule("left", *left).but(**group) for after in ways)

    yield from every(about(coming_from(phrase, source), talk, kinds), onward)


@clause
def allowed(meaning: Meaning, *, talk: Talk, placed: bool = False) -> Iterable[Talk]:
    refuse(talk.forbidding, "I do not know whether that must not be, either; say it in its own sentence.")
    refuse(placed and talk.held, PUT_OR_THERE)  # "grab red and green on the blue plate"
    return meaning(talk)


def state(phrase: Phrase, places: Destinations) -> Meaning:
    return doing(phrase, lambda things, talk: placed(things, places, phrase, talk))


@clause
def so_it_is(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    """What may be about the table as it is now; what is not so yet is to come."""
    for after in state(phrase, places)(talk):
        new = after.atoms[len(talk.wants) :]
        stays = {(a[1],) for a in new}.isdisjoint(talk.ruled("unstacked"))  # "the mat is to be free"
        yield _describing(talk, after) if new and stays and talk.table.facts.issuperset(new) else after


@clause
def which(places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    refuse(not talk.mentioned, "I do not know what 'which' refers to.")
    things = talk.mentioned[-1:]
    for after in placed(things, places, (), talk):
        new = {*after.atoms[len(talk.wants) :]} - talk.table.facts
        refuse(new and talk.table.kind(things[0]) not in SOLIDS, f"I cannot move the {words_of(things[0])}.")
        yield _describing(talk, after.about(things))


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


def only(meaning: Meaning) -> Meaning:
    return lambda talk: meaning(talk.but(latest=(), before=talk.latest or talk.before, forbidding=False))


def and_also(before: Meaning, meaning: Meaning) -> Meaning:
    return lambda talk: every(before(talk), lambda one: meaning(one.but(latest=(), before=one.latest)))


@clause
def kept_at(phrase: Phrase, places: Destinations, *, talk: Talk) -> Iterator[Talk]:
    """As in "keep the red cube on the plate": it stays there, or is put there."""
    ways = [*state(phrase, places)(talk)]
    so = [way for way in ways if talk.table.facts.issuperset(way.atoms[len(talk.wants) :])]
    listed = len(phrase) > 1 and not so  # "leave red, blue on the blue plate"
    unclear = listed or 0 < len(so) < len(ways)
    refuse(unclear, "I do not know whether they are to stay so; say which one goes where.")
    yield from ways


def not_there(phrase: Phrase, places: Destinations, added: bool = False) -> Phrase:
    """As in "put another cube on the plate": one that is not on it."""
    targets = tuple(p.things[0] for p in places if p.relation in ("on", "to") and len(p.things) == 1)
    targets = tuple(t for t in targets if not t.noun.matching)
    more = [t for t in phrase if targets and (t.noun.other or t.det.other or (added and t.any))]
    return _lying(phrase, targets, False, more.__contains__)


def coming_from(phrase: Phrase, source: Destination | None) -> Phrase:
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
