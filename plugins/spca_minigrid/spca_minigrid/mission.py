"""The mission language of MiniGrid and BabyAI, read by a grammar.

mission:  part (", then" part)* | part "after you" part part:     clause (("and" | ",") clause)* clause:   "go
to" noun | "pick up" noun | "open" noun | "put" noun "next to" noun, and MiniGrid's other words for these
noun:     ("the" | "a") colour? kind place? place:    "in front of you" | "behind you" | "on your left" | "on
your right"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from spca_core.model import Record
from spca_core.ports.proposer import NotUnderstood
from spca_minigrid.cells import COLOURS, THINGS

Verb = Literal["go", "reach", "open", "pick", "put"]
Place = Literal["", "front", "behind", "left", "right"]

_LONGEST_MISSION = 500
"""Maximum number of characters of a mission, several times BabyAI's longest; reading recurses on parts."""
_ANYTHING = "something"
_KINDS = (*THINGS, "object", "square")
_PLACES: dict[str, Place] = {
    "in front of you": "front",
    "behind you": "behind",
    "on your left": "left",
    "on your right": "right",
}
_PLACE_WORDS = {"front": "in_front", "behind": "behind", "left": "on_the_left", "right": "on_the_right"}

_AVOID = re.compile(
    r"^avoid (?:the )?\w+ and |^find the opening and |^traverse the rooms to (?=get to )|^you must "
)
_MATCH = re.compile(r"^go to the matching object(?: at the end of the hallway)?$")
_USE_KEY = re.compile(r"^use (?P<key>(?:the|a) (?:\w+ )?key) to open (?P<door>(?:the|a) (?:\w+ )?door)$")
_FROM_ROOM = re.compile(r"^(?P<what>.+?) from the (?P<colour>\w+) room$")
_PUT = re.compile(r"^(?:put|place|move|drop) (?P<what>.+?) (?:next to|near|beside|close to) (?P<where>.+)$")
_VERBS: dict[Verb, str] = {
    "go": r"go to|go towards|walk to|move to|visit|find",
    "reach": r"get to|reach",
    "open": r"open|unlock",
    "pick": r"pick up|go get|go fetch|get|fetch|grab|take|collect",
}
_SIMPLE = {verb: re.compile(rf"^(?:{words}) (?P<what>.+)$") for verb, words in _VERBS.items()}
_NOUN = re.compile(
    rf"^(?:the |a |an )?(?:(?P<colour>{'|'.join(COLOURS)}) )?(?P<kind>{'|'.join(_KINDS)})"
    rf"(?: square)?(?: (?P<place>{'|'.join(_PLACES)}))?$"
)
_EXAMPLES = (
    "'go to the red ball', 'open a door on your left, then pick up the blue key', 'put "
    "the box next to the ball'"
)


class Noun(Record):
    """Noun of a mission. `symbol` stands for it in plans; equal words in two clauses have two symbols."""

    symbol: str
    kind: str
    colour: str = ""
    place: Place = ""
    """Place relative to where the agent started, and in the room where it started."""
    given: bool = False
    """No word says which thing it is: a skill has to look, compare and remember."""

    @property
    def words(self) -> str:
        """The symbol in plain words."""
        return self.symbol.replace("_", " ")


class Clause(Record):
    """One thing to do; `beside` is where to put it, `like` the sample that it has to match."""

    verb: Verb
    noun: Noun
    beside: Noun | None = None
    like: Noun | None = None

    @property
    def key(self) -> Noun:
        """The noun whose being dealt with means that the clause is done."""
        return self.beside or self.noun


class Mission(Record):
    """Parts in the order in which they have to be done; the clauses of one part in any order."""

    text: str
    parts: tuple[tuple[Clause, ...], ...]

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses of the mission."""
        return tuple(clause for part in self.parts for clause in part)

    @property
    def nouns(self) -> tuple[Noun, ...]:
        """The nouns of all clauses, each as often as it is named."""
        return tuple(n for c in self.clauses for n in (c.noun, c.beside, c.like) if n is not None)


def naming(text: str) -> Mission:
    """Return the mission for naming things; where it cannot be read, none of its words has a symbol."""
    try:
        return parse_mission(text)
    except NotUnderstood:
        return Mission(text=text, parts=())


def parse_mission(text: str) -> Mission:
    """Read a mission. Raises NotUnderstood, naming the words it cannot make sense of."""
    if len(text) > _LONGEST_MISSION:
        raise NotUnderstood(f"the mission has {len(text)} characters; at most {_LONGEST_MISSION} are read")
    plain = " ".join(text.lower().replace(".", " ").split())
    if not plain:
        raise NotUnderstood(f"the mission is empty; missions are such as {_EXAMPLES}")
    reader = _Reader()
    parts = tuple(tuple(group) for words in _parts(plain) for group in reader.part(words))
    return Mission(text=text, parts=parts)


def _parts(text: str) -> Iterator[str]:
    """Yield the parts in the order in which they have to be done."""
    if " after you " in text:
        later, _, earlier = text.partition(" after you ")
        yield from _parts(earlier)
        yield from _parts(later)
        return
    for words in re.split(r",? (?:and )?then ", text):
        yield words.strip(" ,")


class _Reader:
    """Reads clauses, giving each noun its symbol."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self._verb: Verb = "go"

    def part(self, words: str) -> list[list[Clause]]:
        """Read the clauses of a part, in groups that follow each other."""
        words = _AVOID.sub("", words)
        if "," in words:  # a list of steps, told in their order
            pieces = [piece for step in words.split(",") for piece in step.split(" and ")]
            return [group for piece in pieces if piece.strip() for group in self._piece(piece.strip())]
        groups = [self._piece(piece) for piece in words.split(" and ")]
        last = groups[-1]
        if any(len(group) > 1 for group in groups) or any(c.verb == "reach" for step in last for c in step):
            return [step for group in groups for step in group]
        return [[clause for group in groups for step in group for clause in step]]

    def _piece(self, words: str) -> list[list[Clause]]:
        """Read one clause, or the two steps that some phrases stand for."""
        if both := _USE_KEY.match(words):
            return [[self._clause("pick", both["key"])], [self._clause("open", both["door"])]]
        if room := _FROM_ROOM.match(words):
            return [[self._clause("open", f"the {room['colour']} door")], *self._piece(room["what"])]
        if _MATCH.match(words):
            noun, like = (Noun(symbol=s, kind=_ANYTHING, given=True) for s in ("matching_object", "sample"))
            return [[Clause(verb="go", noun=noun, like=like)]]
        if put := _PUT.match(words):
            return [[Clause(verb="put", noun=self._noun(put["what"]), beside=self._noun(put["where"]))]]
        for verb, pattern in _SIMPLE.items():
            if found := pattern.match(words):
                return [[self._clause(verb, found["what"])]]
        if _NOUN.match(words):  # "open the red door then the blue door"
            return [[self._clause(self._verb, words)]]
        raise NotUnderstood(f"cannot make sense of '{words}'; missions are such as {_EXAMPLES}")

    def _clause(self, verb: Verb, words: str) -> Clause:
        noun = self._noun(words)
        if noun.kind == "goal" and verb == "go":
            verb = "reach"
        self._verb = verb
        return Clause(verb=verb, noun=noun)

    def _noun(self, words: str) -> Noun:
        found = _NOUN.match(words)
        if found is None:
            colours, kinds = ", ".join(COLOURS), ", ".join(_KINDS)
            raise NotUnderstood(f"'{words}' names nothing I know; things are: {kinds}, colours: {colours}")
        place = _PLACES.get(found["place"] or "", "")
        kind = {"object": _ANYTHING, "square": "goal"}.get(found["kind"], found["kind"])
        parts = [found["colour"] or "", "thing" if kind == _ANYTHING else kind, _PLACE_WORDS.get(place, "")]
        symbol = "_".join(part for part in parts if part)
        self._used[symbol] = count = self._used.get(symbol, 0) + 1
        if count > 1:
            symbol += "_again" if count == 2 else f"_again_{count - 1}"
        return Noun(symbol=symbol, kind=kind, colour=found["colour"] or "", place=place)
