"""Meanings of the trees of the grammar in task.lark: phrases, each with its own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from lark import Token, Transformer, Tree
from lark.exceptions import VisitError

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import NUMBERS
from spca_tabletop.language.phrases import (
    Arrangement,
    Build,
    Contact,
    Direction,
    Element,
    Instruction,
    Interpretation,
    Mark,
    Mention,
    Negative,
    NounPhrase,
    Ordered,
    Passive,
    Place,
    PlaceKind,
    Presupposition,
    Relation,
    Slot,
    State,
    Where,
)
from spca_tabletop.language.words import token_of

_NOUNS = (*SOLIDS, *SUPPORTS, "block", "thing")
_KINDS = {noun.upper(): noun for noun in (*_NOUNS, "table", "ground")} | {"ONE": "", "ONES": ""}
_KINDS |= {f"{noun.upper()}S": noun for noun in _NOUNS}
_PLURALS = (*(f"{noun.upper()}S" for noun in _NOUNS), "ONES")
_EXTENTS = ("LARGEST", "SMALLEST", "MEDIUM", "LARGER", "SMALLER")
_SIDES = {"LEFT": "leftmost", "RIGHT": "rightmost", "MIDDLE": "middle", "NEAR": "nearest", "FAR": "farthest"}
_RELATIONS = {"ON": "on", "OVER": "on", "IN": "on", "BESIDE": "beside", "UNDER": "under"}
_RELATIVE = ("LEFT_OF", "RIGHT_OF", "BEHIND", "IN_FRONT_OF", "CLOSEST_TO", "FARTHEST_FROM")
_RELATIONS |= {name: name.lower() for name in _RELATIVE} | {"NEAR": "closest_to"}
CLASSES = {token: "NOUN" for token, noun in _KINDS.items() if noun in _NOUNS}
_KINDS["EVERYTHING"] = "thing"
CLASSES |= dict.fromkeys(_EXTENTS, "EXTENT") | dict.fromkeys(_RELATIVE, "RELATIVE")
"""Tokens that are all the same to the grammar; the fewer it has, the faster it is."""
UNDONE = {"TOUCHED": "TOUCH", "LIFTED": "LIFT", "DISCARDED": "THROW", "PLACED": "PUT"}
_FEATURES = dict.fromkeys(("A", "ANY", "ONE", "EACH", "ALL", "BOTH", "EVERYTHING"), "quantifier")
_FEATURES |= dict.fromkeys(_SIDES, "side") | dict.fromkeys(("OWN_COLOUR", "OTHER_COLOUR"), "matching")
_FEATURES |= dict.fromkeys(("FREE", "EMPTY"), "vacant")
_FEATURES |= {name: name.lower() for name in ("NOUN", "NUMBER", "COLOUR", "OTHER", "EXTENT")}
"""What the words of a noun phrase give it, besides its noun."""


def reading_of(tree: Any) -> Interpretation:
    """The phrases of an unambiguous tree. Raises NotUnderstood."""
    try:
        return cast(Interpretation, _Phrases().transform(tree))
    except VisitError as error:
        raise error.orig_exc from error


class _Phrases(Transformer):
    """Trees to phrases. Inline rules of the grammar (leading underscore) have vanished by now."""

    def start(self, children: list[Any]) -> Interpretation:
        joint = ""
        elements: list[Element] = []
        for child in children:
            if isinstance(child, Token):
                joint = child.type
                if joint in ("FIRST", "THEN"):
                    kind: Literal["first", "then"] = "first" if joint == "FIRST" else "then"
                    elements.append(Mark(kind, said=((kind, child),)))
            else:
                along = isinstance(child, Mention) and joint == "WITH"
                elements.append(replace(child, along=True) if along else child)
                joint = ""
        return Interpretation(tuple(elements))

    # --- elements

    def command(self, children: list[Any]) -> Element:
        verb = _first(next(c for c in children if isinstance(c, Tree) and c.data == "verb")).type
        verb = "CLEAR" if verb == "EMPTY" else verb
        things = _things(children)
        if without := next((c for c in children if isinstance(c, _Except)), None):
            nearer = [t for place in _places(children)[-1:] for t in place.things[-1:]]
            several = all(t.plural or t.quantifier in ("all", "each") for t in things)
            if not several or any(t.quantifier in ("any", "all", "each") for t in nearer):
                raise NotUnderstood(f"I do not know what '{' '.join(without.words)}' leaves out.")
            things = tuple(_apart_from(thing, without) for thing in things)
        return Instruction(verb, things, _places(children), _direction(children), said=_said(children))

    def row(self, children: list[Any]) -> Element:
        place = Place("side_by_side", said=_said(children))
        return Instruction("PUT", _things(children), (place,))

    def build(self, children: list[Any]) -> Element:
        tower = next(c for c in children if isinstance(c, Tree) and c.data == "tower")
        sizes = _tokens(children, "SIZE") + _tokens(children, "NUMBER")
        size = next((NUMBERS[t.split("-")[0].split()[0].lower()] for t in sizes), None)
        kinds: dict[str, Literal["bridge", "pyramid"]] = {"BRIDGE": "bridge", "PYRAMID": "pyramid"}
        what: Literal["tower", "bridge", "pyramid"] = kinds.get(_first(tower).type, "tower")
        return Build(
            what, _things(children), _places(children), size, _direction(children), said=_said(children)
        )

    def direction(self, children: list[Token]) -> Direction:
        return Direction(children[0].type == "UPWARDS", said=_said(children))

    def swap(self, children: list[Any]) -> Element:
        things = tuple(thing for c in children if isinstance(c, tuple) for thing in c)
        return Instruction("SWAP", things, said=_said(children))

    def arrangement(self, children: list[Any]) -> Element:
        return Arrangement(_things(children), _places(children))

    slotted = arrangement

    def ordered(self, children: list[Any]) -> Element:
        return Ordered(_things(children), _direction(children), said=_said(children))

    def sequence(self, children: list[Any]) -> Element:
        return Ordered(_things(children), said=_said(children))

    def in_order(self, children: list[Any]) -> Element:
        return Mark("in_order", said=_said(children))

    def mention(self, children: list[Any]) -> Element:
        return Mention(_things(children))

    def state(self, children: list[Any]) -> Element:
        wanted = bool(_tokens(children, "MUST") or _tokens(children, "BUILD"))
        return State(_things(children), _places(children), wanted, said=_said(children))

    which = state

    def contact(self, children: list[Any]) -> Element:
        groups = [c for c in children if isinstance(c, tuple)]
        return Contact(groups[0], groups[1] if len(groups) > 1 else (), said=_said(children))

    def passive(self, children: list[Any]) -> Element:
        done = next(c for c in children if isinstance(c, Tree) and c.data == "done")
        return Passive(_first(done).type, _things(children), _places(children), said=_said(children))

    def negative(self, children: list[Any]) -> Element:
        avoided = next(i for i, c in enumerate(children) if isinstance(c, Tree) and c.data == "avoided")
        verb = _first(children[avoided]).type
        before, after = _things_not(children[:avoided]), children[avoided:]
        return Negative(verb, before, _things(after), _places(after), said=_said(children))

    def spared(self, children: list[Any]) -> Element:
        done = next((_first(c).type for c in children if isinstance(c, Tree)), "PLACED")
        return Negative(UNDONE[done], objects=_things_not(children), said=_said(children))

    def leave(self, children: list[Any]) -> Element:
        return Negative("TOUCH", objects=_things(children), said=_said(children))

    def context(self, children: list[Any]) -> Element:
        return Presupposition(_things(children), _places(children), said=_said(children))

    # --- places

    def over(self, children: list[Any]) -> Place:
        return Place("on", _things(children), hovering=True, said=_said(children))

    def each(self, children: list[Any]) -> Place:
        thing = next(c for c in children if isinstance(c, NounPhrase))
        if thing.matching:
            raise NotUnderstood(f"I do not know how many each '{thing.text}' is for; say it in another way.")
        return Place("on", (replace(thing, quantifier="each"),), said=_said(children))

    def slot(self, children: list[Token]) -> Place:
        slots: dict[str, Slot] = {"TOP": "top", "MIDDLE": "middle", "BOTTOM": "bottom"}
        return Place("slot", slot=slots[children[-1].type], said=_said(children))

    # --- things

    def things(self, children: list[Any]) -> tuple[NounPhrase, ...]:
        """A list; "the red, the green and the blue cube" are cubes all three."""
        things = _of_one_kind([c for c in children if isinstance(c, NounPhrase)])
        if len(things) == 2 and any(word.type == "BOTH" for _, word in things[0].said):
            things[0] = things[0] if things[0].plural else replace(things[0], number=None)
        return tuple(things)

    def either(self, children: list[Any]) -> NounPhrase:
        options = _of_one_kind([c for c in children if isinstance(c, NounPhrase)])
        return NounPhrase(" or ".join(t.text for t in options), either=tuple(options))

    def thing(self, children: list[Any]) -> NounPhrase:
        if isinstance(children[0], NounPhrase):
            return children[0]  # a pronoun
        words = _own(children)
        nouns = [w for c in children if isinstance(c, Tree) and c.data == "noun" for w in c.children]
        said = tuple(("noun" if w in nouns else _FEATURES.get(w.type, "determiner"), w) for w in words)
        features: dict[str, Any] = {"text": " ".join(words), **_quantity(words), **_adjectives(words)}
        for word in words:
            if (name := _name(word)) in _KINDS:
                features |= {"kind": _KINDS[name], "plural": name in _PLURALS}
        for child in children:
            if isinstance(child, Where):
                features["where"] = (*features.get("where", ()), child)
            elif isinstance(child, tuple):
                features["where"] = (*features.get("where", ()), *child)
            elif isinstance(child, _Except):
                features["without"] = child.things
                said += tuple(("without", word) for word in child.words)
            elif isinstance(child, _Post):
                features |= child.features
                said += child.said
        if {w.type for w in words} in ({"ONE"}, {"A", "ONE"}) and not {"where", "of"} & set(features):
            return NounPhrase("one", pronoun="them", quantifier="any", number=1, said=said)
        of = features.pop("of", "")
        features["kind"] = features.get("kind") or of
        if of not in ("", features["kind"]):
            raise NotUnderstood(f"I do not know what '{' '.join(words)}' is of.")
        colours = list(dict.fromkeys(str(word) for feature, word in said if feature == "colour"))
        if len(colours) > 1:
            raise NotUnderstood(f"A thing has one colour, not {' and '.join(colours)}.")
        return NounPhrase(**features, said=said)

    def pronoun(self, children: list[Any]) -> NounPhrase:
        words = _own(children)
        types = {w.type for w in words}
        said: dict[str, Any] = {"text": " ".join(words), "said": tuple(("pronoun", w) for w in words)}
        if "IT" in types:
            return NounPhrase(pronoun="it", **said)
        if "OTHERS" in types:
            return NounPhrase(pronoun="others", plural=True, **said)
        number = next((NUMBERS[w.lower()] for w in words if w.type == "NUMBER"), None)
        if types & {"ONE", "ANY"} or words[0].type == "NUMBER":
            return NounPhrase(pronoun="them", quantifier="any", number=number or 1, **said)
        quantifier: Literal["each", "all"] = "each" if "EACH" in types else "all"
        number = 2 if "BOTH" in types else number
        return NounPhrase(pronoun="them", quantifier=quantifier, plural=True, number=number, **said)

    def of_all(self, children: list[Any]) -> _Post:
        """As in "the left one of the cubes"."""
        noun = next(word for word in _own(children) if _name(word) in _KINDS)
        return _Post({"of": _KINDS[_name(noun)]}, (("noun", noun),))

    def side(self, children: list[Token]) -> _Post:
        side = next(_SIDES[t.type] for t in children if t.type in _SIDES)
        return _Post({"side": side}, tuple(("side", word) for word in children))

    def unlike(self, children: list[Token]) -> _Post:
        return _Post({"unlike": _colour(children[-1])}, tuple(("unlike", word) for word in children))

    def except_(self, children: list[Any]) -> _Except:
        return _Except(tuple(c for c in children if isinstance(c, NounPhrase)), tuple(_own(children)))

    def where(self, children: list[Any]) -> Where:
        return _wheres(children, [False])[0]

    def where_not(self, children: list[Any]) -> tuple[Where, ...]:
        return _wheres(children, [False, True])

    def not_where(self, children: list[Any]) -> Where:
        return _wheres(children, [True])[0]


def _place(kind: PlaceKind) -> Any:
    return lambda _self, children: Place(kind, _things(children), said=_said(children))


for _kind in get_args(PlaceKind):
    if _kind != "slot":  # which says more
        setattr(_Phrases, _kind, _place(_kind))


@dataclass(frozen=True)
class _Post:
    """Modifiers after a noun: features of the thing, and the words that give them."""

    features: dict[str, str]
    said: tuple[tuple[str, Token], ...]


@dataclass(frozen=True)
class _Except:
    """Things that are left out."""

    things: tuple[NounPhrase, ...]
    words: tuple[Token, ...]


def _apart_from(thing: NounPhrase, without: _Except) -> NounPhrase:
    said = (*thing.said, *(("without", word) for word in without.words))
    return replace(thing, without=(*thing.without, *without.things), said=said)


def _of_one_kind(things: list[NounPhrase]) -> list[NounPhrase]:
    """Those that have no noun are of the kind that is named next: "the red and the green cube"."""
    kind, plural = "", False
    for index in range(len(things) - 1, -1, -1):
        if things[index].is_elliptic:
            things[index] = replace(things[index], kind=kind, plural=things[index].plural or plural)
        kind, plural = things[index].kind, things[index].plural
    return things


def _colour(word: Token) -> str:
    return word.lower().replace("gray", "grey")


def _name(word: Token) -> str:
    """The token that the lexicon has for a word."""
    return token_of(str(word)) if word.type in CLASSES.values() else word.type


def _wheres(children: list[Any], negated: list[bool]) -> tuple[Where, ...]:
    """Relations with their things, in turn; "not" belongs to those that are negated."""
    relations = [c for c in children if isinstance(c, Tree)]
    things = [c for c in children if isinstance(c, NounPhrase)]
    nots = tuple(("not", word) for word in _tokens(children, "NOT"))
    return tuple(
        Where(
            cast(Relation, _RELATIONS[_name(_first(relation))]),
            thing,
            no,
            said=_said([relation]) + (nots if no else ()),
        )
        for relation, thing, no in zip(relations, things, negated, strict=True)
    )


def _quantity(words: list[Token]) -> dict[str, Any]:
    """Quantifier and number from a determiner.

    "One of the cubes" is any cube; "the two cubes" are those two.
    """
    types = []
    for word in words:
        if word.type not in ("THE", "A", "ANY", "ONE", "EACH", "ALL", "BOTH", "NUMBER", "OF", "EVERYTHING"):
            break
        types.append(word.type)
    of = types.index("OF") if "OF" in types else len(words)
    if group := [NUMBERS[w.lower()] for w in words[of:] if w.type == "NUMBER"]:  # "one of the three cubes"
        return {**_quantity(words[:of] + [w for w in words[of:] if w.type != "NUMBER"]), "out_of": group[0]}
    numbers = [NUMBERS[w.lower()] for w in words if w.type == "NUMBER"]
    number = 2 if "BOTH" in types else numbers[0] if numbers else None
    if "BOTH" in types and not any(_name(w) in _PLURALS for w in words):
        return {"quantifier": "the", "number": 2}  # "both the plate and the table"
    if "EACH" in types:
        return {"quantifier": "each", "number": number}
    if {"ALL", "BOTH", "EVERYTHING"} & set(types):
        return {"quantifier": "all", "number": number}
    plural = any(_name(w) in _PLURALS for w in words)
    if plural and not numbers and (types[:1] == ["A"] or (types[:1] == ["ANY"] and "OF" not in types)):
        return {"quantifier": "any", "number": None}  # "some cubes": nobody knows how many
    another = any(w.type == "OTHER" and w.startswith("a") for w in words)
    if another or {"ANY", "A"} & set(types) or types[:1] == ["ONE"] or types[:1] == ["NUMBER"]:
        return {"quantifier": "any", "number": number or 1}
    return {"quantifier": "the" if "THE" in types else "", "number": number}


def _adjectives(words: list[Token]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in words:
        if word.type == "COLOUR":
            found["colour"] = _colour(word)
        elif word.type in ("OWN_COLOUR", "OTHER_COLOUR"):
            found["matching"] = "own" if word.type == "OWN_COLOUR" else "other"
        elif word.type == "OTHER":
            found["other"] = True
        elif word.type in ("FREE", "EMPTY"):
            found["vacant"] = True
        elif word.type == "EXTENT":
            found["extent"] = _name(word).lower()
        elif word.type in _SIDES:
            found["side"] = _SIDES[word.type]
    return found


def _things(children: list[Any]) -> tuple[NounPhrase, ...]:
    return next((c for c in children if isinstance(c, tuple)), ())


def _things_not(children: list[Any]) -> tuple[NounPhrase, ...]:
    """Those of which something must not be so: "no cube" is every one."""
    none = bool(_tokens(children, "NO"))
    return tuple(replace(thing, quantifier="all") if none else thing for thing in _things(children))


def _places(children: list[Any]) -> tuple[Place, ...]:
    return tuple(c for c in children if isinstance(c, Place))


def _direction(children: list[Any]) -> Direction | None:
    return next((c for c in children if isinstance(c, Direction)), None)


def _first(tree: Any) -> Any:
    """The first token of a tree."""
    return tree.children[0]


def _own(children: Sequence[Any]) -> list[Token]:
    """A constituent's own words."""
    words = [w for c in children for w in (_own(c.children) if isinstance(c, Tree) else [c])]
    return [w for w in words if isinstance(w, Token)]


def _said(children: Sequence[Any]) -> tuple[tuple[str, Token], ...]:
    """Its own words with what they are: verb, done, … or else their token's name in small letters."""
    return tuple(
        (c.data if isinstance(c, Tree) else c.type.lower(), word)
        for c in children
        if isinstance(c, Tree | Token)
        for word in _own([c])
    )


def _tokens(children: list[Any], kind: str) -> list[Token]:
    return [c for c in children if isinstance(c, Token) and c.type == kind]
