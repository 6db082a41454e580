"""Parses sentences into readings: by the phrases of installed skill packages, else by the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from threading import Lock
from typing import Any, cast

from lark import Lark, Token, Tree, UnexpectedEOF, UnexpectedToken
from lark.lexer import Lexer

from spca_core.ports.proposer import NotUnderstood
from spca_core.skill_package import SkillPhrase, skill_packages
from spca_tabletop.language.phrases import Asked, Instruction, Interpretation, NounPhrase
from spca_tabletop.language.trees import CLASSES, reading_of
from spca_tabletop.language.words import WHAT_WORKS, Sentence, sentences

_MOST_READINGS = 64
_PARSING = Lock()
_SENTENCE = re.compile(r"[^.!;]+")
_MOST = 8


class _Ready(Lexer):
    """The sentences are tokens already."""

    def __init__(self, lexer_conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any = None) -> Iterator[Token]:
        yield from lexer_state


class _Predictions:
    """The rules of a symbol that can begin with the next token, in place of the parser's own.

    Lark's Earley parser tries every rule at every word, which takes nine tenths of its time.
    """

    def __init__(self, parser: Any) -> None:
        self._rules, self._first = parser.predictions, parser.FIRST
        self._found: dict[tuple[Any, str], list[Any]] = {}
        self._next = ""

    def __getitem__(self, symbol: Any) -> list[Any]:
        key = symbol, self._next
        if key not in self._found:
            self._found[key] = [rule for rule in self._rules[symbol] if self._fits(rule, symbol)]
        return self._found[key]

    def _fits(self, rule: Any, symbol: Any) -> bool:
        first = rule.expansion[0]
        tokens = {first} if first.is_term else self._first[first]
        return rule.origin == symbol and any(token.name == self._next for token in tokens)

    def before(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """Hand out tokens; the parser asks for the rules before it takes the next one."""
        self._next = tokens[0].type
        return self._handed_out(tokens)

    def _handed_out(self, tokens: Sequence[Token]) -> Iterator[Token]:
        for token in tokens:
            self._next = token.type
            yield token
        self._next = ""


@lru_cache(maxsize=1)
def _grammar() -> tuple[Lark, _Predictions]:
    text = (Path(__file__).parent / "task.lark").read_text()
    lark = Lark(text, parser="earley", lexer=_Ready, ambiguity="explicit", maybe_placeholders=False)
    earley: Any = cast(Any, lark.parser).parser
    earley.predictions = _Predictions(earley)
    return lark, earley.predictions


@lru_cache(maxsize=256)
def readings(sentence: Sentence) -> tuple[Interpretation, ...]:
    """Every way to understand a sentence, remembered for the next round. Raises NotUnderstood."""
    try:
        tokens = [Token.new_borrow_pos(CLASSES.get(t.type, t.type), t, t) for t in sentence.tokens]
        with _PARSING:
            lark, predictions = _grammar()
            tree: Any = lark.parse(cast(str, predictions.before(tokens)))  # the lexer takes them as they are
    except UnexpectedEOF as error:
        words = sentence.text[sentence.tokens[0].start_pos :]
        raise NotUnderstood(f"'{' '.join(words.split())}' does not make a task. {WHAT_WORKS}") from error
    except UnexpectedToken as error:
        raise NotUnderstood(_about_unexpected(sentence, error)) from error
    found: dict[Interpretation, None] = {}
    problem: Exception | None = None
    for one in islice(_trees(tree), _MOST_READINGS):
        try:
            found[reading_of(one)] = None
        except NotUnderstood as error:
            problem = error
    if problem is not None and not found:
        raise problem
    return tuple(replace(reading, words=tuple(tokens)) for reading in found)


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


def ways_to_read(text: str) -> list[Sequence[Interpretation]]:
    """For each sentence of a text, every way to understand it. Raises NotUnderstood."""
    phrases = [phrase for package in skill_packages("tabletop") for phrase in package.phrases]
    if not phrases:
        return [readings(sentence) for sentence in sentences(text)]
    found: list[Sequence[Interpretation]] = []
    rest = ""
    for raw in _SENTENCE.findall(text):
        asked = _asked(raw, phrases)
        if not asked:
            rest += f"{raw}."
            continue
        found += [readings(sentence) for sentence in sentences(rest)]
        found.append(asked)
        rest = ""
    return found + [readings(sentence) for sentence in sentences(rest)]


def _asked(sentence: str, phrases: Sequence[SkillPhrase]) -> list[Interpretation]:
    for phrase in phrases:
        if (nouns := phrase.match(sentence)) is not None:
            choices = [_things(nouns[name]) for name in phrase.arguments]
            return [
                Interpretation((Asked(phrase.predicate, things),))
                for things in islice(product(*choices), _MOST)
            ]
    return []


def _things(noun_phrase: str) -> list[NounPhrase]:
    """Every way to understand a noun phrase that means one thing: what the grammar takes as what to touch."""
    found = [
        element.things[0]
        for sentence in sentences(f"touch {noun_phrase}")
        for reading in readings(sentence)
        for element in reading.elements
        if isinstance(element, Instruction) and len(reading.elements) == 1 and len(element.things) == 1
        if not element.places
    ]
    if not found:
        raise NotUnderstood(f"I do not know which thing '{noun_phrase}' means.")
    return list(dict.fromkeys(found))
