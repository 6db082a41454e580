"""Turns a task text and a scene into a goal, by the reading that makes sense on this table.

What a phrase leaves out is supplied: "the green one" is of a kind that was named before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from itertools import combinations, islice, permutations, product
from typing import Any

from spca_core.kinds import CONTAINERS, SOLIDS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.task import Task
from spca_sense.observation import colours_of
from spca_tabletop.language.entities import NoSuchThing
from spca_tabletop.language.goal import Atom, Goal, alternatives
from spca_tabletop.language.interpreter import interpret
from spca_tabletop.language.parser import ways_to_read
from spca_tabletop.language.phrases import Interpretation, NounPhrase
from spca_tabletop.language.words import UnknownWords, misspelt, words_in

_MOST_COMBINATIONS = 256
_MOST_GUESSES = 8
_MOST_SUPPOSED = 24  # ways in which what is hidden may be what is named


_MOST_WAYS = 32


def understand(task: Task, observation: Observation) -> list[Goal]:
    """The goals any of which fulfils the task.

    The description is the text that counts, the title stands in for it.

    Where it only makes sense once a cube has been set down on the table ("a cube from the table"), that is
    part of the goals; not where it speaks of a thing that is not there ("the cube that is on the table").
    Raises NotUnderstood, and Impossible where the text makes sense but not on this table.
    """
    try:
        return _understood(task, observation)
    except NoSuchThing:
        raise
    except Impossible:
        if goals := _set_down_first(task, observation):
            return goals
        raise


def uncovering(task: Task, observation: Observation) -> list[Goal]:
    """Goals that bring to light what is hidden, where the text would make sense if that were a cube it names.

    Empty where nothing is hidden, or where it would not.
    """
    hidden, missing = out_of_sight(observation), _missing_colours(task, observation)
    together = min(len(hidden), len(missing))
    ways = product(combinations(hidden, together), permutations(missing, together)) if together else ()
    for things, colours in islice(ways, _MOST_SUPPOSED):
        with suppress(NotUnderstood, Impossible):
            _understood(task, _supposing(observation, dict(zip(things, colours, strict=True))))
            return [frozenset({("clear", thing)}) for thing in hidden]
    return []


def _supposing(observation: Observation, colours: Mapping[str, str]) -> Observation:
    """Return what would be seen if unknown things were cubes of these colours."""
    supposed = {thing: f"cube_{colour}" for thing, colour in colours.items()}
    facts = tuple(
        f.model_copy(update={"args": tuple(supposed.get(a, a) for a in f.args)}) for f in observation.facts
    )
    objects = {supposed.get(s, s): "cube" if s in supposed else k for s, k in observation.objects.items()}
    things = [
        t.model_copy(update={"id": supposed[t.id], "kind": "cube", "colour": colours[t.id]})
        if t.id in supposed
        else t
        for t in observation.things
    ]
    scene = observation.scene and observation.scene.model_copy(update={"objects": tuple(things)})
    return observation.model_copy(update={"objects": objects, "facts": facts, "scene": scene})


def out_of_sight(observation: Observation) -> list[str]:
    """Return unseen things that carry something: they may be whatever the task names that is not seen."""
    return [s for s in observation.hidden if observation.objects.get(s) == "unknown"]


def _missing_colours(task: Task, observation: Observation) -> list[str]:
    """The colours that are named and that no cube in sight has."""
    colours = colours_of(observation)
    cubes = {colours.get(s, "") for s, kind in observation.objects.items() if kind == "cube"}
    said = [word for text in (task.title, task.description) for word in words_in(text, "COLOUR")]
    return [c for c in dict.fromkeys(said) if c not in cubes]


def _set_down_first(task: Task, observation: Observation) -> list[Goal]:
    """Goals about a cube that has to be taken off a plate or another cube before the text fits it."""
    found: dict[Goal, None] = {}
    for fact in observation.facts:
        lifted = fact.predicate == "on" and observation.objects.get(fact.args[0]) in SOLIDS
        if not lifted or fact.args[1] in (TABLE_SYMBOL, GROUND_SYMBOL):
            continue
        cube = fact.args[0]
        if not observation.holds("clear", cube):
            continue
        moved = fact.model_copy(update={"args": (cube, TABLE_SYMBOL)})
        facts = tuple(moved if f == fact else f for f in observation.facts)
        try:
            goals = _understood(task, observation.model_copy(update={"facts": facts}))
        except (NotUnderstood, Impossible):
            continue
        found |= {goal | {("put_down", cube)}: None for goal in goals if any(cube in atom for atom in goal)}
    return list(found)


def _read(text: str) -> list[Sequence[Interpretation]]:
    """Every way to read each sentence. What a misspelt word may have been is said where that can be read."""
    try:
        return ways_to_read(text)
    except UnknownWords as error:
        said, words = error.said
        for guesses in islice(product(*map(misspelt, words)), _MOST_GUESSES):
            better = said
            for word, guess in zip(words, guesses, strict=True):
                better = re.sub(rf"\b{re.escape(word)}\b", guess, better)
            try:
                ways_to_read(better)
            except NotUnderstood:
                continue
            hints = [f"'{guess}' instead of '{word}'" for word, guess in zip(words, guesses, strict=True)]
            raise UnknownWords(said, words, f" Did you mean {', '.join(hints)}?") from error
        raise


def _understood(task: Task, observation: Observation) -> list[Goal]:
    said = _read(task.description) or _read(task.title)
    if not said:
        raise NotUnderstood("The task says nothing that could be done.")
    found: dict[tuple[Goal, ...], int] = {}
    impossible: tuple[int, Exception] | None = None
    problems: list[tuple[tuple[int, bool, int], Exception]] = []
    for combination in islice(product(*said), _MOST_COMBINATIONS):
        joined = Interpretation(
            tuple(e for r in combination for e in r.elements), tuple(w for r in combination for w in r.words)
        )
        for reading in completed(joined):
            progress, cost = 0, 0
            try:
                meaning = interpret(reading, observation)
                progress, cost = 1, meaning.cost
                goals = tuple(alternatives(meaning, observation))
            except (NotUnderstood, Impossible) as error:
                if progress and (impossible is None or cost < impossible[0]):
                    impossible = (cost, error)
                attached = isinstance(error, NoSuchThing)  # perhaps only in this reading
                problems.append(((-progress, attached, len(reading.elements)), error))
                continue
            found[goals] = min(found.get(goals, meaning.cost), meaning.cost)
    if not found:  # the reading that came farthest has the most to the point to say
        raise min(problems, key=lambda p: p[0])[1]
    least = min(found.values())
    if impossible is not None and impossible[0] < least:  # what is meant cannot be; nothing else is meant
        raise impossible[1]
    best = [goals for goals, cost in found.items() if cost == least]
    if len(best) > 1:
        meanings = " or: ".join(describe(goals) for goals in best[:2])
        raise NotUnderstood(f"That can mean several things: {meanings}. Say it in separate sentences.")
    return list(best[0])


def describe(goals: Sequence[Goal]) -> str:
    """Goals in words."""
    told = [", ".join(_sentence(atom) for atom in sorted(goal)) for goal in goals[:3]]
    return "; or ".join(told) + ("; or …" if len(goals) > 3 else "")


def _sentence(atom: Atom) -> str:
    predicate, first, *others = atom
    rest = " and the ".join(words_of(o) for o in others)
    words = {
        "on": "on the", "next_to": "next to the", "abreast": "side by side with the",
        "on_edge": "on the edge of the", "across": "across the", "unfit": "never on the",
        "kept": "left alone", "stays": "not moved", "before": "before the",
        "holding": "in the gripper", "touched": "touched", "discarded": "thrown off the table",
        "clear": "uncovered, to see what it is", "put_down": "set down on the table first",
    }  # fmt: skip
    if predicate == "on" and others[0].partition("_")[0] in CONTAINERS:
        return f"the {words_of(first)} in the {rest}"
    return f"the {words_of(first)} {words.get(predicate, predicate.replace('_', ' '))} {rest}".strip()


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
