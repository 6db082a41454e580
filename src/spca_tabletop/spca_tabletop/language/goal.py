"""From what was said to goals over symbols: every way to fulfil it that is physically stable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, permutations, product

from spca_core.kinds import CONTAINERS, DOMED, SOLIDS, SUPPORTS, TOPLESS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.relation import place_of, relations, resting, things_of
from spca_core.skill_package import skill_packages
from spca_tabletop.language import towers
from spca_tabletop.language.lexicon import TANGIBLE
from spca_tabletop.language.talk import Atom, Contradiction, Needed, Talk, every, refuse

Goal = frozenset[Atom]
"""Atoms that must hold together."""
RULES = ("unfit", "kept", "stays", "before")
"""Predicates of a goal that must hold all along, not in the end."""
ONE_AIM = "I can aim at one arrangement only, not at one after the other."
NO_PLACE = "I do not know where to put it; name a plate, a cube or the table."
SIDE_TOUCHING = "I can put a thing next to another, or to one side of it, but not both so that they touch."
_MOST_ALTERNATIVES = 40
_LOCATIONS = ("on", "across", "holding", *(row.name for row in relations() if row.skill))
"""Predicates that say where a cube is; a cube is at one place only."""
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_TWO_SIDES = "That contradicts itself: where the {} and the {} are to be to each other."
_FULL = ("I can put only {1} of these on the {0} itself.", "The {0} has no room for more than {1} of these.")
"""Where that many is a rule, and where it is a matter of sizes."""
GONE = [row.name for row in relations() if row.rests == GROUND_SYMBOL]
"""Those that say that it is out of reach."""


def alternatives(talks: Sequence[Talk]) -> list[Goal]:
    """All goals any of which fulfils what was said, in a fixed order. Raises Impossible, NotUnderstood."""
    found: dict[Goal, None] = {}
    reasons: dict[str, bool] = {}
    for talk in talks:
        try:
            found |= dict.fromkeys(every(towers.finished(talk), lambda done: _Told(_finished(done)).goals()))
        except Contradiction as reason:
            reasons.setdefault(str(reason), reason.needed)
    if not found:
        refusal = Needed if any(reasons.values()) else Impossible
        raise refusal(next(iter(reasons), "There are not enough things on this table for that."))
    # of what is left open nothing is chosen that is to be left alone, as what is built upon or put beside
    facts = talks[0].table.facts
    kept = [goal for goal in found if not any(_is_of_kept(atom, goal) for atom in goal - {*facts})]
    return sorted(kept or found, key=sorted)[:_MOST_ALTERNATIVES]


def _is_of_kept(atom: Atom, goal: Goal) -> bool:
    return atom[0] not in RULES and any(("kept", thing) in goal for thing in _concerned(atom[2:]))


def _concerned(names: Iterable[str]) -> set[str]:
    """Return the things that atoms name, those by which a place is told among them."""
    return {thing for name in names for thing in (name, *things_of(name))}


def _finished(talk: Talk) -> Talk:
    """Put together what belongs together, and complain about what is missing."""
    # "pick a cube and touch it"
    new = ((t, talk.stage) for (t,) in talk.ruled("picked") if not any(t in a[1:] for a in talk.atoms))
    held = {**dict(new), **dict(talk.held)}
    contacts = {t for pair in talk.ruled("contact", "mutual") for t in pair}
    for thing, said in talk.placeless:
        since = [a for _, a in talk.wants[said:]] + list(talk.described)
        there = thing in talk.tower.members or thing in contacts or any(a[1] == thing for a in since)
        refuse(not there and ("held", thing) not in talk.table.facts, NO_PLACE)
        talk = talk if there else talk.claim("on", (thing,), TABLE_SYMBOL)
    if talk.released and not talk.wants:  # "let go"
        talk = talk.claim("on", [a[1] for a in talk.table.facts if a[0] == "held"], TABLE_SYMBOL)
    moved = {a[1] for a in talk.atoms if a[0] in _LOCATIONS and not _on_table(a)} | {*talk.tower.members}
    elsewhere = moved & {t for (t,) in talk.ruled("unstacked")}
    wants = [w for w in talk.wants if not (_on_table(w[1]) and w[1][1] in elsewhere)]
    if len(held) > 1:
        raise Impossible("There is one gripper; it cannot hold several cubes at once.")
    refuse(held and talk.released, "I do not know where to put down what was picked up; name a place.")
    talk = talk.but(wants=(*wants, *((stage, ("holding", t)) for t, stage in held.items())))
    told = talk.wants or contacts or talk.described or talk.tower.active
    refuse(not told, "I do not see what to do: name something to touch, pick up, put or stack.")
    concerned = _concerned(name for a in (*talk.atoms, *talk.described, *talk.rules) for name in a[1:])
    for tower in (*talk.towers, talk.tower):
        concerned |= {*tower.members, *(t for _, t in (*tower.slots, *tower.barred))}
        concerned |= {t for run in tower.runs for t in run}
    for thing, spoken in talk.spoken:
        why = f"I do not know what to do with '{spoken}'; say it in its own sentence."
        refuse(thing not in concerned, why)
    return talk.but(rules=(*talk.rules, *_order(talk)))


# --- the order of what is to be done


def _order(talk: Talk) -> Iterator[Atom]:
    """What has to come true before what, as far as the text says it. Raises NotUnderstood."""
    stages = [[a for n, a in talk.wants if n == stage] for stage in range(talk.stage + 1)]
    for number, word, building in talk.marks:
        if number and not _heeded(talk, stages, number, word, building):
            raise NotUnderstood("I do not know how to heed that order; say it in another way, or without.")
    stages = [told for stage in stages if (told := _telling(stage))]
    for n, stage in enumerate(stages):
        for later, earlier in product(stage, (a for before in stages[:n] for a in before)):
            _check(earlier, later)
    for earlier, later in (pair for pairs in pairwise(stages) for pair in product(*pairs)):
        emptied = later[0] == "on" and ("on", earlier[1], later[2]) in talk.table.facts
        alone = emptied and (later[2] not in talk.table.of(*SUPPORTS) or talk.table.room(later[2], "ab") < 2)
        natural = earlier[1] in later[1:] or later[0] == "holding"
        if not natural and not (_on_table(earlier) or _on_table(later)):
            yield ("before", earlier[1], later[1])
        elif not natural and not alone:
            raise NotUnderstood("I can keep no order with what is put on the table; leave out the order.")


def _heeded(talk: Talk, stages: list[list[Atom]], number: int, word: str, building: bool) -> bool:
    """Return whether a stage comes after what was said before it."""
    in_build = any(len(run) > 1 for run in talk.tower.runs) or talk.bridge
    if word == "first":
        return any(stages[number:]) or in_build
    if atoms := stages[number]:
        before = {t for stage in stages[:number] for a in stage for t in a[1:]} | set(talk.tower.members)
        return all(a[0] == "on" and a[2] in before for a in atoms) or not building or any(stages[:number])
    slots = dict(talk.tower.slots)  # "…, then stack the others on it", "stack them, then red on top"
    there = slots.get("bottom") in {a[1] for stage in stages[:number] for a in stage}
    return in_build or number in talk.released or there or (building and {*slots} == {"top"})


def _telling(stage: Sequence[Atom]) -> list[Atom]:
    """Without the table, where something stands on it next to another thing."""
    return [a for a in stage if not _on_table(a) or not any(o != a and o[1] == a[1] for o in stage)]


def _on_table(atom: Atom) -> bool:
    return atom[0] == "on" and atom[2] == TABLE_SYMBOL


def _check(earlier: Atom, later: Atom) -> None:
    refuse(earlier[0] == "holding", "I can do nothing else any more while I hold something; say that last.")
    if earlier[1] == later[1] and "touched" in (earlier[0], later[0]) and later[0] != "holding":
        raise NotUnderstood("I cannot say when to touch a thing that has to be moved, too.")
    if later[1] in [thing for other in earlier[2:] for thing in things_of(other)] and later[0] != "touched":
        raise NotUnderstood("What something was put on, or next to, has to stay; say it in the other order.")


class _Told:
    """What was said, taken in one way."""

    def __init__(self, talk: Talk) -> None:
        self._talk, self._scene = talk, talk.table.scene
        self._solids = talk.table.of(*SOLIDS)

    def goals(self) -> Iterator[Goal]:
        """Every consistent goal, with what goes without saying. Raises Contradiction."""
        firm, described = set(self._talk.atoms), set(self._talk.described)
        problem = Contradiction("No tower fits that description.")
        found = False
        for tower in towers.all_built(self._talk, firm | described):
            # What is said to be so already need not stay so.
            so = described <= self._talk.table.facts
            for atoms in (firm | described | tower, firm | tower)[: 1 + so]:
                try:
                    complete = self._complete(atoms)
                except Contradiction as error:
                    problem = error
                else:
                    found = True
                    yield complete
                    break
        if not found:
            raise problem

    # --- everything else

    def _complete(self, atoms: set[Atom]) -> Goal:
        """Add what goes without saying, and refuse what cannot be."""
        atoms = self._with_contacts(set(atoms))
        atoms |= {*self._floors(atoms), *(rule for rule in self._talk.rules if rule[0] in RULES)}
        atoms |= set(self._left_alone(atoms))
        self._check_rules(atoms)
        atoms = {("abreast", *sorted(a[1:])) if a[0] == "abreast" else a for a in atoms}
        self._check_places(atoms)
        self._check_prohibitions(atoms)
        return frozenset(atoms)

    def _left_alone(self, atoms: set[Atom]) -> Iterator[Atom]:
        """Yield atoms for what must not be touched, or not be moved although it is touched."""
        for how, touched in (("untouched", "kept"), ("unmoved", "stays")):
            for (symbol,) in self._talk.ruled(how):
                if self._scene.objects.get(symbol) in TANGIBLE:
                    yield (touched if ("touched", symbol) in atoms else "kept", symbol)

    def _check_rules(self, atoms: set[Atom]) -> None:
        """Complete what must not be on, or touch, what; and refuse what asks for it."""
        apart, above = self._talk.ruled("apart"), self._talk.table.above
        off = [*self._talk.ruled("off"), *apart, *((b, a) for a, b in apart)]
        moved = {a[1] for a in atoms if a[0] in _LOCATIONS}
        for a, b in ((a, b) for a, b in off if a in self._solids):
            firm = (a, b) in self._talk.ruled("off")
            between = {s for s in above([b]) if a in above([s])} if firm else set()
            over = between and self._scene.objects.get(b) in SUPPORTS and not between & self._going(atoms)
            if a not in moved and (over or (b not in moved and self._scene.holds("on", a, b))):
                raise Contradiction(f"The {words_of(a)} is on the {words_of(b)} now; say where to put it.")
            atoms.add(("unfit", a, b))
        for a, b in ((a[1], a[2]) for a in sorted(atoms) if a[0] == "unfit"):
            asked = (a, b) in off or ("on", a, b) in self._talk.atoms
            if ("on", a, b) in atoms and (asked or not self._scene.holds("on", a, b)):
                raise Contradiction(f"The {words_of(a)} must not be on the {words_of(b)}, but has to.")
        for pair in apart:
            near = any(self._scene.holds("next_to", *p) for p in permutations(pair))
            if near and not moved.intersection(pair):
                told = " and the ".join(map(words_of, pair))
                raise Contradiction(f"The {told} touch now; say where to put them.")
        if banned := atoms.intersection(self._talk.ruled("banned")):
            raise Contradiction(f"That must not be, but has to: {describe([frozenset(banned)])}.")

    def _going(self, atoms: Collection[Atom]) -> set[str]:
        """What is to be lifted from where it is now."""
        return {a[1] for a in atoms if a[0] in (*_LOCATIONS, "at", *GONE) and not self._scene.holds(*a)}

    def _with_contacts(self, atoms: set[Atom]) -> set[Atom]:
        """Pairs that must touch.

        They are on each other, next to each other, or half on a plate and half on the table.
        """
        for how, beside in (("contact", "next_to"), ("mutual", "abreast")):
            for a, b in (touching := self._talk.ruled(how)):
                if b == TABLE_SYMBOL:
                    self._touch_table(atoms, a, [other for cube, other in touching if cube == a])
                elif not any({a, b} <= set(atom[1:]) for atom in atoms):
                    atoms.add((beside, a, b) if {a, b} <= set(self._solids) else ("on", a, b))
        return atoms

    def _touch_table(self, atoms: set[Atom], cube: str, others: list[str]) -> None:
        """A thing that touches the table as well as another leans on that, where a relation says so."""
        touched = [*others, *(a[2] for a in atoms if a[:2] == ("on", cube))]
        rows, kinds = [row for row in relations() if row.rests == TABLE_SYMBOL], self._scene.objects
        for row, other in ((r, o) for r in rows for o in touched if kinds.get(o) in r.of):
            atoms -= {("on", cube, other), ("on", cube, TABLE_SYMBOL)}
            atoms.add((row.name, cube, other))
            return
        if not any(a[1] == cube for a in atoms):
            atoms.add(("on", cube, TABLE_SYMBOL))

    def _floors(self, atoms: set[Atom]) -> Iterator[Atom]:
        """Yield what a stack stands on.

        It is what its lowest cube is on, unless that is another cube which is moved or the stack is a tower.
        """
        placed = {a[1] for a in atoms if a[0] in _LOCATIONS}
        towers = self._talk.tower, *self._talk.towers
        built = {t for one in towers for things in (one.members, *one.runs) for t in things}
        for atom in atoms:
            if atom[0] == "on" and atom[2] in self._solids and atom[2] not in placed:
                at = any(a[:2] == ("at", atom[2]) for a in atoms)  # which is on the table
                under = TABLE_SYMBOL if at else self._talk.table.support_of(atom[2])
                stays = under not in self._solids or not (under in placed or atom[2] in built)
                yield ("on", atom[2], under if stays and under not in ("", GROUND_SYMBOL) else TABLE_SYMBOL)

    def _check_places(self, atoms: set[Atom]) -> None:
        for cube in self._solids:
            if any(a[0] in ("next_to", "abreast") and a[1:] == (cube, cube) for a in atoms):
                raise Contradiction(f"The {words_of(cube)} cannot be next to itself.")
            where = [a for a in atoms if a[1] == cube and a[0] in _LOCATIONS]
            in_turn = f" {ONE_AIM}" if len({n for n, a in self._talk.wants if a[1] == cube}) > 1 else ""
            if len(where) > 1:
                told = describe([frozenset(where)])
                raise Contradiction(f"A thing cannot end up at two places: {told}.{in_turn}")
            burden = [a for a in atoms if a[0] == "on" and a[2] == cube]
            spans = [a for a in atoms if a[0] == "across" and cube in a[2:]]
            if len(burden) + min(len(spans), 1) > 1 or len(spans) > 2:
                raise Contradiction(f"Only one cube can rest on the {words_of(cube)}.")
            beside = any(a[0] in ("next_to", "abreast") and cube in a[1:] for a in atoms)
            gone = any(a[0] in ("holding", *GONE) for a in where)
            related = any(a[0] == "at" and cube in things_of(a[2]) for a in atoms)
            if gone and (burden or spans or beside or related):
                raise Contradiction(f"Nothing can be on or next to the {words_of(cube)} when taken away.")
            at = [a for a in atoms if a[:2] == ("at", cube)]
            by = {t for a in atoms if a[0] in ("next_to", "abreast") and cube in a for t in a[1:]} - {cube}
            if any(by.intersection(things_of(a[2])) for a in at):
                raise Contradiction(SIDE_TOUCHING)
            others = [a for a in where if a != ("on", cube, TABLE_SYMBOL)]
            others += [a for a in atoms if a[0] in ("next_to", "abreast") and a[1] == cube]
            if len(at) > 1 or (at and others):
                told = f"nor be put and turned: {describe([frozenset([*at, *others])])}"
                raise Contradiction(f"A thing cannot end up at two places, {told}.{in_turn}")
            if beside and where and where[0] != ("on", cube, TABLE_SYMBOL):
                raise Contradiction(f"Nothing can stand next to the {words_of(cube)} but on the table.")
        for place in self._scene.objects:
            there = [a[1] for a in atoms if a[0] == "on" and a[2] == place]
            if (room := self._talk.table.room(place, there)) < len(there):
                told = _FULL[self._scene.objects[place] in CONTAINERS]
                raise Contradiction(told.format(words_of(place), room))
        self._check_stability(atoms)
        self._check_stacks(atoms)
        _check_sides(atoms)

    def _check_stability(self, atoms: set[Atom]) -> None:
        for thing, base in ((a[1], a[2]) for a in atoms if a[0] == "on"):
            below, kind = self._scene.objects.get(base, ""), self._scene.objects.get(thing, "")
            if below in TOPLESS:
                raise Contradiction(f"Nothing stays on top of the {words_of(base)}.")
            if kind in DOMED and below not in (*CONTAINERS, "table") and base != TABLE_SYMBOL:
                raise Contradiction(f"The {words_of(thing)} would roll off the {words_of(base)}.")

    def _check_stacks(self, atoms: set[Atom]) -> None:
        below = {a[1]: a[2] for a in atoms if a[0] == "on"}
        for cube in sorted(below):
            lowest = cube
            for _ in below:
                lowest = below.get(lowest, lowest)
                if lowest == cube:
                    raise Contradiction(f"The {words_of(cube)} cannot be on top of itself.")
                if any(a[:2] == ("at", lowest) and cube in things_of(a[2]) for a in atoms):
                    raise Contradiction(_TWO_SIDES.format(words_of(lowest), words_of(cube)))

    def _check_prohibitions(self, atoms: set[Atom]) -> None:
        ends = [atom for atom in atoms if atom[0] not in RULES]
        for pair in map(set, self._talk.ruled("apart")):
            if any(pair <= set(atom[1:]) for atom in ends):
                told = " and the ".join(map(words_of, sorted(pair)))
                raise Contradiction(f"The {told} must not touch, but have to.")
        if needed := {(t,) for a in ends for t in a[1:]}.intersection(self._talk.ruled("unused")):
            raise Contradiction(f"The {words_of(*min(needed))} must be left out, but is needed.", needed=True)
        for (cube,) in self._talk.ruled("untouched", "unmoved"):
            touched = ("touched",) if (cube,) in self._talk.ruled("unmoved") else ()
            if any(a[1] == cube and a[0] not in touched and not self._scene.holds(*a) for a in ends):
                raise Contradiction(f"The {words_of(cube)} must be left alone, but is needed.", needed=True)
            if any(cube in self._talk.table.above([s]) for s in self._going(ends)):
                raise Contradiction(f"The {words_of(cube)} must be left alone, but is on what has to move.")


def _check_sides(atoms: Collection[Atom]) -> None:
    """Refuse what would have to be on two sides of the same, by the directions of the relations' rows."""
    farther: dict[tuple[bool, ...], TopologicalSorter[str]] = {}
    told: dict[tuple[str, frozenset[str]], tuple[tuple[bool, ...], str]] = {}
    for thing, place in ((a[1], place_of(a[2])) for a in sorted(atoms) if a[0] == "at"):
        if place is None or not place.things:
            continue
        way = tuple(place.relation.ahead(axis, (0, 0, 0)) for axis in _AXES) if place.relation.ahead else ()
        along = tuple(map(bool, way))
        for other in place.things:
            ahead, behind = (thing, other) if sum(way) >= 0 else (other, thing)
            all_of_it = frozenset((thing, *((other,) if way else place.things)))
            group = ("" if way else place.relation.name, all_of_it)
            said = along, ahead if way else thing
            if told.setdefault(group, said) != said:
                raise Contradiction(_TWO_SIDES.format(words_of(thing), words_of(other)))
            if way:
                farther.setdefault(along, TopologicalSorter()).add(ahead, behind)
    for order in farther.values():
        try:
            order.prepare()
        except CycleError as error:
            raise Contradiction(_TWO_SIDES.format(*map(words_of, error.args[1][:2]))) from error


def describe(goals: Sequence[Goal]) -> str:
    """Goals in words."""
    told = [", ".join(_sentence(atom) for atom in sorted(goal)) for goal in goals[:3]]
    return "; or ".join(told) + ("; or …" if len(goals) > 3 else "")


def _sentence(atom: Atom) -> str:
    predicate, first, *others = atom
    if place_of(place := "__".join((predicate, *others))):
        return f"the {words_of(first)} {words_of(place)}"
    if predicate == "on":
        return f"the {words_of(first)} {resting(*others)}"
    for phrase in (phrase for package in skill_packages("tabletop") for phrase in package.phrases):
        if (phrase.predicate, len(phrase.arguments)) == (predicate, len(atom) - 1):
            things = (f"the {words_of(thing)}" for thing in atom[1:])
            return phrase.say.format_map(dict(zip(phrase.arguments, things, strict=True)))
    rest = " and the ".join(map(words_of, others))
    words = {
        "next_to": "next to the", "abreast": "side by side with the", "across": "across the",
        "unfit": "never on the", "kept": "left alone", "stays": "not moved", "before": "before the",
        "holding": "in the gripper", "touched": "touched", "put_down": "set down on the table first",
        "clear": "uncovered, to see what it is" if first.startswith("unknown") else "clear", "at": "",
    }  # fmt: skip
    told = words.get(predicate, predicate.replace("_", " ") + ("", " the", ": the")[min(len(others), 2)])
    return " ".join(f"the {words_of(first)} {told} {rest}".split())
