"""The agent's knowledge of its world, in symbols and words: the planner's view of a MiniGrid level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spca_core.scene import Fact, Observation
from spca_minigrid.cells import BOX, DOOR, GOAL, KEY, PORTABLE
from spca_minigrid.referents import Referents
from spca_minigrid.worldmap import GONE, HELD, KnownThing, WorldMap

SQUARE = "square"
"""Kind of goal squares and of whatever else is stepped onto (`goal` means something else in planning)."""

# What the facts of an observation say.
RELATIONS = {
    "located": "it is known where ?a is",
    "may_be": "?a, as the mission calls it, may be the thing ?b",
    "held": "?a is in the agent's hand",
    "hand_free": "the agent's hand is empty",
    "locked": "the door ?a is locked",
    "opens": "the key ?a opens the door ?b",
    "report_wanted": "arriving has to be reported",
}


def observe(known: WorldMap, referents: Referents, stamp: float, report: bool, text: str) -> Observation:
    """Return the observation at a time (in primitives).

    `report`: arrivals have to be reported; `text`: the mission.
    """
    things = [t for t in known.things.values() if t.place != GONE]
    named = _named(known, referents)
    objects = {t.id: _kind(t.kind) for t in things} | named
    return Observation(
        stamp=stamp,
        objects=objects,
        facts=tuple(dict.fromkeys(_facts(known, referents, things, named, report))),
        sentences=tuple(_sentences(known, referents, things, report)),
        detail={
            "mission": text,
            "map": known.as_text(),
            "position": list(known.position),
            "direction": known.direction,
            "known": known.record().model_dump(mode="json"),
        },
    )


def _named(known: WorldMap, referents: Referents) -> dict[str, str]:
    """Return the kinds of symbols that stand for words: the mission's nouns, a key for each locked door."""
    kinds = {symbol: _kind(noun.kind) for symbol, noun in referents.nouns.items()}
    keys = {f"{door.colour}_key": KEY for door in _locked(known)}
    return kinds | {symbol: kind for symbol, kind in keys.items() if symbol not in kinds}


def _facts(
    known: WorldMap, referents: Referents, things: Sequence[KnownThing], named: Iterable[str], report: bool
) -> Iterator[Fact]:
    for thing in things:
        yield _fact("held" if thing.place == HELD else "located", thing.id)
    for symbol in named:
        meant = referents.find(symbol)
        yield from _facts_of_word(symbol, meant)
        if meant and all(t.state == "locked" for t in meant):
            yield _fact("locked", symbol)
            for colour in sorted({t.colour for t in meant}):
                for key in _keys(colour, referents, things):
                    yield _fact("opens", key, symbol)
    for door in _locked(known):
        yield _fact("locked", door.id)
        for key in _keys(door.colour, referents, things):
            yield _fact("opens", key, door.id)
    if known.held is None:
        yield _fact("hand_free")
    if report:
        yield _fact("report_wanted")


def _facts_of_word(symbol: str, meant: Sequence[KnownThing]) -> Iterator[Fact]:
    """Yield the facts that are known of a word of the mission, by the things that it may mean."""
    if any(t.place == HELD for t in meant):
        yield _fact("held", symbol)
    elif meant:
        yield _fact("located", symbol)
    for thing in meant:
        yield _fact("may_be", symbol, thing.id)


def _keys(colour: str, referents: Referents, things: Iterable[KnownThing]) -> Iterator[str]:
    """Yield all that a key of a colour is called: by the mission, as a thing, and in general."""
    for symbol, noun in referents.nouns.items():
        if noun.kind == KEY and colour in {noun.colour, *(t.colour for t in referents.find(symbol))}:
            yield symbol
    yield from (t.id for t in things if t.kind == KEY and t.colour == colour)
    yield f"{colour}_key"


def _sentences(
    known: WorldMap, referents: Referents, things: list[KnownThing], report: bool
) -> Iterator[str]:
    """Yield four to ten plain sentences about what is known."""
    yield "An agent on a grid sees a few cells ahead, not behind walls and doors, and remembers them."
    lying = [t for t in things if t.place != HELD]
    by_kind = {
        "keys, balls and boxes": [t for t in lying if t.kind in PORTABLE],
        "doors": [t for t in lying if t.kind == DOOR],
    }
    for name, found in by_kind.items():
        words = _listed(f"{t.state + ' ' if t.state else ''}{t.colour} {t.kind}" for t in found)
        yield f"Seen so far: {words}." if found else f"No {name} have been seen so far."
    if any(t.kind == GOAL for t in lying):
        yield "A goal square is in sight."
    yield (
        f"The agent carries the {known.held.colour} {known.held.kind}."
        if known.held
        else "The agent carries nothing."
    )
    unseen = [noun.words for symbol, noun in referents.nouns.items() if not referents.find(symbol)]
    if unseen:
        yield f"The mission also speaks of {_listed(unseen)}, not seen yet: it has to be found first."
    if "sample" in referents.nouns:
        yield "The sample, in line with no other thing, has the kind and colour of the matching object."
    if any(t.kind == BOX for t in lying):
        yield "A box that is opened is gone, and what it held, if anything, lies in its place."
    if _locked(known):
        yield (
            "A locked door opens to whoever carries the key of its colour, and only one thing can be carried."
        )
    if report:
        yield "When the agent stands before what the mission names, it has to report its arrival."


def _locked(known: WorldMap) -> list[KnownThing]:
    return [t for t in known.things.values() if t.kind == DOOR and t.state == "locked"]


def _kind(kind: str) -> str:
    return SQUARE if kind == GOAL else kind


def _fact(predicate: str, *args: str) -> Fact:
    return Fact(predicate=predicate, args=args)


def _listed(words: Iterable[str]) -> str:
    counted: dict[str, int] = {}
    for word in words:
        counted[word] = counted.get(word, 0) + 1
    return ", ".join(f"a {word}" if count == 1 else f"several {word}s" for word, count in counted.items())
