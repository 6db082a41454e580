"""Splits a task text into sentences of tokens."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from lark import Token

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import symbol_of, words_of
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import known_words, longest

_WORD = re.compile(r"[\w'’-]+|\S")
_SYMBOL = re.compile(rf"\b(?:box|{'|'.join((*SOLIDS, *SUPPORTS))})_[a-z]+\b", re.IGNORECASE)
_SEPARATORS = ("COMMA", "AND", "BUT", "LINK", "DASH", "THEN")


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence; `text` is the whole task text they were found in."""

    tokens: tuple[Token, ...]
    text: str

    def until(self, position: int) -> str:
        """The words from this sentence's first one to just before `position`."""
        return " ".join(self.text[self.tokens[0].start_pos : position].split())


class UnknownWords(NotUnderstood):
    """A text has words that are not in the lexicon. `said` are the text and these words."""

    def __init__(self, text: str, words: Sequence[str], hint: str = "") -> None:
        listed = ", ".join(f"'{w}'" for w in words)
        plural = "s" if len(words) > 1 else ""
        super().__init__(f"I do not know the word{plural} {listed}.{hint} {WHAT_WORKS}")
        self.said = text, tuple(words)


def sentences(text: str) -> list[Sentence]:
    """All sentences that say something. Raises UnknownWords."""
    text = _SYMBOL.sub(lambda m: words_of(symbol_of(m.group().lower())), text.replace("’", "'"))
    found, unknown = _scan(text)
    if unknown:
        raise UnknownWords(text, unknown)
    done: list[Sentence] = []
    current: list[Token] = []
    for token in [*found, Token("END", ".")]:
        if token.type != "END":
            current.append(token)
        elif joined := _join_separators(current):
            done.append(Sentence(tuple(joined), text))
            current = []
        else:
            current = []
    return done


def words_in(text: str, token: str) -> list[str]:
    """The words of a text that are of one token, whatever else it says."""
    return [str(found) for found in _scan(text)[0] if found.type == token]


def _scan(text: str) -> tuple[list[Token], list[str]]:
    tokens: list[Token] = []
    unknown: list[str] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        token, end = longest(text, position)
        if token == "":
            word = _WORD.match(text, position)
            assert word is not None
            unknown.append(word.group())
            end = word.end()
        elif token != "FILLER":
            tokens.append(Token(token, text[position:end].lower(), start_pos=position, end_pos=end))
        position = end
    return tokens, list(dict.fromkeys(unknown))


@lru_cache(maxsize=256)
def token_of(word: str) -> str:
    """The token for a known word."""
    return longest(word, 0)[0]


def _join_separators(tokens: list[Token]) -> list[Token]:
    """Merge runs of separators: COMMA or AND where a list may go on, SEP where a new clause must begin.

    THEN stays, as it says in which order.
    """
    joined: list[Token] = []
    for separates, run in groupby(tokens, lambda token: token.type in _SEPARATORS):
        found = list(run)
        if not separates:
            joined += found
            continue
        then = next((token for token in found if token.type == "THEN"), None)
        if then is not None:
            joined.append(then)
        elif joined:
            listing = {token.type for token in found} <= {"COMMA", "AND"}
            kind = "AND" if listing and len(found) > 1 else found[0].type
            kind = kind if kind in ("COMMA", "AND", "BUT") and (listing or len(found) == 1) else "SEP"
            joined.append(Token.new_borrow_pos(kind, " ".join(found), found[0]))
    while joined and joined[-1].type in ("COMMA", "AND", "SEP", "BUT"):
        joined.pop()
    return joined


def misspelt(word: str) -> list[str]:
    """Known words that an unknown one may have been meant to be, likeliest first."""
    return difflib.get_close_matches(word.lower(), known_words(), n=3, cutoff=0.75)


WHAT_WORKS = (
    "What works are tasks with cubes, plates and the table, such as: 'Touch the left cube.' 'Pick up the "
    "red cube.' 'Put the red cube on the blue plate.' 'Stack red on blue.' 'Build a tower with red on top, "
    "blue in the middle and green at the bottom.' 'Put the blue cube next to the red "
    "cube.' 'Discard the red cube.'"
)
