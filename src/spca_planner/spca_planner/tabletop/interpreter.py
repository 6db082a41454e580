"""One reading of a task text, told as claims about how the table shall look in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spca_core.names import TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_planner.tabletop.entities import Discourse, Entity, Known
from spca_planner.tabletop.phrases import (
    Arrangement,
    Build,
    Command,
    Contact,
    Element,
    Mention,
    Negative,
    Ordered,
    Passive,
    Place,
    Reading,
    Slot,
    State,
    Thing,
    Where,
)

_CUBES = ("cube",)
_TOUCHABLE = ("cube", "plate")
_SUPPORTS = ("cube", "plate", "table")
_AIMLESS = ("PUT", "THROW")
"""Verbs that need a place."""


@dataclass(frozen=True)
class Claim:
    """An atom of the goal over entities: its predicate in the tabletop's PDDL, and its arguments."""

    predicate: str
    args: tuple[Entity, ...]


@dataclass
class TowerSpec:
    """What was said about a tower; `active` once there is one. `runs` are orders of some of its cubes, upwards."""

    active: bool = False
    members: list[Entity] = field(default_factory=list)
    size: int | None = None
    base: Entity | None = None
    slots: dict[Slot, Entity] = field(default_factory=dict)
    runs: list[list[Entity]] = field(default_factory=list)


@dataclass
class Meaning:
    """All that a reading asks for, over the choices and constraints of `discourse`.

    `claims` must hold, `descriptions` may be about the table as it is. `contacts` are pairs that shall touch.
    `untouched` are things the robot must leave alone, `apart` pairs that must not touch.
    """

    discourse: Discourse
    claims: list[Claim] = field(default_factory=list)
    descriptions: list[Claim] = field(default_factory=list)
    contacts: list[tuple[Entity, Entity]] = field(default_factory=list)
    tower: TowerSpec = field(default_factory=TowerSpec)
    bridge: bool = False
    pairs: list[tuple[Entity, Entity]] = field(default_factory=list)
    untouched: list[Entity] = field(default_factory=list)
    apart: list[tuple[Entity, Entity]] = field(default_factory=list)
    cost: int = 0


def interpret(reading: Reading, observation: Observation) -> Meaning:
    """What a reading means on this table. Raises NotUnderstood and Impossible."""
    interpreter = _Interpreter(observation)
    for element in reading.elements:
        interpreter.add(element)
    return interpreter.finish(len(reading.elements))


class _Interpreter:
    def __init__(self, observation: Observation) -> None:
        self._talk = Discourse(observation)
        self._m = Meaning(self._talk)
        self._held: list[Entity] = []
        self._released = False
        self._placeless: list[Entity] = []
        self._run: tuple[Slot, list[Entity]] | None = None

    def add(self, element: Element) -> None:
        """Take in the next element."""
        if isinstance(element, Command):
            self._command(element)
        elif isinstance(element, Build):
            self._build(element)
        elif isinstance(element, Arrangement):
            self._place(self._subjects(element.things), element.places)
        elif isinstance(element, Ordered):
            self._order(self._talk.all(element.things, _CUBES), element.upwards)
        elif isinstance(element, Mention):
            self._mention(element)
        elif isinstance(element, State):
            self._state(element)
        elif isinstance(element, Contact):
            self._contact(element)
        elif isinstance(element, Passive):
            verbs = {"TOUCHED": "TOUCH", "LIFTED": "LIFT", "DISCARDED": "DISCARD"}
            self._command(Command(verbs[element.done], element.things))
        elif isinstance(element, Negative):
            self._negative(element)

    def finish(self, elements: int) -> Meaning:
        """Put together what belongs together, and complain about what is missing."""
        meaning, tower = self._m, self._m.tower
        if self._run is not None and len(self._run[1]) > 1:
            slot, run = self._run
            tower.runs.append(run if slot == "bottom" else run[::-1])
        self._bridge()
        if tower.slots and not tower.active:
            if not any(self._is_stacking(c) for c in meaning.claims):
                raise NotUnderstood(
                    "I do not know what it shall be on top of, or at the bottom of; name the cubes."
                )
            tower.active = True
        placed = {c.args[0] for c in (*meaning.claims, *meaning.descriptions)} | {
            a for a, _ in meaning.contacts
        }
        for entity in self._placeless:
            if entity not in placed and entity not in tower.members:
                raise NotUnderstood("I do not know where it shall be put; name a plate, a cube or the table.")
        if len(set(self._held)) > 1:
            raise Impossible("There is one gripper; it cannot hold several cubes at once.")
        if self._held and self._released:
            raise NotUnderstood("I do not know where to put down what was picked up; name a place.")
        meaning.claims += [Claim("holding", (e,)) for e in self._held[:1]]
        if not (meaning.claims or meaning.contacts or tower.active or meaning.descriptions):
            raise NotUnderstood(
                "I do not see what to do: name something to touch, pick up, put, stack or discard."
            )
        meaning.cost = 10 * self._talk.cost + elements
        return meaning

    # --- commands

    def _command(self, command: Command) -> None:
        verb = command.verb
        if verb == "RELEASE":
            self._released = True
            return
        if verb in ("SHUFFLE", "SORT"):
            self._sort(command, "own" if verb == "SORT" else "other")
            return
        if verb == "UNSTACK" and not command.things:
            cubes = [Known(s) for s in self._talk.symbols("cube")]
            self._claim_each("on", cubes, Known(TABLE_SYMBOL))
            return
        if not command.things:
            raise NotUnderstood("I do not know what to take; name a cube.")
        sources = [p for p in command.places if p.kind == "source"]
        goals = [p for p in command.places if p.kind != "source"]
        if verb == "CLEAR":
            self._clear(self._talk.one(command.things, ("plate", "cube", "table")))
            return
        if verb == "TOUCH":
            if command.places:
                raise NotUnderstood("I can touch a thing, but not at a certain place.")
            subjects = self._subjects(command.things, _TOUCHABLE)
            if any(self._talk.kind(e) not in _TOUCHABLE for e in subjects):
                raise NotUnderstood("I can touch cubes and plates only.")
            self._m.claims += [Claim("touched", (e,)) for e in subjects]
            return
        origin = self._talk.one(sources[0].things, _SUPPORTS) if sources else None
        subjects = self._subjects(_coming_from(command.things, sources), _CUBES)
        if verb == "STACK" and (len(subjects) > 1 or any(p.kind == "on_each_other" for p in goals)):
            self._stack(subjects, goals, command.upwards)
        elif goals:
            self._place(subjects, goals)
        elif verb in ("LIFT", "TAKE"):
            self._hold(subjects)
        elif verb == "DISCARD":
            self._discard(subjects)
        elif verb in ("REMOVE", "UNSTACK", "PUT", "THROW") and origin is not None:
            onto_table = self._talk.kind(origin) in ("cube", "plate")
            self._claim_each("on", subjects, Known(TABLE_SYMBOL)) if onto_table else self._discard(subjects)
        elif verb == "UNSTACK":
            self._claim_each("on", subjects, Known(TABLE_SYMBOL))
        elif verb in _AIMLESS:
            self._placeless += subjects
        elif verb in ("REMOVE", "STACK"):
            raise NotUnderstood(
                f"I do not know where to; say what to {verb.lower()} from where, or onto what."
            )

    def _subjects(self, things: Sequence[Thing], kinds: Sequence[str] = _CUBES) -> list[Entity]:
        """The things a clause is about; later, "it" and "they" are these."""
        subjects = self._talk.all(things, kinds)
        for entity in subjects:
            if kinds == _CUBES and self._talk.kind(entity) != "cube":
                raise NotUnderstood("I can only move cubes.")
        if subjects:
            self._talk.subject = subjects[-1]
        if len(subjects) > 1:
            self._talk.group = subjects
        return subjects

    def _hold(self, subjects: Sequence[Entity]) -> None:
        for entity in subjects:
            if any(entity in c.args[:1] for c in self._m.claims if c.predicate != "touched"):
                raise NotUnderstood("I can aim at one arrangement only, not at one after the other.")
        self._held = [*self._held, *(e for e in subjects if e not in self._held)]

    def _discard(self, subjects: Sequence[Entity]) -> None:
        self._claim_each("discarded", subjects)

    def _claim_each(self, predicate: str, subjects: Sequence[Entity], *others: Entity) -> None:
        """Claim it of each subject; what was picked up before is thereby put down."""
        self._m.claims += [Claim(predicate, (e, *others)) for e in subjects]
        self._held = [e for e in self._held if e not in subjects]

    def _clear(self, support: Entity) -> None:
        kind = self._talk.kind(support)
        if not isinstance(support, Known) or kind not in ("plate", "cube"):
            raise NotUnderstood("I can clear a certain plate or cube only.")
        cubes: list[Entity] = [Known(s) for s in self._talk.standing_on(support.symbol)]
        self._claim_each("on", cubes, Known(TABLE_SYMBOL))
        if not cubes:
            raise Impossible("Nothing lies on it; it is clear already.")

    def _sort(self, command: Command, matching: str) -> None:
        """Each cube to the plate of its colour, or to one of another colour."""
        subjects = self._subjects(command.things or (Thing("all cubes", "cube", True, "all"),))
        self._place(subjects, (Place("on", (Thing("its plate", "plate", matching=matching),)),))

    # --- places

    def _place(self, subjects: list[Entity], places: Sequence[Place]) -> None:
        resting: list[Entity] = subjects
        on_plate = any(t.kind == "plate" for p in places if p.kind == "on" for t in p.things)
        for place in places:
            if place.kind == "on":
                resting = self._on(resting, place.things, subjects)
            elif place.kind == "slot":
                self._slot(subjects, place.slot)
            elif place.kind == "side_by_side":
                if len(subjects) < 2:
                    raise NotUnderstood("I do not know what shall stand side by side; name two cubes.")
                if not on_plate:  # on a plate it means: not on top of each other
                    for a, b in zip(subjects, subjects[1:], strict=False):
                        self._beside(a, b)
            elif place.kind == "beside":
                for target in self._talk.all(place.things, _CUBES):
                    for entity in subjects:
                        self._beside(entity, target)
            elif place.kind == "under":
                below = subjects[0]
                self._claim_each("on", [self._talk.one(place.things, _CUBES)], below)
                self._held = [e for e in self._held if e != below]
            elif place.kind == "across":
                self._across(subjects, self._talk.all(place.things, _CUBES))
            elif place.kind in ("edge", "beyond"):
                self._at_edge(subjects, self._talk.one(place.things, ("plate", "table")))
            elif place.kind == "on_each_other":
                self._stack(subjects, (), None)

    def _on(self, resting: list[Entity], things: Sequence[Thing], subjects: list[Entity]) -> list[Entity]:
        """Put things onto others. Returns what a further "on …" would be about: "red on blue on green"."""
        if any(t.matching for t in things):
            plates = []
            for entity in resting:
                plates.append(self._talk.one(things, ("plate",), entity))
                self._claim_each("on", [entity], plates[-1])
            if things[0].matching == "other":
                self._talk.all_different(plates)
            return resting
        targets = self._talk.all(things, _SUPPORTS)
        kinds = {self._talk.kind(t) for t in targets}
        if kinds == {"ground"}:
            self._discard(resting)
        elif len(targets) == 1:
            self._claim_each("on", resting, targets[0])
            if kinds == {"cube"} and len(resting) == 1:
                return targets
            return subjects
        elif len(targets) == len(resting):
            for entity, target in zip(resting, targets, strict=True):
                self._claim_each("on", [entity], target)
        elif kinds == {"cube"}:
            self._across(resting, targets)
        else:
            raise NotUnderstood("I do not know which of them shall go where; say it for each.")
        return resting

    def _beside(self, a: Entity, b: Entity) -> None:
        if self._talk.kind(b) != "cube":
            raise NotUnderstood("I can put a cube next to another cube only.")
        self._claim_each("next_to", [a], b)
        self._m.pairs.append((a, b))
        self._talk.group = [a, b]

    def _across(self, subjects: Sequence[Entity], supports: Sequence[Entity]) -> None:
        if len(subjects) != 1 or len(supports) != 2:
            raise NotUnderstood("A bridge is one cube on top of two others; name the three.")
        self._m.bridge = True
        self._m.pairs.append((supports[0], supports[1]))
        self._m.tower.slots["top"] = subjects[0]
        self._held = [e for e in self._held if e != subjects[0]]

    def _at_edge(self, subjects: Sequence[Entity], support: Entity) -> None:
        if self._talk.kind(support) == "plate":
            self._claim_each("on_edge", subjects, support)
        else:
            self._discard(subjects)

    # --- towers and bridges

    def _build(self, build: Build) -> None:
        members = self._subjects(build.things) if build.things else []
        if build.what == "bridge":
            self._m.bridge = True
            self._bridge_of(members, build.places)
            return
        tower = self._m.tower
        tower.active = True
        tower.size = build.size or tower.size
        self._stack(members, build.places, build.upwards)

    def _stack(self, members: list[Entity], places: Sequence[Place], upwards: bool | None) -> None:
        tower = self._m.tower
        tower.active = True
        tower.members += [m for m in members if m not in tower.members]
        self._held = [e for e in self._held if e not in members]
        for place in places:
            if place.kind == "on":
                base = self._talk.one(place.things, ("plate", "table"))
                if self._talk.kind(base) == "cube":
                    tower.slots["bottom"] = base
                else:
                    tower.base = base
            elif place.kind != "on_each_other":
                raise NotUnderstood("I can build a tower on the table, on a plate or on a cube only.")
        if upwards is not None:
            self._order(members, upwards)

    def _order(self, cubes: list[Entity], upwards: bool) -> None:
        self._m.tower.active = True
        self._m.tower.runs.append(cubes if upwards else cubes[::-1])
        self._held = [e for e in self._held if e not in cubes]

    def _slot(self, subjects: Sequence[Entity], slot: Slot) -> None:
        slots = self._m.tower.slots
        if len(subjects) != 1 or slots.get(slot, subjects[0]) != subjects[0]:
            raise NotUnderstood(f"Only one cube can be at the {slot}.")
        slots[slot] = subjects[0]
        self._held = [e for e in self._held if e != subjects[0]]
        if slot in ("bottom", "top") and self._run is None:
            self._run = (slot, [subjects[0]])

    def _mention(self, mention: Mention) -> None:
        """ "… green at the bottom, then blue, then red": a list that goes on from its first slot."""
        cubes = self._subjects(mention.things)
        tower = self._m.tower
        if not tower.active and self._run is None:
            raise NotUnderstood(
                f"I do not know what to do with {' and '.join(t.text for t in mention.things)}."
            )
        tower.members += [c for c in cubes if c not in tower.members]
        if self._run is not None:
            self._run[1].extend(cubes)

    def _bridge_of(self, members: list[Entity], places: Sequence[Place]) -> None:
        supports = [
            e for p in places if p.kind == "on" for e in self._talk.all(p.things, ("cube", "table", "plate"))
        ]
        cubes = [e for e in supports if self._talk.kind(e) == "cube"]
        if len(cubes) == 2 and len(members) == 1:
            self._across(members, cubes)
        else:
            self._m.tower.members += members

    def _bridge(self) -> None:
        """ "Blue and green side by side, red on top": the cube on top lies across the pair."""
        meaning, tower = self._m, self._m.tower
        if not meaning.bridge and (tower.active or not meaning.pairs or "top" not in tower.slots):
            return
        top, supports = tower.slots.pop("top", None), list(meaning.pairs[-1]) if meaning.pairs else []
        stacked = [c for c in meaning.claims if self._is_stacking(c)]
        if top is None and len(stacked) == 2 and stacked[0].args[0] == stacked[1].args[0]:
            top, supports = stacked[0].args[0], [c.args[1] for c in stacked]
        cubes = [Known(s) for s in self._talk.symbols("cube")]
        rest = [m for m in (tower.members or cubes) if m != top and m not in supports]
        if top is not None and not supports and len(rest) == 2:
            supports = rest
        elif top is None and len(supports) == 2 and len(rest) == 1:
            top = rest[0]
        elif top is None and not supports and len(rest) >= 3:
            symbols = [r.symbol for r in rest if isinstance(r, Known)]
            top = self._talk.choose(symbols)
            supports = [self._talk.choose(symbols, [top])]
            supports.append(self._talk.choose(symbols, [top, *supports]))
        if top is None or len(supports) != 2:
            raise NotUnderstood("A bridge is one cube on top of two others; name the three.")
        tower.slots, tower.members, self._run = {}, [], None
        meaning.claims = [c for c in meaning.claims if c not in stacked]
        meaning.claims += [Claim("next_to", tuple(supports)), Claim("across", (top, *supports))]

    def _is_stacking(self, claim: Claim) -> bool:
        return claim.predicate == "on" and self._talk.kind(claim.args[1]) == "cube"

    # --- states

    def _state(self, state: State) -> None:
        before = list(self._m.claims)
        if state.things:
            subjects = self._subjects(state.things)
        elif self._talk.mentioned:
            subjects = [self._talk.mentioned[-1]]
        else:
            raise NotUnderstood("I do not know what 'which' refers to.")
        supports = [e for p in state.places if p.kind == "on" for e in self._peek(p.things)]
        if len(subjects) == 1 and len(supports) == 2 and all(self._talk.kind(e) == "cube" for e in supports):
            self._across(subjects, supports)
            return
        self._place(subjects, state.places)
        if not state.wanted:
            new = [c for c in self._m.claims if c not in before]
            self._m.claims = before
            self._m.descriptions += new

    def _peek(self, things: Sequence[Thing]) -> list[Entity]:
        return [] if any(t.matching for t in things) else self._talk.all(things, _SUPPORTS)

    def _contact(self, contact: Contact) -> None:
        subjects = self._talk.all(contact.things, _TOUCHABLE)
        if contact.others:
            others = self._talk.all(contact.others, _SUPPORTS)
            self._m.contacts += [(a, b) for a in subjects for b in others]
            if len(subjects) == 1:
                self._talk.subject = subjects[0]
            return
        if len(subjects) == 1:
            raise NotUnderstood("I do not know what it shall touch.")
        known = {frozenset(pair) for pair in self._m.pairs}
        for a, b in zip(subjects, subjects[1:], strict=False):
            if frozenset((a, b)) not in known:
                self._m.contacts.append((a, b))

    def _negative(self, negative: Negative) -> None:
        if negative.subjects:
            subjects = self._talk.all(negative.subjects, _TOUCHABLE)
            others = self._talk.all(negative.objects, _SUPPORTS) or subjects
            self._m.apart += [(a, b) for a in subjects for b in others if a != b]
        elif negative.avoided in ("TOUCH", "LIFT", "PUT", "TAKE"):
            things = [t for t in negative.objects if not t.pronoun]
            self._m.untouched += self._talk.all(things, _SUPPORTS)


def _coming_from(things: Sequence[Thing], sources: Sequence[Place]) -> list[Thing]:
    """ "A cube from the table": where it comes from tells which one, unless that is clear already."""
    found = []
    for thing in things:
        vague = not thing.pronoun and not thing.colour and not thing.side and not thing.where
        wheres = tuple(Where("on", t) for p in sources for t in p.things) if vague else ()
        found.append(replace(thing, where=thing.where + wheres))
    return found
