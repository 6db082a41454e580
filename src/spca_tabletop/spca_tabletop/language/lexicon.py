"""The words of task texts: each is reduced to a token.

A pattern is a regular expression in which a space stands for any white space. Where several match, the
longest wins; of equally long ones, the first. FILLER is dropped: politeness, and what is
true of every task anyway. Whatever else is said must be heeded by a rule of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from spca_core.errors import InputError
from spca_core.kinds import KINDS, MESHES, SOLIDS, SUPPORTS
from spca_core.relation import relations
from spca_core.validation import read_yaml

_FILE = read_yaml(Path(__file__).with_name("words.yaml"), "the words of task texts")
COLOURS = tuple(_FILE["colours"].split())
FORMS = read_yaml(Path(__file__).with_name("forms.yaml"), "the grammar of task texts")
"""By module and function the forms of sentences that have it as their meaning."""
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = {word: n for n, word in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"), 1)}
SPELT = {word: n for n, word in enumerate(_COUNTED, 2)}
NUMBERS = SPELT | {str(n): n for n in range(2, 13)}
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SPELT |= {f"{ten}-{one}": 10 * t + n for t, ten in enumerate(_TENS, 2) for one, n in SPELT.items() if n < 10}
SPELT |= {ten: 10 * t for t, ten in enumerate(_TENS, 2)} | {"one": 1, "fifteen": 15}

_NUMBER = "|".join(NUMBERS)
_IRREGULAR = {"die": "dice"}

_CALLED = {noun: tuple(k.name for k in KINDS.values() if noun in k.nouns)
           for kind in KINDS.values() for noun in kind.nouns}  # fmt: skip
SHARED = {noun: kinds for noun, kinds in _CALLED.items() if len(kinds) > 1}
"""The kinds that a noun of several may mean: whichever is there, and can be where it is said."""
LIFTABLE = tuple(SOLIDS)
TANGIBLE = (*SOLIDS, *SUPPORTS)
ANYTHING = (*TANGIBLE, "table")
ROWS = {row.name: row for row in relations()}
"""The relations that things can be put into on the table."""
AXES = {"leftmost": (1, -1), "rightmost": (1, 1), "middle": (1, -1), "nearest": (0, 1), "farthest": (0, -1),
         "highest": (2, -1), "lowest": (2, 1)}  # fmt: skip
"""The axis of `world` and the sign that a side is about: left is +y, far is +x."""
AHEAD = {row.ahead((1, 2, 0), (0, 0, 0)): n for n, row in ROWS.items() if row.ahead}
"""The relations of what is farther along an axis of `world`, counted from 1, or, below 0, less far."""


def _nouns() -> dict[str, tuple[str, ...]]:
    """Singular and plural of every kind's own nouns, and of each that several kinds share."""
    found = {name: [n for n in KINDS[name].nouns if n not in SHARED] for name in (*SOLIDS, *SUPPORTS)}
    found |= {noun: [noun] for noun in SHARED}
    tokens: dict[str, tuple[str, ...]] = {}
    for name, nouns in found.items():
        tokens[name.upper()] = ("|".join(nouns),)
        more = [_IRREGULAR.get(n, n + ("es" if n.endswith(("sh", "x")) else "s")) for n in nouns]
        tokens[f"{name.upper()}S"] = ("|".join(more),)
    return tokens


def _alternatives(row: str) -> list[str]:
    """The parts of a pattern between the bars that stand outside of any parentheses or brackets.

    A regular expression takes the first alternative that fits; to take the longest, each must be tried alone.
    """
    parts, depth, listed = [""], 0, False
    for character in row:
        listed = character != "]" if listed else character == "["
        depth += 0 if listed else (character == "(") - (character == ")")
        if character == "|" and depth == 0 and not listed:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _said(rows: str | list[Any] | dict[str, Any], context: str = "<it>") -> Iterator[str]:
    """The patterns of a token; those that count in a context only are of these alternatives by themselves."""
    if isinstance(rows, str):
        yield from (context.replace("<it>", one) for one in (_alternatives(rows) if context[4:] else [rows]))
    elif isinstance(rows, list):
        yield from (pattern for row in rows for pattern in _said(row, context))
    else:
        yield from (one for name, row in rows.items() for one in _said(row, _FILE["contexts"][name]))


def _patterns() -> tuple[Any, ...]:
    """Every token's patterns; what asides are, compiled when first called for; and what may be misspelt."""
    parts = {"number": _NUMBER, "counted": "|".join(_COUNTED), "ordinals": "|".join(_ORDINALS)}
    parts |= {"colours": "|".join(COLOURS), "coloured": "|".join(f"{c}s" for c in COLOURS)}
    parts["no_colour_before"] = "".join(rf"(?<!{colour}\s)" for colour in COLOURS)
    parts["told"] = "|".join((*COLOURS, *SUPPORTS))

    def whole(pattern: str) -> str:
        return re.sub("<([a-z_]+)>", lambda m: whole(parts[m[1]]), pattern)

    parts |= {n: p if isinstance(p, str) else f"(?:{'|'.join(p)})" for n, p in _FILE["parts"].items()}
    clauses = _FILE["clauses"] | {"heeded": rf"\b(?:{'|'.join(_FILE['binding'])})\b"}
    clauses["orders"] = rf"(?:<heeded>|\b(?:{_FILE['wishes']})\b)"
    parts |= clauses
    found: dict[str, tuple[str, ...]] = {}
    for token, rows in _FILE["tokens"].items():
        if token == "NOUNS":
            found |= _nouns()
        elif token == "RELATIONS":
            found |= {t: tuple(words) for row in relations() for t, words in row.words.items()}
        else:
            found[token] = (*found.get(token, ()), *(whole(one) for one in _said(rows)))
    asides = {of: (cache(partial(re.compile, f"(?i){whole('<opening>')}(?:{whole('|'.join(row['opens']))})")),
                   frozenset(f"{row['may']} {_FILE['asides']['thing']['may']}".split()))
              for of, row in _FILE["asides"].items()}  # fmt: skip
    rules = {n: cache(partial(re.compile, f"(?i){whole(clause)}")) for n, clause in clauses.items()}
    nouns = (word for rows in _nouns().values() for row in rows for word in row.split("|"))
    slips = {name: frozenset(words.split()) for name, words in _FILE["slips"].items()}
    return found, asides, rules, slips | {"of": slips["of"].union(COLOURS, nouns)}


_PATTERNS, ASIDES, RULES, SLIPS = _patterns()
"""What aside begins how, and which words it may have; what makes a clause an order; what may be misspelt."""

for _kind, _noun in ((name, noun) for name in MESHES for noun in KINDS[name].nouns):
    for _token in (t for t, rows in _PATTERNS.items() if any(re.fullmatch(row, _noun) for row in rows)):
        if _token != _kind.upper() and _token != "FILLER":
            _what = f"the kind '{_kind}' is called '{_noun}', which means something else in task texts"
            raise InputError(_what, hint="give it another noun, or uninstall it")

_VALUES: dict[str, tuple[str, object]] = {token: tuple(value) for token, value in _FILE["values"].items()}
_VALUES |= {name.upper() + "S" * plural: ("NOUN", (name, bool(plural))) for plural in (0, 1)
            for name in (*SOLIDS, *SUPPORTS, *SHARED, "thing", "table", "ground")}  # fmt: skip
UNREAD: dict[str, str] = _FILE["unread"]
TOO_OPEN = "That leaves too much open; name some of the things."
PUT_OR_THERE = "I do not know: is it to go there, or is it there? Say 'put', or 'that is'."
NO_DIRECTION = "I can put things to a side of others, or in a half of the table; say which, or of what."
BACK = frozenset(_FILE["refer back"].split())
_A_BIT, _CLOSE = 4, 1
"""Centimetres that are meant by "a bit", "close to it"."""
_INITIALS = {colour[0]: colour for colour in reversed(COLOURS[:6])}
_MILLIMETRES = {"mm": 1, "millimet": 1, "inch": 25.4}


def _millimetres(words: str) -> tuple[int, ...]:
    ((number, unit),) = re.findall(r"(\d[\d.]*) ?(mm|millimet|inch|c)", words) or [
        (_A_BIT if re.search("bit|little|slight|few|tad|touch |smidge", words) else _CLOSE, "c")
    ]
    return (round(float(number) * _MILLIMETRES.get(unit, 10)),)


_READS: dict[str, Callable[[str], object]] = {t: read for row in relations() for t, read in row.reads.items()}
_READS |= {"SPACING": _millimetres, "COLOURED": lambda word: word[:-1], "ORDINAL": _ORDINALS.__getitem__}
_READS["NUMBER"] = lambda words: next(NUMBERS[w] for w in re.split("[- ]", words) if w in NUMBERS)
_READS["SIZE"] = _READS["NUMBER"]
_READS["ACROSS_VIEW"] = lambda words: (
    "leftmost" if re.search("left.*right", words) or ("left" in words and "right" not in words)
    else "rightmost" if "left" in words or "right" in words
    else "farthest" if re.search("toward|(?:back|far).*(?:front|near)", words) else "nearest")  # fmt: skip
_READS["COLOUR"] = lambda word: _INITIALS.get(word, {"gray": "grey", "violet": "purple"}.get(word, word))
VALUED = ("NOUN", "FLANK", "EXTENT", "DISTANT", "MATCHING", "DIRECTION", *_READS)


def said_as(token: str, word: str) -> tuple[str, object]:
    """The terminal of a token, and the value of the word that was said."""
    return (token, _READS[token](word)) if token in _READS else _VALUES.get(token, (token, None))


_SPELT = {spelt: word for word, row in _FILE["spellings"].items() for spelt in row.split("|")}
_SPELT_ANEW = re.compile(rf"(?i)(?<![\w'-])(?:{'|'.join(sorted(_SPELT, key=len, reverse=True))})(?![\w'-])")


def spelt_out(text: str) -> str:
    """Return a text with what is spelt as in a chat in its usual form."""
    return _SPELT_ANEW.sub(lambda found: _SPELT[found.group().lower()], text)


_LITERAL = re.compile(r"[a-z0-9' -]+")
_UNBOUNDED = ("COMMA", "DASH", "END")
"""Tokens whose patterns may touch other characters."""


def longest(text: str, position: int) -> tuple[str, int]:
    """The token of the longest word or phrase at a position of a text, and its end; "" if there is none."""
    tokens_of, literal, ranks, _ = _lexicon()
    rank, end = len(tokens_of), position
    if match := literal.match(text, position):
        rank, end = ranks[" ".join(match.group().lower().split())], match.end()
    for other, pattern in _patterns_for(text):
        match = pattern.match(text, position)
        if match is not None and (match.end() > end or (match.end() == end > position and other < rank)):
            rank, end = other, match.end()
    return (tokens_of[rank], end) if end > position else ("", position)


@lru_cache(maxsize=8)
def _patterns_for(text: str) -> list[tuple[int, re.Pattern[str]]]:
    """The patterns that may have a match in a text, with their ranks: most cannot, and are not compiled."""
    (tokens_of, _, _, others), said = _lexicon(), text.lower()
    fitting = {one for letters, patterns in others.items() if letters in said for one in patterns}
    return [(rank, _compiled(one, tokens_of[rank] not in _UNBOUNDED)) for rank, one in sorted(fitting)]


@lru_cache(maxsize=1)
def _lexicon() -> tuple[list[str], re.Pattern[str], dict[str, int], dict[str, list[tuple[int, str]]]]:
    """The tokens by the ranks of their alternatives, the plain words with theirs, and all other patterns.

    Most are plain words, which compile in a tenth of the time as one. Patterns stand under letters they need.
    """
    listed = _listed()
    ranks: dict[str, int] = {}
    others: dict[str, list[tuple[int, str]]] = {}
    for rank, (token, alternative) in enumerate(listed):
        if token not in _UNBOUNDED and _LITERAL.fullmatch(alternative):
            ranks.setdefault(alternative, rank)
        else:
            for letters in _needed(alternative) or ("",):
                others.setdefault(letters, []).append((rank, alternative))
    words = "|".join(sorted(ranks, key=len, reverse=True))
    return [token for token, _ in listed], _compiled(f"(?:{words})", True), ranks, others


_GROUP = re.compile(r"\((\?<?[=!]|\?:)?([^()]*)\)([?*]|\{0?,\d*\})?")
_MAY_LACK = re.compile(r"[a-z]?(?:[?*+]|\{\d*,?\d*\})")


def _needed(pattern: str) -> tuple[str, ...]:
    """Letters some of which are in every match of a pattern or around it; none if that is not plain."""

    def way(group: re.Match[str]) -> str:
        if group[3] or group[1] not in (None, "?:"):
            return "\0"
        if re.fullmatch(r"[a-z]+(?:\|[a-z]+)+", group[2]):
            return f"<{group[2].replace('|', ',')}>"
        return f"<{','.join(_in_some(group[2]))}>" if "|" in group[2] else group[2]

    before, pattern = "", re.sub(r"\\.|\[[^]]*\]", "\0", pattern)
    while before != pattern and "(" in pattern:  # the innermost groups first
        before, pattern = pattern, _GROUP.sub(way, pattern)
    return _in_some(pattern)


def _in_some(ways: str) -> tuple[str, ...]:
    """Letters that some alternative without groups needs; `<a,b>` stands for what needs one of these."""
    found: list[list[str]] = []
    for one in _MAY_LACK.sub("\0", ways).split("|"):
        needs = (n.strip("<>").split(",") for n in re.findall("<[^>]*>|[a-z]+", one))
        found.append(max((n for n in needs if all(n)), key=lambda n: len(min(n, key=len)), default=[]))
    return tuple(letters for each in found for letters in each) if all(found) else ()


@lru_cache(maxsize=1)
def _listed() -> tuple[tuple[str, str], ...]:
    """Every alternative with its token, in the order of the patterns."""
    return tuple((t, a) for t, rows in _PATTERNS.items() for row in rows for a in _alternatives(row))


def words_of_tokens() -> dict[str, list[str]]:
    """The plain words and phrases of each token but what is left out and what only separates clauses."""
    found: dict[str, list[str]] = {}
    for token, alternative in _listed():
        if token not in (*_UNBOUNDED, "FILLER", "INSERTED", "LINK") and _LITERAL.fullmatch(alternative):
            found.setdefault(token, []).append(alternative)
    return found


@lru_cache(maxsize=2)
def spelt_words(least: int) -> frozenset[str]:
    """Every word of so many letters or more that stands in some pattern."""
    said = (re.sub(r"\\\w", " ", one) for _, one in _listed())
    return frozenset(word for one in said for word in re.findall("[a-z]+", one) if len(word) >= least)


@lru_cache(maxsize=1)
def known_words() -> tuple[str, ...]:
    """Single words that a misspelt one may have been meant to be."""
    words = (a for token, a in _listed() if token not in ("FILLER", "INSERTED"))
    return tuple(a for a in words if a.isalpha() and len(a) > 2)


@cache
def _compiled(alternative: str, bounded: bool) -> re.Pattern[str]:
    body = alternative.replace(" ?", r"\s*").replace(" ", r"\s+")
    bounded = bounded and alternative[-1] not in ">→"  # "red->blue"
    return re.compile(body + "(?![a-z0-9]|'t|-(?!-*>))" if bounded else body, re.IGNORECASE)
