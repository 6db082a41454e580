"""Splits a task text into sentences of tokens."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache

from lark import Token

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import symbol_of, words_of
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.lexicon import known_words, longest

_WORD = re.compile(r"[\w'’-]+|\S")
_SYMBOL = re.compile(rf"\b(?:box|{'|'.join((*SOLIDS, *SUPPORTS))})_[a-z]+\b", re.IGNORECASE)
_SEPARATORS = ("COMMA", "AND", "LINK", "DASH")


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence; `text` is the whole task text they were found in."""

    tokens: tuple[Token, ...]
    text: str

    def until(self, position: int) -> str:
        """The words from this sentence's first one to just before `position`."""
        return " ".join(self.text[self.tokens[0].start_pos : position].split())


def sentences(text: str) -> list[Sentence]:
    """All sentences that say something. Raises NotUnderstood naming every unknown word."""
    text = _SYMBOL.sub(lambda m: words_of(symbol_of(m.group().lower())), text.replace("’", "'"))
    found, unknown = _scan(text)
    if unknown:
        raise NotUnderstood(_about_unknown(unknown))
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
    """Merge runs of separators: COMMA or AND where a list may go on, SEP where a new clause must begin."""
    joined: list[Token] = []
    for token in tokens:
        if token.type not in _SEPARATORS:
            joined.append(token)
        elif joined and joined[-1].type in ("COMMA", "AND", "SEP"):
            last = joined[-1].type
            kind = (
                "AND"
                if (last, token.type) in (("COMMA", "AND"), ("COMMA", "COMMA"), ("AND", "COMMA"))
                else "SEP"
            )
            joined[-1] = Token.new_borrow_pos(kind, f"{joined[-1]} {token}", joined[-1])
        elif joined:
            kind = token.type if token.type in ("COMMA", "AND") else "SEP"
            joined.append(Token.new_borrow_pos(kind, str(token), token))
    while joined and joined[-1].type in ("COMMA", "AND", "SEP"):
        joined.pop()
    return joined


def _about_unknown(words: list[str]) -> str:
    listed = ", ".join(f"'{w}'" for w in words)
    hints = [f"'{near}' instead of '{word}'" for word in words if (near := _near(word))]
    hint = f" Did you mean {', '.join(hints)}?" if hints else ""
    return f"I do not know the word{'s' if len(words) > 1 else ''} {listed}.{hint} {WHAT_WORKS}"


def _near(word: str) -> str:
    found = difflib.get_close_matches(word.lower(), known_words(), n=1, cutoff=0.75)
    return found[0] if found else ""


WHAT_WORKS = (
    "What works are tasks with cubes, plates and the table, such as: 'Touch the left cube.' 'Pick up the "
    "red cube.' 'Put the red cube on the blue plate.' 'Stack red on blue.' 'Build a tower with red on top, "
    "blue in the middle and green at the bottom.' 'Put the blue cube next to the red "
    "cube.' 'Discard the red cube.'"
)
