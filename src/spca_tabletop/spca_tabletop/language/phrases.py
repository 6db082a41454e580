"""Content of a sentence, independently of the table: things, places, and the elements made of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from lark import Token

Quantifier = Literal["", "the", "any", "all", "each"]
Relation = Literal[
    "on", "beside", "under", "left_of", "right_of", "behind", "in_front_of", "closest_to", "farthest_from"
]
PlaceKind = Literal[
    "on",
    "to",
    "on_each_other",
    "beside",
    "side_by_side",
    "under",
    "across",
    "edge",
    "beyond",
    "source",
    "slot",
]
Slot = Literal["top", "middle", "bottom"]


@dataclass(frozen=True)
class Phrase:
    """A constituent of a sentence.

    `said` are its own words, without those of the phrases in it, each with the feature that it gives: every
    one must leave a trace in the goal (see `spca_tabletop.language.ledger`).
    """

    said: tuple[tuple[str, Token], ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Where(Phrase):
    """A restriction by place: on (or not on) something."""

    relation: Relation
    thing: NounPhrase
    negated: bool = False


@dataclass(frozen=True)
class NounPhrase(Phrase):
    """A noun phrase.

    `kind` is a kind of thing, block (cube or cuboid), table, ground, thing, or empty where only an adjective
    or "one" was said, which mean a kind that was named before. `extent` is largest, smallest, medium, larger,
    smaller or empty.

    `matching` relates its colour to that of another thing: own (the same) or other; `unlike` is the colour
    that it does not have. `vacant`: nothing stands on it. `without` is what is not meant, `either` are
    phrases, one of which it fits. `out_of`: how many there are of what it takes some of. `pronoun` is it,
    them, others or empty. `text` are its words. `is_supplied`: its kind was not said, but supplied from
    another phrase.
    """

    text: str
    kind: str = ""
    plural: bool = False
    quantifier: Quantifier = ""
    number: int | None = None
    out_of: int | None = None
    colour: str = ""
    side: str = ""
    extent: str = ""
    other: bool = False
    matching: str = ""
    unlike: str = ""
    vacant: bool = False
    where: tuple[Where, ...] = ()
    pronoun: str = ""
    without: tuple[NounPhrase, ...] = ()
    either: tuple[NounPhrase, ...] = ()
    is_supplied: bool = False

    @property
    def is_direction(self) -> bool:
        """True if it may be a mere direction: "the left"."""
        return bool(self.side) and not {"noun", "colour", "extent"} & {feature for feature, _ in self.said}

    @property
    def is_elliptic(self) -> bool:
        """True if its kind is one that was named before: "the green one"."""
        return not (self.kind or self.pronoun or self.either or self.matching)

    @property
    def is_enumerated(self) -> bool:
        """True if it stands for one thing, so that it can be paired with another one in a list."""
        return self.quantifier not in ("all", "each") and not self.plural and (self.number or 1) == 1

    @property
    def is_restricted(self) -> bool:
        """True if more is said than its kind and colour."""
        return bool(self.side or self.where or self.extent or self.unlike or self.vacant or self.without)

    @property
    def is_described(self) -> bool:
        """True if more is said than its kind and its side."""
        return bool(self.colour) or replace(self, side="").is_restricted

    @property
    def says_where(self) -> bool:
        """True if it, or what it leaves out or leaves open, is described by a place."""
        return bool(self.where) or any(t.says_where for t in (*self.without, *self.either))

    def of_kind(self, kind: str) -> NounPhrase:
        """The same with a kind, where it had none."""
        return self if self.kind or self.pronoun else replace(self, kind=kind)


@dataclass(frozen=True)
class Place(Phrase):
    """Place where something is or should be; `things` are what the place is relative to.

    `hovering`: said as "over" or "above", which may mean without contact.
    """

    kind: PlaceKind
    things: tuple[NounPhrase, ...] = ()
    slot: Slot = "top"
    hovering: bool = False


@dataclass(frozen=True)
class Direction(Phrase):
    """Order in which the things of a tower are listed."""

    upwards: bool


@dataclass(frozen=True)
class Instruction(Phrase):
    """A verb of the grammar (TOUCH, LIFT, PUT, …) with its things and places."""

    verb: str
    things: tuple[NounPhrase, ...] = ()
    places: tuple[Place, ...] = ()
    listed: Direction | None = None


@dataclass(frozen=True)
class Build(Phrase):
    """A tower, a bridge or a pyramid of certain things, at certain places; `size` in cubes, if said."""

    what: Literal["tower", "bridge", "pyramid"]
    things: tuple[NounPhrase, ...] = ()
    places: tuple[Place, ...] = ()
    size: int | None = None
    listed: Direction | None = None


@dataclass(frozen=True)
class Arrangement(Phrase):
    """Things and their places, said without a verb of their own."""

    things: tuple[NounPhrase, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Ordered(Phrase):
    """Things of a tower as they are `listed`; without a direction, what is done one after the other."""

    things: tuple[NounPhrase, ...]
    listed: Direction | None = None


@dataclass(frozen=True)
class Mark(Phrase):
    """A word that says what comes first, or next, or that what was said is to be done in the order given."""

    kind: Literal["first", "then", "in_order"]


@dataclass(frozen=True)
class Mention(Phrase):
    """Things by themselves; `along`: said by "with"."""

    things: tuple[NounPhrase, ...]
    along: bool = False


@dataclass(frozen=True)
class State(Phrase):
    """State in which things are or should be.

    `things` is empty for a clause about what was mentioned last ("which stays …").

    Where nothing says that it *shall* be so (`wanted`), it may just describe the table.
    """

    things: tuple[NounPhrase, ...]
    places: tuple[Place, ...]
    wanted: bool


@dataclass(frozen=True)
class Contact(Phrase):
    """Things touch `others`, or each other where there are none."""

    things: tuple[NounPhrase, ...]
    others: tuple[NounPhrase, ...] = ()


@dataclass(frozen=True)
class Passive(Phrase):
    """Something has to be done to things: TOUCHED, LIFTED or DISCARDED."""

    done: str
    things: tuple[NounPhrase, ...]
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Negative(Phrase):
    """Prohibited event. `subjects` is empty where the robot itself has to avoid something."""

    avoided: str
    subjects: tuple[NounPhrase, ...] = ()
    objects: tuple[NounPhrase, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Asked(Phrase):
    """Request by a phrase of an installed skill package: an atom of the goal over single things."""

    predicate: str
    things: tuple[NounPhrase, ...]


@dataclass(frozen=True)
class Presupposition(Phrase):
    """Statement that something is there: it asks for nothing, and must be true."""

    things: tuple[NounPhrase, ...]
    places: tuple[Place, ...]


Element = (
    Instruction
    | Build
    | Arrangement
    | Ordered
    | Mark
    | Mention
    | State
    | Contact
    | Passive
    | Negative
    | Presupposition
    | Asked
)


@dataclass(frozen=True)
class Interpretation:
    """One way to understand a text. `words` are all that were read, in order."""

    elements: tuple[Element, ...] = ()
    words: tuple[Token, ...] = ()
