"""Parses sentences into readings: the grammar of task.lark, and what its trees mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal, cast

from lark import Lark, Token, Transformer, Tree, UnexpectedEOF, UnexpectedToken
from lark.lexer import Lexer

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import NUMBERS
from spca_tabletop.language.phrases import (
    Arrangement,
    Build,
    Command,
    Contact,
    Context,
    Element,
    Mention,
    Negative,
    Ordered,
    Passive,
    Place,
    Reading,
    Slot,
    State,
    Thing,
    Where,
)
from spca_tabletop.language.words import WHAT_WORKS, Sentence, token_of

_MOST_READINGS = 64

_NOUNS = (*SOLIDS, *SUPPORTS, "block", "thing")
_KINDS = {noun.upper(): noun for noun in (*_NOUNS, "table", "ground")} | {"ONE": "", "ONES": ""}
_KINDS |= {f"{noun.upper()}S": noun for noun in _NOUNS}
_PLURALS = (*(f"{noun.upper()}S" for noun in _NOUNS), "ONES")
_EXTENTS = ("LARGEST", "SMALLEST", "MEDIUM", "LARGER", "SMALLER")
_SIDES = {"LEFT": "leftmost", "RIGHT": "rightmost", "MIDDLE": "middle", "NEAR": "nearest", "FAR": "farthest"}
_RELATIONS = {"ON": "on", "OVER": "on", "IN": "on", "BESIDE": "beside", "UNDER": "under"}
_RELATIVE = ("LEFT_OF", "RIGHT_OF", "BEHIND", "IN_FRONT_OF", "CLOSEST_TO", "FARTHEST_FROM")
_RELATIONS |= {name: name.lower() for name in _RELATIVE}
_CLASSES = {token: "NOUN" for token, noun in _KINDS.items() if noun in _NOUNS}
_CLASSES |= dict.fromkeys(_EXTENTS, "EXTENT") | dict.fromkeys(_RELATIVE, "RELATIVE")
"""Tokens that are all the same to the grammar; the fewer it has, the faster it is."""


class _Ready(Lexer):
    """The sentences are tokens already."""

    def __init__(self, lexer_conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any = None) -> Iterator[Token]:
        yield from lexer_state


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    text = (Path(__file__).parent / "task.lark").read_text()
    return Lark(text, parser="earley", lexer=_Ready, ambiguity="explicit", maybe_placeholders=False)


@lru_cache(maxsize=256)
def readings(sentence: Sentence) -> tuple[Reading, ...]:
    """Every way to understand a sentence, remembered for the next round. Raises NotUnderstood."""
    try:
        tokens = [Token.new_borrow_pos(_CLASSES.get(t.type, t.type), t, t) for t in sentence.tokens]
        tree: Any = _grammar().parse(cast(str, tokens))  # the lexer takes them as they are
    except UnexpectedEOF as error:
        words = sentence.text[sentence.tokens[0].start_pos :]
        raise NotUnderstood(f"'{' '.join(words.split())}' does not make a task. {WHAT_WORKS}") from error
    except UnexpectedToken as error:
        raise NotUnderstood(_about_unexpected(sentence, error)) from error
    return tuple(dict.fromkeys(_Meaning().transform(t) for t in islice(_trees(tree), _MOST_READINGS)))


def _trees(node: Any) -> Iterator[Any]:
    """All unambiguous trees in an ambiguous one."""
    if not isinstance(node, Tree):
        yield node
    elif node.data == "_ambig":
        for child in node.children:
            yield from _trees(child)
    else:
        for children in product(*(list(islice(_trees(c), _MOST_READINGS)) for c in node.children)):
            yield Tree(node.data, list(children), node.meta)


def _about_unexpected(sentence: Sentence, error: Any) -> str:
    token = error.token
    before = sentence.until(token.start_pos or 0)
    where = f"after '{before}'" if before else "at the beginning of a sentence"
    return f"I do not understand '{token}' {where}. {WHAT_WORKS}"


class _Meaning(Transformer):
    """Trees to phrases. Inline rules of the grammar (leading underscore) have vanished by now."""

    def start(self, children: list[Any]) -> Reading:
        joint = ""
        elements: list[Element] = []
        for child in children:
            if isinstance(child, Token):
                joint = child.type
            else:
                along = isinstance(child, Mention) and joint == "WITH"
                elements.append(replace(child, along=True) if along else child)
        return Reading(tuple(elements))

    # --- elements

    def command(self, children: list[Any]) -> Element:
        verb = _first(next(c for c in children if isinstance(c, Tree) and c.data == "verb")).type
        verb = "CLEAR" if verb == "EMPTY" else verb
        return Command(verb, _things(children), _places(children), _direction(children))

    def row(self, children: list[Any]) -> Element:
        return Command("PUT", _things(children), (Place("side_by_side"),))

    def build(self, children: list[Any]) -> Element:
        tower = next(c for c in children if isinstance(c, Tree) and c.data == "tower")
        sizes = _tokens(children, "SIZE") or _tokens(children, "NUMBER")
        size = next((NUMBERS[t.split("-")[0].split()[0].lower()] for t in sizes), None)
        kinds: dict[str, Literal["bridge", "pyramid"]] = {"BRIDGE": "bridge", "PYRAMID": "pyramid"}
        what: Literal["tower", "bridge", "pyramid"] = kinds.get(_first(tower).type, "tower")
        return Build(what, _things(children), _places(children), size, _direction(children))

    def swap(self, children: list[Any]) -> Element:
        return Command("SWAP", tuple(thing for c in children if isinstance(c, tuple) for thing in c))

    def arrangement(self, children: list[Any]) -> Element:
        return Arrangement(_things(children), _places(children))

    def slotted(self, children: list[Any]) -> Element:
        return Arrangement(_things(children), _places(children))

    def ordered(self, children: list[Any]) -> Element:
        return Ordered(_things(children), upwards=_direction(children) is True)

    def mention(self, children: list[Any]) -> Element:
        return Mention(_things(children))

    def state(self, children: list[Any]) -> Element:
        wanted = bool(_tokens(children, "MUST") or _tokens(children, "BUILD"))
        return State(_things(children), _places(children), wanted)

    def which(self, children: list[Any]) -> Element:
        return State((), _places(children), wanted=bool(_tokens(children, "MUST")))

    def contact(self, children: list[Any]) -> Element:
        groups = [c for c in children if isinstance(c, tuple)]
        return Contact(groups[0], groups[1] if len(groups) > 1 else ())

    def passive(self, children: list[Any]) -> Element:
        done = next(c for c in children if isinstance(c, Tree) and c.data == "done")
        return Passive(_first(done).type, _things(children))

    def negative(self, children: list[Any]) -> Element:
        avoided = next(i for i, c in enumerate(children) if isinstance(c, Tree) and c.data == "avoided")
        verb = _first(children[avoided]).type
        return Negative(
            verb, _things(children[:avoided]), _things(children[avoided:]), _places(children[avoided:])
        )

    def leave(self, children: list[Any]) -> Element:
        return Negative("TOUCH", objects=_things(children))

    def context(self, _children: list[Any]) -> Element:
        return Context()

    # --- places

    def on(self, children: list[Any]) -> Place:
        return Place("on", _things(children))

    def over(self, children: list[Any]) -> Place:
        return Place("on", _things(children), hovering=True)

    def to(self, children: list[Any]) -> Place:
        return Place("to", _things(children))

    def on_each_other(self, _children: list[Any]) -> Place:
        return Place("on_each_other")

    def beside(self, children: list[Any]) -> Place:
        return Place("beside", _things(children))

    def side_by_side(self, _children: list[Any]) -> Place:
        return Place("side_by_side")

    def under(self, children: list[Any]) -> Place:
        return Place("under", _things(children))

    def across(self, children: list[Any]) -> Place:
        return Place("across", _things(children))

    def edge(self, children: list[Any]) -> Place:
        return Place("edge", _things(children))

    def beyond(self, children: list[Any]) -> Place:
        return Place("beyond", _things(children))

    def source(self, children: list[Any]) -> Place:
        return Place("source", _things(children))

    def slot(self, children: list[Token]) -> Place:
        slots: dict[str, Slot] = {"TOP": "top", "MIDDLE": "middle", "BOTTOM": "bottom"}
        return Place("slot", slot=slots[children[-1].type])

    # --- things

    def things(self, children: list[Any]) -> tuple[Thing, ...]:
        """A list; "the red, the green and the blue cube" are cubes all three."""
        return tuple(_of_one_kind([c for c in children if isinstance(c, Thing)]))

    def either(self, children: list[Any]) -> Thing:
        options = _of_one_kind([c for c in children if isinstance(c, Thing)])
        return Thing(" or ".join(t.text for t in options), either=tuple(options))

    def thing(self, children: list[Any]) -> Thing:
        if isinstance(children[0], Thing):
            return children[0]  # a pronoun
        words: list[Any] = [token for c in children if isinstance(c, Tree) for token in c.children]
        features: dict[str, Any] = {"text": " ".join(words), **_quantity(words), **_adjectives(words)}
        for word in words:
            if (name := _name(word)) in _KINDS:
                features |= {"kind": _KINDS[name], "plural": name in _PLURALS}
        for child in children:
            if isinstance(child, Where):
                features["where"] = (*features.get("where", ()), child)
            elif isinstance(child, tuple):
                features["where"] = (*features.get("where", ()), *child)
            elif isinstance(child, Thing):
                features["without"] = (child,)
            elif isinstance(child, Token):
                features["unlike"] = _colour(child)
            elif isinstance(child, str):
                features["side"] = child
        return Thing(**features)

    def pronoun(self, children: list[Any]) -> Thing:
        words: list[Any] = [t for c in children for t in (c.children if isinstance(c, Tree) else [c])]
        types = {w.type for w in words}
        text = " ".join(words)
        if "IT" in types:
            return Thing(text, pronoun="it")
        if "OTHERS" in types:
            return Thing(text, pronoun="others", plural=True)
        number = next((NUMBERS[w.lower()] for w in words if w.type == "NUMBER"), None)
        if types & {"ONE", "ANY"}:
            return Thing(text, pronoun="them", quantifier="any", number=1)
        return Thing(
            text, pronoun="them", quantifier="all", plural=True, number=2 if "BOTH" in types else number
        )

    def of_all(self, _children: list[Any]) -> None:
        """As in "the left one of the cubes": nothing that the rest does not say."""

    def side(self, children: list[Token]) -> str:
        return next(_SIDES[t.type] for t in children if t.type in _SIDES)

    def unlike(self, children: list[Token]) -> Token:
        return children[-1]

    def except_(self, children: list[Any]) -> Thing:
        return cast(Thing, children[-1])

    def where(self, children: list[Any]) -> Where:
        relation, thing = _related(children)[0]
        return Where(relation, thing)

    def where_not(self, children: list[Any]) -> tuple[Where, ...]:
        (relation, thing), (other_relation, other) = _related(children)
        return Where(relation, thing), Where(other_relation, other, negated=True)

    def not_where(self, children: list[Any]) -> Where:
        relation, thing = _related(children)[0]
        return Where(relation, thing, negated=True)


def _of_one_kind(things: list[Thing]) -> list[Thing]:
    """Those that have no noun are of the kind that is named next: "the red and the green cube"."""
    kind = ""
    for index in range(len(things) - 1, -1, -1):
        things[index] = things[index].of_kind(kind)
        kind = things[index].kind
    return things


def _colour(word: Token) -> str:
    return word.lower().replace("gray", "grey")


def _name(word: Token) -> str:
    """The token that the lexicon has for a word."""
    return token_of(str(word)) if word.type in _CLASSES.values() else word.type


def _related(children: list[Any]) -> list[tuple[Any, Thing]]:
    relations = [_RELATIONS[_name(_first(c))] for c in children if isinstance(c, Tree)]
    return list(zip(relations, [c for c in children if isinstance(c, Thing)], strict=True))


def _quantity(words: list[Token]) -> dict[str, Any]:
    """Quantifier and number from a determiner.

    "One of the cubes" is any cube; "the two cubes" are those two.
    """
    types = []
    for word in words:
        if word.type not in ("THE", "A", "ANY", "ONE", "EACH", "ALL", "BOTH", "NUMBER", "OF"):
            break
        types.append(word.type)
    numbers = [NUMBERS[w.lower()] for w in words if w.type == "NUMBER"]
    number = 2 if "BOTH" in types else numbers[0] if numbers else None
    if "BOTH" in types and not any(_name(w) in _PLURALS for w in words):
        return {"quantifier": "the"}  # "both the plate and the table"
    if {"EACH", "ALL", "BOTH"} & set(types):
        return {"quantifier": "all", "number": number}
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


def _things(children: list[Any]) -> tuple[Thing, ...]:
    return next((c for c in children if isinstance(c, tuple)), ())


def _places(children: list[Any]) -> tuple[Place, ...]:
    return tuple(c for c in children if isinstance(c, Place))


def _direction(children: list[Any]) -> bool | None:
    """Whether a list of things goes upwards; None where nothing was said."""
    found = next((c for c in children if isinstance(c, Tree) and c.data == "direction"), None)
    return None if found is None else _first(found).type == "UPWARDS"


def _first(tree: Any) -> Any:
    """The first token of a tree."""
    return tree.children[0]


def _tokens(children: list[Any], kind: str) -> list[Token]:
    return [c for c in children if isinstance(c, Token) and c.type == kind]
