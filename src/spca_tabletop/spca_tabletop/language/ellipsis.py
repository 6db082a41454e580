"""Supplies what a phrase leaves out: "the green one" is of a kind that was named before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import islice, product
from typing import Any

from spca_tabletop.language.phrases import Interpretation, NounPhrase

_MOST_WAYS = 32


def completed(reading: Interpretation) -> Iterator[Interpretation]:
    """Every way to supply the kinds; which of them makes sense is decided by the table."""
    things = [thing for thing in _things(reading.elements) if thing.said]
    named = sorted(
        (_place(thing), thing.kind) for thing in things if thing.kind not in ("", "table", "ground")
    )
    wanting = [thing for thing in things if thing.is_elliptic]
    options = [_kinds(thing, [kind for at, kind in named if at < _place(thing)]) for thing in wanting]
    for kinds in islice(product(*options), _MOST_WAYS):
        supplied = {_place(thing): kind for thing, kind in zip(wanting, kinds, strict=True) if kind}
        yield replace(reading, elements=_with_kinds(reading.elements, supplied)) if supplied else reading


def _kinds(thing: NounPhrase, named: list[str]) -> tuple[str, ...]:
    """The kinds it may be of: any that was named; a solid where none was, or not even "one" was said."""
    noun = any(feature == "noun" for feature, _ in thing.said)
    return tuple(dict.fromkeys(named if noun and named else [*named, ""]))


def _place(thing: NounPhrase) -> int:
    return min(word.start_pos or 0 for _, word in thing.said)


def _things(part: Any) -> Iterator[NounPhrase]:
    if isinstance(part, NounPhrase):
        yield part
    if isinstance(part, tuple):
        for one in part:
            yield from _things(one)
    elif is_dataclass(part):
        for field in fields(part):
            if field.name != "said":
                yield from _things(getattr(part, field.name))


def _with_kinds(part: Any, kinds: dict[int, str]) -> Any:
    if isinstance(part, tuple):
        return tuple(_with_kinds(one, kinds) for one in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changes = {f.name: getattr(part, f.name) for f in fields(part) if f.name != "said"}
    changes = {name: _with_kinds(value, kinds) for name, value in changes.items()}
    if (
        isinstance(part, NounPhrase)
        and part.said
        and part.is_elliptic
        and (kind := kinds.get(_place(part), ""))
    ):
        changes |= {"kind": kind, "is_supplied": True}
    return replace(part, **changes)
