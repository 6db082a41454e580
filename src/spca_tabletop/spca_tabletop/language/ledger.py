"""Accounts for the words of a text: each must have left a trace in what the text is taken to ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lark import Token

from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.phrases import Phrase

GRAMMATICAL = frozenset({"THE", "OF", "THAT", "IS", "MUST", "COMMA", "AND", "OR", "BUT", "SEP", "WITH"})
"""Tokens that only hold a sentence together. All others have a content of their own."""


class Dropped(NotUnderstood):
    """A word was read that the goal would be the same without."""


class UsedWords:
    """The words whose content has become part of a meaning, or was checked against the table."""

    def __init__(self) -> None:
        self._used: set[int] = set()

    def use(self, phrase: Phrase, *features: str, later: Collection[str] = ()) -> None:
        """Enter a phrase's own words, or those that give certain features, but none that is heeded later."""
        self._used |= {
            id(word)
            for feature, word in phrase.said
            if (not features or feature in features) and feature not in later
        }

    def check(self, words: Iterable[Token]) -> None:
        """Raise `Dropped` with the first word that was not entered."""
        for word in words:
            if word.type not in GRAMMATICAL and id(word) not in self._used:
                raise Dropped(f"I do not know how to heed '{word}' here; say it in another way, or without.")
