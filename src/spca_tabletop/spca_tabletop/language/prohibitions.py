"""Turns what must not happen, or must not be in the end, into rules of a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.entities import Discourse, Entity, Known
from spca_tabletop.language.meaning import Claim, Meaning
from spca_tabletop.language.phrases import Negative, NounPhrase, Place

_ANYTHING = (*SOLIDS, *SUPPORTS, "table")
_ONLY_ROBOT = ("LIFT", "PUT", "TAKE", "THROW")
_CLOSE = ("TOUCH", "TOUCHES", "BESIDE")


def prohibit(negative: Negative, talk: Discourse, meaning: Meaning) -> list[Entity]:
    """Enter a prohibition into a meaning. Returns what the robot must leave alone by it."""
    avoided = negative.avoided
    if negative.subjects:
        if avoided in _ONLY_ROBOT:
            raise NotUnderstood("Only the robot moves things; say what it must leave alone.")
        _must_not_be(negative, talk, meaning)
        return []
    if negative.places:
        meaning.rules += [Claim("unfit", pair) for pair in _never(negative, talk)]
        # "Never put a cube on the table" is likelier about the place than about the cubes that are there.
        return []
    if avoided not in (*_ONLY_ROBOT, *_CLOSE, "HIT", "TOPPLE"):
        raise NotUnderstood("I can mind what must be left alone, or must not be put on what; say it so.")
    things = talk.all(_every(negative.objects), _ANYTHING)
    if not things and avoided not in ("THROW", "TOPPLE"):
        raise NotUnderstood("I do not know what must be left alone; name it.")
    if avoided in ("THROW", "TOPPLE"):  # which is so with every plan, unless the task asks for it
        meaning.never_discarded += things
        return []
    talk.cost += avoided == "PUT" and any(t.where for t in negative.objects)
    (meaning.unmoved if avoided in _ONLY_ROBOT else meaning.untouched).extend(things)
    return things


def _every(things: Sequence[NounPhrase]) -> list[NounPhrase]:
    """Extend a prohibition to all: "do not touch any other cube", "… the red or the blue one"."""
    options = [option for thing in things for option in thing.either or (thing,)]
    return [replace(t, quantifier="all", number=None) if t.quantifier == "any" else t for t in options]


def _never(negative: Negative, talk: Discourse) -> list[tuple[Entity, Entity]]:
    """Return what must never be on what: "never a larger block on a smaller one", "no cube on the table"."""
    if any(p.kind != "on" for p in negative.places) or negative.avoided not in ("PUT", "STACK"):
        raise NotUnderstood("I can mind only what must not be put on what; say it like that.")
    lower = _targets(negative.places, talk)
    if {t.extent for t in negative.objects} == {"larger"} and {t.extent for t in lower} == {"smaller"}:
        for thing in (*negative.objects, *lower):
            if (thing.is_described and not thing.extent) or thing.colour or thing.where or thing.side:
                raise NotUnderstood(f"I do not know which of them '{thing.text}' are.")
            talk.ledger.use(thing, "noun", "quantifier", "extent")
        return [(Known(a), Known(b)) for a, b in talk.larger_smaller()]
    upper = talk.all(_every(negative.objects), SOLIDS)
    return [(a, b) for a in upper for b in talk.all(_every(lower), _ANYTHING) if a != b]


def _targets(places: Sequence[Place], talk: Discourse) -> list[NounPhrase]:
    for place in places:
        talk.ledger.use(place)
    return [t for p in places for t in p.things]


def _must_not_be(negative: Negative, talk: Discourse, meaning: Meaning) -> None:
    """Record how things must not end up: "the red cube must not be on top", "they must not touch"."""
    subjects = talk.all(_every(negative.subjects), (*SOLIDS, *SUPPORTS))
    if negative.avoided in _CLOSE and not negative.places:
        others = talk.all(_every(negative.objects), _ANYTHING)
        pairs = [(a, b) for a in subjects for b in others] if others else list(combinations(subjects, 2))
        if not pairs:
            raise NotUnderstood("I do not know what it must not touch.")
        talk.ledger.use(negative, "each_other")
        meaning.apart += [(a, b) for a, b in pairs if a != b]
        return
    if negative.avoided not in ("IS", "STACK") or negative.objects or not negative.places:
        raise NotUnderstood("I can mind what must not be on what, or must not touch what; say it so.")
    for place in negative.places:
        talk.ledger.use(place)
        if place.kind == "slot":
            meaning.tower.barred += [(place.slot, subject) for subject in subjects]
        elif place.kind in ("on", "beside"):
            targets = talk.all(_every(place.things), _ANYTHING)
            pairs = [(a, b) for a in subjects for b in targets if a != b]
            (meaning.off if place.kind == "on" else meaning.apart).extend(pairs)
        else:
            raise NotUnderstood("I can mind what must not be on or next to what; say it so.")
