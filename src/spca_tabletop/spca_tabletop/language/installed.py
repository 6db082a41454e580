"""The words of installed skill packages: their phrases, tried on each sentence before the grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, product

from spca_core.ports.proposer import NotUnderstood
from spca_core.skill_package import SkillPhrase, skill_packages
from spca_tabletop.language.parser import readings
from spca_tabletop.language.phrases import Asked, Instruction, Interpretation, NounPhrase
from spca_tabletop.language.words import sentences

_SENTENCE = re.compile(r"[^.!;]+")
_MOST = 8


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
