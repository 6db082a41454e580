"""What comes one after the other, or in place of what was said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from spca_core.kinds import SUPPORTS
from spca_core.names import TABLE_SYMBOL
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import TIE
from spca_tabletop.language import towers
from spca_tabletop.language.bans import must_not_be
from spca_tabletop.language.building import mention
from spca_tabletop.language.chart import Spoken
from spca_tabletop.language.clauses import allowed, and_also, doing, only
from spca_tabletop.language.commands import put
from spca_tabletop.language.goal import GONE
from spca_tabletop.language.lexicon import LIFTABLE, SHARED, TANGIBLE, UNREAD
from spca_tabletop.language.nouns import ranked_from
from spca_tabletop.language.places import Destinations
from spca_tabletop.language.talk import Atom, Meaning, Talk, Things, clause, refuse
from spca_tabletop.language.things import Nominal, NoSuchThing, Phrase, found_by, rule


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
def of_kind_only(noun: Nominal, other: Nominal | None = None, *, talk: Talk) -> Iterator[Talk]:
    """As in "… Cubes only.", "… The cubes, I mean, not the plates.": of other readings there are none."""
    said = (talk.mentioned, *(a[1:] for a in talk.atoms)) if other else (a[1:2] for a in talk.atoms)
    about = {talk.table.kind(s) for a in said for s in a} - {"", "table"}
    so = talk.atoms and about <= {noun.kind, *SHARED.get(noun.kind, ())} - {other.kind if other else ""}
    refuse(not so, f"I do not know what is to be of '{noun.text}' only; say it of each thing.")
    yield talk


def _then(talk: Talk, word: str) -> Talk:
    refuse(word == "before" and talk.forbidding, UNREAD["WHICH_FIRST"].format("not … before"))
    building = talk.tower.active or talk.bridge or bool(talk.stacked())
    return talk.but(stage=talk.stage + 1, marks=(*talk.marks, (talk.stage + 1, word, building)))


@clause
def first(meaning: Meaning, *, talk: Talk) -> Iterator[Talk]:
    """What comes first, and something has to follow."""
    refuse(talk.wants or talk.tower.slots or talk.tower.runs, "What comes first has to be said first.")
    yield from (_then(after, "first") for after in meaning(talk))


def and_then(before: Meaning, meaning: Meaning, *, word: str = "then") -> Meaning:
    return and_also(before, lambda talk: meaning(_then(talk, word)))


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

    return allowed(doing(phrase, more))


def _go_on(phrase: Phrase) -> Meaning:
    touched, put_there = mention(phrase), _there_too(phrase)
    return lambda talk: (touched if talk.verb == "touch" or talk.tower.active else put_there)(talk)


def likewise(before: Meaning, phrase: Phrase) -> Meaning:
    """As in "the red cube goes in the tray, and so does the green one"."""

    def meaning(talk: Talk) -> Iterable[Talk]:
        try:
            yield from _go_on(phrase)(talk)
        except NoSuchThing as error:  # "and the blue cube on the red mat, too" may say where it is to be
            raise NotUnderstood(str(error)) from error
        except NotUnderstood as error:  # nor is anything else meant
            raise Impossible(str(error)) from error

    return and_also(before, meaning)


@clause
def at_last(before: Meaning | Phrase, phrase: Phrase = (), *, talk: Talk) -> Iterator[Talk]:
    """As in "touch the red cube, and the blue one last", "put the red cube in the tray last"."""
    phrase = before if isinstance(before, tuple) else phrase
    for one in [talk] if isinstance(before, tuple) else before(talk):
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
        for after in meaning(same.but(last_place=one.last_place, verb=one.verb)):
            *others, place = about(after)
            if (not any(things) or things != others) and (not there or there != place):
                raise refusal
            yield after


def elsewhere(phrase: Phrase, barred: Destinations, places: Destinations) -> Meaning:
    """As in "not in the red bowl but in another one"."""
    return and_also(must_not_be(phrase, barred), only(put(phrase, None, places)))


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


rule.means(Spoken(), "Back -> CORRECTION")
