"""The vocabulary critic: a predicate that means something observable is checked against what was observed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spca_core.ports.vocabulary import Extension, ObservableWord
from spca_planner.pddl.syntax import Domain


def with_synonyms(
    domain: Domain, words: Sequence[ObservableWord], extensions: Mapping[str, Extension]
) -> tuple[dict[str, Extension], list[str]]:
    """The extensions under the names that the domain uses as well, and the predicates that cannot be mapped.

    A predicate that means the same as an observed one, by its name, is taken for it if it has as many
    arguments; otherwise it would go unchecked, and is refused.
    """
    known, faults = dict(extensions), []
    for name, signature in domain.predicates.items():
        word = meant(name, words)
        if word is None:
            continue
        count = len(signature.parameters)
        if count != len(word.args):
            faults.append(
                f"predicate '{name}' with {count} argument(s) seems to mean what is observed as {word.form}: "
                f"use that, {word.meaning}"
            )
        elif name not in known and word.name in known:
            known[name] = known[word.name]
    return known, faults


def meant(name: str, words: Sequence[ObservableWord]) -> ObservableWord | None:
    """The observable word that a predicate's name means; None if it means something else."""
    plain = name.lower().replace("-", "_")
    for word in words:
        if plain in (word.name, *word.synonyms) or (word.like and re.fullmatch(word.like, plain)):
            return word
    return None
