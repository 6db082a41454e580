"""What was said so far: each way to take it is a `Talk`, and a clause makes further ones of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import pairwise
from typing import TypeVar

from spca_core.geometry import Vec3
from spca_core.kinds import CONTAINERS, SOLIDS, holds
from spca_core.names import words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import Place, Values
from spca_core.scene import Observation
from spca_tabletop.language.lexicon import AHEAD, AXES, ROWS, TANGIBLE, TOO_OPEN

Atom = tuple[str, ...]
"""Ground atom: a predicate and its arguments."""
Things = tuple[str, ...]
"""Symbols."""
_MOST_WAYS = 1_000
_ON_PLATE = 3  # cubes of the usual size: without walls they may stand out
S = TypeVar("S")
W = TypeVar("W")
CLOSE = (10,)
"""Millimetres between things that stand in a row."""


def stands(thing: str, relation: str, others: Things, values: Values) -> Atom:
    """The atom of a thing at a place on the table."""
    return ("at", thing, Place(ROWS[relation], others, values).symbol)


def in_turn(things: Things, side: str) -> Iterator[list[Atom]]:
    """The ways to stand close to each other from that side on, each by what stands beside it."""
    axis, sign = AXES[side]
    way = sign * (axis + 1)
    for first in range(len(things)):
        back = [stands(a, AHEAD[-way], (b,), CLOSE) for a, b in pairwise(things[: first + 1])]
        yield [*back, *(stands(b, AHEAD[way], (a,), CLOSE) for a, b in pairwise(things[first:]))]


def refuse(wrong: object, why: str) -> None:
    """Raise NotUnderstood where something is wrong."""
    if wrong:
        raise NotUnderstood(why)


class Contradiction(Exception):
    """This way to take a text cannot be; `needed`: what is to be left alone would have to be moved."""

    def __init__(self, reason: str, needed: bool = False) -> None:
        super().__init__(reason)
        self.needed = needed


class Needed(Impossible):
    """What is to be left alone would have to be moved."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen, and the kinds that were supplied for nouns that were left out."""

    scene: Observation
    named: tuple[tuple[int, str], ...] = ()
    """The kinds that the text names, and where."""
    supplied: tuple[tuple[object, str], ...] = ()

    @cached_property
    def colours(self) -> dict[str, str]:
        """By symbol."""
        return {thing.id: thing.colour for thing in self.scene.things}

    @cached_property
    def sizes(self) -> dict[str, Vec3]:
        """By symbol, metres."""
        return {thing.id: thing.size for thing in self.scene.things}

    @cached_property
    def places(self) -> dict[str, Vec3]:
        """The centres by symbol, metres in `world`."""
        return {thing.id: thing.pose.position for thing in self.scene.things}

    @cached_property
    def facts(self) -> frozenset[Atom]:
        """What is seen to hold."""
        return frozenset((f.predicate, *f.args) for f in self.scene.facts)

    def kind(self, symbol: str) -> str:
        """Of a thing, the table or the ground."""
        return "ground" if symbol == "ground" else self.scene.objects.get(symbol, "")

    def of(self, *kinds: str) -> list[str]:
        """Everything of these kinds."""
        return [s for s, kind in self.scene.objects.items() if kind in kinds]

    def support_of(self, thing: str) -> str:
        """What a thing rests on; empty where that is not seen."""
        return next((a[2] for a in sorted(self.facts) if a[:2] == ("on", thing)), "")

    def above(self, supports: Iterable[str]) -> list[str]:
        """The solids on any of these, directly or on each other."""
        found: list[str] = []
        for support in supports:
            for solid in self.of(*SOLIDS):
                if ("on", solid, support) in self.facts:
                    found += [solid, *self.above([solid])]
        return found

    def room(self, place: str, things: Collection[str]) -> int:
        """How many of these find room on a support, side by side; all of them on anything else."""
        kind = self.kind(place)
        if kind in CONTAINERS and self.sizes.keys() >= {place, *things}:
            return holds(kind, self.sizes[place], [self.sizes[t] for t in things])
        return {"plate": _ON_PLATE, "mat": 1}.get(kind, len(things))

    def stacked(self, thing: str) -> bool:
        """Whether it is part of a tower."""
        return any(a[0] == "on" and thing in a and {*a[1:]} <= {*self.of(*SOLIDS)} for a in self.facts)

    def seen(self) -> str:
        """What there is, as a sentence."""
        return f"I see: {', '.join(map(words_of, self.of(*TANGIBLE))) or 'nothing on the table'}."


@dataclass(frozen=True)
class Tower:
    """`runs` are orders of some of its things, upwards; `barred` is what must not be where."""

    size: int | None = None
    members: Things = ()
    base: str = ""
    slots: tuple[tuple[str, str], ...] = ()
    runs: tuple[Things, ...] = ()
    barred: tuple[tuple[str, str], ...] = ()
    active: bool = False
    of: int = 1
    """How many such towers there are to be, this one and those that nothing more is said of."""
    listing: tuple[bool | None, Things, bool] | None = None
    """What is being listed: upwards, if that is known; what so far; and whether a word of its own said so."""


@dataclass(frozen=True)
class Talk:
    """One way to take what was said so far: what it asks for, and what "it" and "the other one" mean."""

    table: Sight
    subject: str = ""
    group: Things = ()
    cleared: tuple[str, str] = ("", "")
    """What was taken off a support, or put beside one, and that: "it" is the one, "on it" the other."""
    mentioned: Things = ()
    last: tuple[str, str] = ("", "")
    last_place: tuple[str, str] = ("", "")
    wants: tuple[tuple[int, Atom], ...] = ()
    """Stage and atom."""
    latest: tuple[Atom, ...] = ()
    described: tuple[Atom, ...] = ()
    rules: tuple[Atom, ...] = ()
    """What is asked of things besides, such as `untouched`; those of goals among them."""
    held: tuple[tuple[str, int], ...] = ()
    """What is held, and from which stage on."""
    placeless: tuple[tuple[str, int], ...] = ()
    left_out: Things = ()
    """What "all", "any two" and a tower of whatever there is do not mean."""
    spoken: tuple[tuple[str, str], ...] = ()
    tower: Tower = field(default_factory=Tower)
    towers: tuple[Tower, ...] = ()
    """Those before it of several."""
    bridge: bool = False
    heap: tuple[int, Things, int | None] | None = None
    """The stage of a pyramid, what it is made of and of how many, until all is said."""
    pairs: tuple[tuple[str, str], ...] = ()
    stage: int = 0
    marks: tuple[tuple[int, str, bool], ...] = ()
    """Stages that a word begins, the word, and whether something was being built before."""
    ends: tuple[tuple[str, str], ...] = ()
    """What is to stand at which end of a row."""
    verb: str = ""
    listed: bool = False
    """Whether the things of the last clause were named one by one."""
    series: Things = ()
    """What was named one by one last: where an end is said of it, it is in that order."""
    forbidding: bool = False
    released: tuple[int, ...] = ()
    before: tuple[Atom, ...] = ()
    """What the clause before asked for."""

    def but(self, **changes: object) -> Talk:
        """The same with changes; `dataclasses.replace` takes twenty times as long."""
        new = object.__new__(Talk)
        vars(new).update(vars(self), **changes)
        return new

    def about(self, things: Sequence[str]) -> Talk:
        """With what "it" and "they" mean from now on."""
        group = tuple(things) if len(things) > 1 else self.group
        return self.but(subject=things[-1] if things else self.subject, group=group)

    def claim(self, predicate: str, things: Iterable[str], *others: str) -> Talk:
        """Ask for it of each thing; what was picked up before is thereby put down."""
        return self.ask([(predicate, thing, *others) for thing in things])

    def ask(self, atoms: Sequence[Atom]) -> Talk:
        """Ask for atoms."""
        if len(set(atoms)) < len(atoms) or set(atoms) & set(self.latest):
            raise NotUnderstood("The same place is said twice; say it once for each thing.")
        more = tuple((self.stage, a) for a in atoms if a not in self.atoms)
        talk = self.but(wants=(*self.wants, *more), latest=(*self.latest, *atoms))
        return talk.put_down([a[1] for a in atoms if a[0] != "touched"])

    def put_down(self, things: Iterable[str]) -> Talk:
        """They have found their place; they are not to be held in the end."""
        there = set(things)
        return self.but(held=tuple(h for h in self.held if h[0] not in there))

    def rule(self, name: str, *things: Things) -> Talk:
        """With a rule about these, one by one."""
        return self.but(rules=(*self.rules, *((name, *each) for each in things)))

    def ruled(self, *names: str) -> list[Things]:
        """What rules are about."""
        return [rule[1:] for rule in self.rules if rule[0] in names]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """All that is asked for."""
        return tuple(atom for _, atom in self.wants)

    def stacked(self) -> list[Atom]:
        """What is asked for that puts a solid on a solid."""
        return [a for a in self.atoms if a[0] == "on" and self.table.kind(a[2]) in SOLIDS]


Choices = Iterable[tuple[Things, Talk]]
"""Of phrases: the ways to take them, each with how to go on."""
Meaning = Callable[[Talk], Iterable[Talk]]
"""Of a clause: the ways to go on."""


def clause(way_on: Callable[..., Iterable[Talk]]) -> Callable[..., Meaning]:
    """Make a meaning of what was said out of a function that goes on with a `talk`."""

    @wraps(way_on)
    def said(*parts: object, **fixed: object) -> Meaning:
        return lambda talk: way_on(*parts, **fixed, talk=talk)

    return said


def every(sources: Iterable[S], onward: Callable[[S], Iterable[W]]) -> Iterator[W]:
    """Every way on from any of these; those that contradict themselves are left out, unless all do."""
    problem: Contradiction | None = None
    found = 0
    for source in sources:
        try:
            for way in onward(source):
                found += 1
                refuse(found > _MOST_WAYS, TOO_OPEN)
                yield way
        except Contradiction as error:
            problem = error
    if not found and problem is not None:
        raise problem


def combine(parts: Iterable[Callable[[Talk], Choices]], talk: Talk) -> Choices:
    """The ways of several phrases in turn, their things put together, as far as they are asked for."""
    ways: Choices = [((), talk)]
    for part in parts:
        ways = every(ways, lambda way, p=part: (  # type: ignore[misc]
            ((*way[0], *more), after) for more, after in p(way[1])))  # fmt: skip
    return ways
