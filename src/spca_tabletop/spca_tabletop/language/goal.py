"""Turns claims over choices into a goal over symbols: every way to fulfil them that is physically stable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, permutations, product

from spca_core.kinds import CONTAINERS, DOMED, SOLIDS, STACKABLE, SUPPORTS, TOPLESS
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.entities import Assignment, Entity, value
from spca_tabletop.language.meaning import Meaning

Atom = tuple[str, ...]
"""A ground atom: predicate and arguments."""

Goal = frozenset[Atom]
"""Atoms that must hold together."""

CAPACITY = {"plate": 3, "tray": 6}
"""Cubes that fit side by side on a plate or in a tray of the usual size; mats and bowls take one."""

RULES = ("unfit", "kept", "stays", "before")
"""Predicates of a goal that must hold all along, not in the end."""

_MOST_ASSIGNMENTS = 20_000
_MOST_ALTERNATIVES = 40
_LOCATIONS = ("on", "on_edge", "across", "holding", "discarded")
"""Predicates that say where a cube is; a cube is at one place only."""


class _Contradiction(Exception):
    """This way to fulfil the claims cannot be."""


def alternatives(meaning: Meaning, observation: Observation) -> list[Goal]:
    """All goals any of which fulfils the task, in a fixed order. Raises Impossible."""
    choices = meaning.discourse.choices
    size = 1
    for choice in choices:
        size *= len(choice.candidates)
    if size > _MOST_ASSIGNMENTS:
        raise NotUnderstood("That leaves too much open; name some of the cubes.")
    found: dict[Goal, None] = {}
    reasons: dict[str, None] = {}
    for assignment in product(*(c.candidates for c in choices)):
        if not all(holds(assignment) for holds in meaning.discourse.constraints):
            continue
        try:
            found |= dict.fromkeys(_Grounded(meaning, assignment, observation).goals())
        except _Contradiction as reason:
            reasons.setdefault(str(reason))
    if not found:
        raise Impossible(next(iter(reasons), "There are not enough things on this table for that."))
    return sorted(found, key=sorted)[:_MOST_ALTERNATIVES]


class _Grounded:
    """A meaning under one assignment of its choices."""

    def __init__(self, meaning: Meaning, assignment: Assignment, observation: Observation) -> None:
        self._m, self._assignment, self._scene = meaning, assignment, observation
        self._solids = [s for s, kind in observation.objects.items() if kind in SOLIDS]
        stackable = [s for s in self._solids if observation.objects[s] in STACKABLE]
        self._cubes = [s for s in stackable if observation.objects[s] == "cube"] or stackable

    def goals(self) -> Iterator[Goal]:
        """Every consistent goal, with what goes without saying. Raises _Contradiction."""
        firm = {(c.predicate, *map(self._symbol, c.args)) for c in self._m.claims}
        described = {(c.predicate, *map(self._symbol, c.args)) for c in self._m.descriptions}
        problem = _Contradiction("No tower fits that description.")
        found = False
        for tower in self._towers(firm | described):
            # What is said to be so already need not stay so.
            so = all(self._scene.holds(*atom) for atom in described)
            for atoms in (firm | described | tower, firm | tower)[: 1 + so]:
                try:
                    complete = self._complete(atoms)
                except _Contradiction as error:
                    problem = error
                else:
                    found = True
                    yield complete
                    break
        if not found:
            raise problem

    def _symbol(self, entity: Entity) -> str:
        symbol = value(entity, self._assignment)
        if symbol not in self._scene.objects and symbol not in (TABLE_SYMBOL, "ground"):
            raise _Contradiction(f"There is no {words_of(symbol)}.")
        return symbol

    # --- towers

    def _towers(self, atoms: set[Atom]) -> Iterator[set[Atom]]:
        """The atoms of every tower that was described; none but the empty set where no tower was."""
        tower = self._m.tower
        if not tower.active:
            yield set()
            return
        stacked = {(a[1], a[2]) for a in atoms if a[0] == "on" and a[2] in self._solids}
        slots: dict[str, str] = {slot: self._symbol(entity) for slot, entity in tower.slots.items()}
        runs = [[self._symbol(e) for e in run] for run in tower.runs]
        named = [self._symbol(e) for e in tower.members]
        named += [*slots.values(), *(c for run in runs for c in run), *(c for pair in stacked for c in pair)]
        cubes = list(dict.fromkeys(named))
        size = tower.size or len(cubes or self._cubes)
        if size < 2:
            raise _Contradiction("A tower needs two cubes at least.")
        if size > len({*self._cubes, *cubes}):
            raise _Contradiction(f"There are {len(self._cubes)} cubes, not enough for a tower of {size}.")
        if len(cubes) > size:
            raise _Contradiction(f"A tower of {size} cubes cannot be made of {len(cubes)}.")
        rest = [c for c in self._cubes if c not in cubes]
        base = self._symbol(tower.base) if tower.base is not None else ""
        for more in permutations(rest, size - len(cubes)):
            for order in permutations([*cubes, *more]):
                if self._fits(order, slots, runs, stacked):
                    at = {a[2] for a in atoms if a[0] == "on" and a[1] == order[0]}
                    floor = {("on", order[0], base or TABLE_SYMBOL)} if base or not at else set()
                    yield floor | {("on", above, below) for below, above in pairwise(order)}

    def _fits(
        self,
        order: tuple[str, ...],
        slots: dict[str, str],
        runs: list[list[str]],
        stacked: set[tuple[str, str]],
    ) -> bool:
        """Return whether a tower (from bottom to top) agrees with what was said."""
        height = {cube: level for level, cube in enumerate(order)}
        ends = {"bottom": order[0], "top": order[-1]}
        return (
            all(ends[s] == cube if s in ends else cube in order[1:-1] for s, cube in slots.items())
            and all(height[a] < height[b] for run in runs for a, b in pairwise(run))
            and all(height[above] == height[below] + 1 for above, below in stacked)
            and not any(
                ends[slot] == cube if slot in ends else cube in order[1:-1]
                for slot, cube in ((slot, self._symbol(e)) for slot, e in self._m.tower.barred)
            )
        )

    # --- everything else

    def _complete(self, atoms: set[Atom]) -> Goal:
        """Add what goes without saying, and refuse what cannot be."""
        atoms = self._with_contacts(set(atoms))
        atoms |= set(self._floors(atoms))
        atoms |= {(c.predicate, *map(self._symbol, c.args)) for c in self._m.rules}
        atoms |= set(self._left_alone(atoms))
        self._check_rules(atoms)
        atoms = {("abreast", *sorted(a[1:])) if a[0] == "abreast" else a for a in atoms}
        self._check_places(atoms)
        self._check_prohibitions(atoms)
        return frozenset(atoms)

    def _left_alone(self, atoms: set[Atom]) -> Iterator[Atom]:
        """Yield atoms for what must not be touched, or not be moved although it is touched."""
        for entities, touched in ((self._m.untouched, "kept"), (self._m.unmoved, "stays")):
            for symbol in map(self._symbol, entities):
                if self._scene.objects.get(symbol) in (*SOLIDS, *SUPPORTS):
                    yield (touched if ("touched", symbol) in atoms else "kept", symbol)

    def _check_rules(self, atoms: set[Atom]) -> None:
        """Complete what must not be on, or touch, what; and refuse what asks for it."""
        off = [(self._symbol(a), self._symbol(b)) for a, b in self._m.off]
        apart = [(self._symbol(a), self._symbol(b)) for a, b in self._m.apart]
        off += [*apart, *((b, a) for a, b in apart)]
        moved = {a[1] for a in atoms if a[0] in _LOCATIONS}
        for a, b in off:
            if a not in self._solids:
                continue
            if a not in moved and b not in moved and self._scene.holds("on", a, b):
                raise _Contradiction(f"The {words_of(a)} is on the {words_of(b)} now; say where to put it.")
            atoms.add(("unfit", a, b))
        for a, b in ((a[1], a[2]) for a in atoms if a[0] == "unfit"):
            if (("on", a, b) in atoms and not self._scene.holds("on", a, b)) or (
                (a, b) in off and ("on", a, b) in atoms
            ):
                raise _Contradiction(f"The {words_of(a)} must not be on the {words_of(b)}, but has to.")
        for pair in apart:
            near = any(self._scene.holds("next_to", *p) for p in permutations(pair))
            if near and not moved.intersection(pair):
                told = " and the ".join(map(words_of, pair))
                raise _Contradiction(f"The {told} touch now; say where to put them.")
        for symbol in map(self._symbol, self._m.never_discarded):
            if ("discarded", symbol) in atoms:
                raise _Contradiction(f"The {words_of(symbol)} must not fall, but has to.")
        if any(a[0] == "before" and a[1] == a[2] for a in atoms):
            raise _Contradiction("A thing cannot come before itself.")

    def _with_contacts(self, atoms: set[Atom]) -> set[Atom]:
        """Pairs that must touch.

        They are on each other, next to each other, or half on a plate and half on the table.
        """
        for pairs, beside in ((self._m.contacts, "next_to"), (self._m.mutual, "abreast")):
            touching = [(self._symbol(a), self._symbol(b)) for a, b in pairs]
            for a, b in touching:
                if b == TABLE_SYMBOL:
                    self._touch_table(atoms, a, [other for cube, other in touching if cube == a])
                elif not any({a, b} <= set(atom[1:]) for atom in atoms):
                    atoms.add((beside, a, b) if {a, b} <= set(self._solids) else ("on", a, b))
        return atoms

    def _touch_table(self, atoms: set[Atom], cube: str, others: list[str]) -> None:
        """A cube that touches the table and a plate lies on the plate's edge."""
        plates = [p for p in others if self._scene.objects.get(p) == "plate"]
        plates += [a[2] for a in atoms if a[:2] == ("on", cube) and self._scene.objects.get(a[2]) == "plate"]
        if plates:
            atoms -= {("on", cube, plates[0]), ("on", cube, TABLE_SYMBOL)}
            atoms.add(("on_edge", cube, plates[0]))
        elif not any(a[1] == cube for a in atoms):
            atoms.add(("on", cube, TABLE_SYMBOL))

    def _floors(self, atoms: set[Atom]) -> Iterator[Atom]:
        """Yield what a stack stands on.

        It is the table, unless the task says otherwise or the lowest cube is on a plate.
        """
        placed = {a[1] for a in atoms if a[0] in _LOCATIONS}
        for atom in atoms:
            if atom[0] == "on" and atom[2] in self._solids and atom[2] not in placed:
                plates = [p for p, kind in self._scene.objects.items() if kind in SUPPORTS]
                under = [p for p in plates if self._scene.holds("on", atom[2], p)]
                yield ("on", atom[2], under[0] if under else TABLE_SYMBOL)

    def _check_places(self, atoms: set[Atom]) -> None:
        for cube in self._solids:
            if any(a[0] in ("next_to", "abreast") and a[1:] == (cube, cube) for a in atoms):
                raise _Contradiction(f"The {words_of(cube)} cannot be next to itself.")
            where = [a for a in atoms if a[1] == cube and a[0] in _LOCATIONS]
            if len(where) > 1:
                raise _Contradiction(f"The {words_of(cube)} cannot be at two places: {_told(where)}.")
            burden = [a for a in atoms if a[0] == "on" and a[2] == cube]
            spans = [a for a in atoms if a[0] == "across" and cube in a[2:]]
            if len(burden) + min(len(spans), 1) > 1 or len(spans) > 2:
                raise _Contradiction(f"Only one cube can rest on the {words_of(cube)}.")
            beside = any(a[0] in ("next_to", "abreast") and cube in a[1:] for a in atoms)
            gone = any(a[0] in ("holding", "discarded") for a in where)
            if gone and (burden or spans or beside):
                raise _Contradiction(
                    f"Nothing can be on or next to the {words_of(cube)} when it is taken away."
                )
            if beside and where and where[0] != ("on", cube, TABLE_SYMBOL):
                raise _Contradiction(
                    f"The {words_of(cube)} can stand next to another cube only on the table."
                )
        if len([a for a in atoms if a[0] == "holding"]) > 1:
            raise _Contradiction("There is one gripper; it cannot hold several cubes at once.")
        for place, kind in self._scene.objects.items():
            room = CAPACITY.get(kind, 1) if kind in SUPPORTS else len(atoms)
            if len([a for a in atoms if a[0] == "on" and a[2] == place]) > room:
                raise _Contradiction(f"The {words_of(place)} has no room for more than {room}.")
        self._check_stability(atoms)
        self._check_stacks(atoms)

    def _check_stability(self, atoms: set[Atom]) -> None:
        for thing, base in ((a[1], a[2]) for a in atoms if a[0] == "on"):
            below, kind = self._scene.objects.get(base, ""), self._scene.objects.get(thing, "")
            if below in TOPLESS:
                raise _Contradiction(f"Nothing stays on top of the {words_of(base)}.")
            if kind in DOMED and below not in (*CONTAINERS, "table") and base != TABLE_SYMBOL:
                raise _Contradiction(f"The {words_of(thing)} would roll off the {words_of(base)}.")

    def _check_stacks(self, atoms: set[Atom]) -> None:
        below = {a[1]: a[2] for a in atoms if a[0] == "on"}
        for cube in below:
            lowest = cube
            for _ in below:
                lowest = below.get(lowest, lowest)
                if lowest == cube:
                    raise _Contradiction(f"The {words_of(cube)} cannot be on top of itself.")

    def _check_prohibitions(self, atoms: set[Atom]) -> None:
        ends = [atom for atom in atoms if atom[0] not in RULES]
        for a, b in self._m.apart:
            pair = {self._symbol(a), self._symbol(b)}
            if any(pair <= set(atom[1:]) for atom in ends):
                raise _Contradiction(
                    f"The {' and the '.join(map(words_of, sorted(pair)))} must not touch, but have to."
                )
        for entity in (*self._m.untouched, *self._m.unmoved):
            cube = self._symbol(entity)
            touched = ("touched",) if entity in self._m.unmoved else ()
            if any(a[1] == cube and a[0] not in touched and not self._scene.holds(*a) for a in ends):
                raise _Contradiction(f"The {words_of(cube)} must be left alone, but is needed.")


def _told(atoms: Iterable[Atom]) -> str:
    return " and ".join(
        f"{a[0].replace('_', ' ')} {' '.join(map(words_of, a[2:]))}".strip() for a in sorted(atoms)
    )
