"""ALFWorld's engine: a room as a problem of its PDDL domain, run by TextWorld's Fast Downward library.

The texts that ALFWorld writes for every command are left out; they take nearly all of its time. What is
possible and what it changes comes from its rules alone. Needs the optional packages `alfworld` and
`fast-downward-textworld`.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from spca_core.errors import InputError
from spca_household.kinds import LAMP, OBJECTS, RECEPTACLES
from spca_household.room import Room, kind_of

Fact = tuple[str, ...]
"""A predicate in lower case and its arguments: `("inreceptacle", "apple_1", "fridge_1")`."""

# PDDL operator → command, with the positions of the operator's arguments.
_COMMANDS = {
    "gotolocation": ("goto", (3,)),
    "openobject": ("open", (2,)),
    "closeobject": ("close", (2,)),
    "pickupobject": ("take", (2, 3)),
    "putobject": ("put", (2, 3)),
    "cleanobject": ("clean", (3, 2)),
    "heatobject": ("heat", (3, 2)),
    "coolobject": ("cool", (3, 2)),
    "toggleobject": ("use", (2,)),
}
FOLDER = Path(sys.prefix) / "household"
"""Where the optional packages are: apart, as TextWorld names its Fast Downward as spca does its own."""

INSTALL = f"pip install --no-deps --target {FOLDER} alfworld==0.4.2 fast-downward-textworld==20.6.4"
"""How to get it. Only ALFWorld's rules are used, nothing of what its package depends on."""
_STARTS_AT = "entrance"
_TYPES = {"sinkbasin": "SinkBasinType", "microwave": "MicrowaveType", "fridge": "FridgeType"}
"""The receptacle types that the domain itself names."""
_TREATED = {"clean": "isClean", "heat": "isHot", "cool": "isCool"}


def available() -> bool:
    """Return whether the optional packages are installed."""
    return all((FOLDER / package).is_dir() for package in ("fast_downward", "alfworld"))


class Game:
    """One room being played. Raises InputError where the optional packages are missing.

    Commands are `goto R`, `open R`, `close R`, `take O R`, `put O R`, `clean O R`, `heat O R`, `cool O R` and
    `use O`, where R is a receptacle and O an object. `facts` is the whole state, including what cannot be
    seen.
    """

    def __init__(self, room: Room) -> None:
        self.room = room
        self._library, self._types = load_engine()
        self._sas, self._constant = _translated(problem_of(room))
        self.done: tuple[str, ...] = ()
        """The commands carried out since the beginning: `replay` of them leads here again."""
        self.restart()

    def restart(self) -> None:
        """Back to the beginning."""
        global _in_use
        _in_use, self.done = self, ()
        self._library.load_sas(self._sas)
        self.facts = self._state()

    def replay(self, commands: tuple[str, ...]) -> None:
        """Restart, and carry out these commands."""
        self.restart()
        for command in commands:
            self.act(command)

    @property
    def won(self) -> bool:
        """True if the goal holds."""
        self._use()
        return bool(self._library.check_goal())

    def commands(self) -> dict[str, Any]:
        """Return the commands that can be carried out now: command → the engine's operator."""
        self._use()
        found = (self._types.Operator * self._library.get_applicable_operators_count())()
        self._library.get_applicable_operators(found)
        commands = {}
        for operator in found:
            name, *arguments = operator.name.split()
            if name in _COMMANDS:
                command, positions = _COMMANDS[name]
                commands[" ".join((command, *(arguments[p] for p in positions)))] = operator
        return commands

    def act(self, command: str) -> bool:
        """Carry out a command; whether it was possible."""
        operator = self.commands().get(command)
        if operator is None:
            return False
        effects = (self._types.Atom * operator.nb_effect_atoms)()
        self._library.apply_operator(operator.id, effects)
        self.done = (*self.done, command)
        changes = [(atom.name.startswith("Atom "), _fact(atom.name)) for atom in effects]
        gone = {fact for holds, fact in changes if not holds}
        self.facts = (self.facts - gone) | {fact for holds, fact in changes if holds}
        return True

    def where(self) -> str:
        """The receptacle in front of the agent; empty at the beginning."""
        at = next(f[2] for f in self.facts if f[0] == "atlocation")
        return at.removeprefix("at_") if at.removeprefix("at_") in self.room.receptacles else ""

    def held(self) -> str:
        """The object in hand; empty for none."""
        return next((f[2] for f in self.facts if f[0] == "holds"), "")

    def contents(self, receptacle: str) -> list[str]:
        """Return the objects in or on a receptacle, whether or not they can be seen, sorted."""
        return sorted(f[1] for f in self.facts if f[0] == "inreceptacle" and f[2] == receptacle)

    def is_open(self, receptacle: str) -> bool:
        """Return whether its contents can be seen: it is open or has no door."""
        return ("openable", receptacle) not in self.facts or ("opened", receptacle) in self.facts

    def treated(self, name: str) -> list[str]:
        """Return the treatments that an object has had, of `clean`, `hot` and `cool`."""
        return [p[2:] for p in ("isclean", "ishot", "iscool") if (p, name) in self.facts]

    def _state(self) -> frozenset[Fact]:
        atoms = (self._types.Atom * self._library.get_state_size())()
        self._library.get_state(atoms)
        return self._constant | {_fact(atom.name) for atom in atoms if atom.name.startswith("Atom ")}

    def _use(self) -> None:
        """One library serves all games: bring it to this one's state if another was played since."""
        if _in_use is not self:
            self.replay(self.done)


_in_use: Game | None = None


def _fact(text: str) -> Fact:
    """A fact from `Atom inreceptacle(apple_1, fridge_1)`."""
    name, _, rest = text.partition(" ")[2].partition("(")
    return (name, *(a for a in rest.rstrip(")").split(", ") if a))


@lru_cache(maxsize=1)
def load_engine() -> tuple[Any, Any]:
    """The engine's library and its types. Raises InputError where the optional packages are missing."""
    if not available():
        raise InputError(
            "the household needs ALFWorld's engine",
            "household",
            f"install it into this environment: {INSTALL}",
        )
    with _fast_downward() as fast_downward:
        return fast_downward.load_lib(), fast_downward.interface


_modules: dict[str, ModuleType] = {}


@contextmanager
def _fast_downward() -> Iterator[Any]:
    """TextWorld's package; while it is in use, another one of its name is out of sight."""
    others = _taken()
    sys.modules.update(_modules)
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("fast_downward")
    finally:
        sys.path.remove(str(FOLDER))
        _modules.update(_taken())
        sys.modules.update(others)


def _taken() -> dict[str, ModuleType]:
    """The loaded modules of that name, which are taken out of Python's register."""
    return {n: sys.modules.pop(n) for n in list(sys.modules) if n.partition(".")[0] == "fast_downward"}


@lru_cache(maxsize=256)
def _translated(problem: str) -> tuple[bytes, frozenset[Fact]]:
    """The grounded problem, and the facts that no action changes. Takes a quarter of a second."""
    arguments, collects = sys.argv, gc.isenabled()
    gc.disable()  # a translation makes many objects and no garbage: a quarter quicker
    try:
        with _fast_downward() as fast_downward:
            task, sas = fast_downward.pddl2sas(_domain(), problem)
    finally:
        sys.argv = arguments  # the translator sets them
        if collects:
            gc.enable()
    changing = {"atlocation", "inreceptacle", "objectatlocation", "opened", "holds", "holdsany", "checked"}
    constant = {
        (atom.predicate, *atom.args)
        for atom in task.init
        if hasattr(atom, "predicate") and atom.predicate not in {"=", *changing}
    }
    return sas.encode(), frozenset(constant)


@lru_cache(maxsize=1)
def _domain() -> str:
    return (FOLDER / "alfworld" / "data" / "alfred.pddl").read_text(encoding="utf-8")


def problem_of(room: Room) -> str:
    """The problem file. Every receptacle has a location of its own, named `at_` and the receptacle."""
    kinds = sorted({kind_of(r) for r in room.receptacles} | set(_TYPES))
    things = sorted({kind_of(o) for o in room.objects})
    objects = [
        "agent_1 - agent",
        f"{' '.join(['at_' + r for r in room.receptacles])} at_{_STARTS_AT} - location",
        f"{' '.join(room.receptacles)} - receptacle",
        f"{' '.join(room.objects)} - object",
        f"{' '.join(_rtype(k) for k in kinds)} - rtype",
        f"{' '.join(_otype(t) for t in things)} KnifeType ButterKnifeType - otype",
    ]
    if "knife" in things:
        objects[-1] = objects[-1].replace(" KnifeType", "", 1)
    lines = "\n  ".join([f"(atLocation agent_1 at_{_STARTS_AT})", "(= (total-cost) 0)", *_facts(room)])
    return (
        "(define (problem room) (:domain alfred)\n(:objects\n  " + "\n  ".join(objects) + ")\n"
        f"(:init\n  {lines})\n(:goal {_goal(room)})\n(:metric minimize (total-cost)))\n"
    )


def _facts(room: Room) -> Iterable[str]:
    for receptacle in room.receptacles:
        kind = kind_of(receptacle)
        yield f"(receptacleAtLocation {receptacle} at_{receptacle})"
        yield f"(receptacleType {receptacle} {_rtype(kind)})"
        if RECEPTACLES[kind].openable:
            yield f"(openable {receptacle})"
    things = sorted({kind_of(o) for o in room.objects} - {LAMP})
    for kind in sorted({kind_of(r) for r in room.receptacles}):
        for thing in things:
            if kind in OBJECTS[thing].places:
                yield f"(canContain {_rtype(kind)} {_otype(thing)})"
    for name, receptacle in room.objects.items():
        thing = kind_of(name)
        yield f"(objectType {name} {_otype(thing)})"
        yield f"(inReceptacle {name} {receptacle})"
        yield f"(objectAtLocation {name} at_{receptacle})"
        if thing == LAMP:
            yield f"(toggleable {name})"
            continue
        yield f"(pickupable {name})"
        for treatment in OBJECTS[thing].treatments:
            yield f"({treatment}able {name})"


def _goal(room: Room) -> str:
    of_kind = f"(objectType ?o {_otype(room.thing)})"
    if room.task == "examine":
        return (
            f"(exists (?o - object ?a - agent ?d - object ?l - location) (and {of_kind} (holds ?a ?o) "
            f"(objectType ?d {_otype(LAMP)}) (toggleable ?d) (isToggled ?d) "
            "(objectAtLocation ?d ?l) (atLocation ?a ?l)))"
        )
    there = f"(receptacleType ?r {_rtype(room.place)})"
    if room.task == "pick_two":
        second = of_kind.replace("?o", "?p")
        return (
            f"(exists (?o - object ?p - object ?r - receptacle) (and (not (= ?o ?p)) {of_kind} {second} "
            f"{there} (inReceptacle ?o ?r) (inReceptacle ?p ?r)))"
        )
    treated = f"({_TREATED[room.task]} ?o) " if room.task in _TREATED else ""
    return f"(exists (?o - object ?r - receptacle) (and {of_kind} {there} {treated}(inReceptacle ?o ?r)))"


def _rtype(kind: str) -> str:
    return _TYPES.get(kind, f"{kind.capitalize()}RType")


def _otype(kind: str) -> str:
    return f"{kind.capitalize()}Type"
