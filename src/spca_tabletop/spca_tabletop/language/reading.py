"""Every way to read a text's sentences: by the phrases of installed skill packages, else by the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from spca_core.ports.proposer import NotUnderstood
from spca_core.skill_package import SkillPhrase, skill_packages
from spca_tabletop.language import clauses
from spca_tabletop.language.chart import Unexpected
from spca_tabletop.language.lexicon import UNREAD
from spca_tabletop.language.questions import rule
from spca_tabletop.language.talk import Meaning, Talk, refuse
from spca_tabletop.language.things import Phrase
from spca_tabletop.language.words import ASKED, ASKS, Sentence, sentences

_SENTENCE = re.compile(r"[^.!;]+")
_ONLY_ASKS = re.compile(r"(?i)\s*(?:what|which|who|how (?:many|much))\b(?! about| if)[^.!;?]*\?\s*")
Ways = list[tuple[int, Meaning]]


def ways_to_read(text: str) -> list[Ways]:
    """For each sentence of a text, every way to understand it, cheapest first. Raises NotUnderstood."""
    phrases = [phrase for package in skill_packages("tabletop") for phrase in package.phrases]
    found: list[Ways] = []
    rest = ""
    for raw in _SENTENCE.findall(text) if phrases else ():
        if not (asked := _asked(raw, phrases)):
            rest += raw if raw.rstrip().endswith("?") else f"{raw}."
            continue
        found += [*map(readings, sentences(rest)), asked]
        rest = ""
    return found + [readings(sentence) for sentence in sentences(rest if phrases else text)]


@lru_cache(maxsize=256)
def readings(sentence: Sentence, start: str = "Said") -> Ways:
    """Every way to understand a sentence, remembered for the next round. Raises NotUnderstood."""
    try:
        asks = start == "Said" and _ONLY_ASKS.fullmatch(sentence.text)
        return rule.parse(sentence.tokens, "Question" if asks else start)
    except Unexpected as error:
        for token in sentence.tokens:
            if token.type in UNREAD:
                raise NotUnderstood(UNREAD[token.type].format(token.text.strip(" ,"))) from error
        refuse(ASKS.fullmatch(sentence.text), ASKED)
        before = sentence.until(error.at)
        if error.at >= len(sentence.tokens):
            missing = "something is missing at its end, or is not understood there."
            raise NotUnderstood(f"'{before}' does not make a task: {missing}") from error
        where = f"after '{before}'" if before else "at the beginning of a sentence"
        raise NotUnderstood(f"I do not understand '{sentence.tokens[error.at].text}' {where}.") from error


def reads_as(start: str, text: str) -> bool:
    """Whether a text is one sentence of that kind, such as a `Question` or a `Thing`."""
    try:
        said = sentences(text)
        return len(said) == 1 and bool(readings(said[0], start))
    except NotUnderstood:
        return False


def _asked(sentence: str, phrases: Sequence[SkillPhrase]) -> Ways:
    for phrase in phrases:
        if (nouns := phrase.match(sentence)) is not None:
            return [(0, _asking(phrase.predicate, tuple(_thing(nouns[name]) for name in phrase.arguments)))]
    return []


def _asking(predicate: str, things: Phrase) -> Meaning:
    def meaning(talk: Talk) -> Iterator[Talk]:
        for symbols, after in clauses.about(things, talk):
            refuse(len(symbols) != len(things), "Several things are named where only one can be meant.")
            yield after.ask([(predicate, *symbols)]).about(symbols)

    return meaning


def _thing(words: str) -> clauses.Thing:
    """What a noun phrase means that is of one thing."""
    said = sentences(words)
    found = readings(said[0], "Thing") if len(said) == 1 else []
    refuse(not found, f"I do not know which thing '{words}' means.")
    return found[0][1]  # type: ignore[return-value]
