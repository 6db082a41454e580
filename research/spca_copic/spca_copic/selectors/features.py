"""Words and pairs of words of a choice, hashed into a fixed number of signed features.

K. Weinberger et al., Feature Hashing for Large Scale Multitask Learning, 2009.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

import numpy as np

from spca_programs.plan_world import Candidate, ChoiceContext

Sparse = tuple[np.ndarray, np.ndarray]
"""Indices (int) and values (float32) of the features that are not zero; an index may occur twice."""

_WORD = re.compile(r"[a-z0-9_]+", re.IGNORECASE)


@lru_cache(maxsize=1 << 18)
def _hashed(word: str, bits: int) -> tuple[int, float]:
    code = crc32(word.encode())
    return code & ((1 << bits) - 1), 1.0 if code >> 31 else -1.0


@lru_cache(maxsize=1 << 14)
def candidate_features(context: ChoiceContext, candidate: Candidate, bits: int) -> Sparse:
    """Features of a candidate in its context: groups of norm 1 (program, plan, facts, task, its names).

    Whose plan it is has a group of its own: following one program throughout is the first thing to learn.
    Numbers of things are left out (`cabinet_3` is a `cabinet`): in another case they are other things.
    """
    plan = tuple(without_numbers(action) for action in candidate.plan)
    repeated = sum(action in context.tried for action in candidate.plan)
    again = (candidate.plan == context.last_plan, candidate.plan[:1] == context.last_plan[:1])
    facts = _without_numbers(context.facts)
    return hashed_groups(
        (
            [f"by={program}" for program in candidate.programs],
            _of_itself(context, candidate.programs, plan, repeated, again),
            _with_facts(facts, plan),
            _with_task(context.instruction, candidate.programs, plan),
            _with_names(context.instruction, facts, plan),
        ),
        bits,
    )


def context_features(context: ChoiceContext, bits: int) -> Sparse:
    """Features of a context alone, for the critic."""
    state = ("bias", f"failure={context.last_failure}", f"decision={min(context.decision, 30)}",
             f"stage={context.decision.bit_length()}")  # fmt: skip
    return hashed_groups((state, _without_numbers(context.facts), _task_words(context.instruction)), bits)


_NUMBER = re.compile(r"(?<=[a-z])_\d+\b", re.IGNORECASE)


@lru_cache(maxsize=1 << 16)
def without_numbers(text: str) -> str:
    """A text that speaks of kinds instead of single things.

    >>> without_numbers("put apple_1 cabinet_12")
    'put apple cabinet'
    """
    return _NUMBER.sub("", text)


@lru_cache(maxsize=64)
def _without_numbers(facts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(without_numbers(fact) for fact in facts))


def _of_itself(
    context: ChoiceContext,
    programs: Sequence[str],
    plan: Sequence[str],
    repeated: int,
    again: tuple[bool, bool],
) -> Iterator[str]:
    signs = [
        f"length={len(plan)}",
        f"repeated={min(repeated, 3)}",
        f"again={again[0]}",
        f"agree={len(programs)}",
    ]
    if context.last_failure:
        signs.append(f"again={again[1]} after {context.last_failure}")
        signs.append(f"{_name(plan[0])} after {context.last_failure}")
    yield "bias"
    yield from signs
    for program in programs:
        yield f"by={program} after {context.last_failure} at {context.decision.bit_length()}"
    yield f"first={plan[0]}"
    for action in plan:
        yield f"action={action}"
        yield f"name={_name(action)}"
    for one, other in pairwise(plan):
        yield f"{one} then {other}"


def _with_facts(facts: Sequence[str], plan: Sequence[str]) -> Iterator[str]:
    """The first action with every fact; each action with the facts that speak of one of its arguments."""
    first = plan[0]
    for fact in facts:
        yield f"{first} when {fact}"
        yield f"{_name(first)} when {fact}"
    for action in plan:
        arguments = set(action.split()[1:])
        for fact in facts:
            if arguments & set(_WORD.findall(fact)):
                yield f"{action} since {fact}"


def _with_task(instruction: str, programs: Sequence[str], plan: Sequence[str]) -> Iterator[str]:
    words = _task_words(instruction)
    for place, action in enumerate(plan):
        for word in words:
            yield f"{action} for {word}"
            yield f"{place} {_name(action)} for {word}"
    for program in programs:
        for word in words:
            yield f"by={program} for {word}"


def _with_names(instruction: str, facts: tuple[str, ...], plan: Sequence[str]) -> Iterator[str]:
    """Each action with what the task names: its words that facts mention, too.

    There are few of them, so they weigh more here than among all words: kind of thing and kind of receptacle.
    """
    for action in dict.fromkeys(plan):
        for name in _names(instruction, facts):
            yield f"{action} for the {name}"


@lru_cache(maxsize=1024)
def _names(instruction: str, facts: tuple[str, ...]) -> tuple[str, ...]:
    mentioned = {word.lower() for fact in facts for word in _WORD.findall(fact)}
    return tuple(word for word in _task_words(instruction) if word in mentioned)


@lru_cache(maxsize=4096)
def _task_words(instruction: str) -> tuple[str, ...]:
    """The words of a task and its pairs of neighbours, each once."""
    words = [word.lower() for word in _WORD.findall(instruction)]
    pairs = [f"{a}_{b}" for a, b in pairwise(words)]
    return tuple(dict.fromkeys([*words, *pairs]))[:80]


def _name(action: str) -> str:
    return action.split(" ", 1)[0]


def hashed_groups(groups: Sequence[Iterable[str]], bits: int) -> Sparse:
    """The words of each group as signed features; each group has norm 1."""
    indices: list[int] = []
    values: list[float] = []
    for group in groups:
        found = [_hashed(word, bits) for word in group]
        scale = 1 / max(1, len(found)) ** 0.5
        indices += [index for index, _ in found]
        values += [sign * scale for _, sign in found]
    return np.array(indices, dtype=np.int32), np.array(values, dtype=np.float32)
