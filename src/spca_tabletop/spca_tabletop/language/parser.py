"""Parses sentences into readings by the grammar of task.lark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any, cast

from lark import Lark, Token, Tree, UnexpectedEOF, UnexpectedToken
from lark.lexer import Lexer

from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.phrases import Reading
from spca_tabletop.language.trees import CLASSES, reading_of
from spca_tabletop.language.words import WHAT_WORKS, Sentence

_MOST_READINGS = 64


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
        tokens = [Token.new_borrow_pos(CLASSES.get(t.type, t.type), t, t) for t in sentence.tokens]
        tree: Any = _grammar().parse(cast(str, tokens))  # the lexer takes them as they are
    except UnexpectedEOF as error:
        words = sentence.text[sentence.tokens[0].start_pos :]
        raise NotUnderstood(f"'{' '.join(words.split())}' does not make a task. {WHAT_WORKS}") from error
    except UnexpectedToken as error:
        raise NotUnderstood(_about_unexpected(sentence, error)) from error
    found: dict[Reading, None] = {}
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
