"""Splits a task text into sentences of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby, takewhile

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import symbol_of, words_of
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language import lexicon
from spca_tabletop.language.chart import Token
from spca_tabletop.language.lexicon import ASIDES, RULES, SLIPS, SPELT

_LIKENESS = 0.79
_SENTENCE_END = re.compile(r"[.;!?]")
_WORD = re.compile(r"[\w'’-]+|\S")
_SYMBOL = re.compile(rf"\b(?:box|{'|'.join((*SOLIDS, *SUPPORTS))})_[a-z]+(?:_\d+)?\b", re.IGNORECASE)
_SPELT = re.compile(rf"(?i)(?<![\w-])({'|'.join(SPELT)})(?= (?:degrees?|cm|mm|centimet|millimet|inch))")
_NAMES = frozenset({"NOUN", "COLOUR", "ONE", "ONES"})
_NAMED = _NAMES | {"THE", "EXTENT", "FLANK"}
_PAUSE = re.compile(r"\s*[,)–—-]+(?=\s*\w)")
_SAID = frozenset({"IS", "WAS", "IT", "THEM", "THE", "A", "AND", "ALL", "REMARK", "HUED", "THERE"})
_GOING_ON = ("CORRECTION", "LIKEWISE", "KEPT_ORDER", "WITH")
"""How what is said of the last sentence begins."""
ASKS = re.compile(r"(?i)\s*(?:wh(?:at|ich|o|y|ere)|how|is|are|was|were|has|have)\b[^.!;?]*\?\s*")
ASKED = "I cannot answer that; ask what is where, or how many."
_SEPARATORS = ("COMMA", "AND", "BUT", "LINK", "DASH", "THEN", "CORRECTION")


@dataclass(frozen=True)
class Sentence:
    """The tokens of one sentence; `text` is the whole task text they were found in."""

    tokens: tuple[Token, ...]
    text: str

    def until(self, number: int) -> str:
        """The words from this sentence's first one to just before a token."""
        end = self.tokens[number].start if number < len(self.tokens) else len(self.text)
        return " ".join(self.text[self.tokens[0].start : end].split())


def _unknown(text: str, unread: Mapping[str, int]) -> NotUnderstood:
    """Say which words are not in the lexicon; where all are, which of them are not read where they stand."""
    begin, known = f"{ASKED} " * bool(ASKS.fullmatch(text)), lexicon.spelt_words(least=1)
    if not (words := [word for word in unread if not known.issuperset(re.split("['’]", word.lower()))]):
        at = min(unread.values())
        before = _SENTENCE_END.split(text[:at])[-1].strip()
        said = takewhile(lambda found: found.group() in unread, _WORD.finditer(text, at))
        where = f"after '{' '.join(before.split())}'" if before else "at the beginning of a sentence"
        return NotUnderstood(f"{begin}I do not understand '{' '.join(w.group() for w in said)}' {where}.")
    listed = ", ".join(f"'{w}'" for w in words)
    guesses = {word: guess for word in words if (guess := _alike(word))}
    meant = ", ".join([f"'{guess}' instead of '{word}'" for word, guess in guesses.items()][:3])
    hint = f" Did you mean {meant}?" if meant else ""
    return NotUnderstood(f"{begin}I do not know the word{'s'[: len(words) - 1]} {listed}.{hint}")


def sentences(text: str) -> list[Sentence]:
    """All sentences that say something. Raises NotUnderstood."""
    text, found, unknown = _spelt_right(text)
    if unknown:
        raise _unknown(text, unknown)
    done: list[Sentence] = []
    for ends, run in groupby(found, lambda token: token.type == "END"):
        said = list(run)
        if ends or not (joined := _join_separators(said)) or [t.type for t in joined] == ["THEN"]:
            continue
        goes_on = joined[0].type in _GOING_ON or said[0].text[:4].lower() == "but "
        if done and (goes_on or done[-1].tokens[-1].type == "CORRECTION"):
            joined = _join_separators([*done.pop().tokens, *said])
        elif joined[0].type == "CORRECTION" and joined[0].text[:2].lower() != "no":  # of what was no order
            joined = joined[1:]
        done += [Sentence(tuple(joined), text)] * bool(joined)
    return done


def told_slips(text: str) -> str:
    """What was taken for what, where a text has slips of the pen, and what was left aside; else nothing."""
    left: list[str] = []
    unknown = _scan(_normal(text, left))[1]
    told = " and ".join(f"'{word}' for '{meant}'" for word, meant in _slips(unknown).items())
    aside = ", ".join(f"'{clause}'" for clause in left)
    return " ".join([*([f"(I take {told}.)"] * bool(told)), *([f"(Left aside: {aside}.)"] * bool(aside))])


def _normal(text: str, left: list[str] | None = None) -> str:
    """Return a text as it is scanned: fillers, steps and spellings seen to; `left` gets the asides."""
    text = RULES["interjection"]().sub("", lexicon.spelt_out(text.replace("’", "'")))
    text = _SYMBOL.sub(lambda m: words_of(symbol_of(m.group().lower())), text)
    return _without_asides(_SPELT.sub(lambda m: str(SPELT[m[1].lower()]), text), [] if left is None else left)


def _slips(unknown: Iterable[str]) -> dict[str, str]:
    """Those unknown words that are one edit off exactly one word of the lexicon, and that word.

    None where one is a word of its own, or is off by more. Two letters exchanged are no word of their own, so
    they may be of any word, and count before any other edit ("thign" is no "thin").
    """
    words = lexicon.spelt_words(least=4) | SLIPS["of"]
    meant = {}
    for word in unknown:
        near = [one for one in words if one[0] == word[0].lower() and _one_edit(word.lower(), one)]
        exchanged = [one for one in near if len(one) == len(word) and sorted(one) == sorted(word.lower())]
        near = exchanged or [one for one in near if len(one) != len(word)] or near
        own = len(word) < 4 or word.lower() in SLIPS["never"] | words
        if own or len(near) != 1 or not (exchanged or near[0] in SLIPS["of"]):
            return {}
        meant[word] = near[0]
    return meant


def _one_edit(one: str, other: str) -> bool:
    n = 0
    while one[n : n + 1] == other[n : n + 1] != "":
        n += 1
    swapped = one[n : n + 2] == other[n : n + 2][::-1] and one[n + 2 :] == other[n + 2 :]
    return swapped or one[n + 1 :] == other[n:] or other[n + 1 :] in (one[n:], one[n + 1 :])


def _without_asides(text: str, left: list[str]) -> str:
    """Return a text without what may be left out, from its end to its beginning; `left` gets that."""
    for name in ("clause", "purpose"):
        for found in reversed([*RULES[name]().finditer(text)]):
            clause, rest = found.group().strip(" -"), text[found.end() :]
            traded = name == "purpose" and any(t.type == "SWAP" for t in _scan(text[: found.start()])[0])
            if not traded and (kept := _kept(clause, rest)) is not None:
                left.insert(0, clause)
                text = f"{text[: found.start()]} {kept} {rest}"
    return text


def _kept(clause: str, rest: str) -> str | None:
    """What has to stay of a clause nothing in which can bind what is done: what it is about; else None.

    It is no order: it has a subject and a verb, addresses, exclaims or gives a reason; how it begins says so,
    and which known words it may have besides. No word makes it a condition, wish, rule, restriction, number,
    time or arrangement, but one is of no lexicon: all that is known would be understood otherwise.
    """
    openings = {of: may for of, (opening, may) in ASIDES.items() if opening().match(clause)}
    about = [*takewhile(lambda token: token.type in _NAMED, _scan(clause)[0])]
    end = about[-1].start + len(about[-1].text) if _NAMES & {token.type for token in about} else 0
    told = end and not _scan(clause[:end])[1] and RULES["predicate"]().match(clause[end:])
    if not (openings or told) or RULES["orders"]().search(clause) or RULES["hence"]().match(rest):
        return None
    if told and _says_only(clause[end:], _SAID):
        return f"{clause[:end]} ‡"
    if next((t.type for t in _scan(rest)[0] if t.type in _NAMES | lexicon.BACK), "") in lexicon.BACK:
        words = [*_scan(clause)[1]]
        new = any(RULES["new"]().search(clause[: clause.find(word)]) for word in words)
        if new or "others" in openings or any(word.endswith("s") for word in words[1:]):
            return None  # "she bought a hammer. Lift it."
        openings = {of: may for of, may in openings.items() if "COLOUR" not in may}
    return "" if openings and _says_only(clause, frozenset().union(*openings.values())) else None


def _says_only(clause: str, allowed: frozenset[str]) -> bool:
    found, unknown = _scan(RULES["helper"]().sub(" ", clause))
    return bool(unknown) and {token.type for token in found} <= allowed


def known_part(text: str) -> str:
    """Return a text without the clauses that may be left out for their unknown words, spelt right.

    Empty where an unknown word remains: it may be a thing, or what is to be done with one.
    """
    if not _scan(_normal(text))[1]:
        return ""
    kept = RULES["clause"]().sub(lambda m: " " if _may_go(_normal(m.group())) else m.group(), text)
    for word in _scan(_normal(kept))[1]:
        if not (meant := _alike(word)):
            return ""
        kept = re.sub(rf"\b{re.escape(word)}\b", meant, kept)
    kept = re.sub(r"\s*[,;:()—–]?\s*(?=[,.!?;:()—–]|$)|(?<=[.!?])\s*[,;:!]+", "", kept)
    kept = re.sub(r"[,.!?;:—–]+(?=[.!?])", "", kept).strip(" ,;:")
    return "" if kept == text.strip() else kept


def _may_go(clause: str) -> bool:
    """Return whether all that a clause says may be unheard: no thing, no relation, nothing to do, or "not".

    A comparison may be; what is "polished" may not.
    """
    found, unknown = _scan(RULES["helper"]().sub(" ", clause))
    if not unknown or RULES["heeded"]().search(clause):
        return not (unknown or found)
    if RULES["compared"]().match(clause.strip()):
        return {token.type for token in found} <= ASIDES["thing"][1] | {"EACH"}
    return not found and len(clause.split()) > 1 and not re.search(r"(?:ed|ing)\b|half|double", clause)


def _alike(said: str) -> str:
    """Return a word to ask for: it begins like what was said, and is most like it or has the same letters."""
    word = said.lower()
    known = [one for one in lexicon.known_words() if one[0] == word[0]]
    same = [one for one in known if sorted(one) == sorted(word)]
    return next(iter(same or get_close_matches(word, known, 1, _LIKENESS)), "")


def words_in(text: str, terminal: str) -> list[str]:
    """The values of a text's words of one terminal, whatever else it says."""
    return [token.value for token in _scan(text)[0] if token.type == terminal]


def kinds_in(text: str) -> list[tuple[int, str]]:
    """Where a text names things, and of which kinds; not the table."""
    said = [token for token in _spelt_right(text)[1] if token.type == "NOUN"]
    return [(token.start, token.value[0]) for token in said if token.value[0] not in ("table", "ground")]


def _spelt_right(text: str) -> tuple[str, list[Token], dict[str, int]]:
    """Return a text without slips of the pen, its words, and those that are unknown."""
    text = _normal(text)
    found, unknown = _scan(text)
    if slips := _slips(unknown):
        for word, meant in slips.items():
            text = re.sub(rf"\b{word}\b", meant, text)
        found, unknown = _scan(text)
    return text, found, unknown


def _scan(text: str) -> tuple[list[Token], dict[str, int]]:
    """The words of a text, and those that are unknown with their places."""
    said: list[Token] = []
    unknown: dict[str, int] = {}
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        name, end = lexicon.longest(text, position)
        if name == "":
            match = _WORD.match(text, position)
            assert match is not None
            unknown.setdefault(match.group(), position)
            end = match.end()
        elif name == "INSERTED":  # and the pauses around it
            if said and said[-1].type in ("COMMA", "DASH"):
                said.pop()
            end = pause.end() if (pause := _PAUSE.match(text, end)) else end
        elif name != "FILLER" and not (name == "THE" and said and said[-1].type == "THE"):
            word = text[position:end]
            said.append(Token(*lexicon.said_as(name, word.lower()), word, position))
        position = end
    return said, unknown


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
        if kept := {token.type: token for token in found if token.type in ("CORRECTION", "THEN")}:
            joined += [t for t in found if t.type == "AND" and "CORRECTION" in kept]  # "and, no wait, …"
            joined += kept.values()
        elif joined:
            types = {token.type for token in found}
            kind = "AND" if types == {"COMMA", "AND"} else found[0].type
            kind = kind if kind in ("COMMA", "AND", "BUT") and (len(types) == 1 or kind == "AND") else "SEP"
            joined.append(Token(kind, None, " ".join(t.text for t in found), found[0].start))
    while joined and joined[-1].type in ("COMMA", "AND", "SEP", "BUT"):
        joined.pop()
    return joined
