"""When two planning problems say the same, as Planetarium defines it: alike but for the objects' names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from spca_planner.pddl.formula import Atom, ground
from spca_planner.pddl.sexpr import Group, PddlError, brief
from spca_planner.pddl.syntax import parse_problem

_Colours = Mapping[str, int]
"""Objects of different colours are not each other's counterparts."""
_NO_FACTS = ("and", "or", "not", "imply", "exists", "forall", "=")


@dataclass(frozen=True)
class Scenes:
    """Content of a problem: its objects with their types, and the facts of its start and its goal."""

    objects: Mapping[str, str]
    init: frozenset[Atom]
    goal: frozenset[Atom]


def scenes_of(text: str) -> Scenes:
    """The scenes of a problem. PddlError where it cannot be read, or is no plain list of facts."""
    problem = parse_problem(text)
    objects = {o.name: o.type for o in problem.objects}
    goal = problem.goal.rest if problem.goal.head == "and" else (problem.goal,)
    return Scenes(objects, frozenset(_facts(problem.init, objects)), frozenset(_facts(goal, objects)))


def _facts(parts: Iterable[object], objects: Mapping[str, str]) -> Iterator[Atom]:
    for part in parts:
        if not isinstance(part, Group) or part.head in _NO_FACTS:
            raise PddlError(f"'{brief(part) if isinstance(part, Group) else part}' is no single fact")
        atom = ground(part, {})
        if unknown := [name for name in atom[1:] if name not in objects]:
            raise PddlError(f"unknown object '{unknown[0]}' in {brief(part)}")
        yield atom


def same(one: Scenes, other: Scenes, domain: str, apart: bool) -> bool:
    """Return whether both describe the same problem, after what their goals leave unsaid is added.

    `apart`: start and goal are compared each by itself, because the text does not say which object of the
    start is which of the goal.
    """
    if not _alike(one.objects, one.init, other.objects, other.init):
        return False
    one, other = closed(one, domain), closed(other, domain)
    if apart:
        return _alike(one.objects, one.goal, other.objects, other.goal)
    return _alike(one.objects, _both(one), other.objects, _both(other))


def _both(scenes: Scenes) -> set[Atom]:
    return {("start " + f[0], *f[1:]) for f in scenes.init} | {("goal " + f[0], *f[1:]) for f in scenes.goal}


def _alike(
    objects: Mapping[str, str], facts: Collection[Atom], others: Mapping[str, str], theirs: Collection[Atom]
) -> bool:
    """Return whether some renaming of the objects makes the facts the same."""
    if Counter(f[0] for f in facts) != Counter(f[0] for f in theirs):
        return False
    start, end = ({name: hash(kind) for name, kind in some.items()} for some in (objects, others))
    return _matches(start, facts, end, theirs)


def _matches(one: _Colours, facts: Collection[Atom], other: _Colours, theirs: Collection[Atom]) -> bool:
    """The same for a renaming that keeps the colours."""
    one, other = _finer(one, facts), _finer(other, theirs)
    count = Counter(one.values())
    if count != Counter(other.values()):
        return False
    if not (shared := [colour for colour in one.values() if count[colour] > 1]):
        names = {colour: name for name, colour in other.items()}
        return {(f[0], *(names[one[a]] for a in f[1:])) for f in facts} == set(theirs)
    mark = hash(("chosen", shared[0]))
    chosen = next(name for name in one if one[name] == shared[0])
    rivals = [name for name in other if other[name] == shared[0]]
    return any(_matches({**one, chosen: mark}, facts, {**other, name: mark}, theirs) for name in rivals)


def _finer(colours: _Colours, facts: Collection[Atom]) -> _Colours:
    """Colours by what is said of an object and of those beside it, as far as that tells them apart."""
    while True:
        said: dict[str, list[int]] = {name: [] for name in colours}
        for fact in facts:
            sentence = (fact[0], *(colours[name] for name in fact[1:]))
            for place, name in enumerate(fact[1:]):
                said[name].append(hash((place, sentence)))
        finer = {name: hash((colour, *sorted(said[name]))) for name, colour in colours.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            return finer
        colours = finer


def closed(scenes: Scenes, domain: str) -> Scenes:
    """The same with the facts that its goal implies, as far as Planetarium adds them for that domain."""
    more = {"blocksworld": _towers, "gripper": _grippers}[domain](scenes)
    return replace(scenes, goal=scenes.goal | more)


def _towers(scenes: Scenes) -> set[Atom]:
    """Clear and on the table is what no other block can be put on or under; then the arm is empty."""
    goal, below = scenes.goal, {f[1]: f[2] for f in scenes.goal if f[0] == "on"}
    placed = {f[1] for f in goal if f[0] in ("on", "on-table", "holding")}
    covered = {f[-1] for f in goal if f[0] in ("on", "clear")} | {f[1] for f in goal if f[0] == "holding"}
    tops, bottoms = set(scenes.objects) - covered, set(scenes.objects) - placed

    def tower(block: str) -> set[str]:
        found: set[str] = set()
        while block not in found:
            found.add(block)
            block = below.get(block, block)
        return found

    def together(a: str, b: str) -> bool:
        return b in tower(a) or a in tower(b)

    more: set[Atom] = {("clear", a) for a in tops if all(together(a, b) for b in bottoms)}
    more |= {("on-table", b) for b in bottoms if all(together(a, b) for a in tops)}
    held = any(f[0] in ("holding", "arm-empty") for f in goal)
    return more if held or tops & bottoms else {*more, ("arm-empty",)}


def _grippers(scenes: Scenes) -> set[Atom]:
    """Return the type facts, which never change; unmentioned grippers are free if all balls are placed."""
    kinds = {f for f in scenes.init if f[0] in ("room", "ball", "gripper")}
    balls, grippers = ({f[1] for f in kinds if f[0] == kind} for kind in ("ball", "gripper"))
    placed = {f[1] for f in scenes.goal if f[0] in ("at", "carry")}
    said = {f[-1] for f in scenes.goal}
    if balls <= placed:
        kinds |= {("free", gripper) for gripper in grippers - said}
    return kinds
