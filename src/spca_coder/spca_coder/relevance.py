"""Selects the skills of a library that are worth showing to a coder, within a number of tokens."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

from spca_coder.source import Function, Source, read
from spca_core.plan import ActionSchema

CHARACTERS_PER_TOKEN = 3.5
"""A cautious figure for code: the common tokenisers need 3.5-4.5 characters a token."""
_GAP = 3  # characters between two pieces of an excerpt
_NAME_WEIGHT = 3.0
_SPARE_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "at",
        "be",
        "by",
        "for",
        "from",
        "if",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "to",
        "with",
        "action",
        "define",
    ]
)


def tokens_of(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def relevant(
    library: str,
    schemas: Sequence[ActionSchema],
    token_budget: float,
    without: Collection[str] = (),
    known: Collection[str] = (),
) -> str:
    """Source of the skills that resemble the wanted actions most, with the helpers and constants they need.

    Never longer than the budget; an infinite one takes the whole library. The functions named in `without`
    are left out unless another one needs them, and those in `known`, which the proposer sees anyway, in any
    case. The likeness is that of words (of names, documentation and PDDL), a rare word of the library
    counting more than a common one (inverse document frequency).
    """
    source = read(library)
    left = token_budget * CHARACTERS_PER_TOKEN - 1
    functions: set[str] = set()
    constants: set[str] = set()
    for name in _ranked(source, schemas, without, math.isinf(left)):
        if left <= 0:
            break
        more_functions, more_constants = source.with_helpers({name})
        more_functions -= set(known)
        texts = [source.functions[f].text for f in more_functions - functions]
        texts += [source.constants[c] for c in more_constants - constants]
        cost = sum(len(text) + _GAP for text in texts)
        if cost <= left:
            left -= cost
            functions |= more_functions
            constants |= more_constants
    return source.excerpt(functions, constants)


def _ranked(
    source: Source, schemas: Sequence[ActionSchema], without: Collection[str], everything: bool
) -> list[str]:
    skills = [f for f in source.functions.values() if f.is_skill and f.name not in without]
    words = {f.name: _skill_words(f) for f in skills}
    frequency = Counter(word for bag in words.values() for word in bag)
    wish = Counter(word for s in schemas for word in _schema_words(s))

    def score(function: Function) -> float:
        bag = words[function.name]
        shared = sum(
            wish[w] * weight * math.log(1 + len(skills) / frequency[w])
            for w, weight in bag.items()
            if w in wish
        )
        return shared / (1 + math.log(1 + len(bag)))

    scores = {f.name: score(f) for f in skills}
    return sorted((n for n, s in scores.items() if s > 0 or everything), key=lambda n: (-scores[n], n))


def _skill_words(function: Function) -> dict[str, float]:
    bag = dict.fromkeys(_words(function.doc), 1.0)
    bag.update(dict.fromkeys(_words(" ".join(function.parameters[1:])), 1.0))
    bag.update(dict.fromkeys(_words(function.name), _NAME_WEIGHT))
    return bag


def _schema_words(schema: ActionSchema) -> set[str]:
    return set(_words(f"{schema.name} {schema.pddl}"))


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"[a-z]+", text.lower()) if len(w) > 1 and w not in _SPARE_WORDS]
