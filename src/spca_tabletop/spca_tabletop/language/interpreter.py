"""Turns one reading of a task text into claims about the final state of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.entities import Discourse, Entity, Known
from spca_tabletop.language.meaning import Claim, Meaning
from spca_tabletop.language.phrases import (
    Arrangement,
    Asked,
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
    State,
    Thing,
    Where,
)
from spca_tabletop.language.places import ANYTHING, CUBES, NO_DIRECTION, Places
from spca_tabletop.language.selection import DIRECTIONS

_TOUCHABLE = (*SOLIDS, *SUPPORTS)
_VERB_OF = {"TOUCHED": "TOUCH", "LIFTED": "LIFT", "DISCARDED": "DISCARD"}
_TABLE = Known(TABLE_SYMBOL)


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
        self._places = Places(self._talk, self._m)
        self._released = False
        self._verb = ""
        self._picked: list[Entity] = []
        self._new_subjects: list[Entity] = []

    def add(self, element: Element) -> None:
        """Take in the next element. Only afterwards do "it" and "they" mean what this one is about."""
        self._new_subjects = []
        self._take_in(element)
        if self._new_subjects:
            self._talk.subject = self._new_subjects[-1]
        if len(self._new_subjects) > 1:
            self._talk.group = self._new_subjects

    def _take_in(self, element: Element) -> None:
        if isinstance(element, Command):
            self._command(element)
        elif isinstance(element, Build):
            self._build(element)
        elif isinstance(element, Arrangement):
            things = _not_there_yet(element.things, element.places)
            self._places.place(self._subjects(things), element.places)
        elif isinstance(element, Ordered):
            self._places.order(self._subjects(element.things), element.upwards)
        elif isinstance(element, Mention):
            self._mention(element)
        elif isinstance(element, State):
            self._state(element)
        elif isinstance(element, Contact):
            self._contact(element)
        elif isinstance(element, Passive):
            self._command(Command(_VERB_OF[element.done], element.things))
        elif isinstance(element, Negative):
            self._negative(element)
        elif isinstance(element, Asked):
            subjects = [self._subjects((thing,))[0] for thing in element.things]
            self._m.claims.append(Claim(element.predicate, tuple(subjects)))

    def finish(self, elements: int) -> Meaning:
        """Put together what belongs together, and complain about what is missing."""
        meaning = self._m
        self._places.finish_bridge()
        self._places.finish_tower()
        for entity in self._picked:  # "pick a cube and touch it" only chooses it
            if not any(entity in c.args for c in meaning.claims):
                self._hold([entity])
        placed = {c.args[0] for c in (*meaning.claims, *meaning.descriptions)}
        placed |= {e for pair in (*meaning.contacts, *meaning.mutual) for e in pair}
        if any(e not in placed and e not in meaning.tower.members for e in meaning.placeless):
            raise NotUnderstood("I do not know where to put it; name a plate, a cube or the table.")
        if len(set(meaning.held)) > 1:
            raise Impossible("There is one gripper; it cannot hold several cubes at once.")
        if meaning.held and self._released:
            raise NotUnderstood("I do not know where to put down what was picked up; name a place.")
        meaning.claims += [Claim("holding", (e,)) for e in meaning.held[:1]]
        meaning.claims += [Claim("on", (e, _TABLE)) for e in self._talk.to_table]
        if not (
            meaning.claims
            or meaning.contacts
            or meaning.mutual
            or meaning.tower.active
            or meaning.descriptions
        ):
            raise NotUnderstood(
                "I do not see what to do: name something to touch, pick up, put, stack or discard."
            )
        meaning.cost += 10 * self._talk.cost + elements
        return meaning

    def _mention(self, mention: Mention) -> None:
        """Go on with what was said last: "touch the red cube, then the blue one"."""
        self._m.cost += 3
        if self._verb == "TOUCH" and not mention.along:
            self._touch(Command("TOUCH", mention.things))
        elif not self._places.go_on(self._subjects(mention.things)):
            raise NotUnderstood(
                f"I do not know what to do with {' and '.join(t.text for t in mention.things)}."
            )

    # --- commands

    def _command(self, command: Command) -> None:
        self._verb = command.verb
        if command.verb == "RELEASE":
            self._released = True
        elif command.verb in ("SHUFFLE", "SORT"):
            self._sort(command, "own" if command.verb == "SORT" else "other")
        elif command.verb == "UNSTACK" and not command.things:
            self._m.claim("on", [Known(s) for s in self._talk.symbols(*SOLIDS)], _TABLE)
        elif not command.things:
            raise NotUnderstood(f"I do not know what to {command.verb.lower()}; name a thing.")
        elif command.verb == "CLEAR":
            self._clear(self._talk.all(command.things, (*SUPPORTS, *SOLIDS, "table")))
        elif command.verb == "SWAP":
            self._swap(self._subjects(command.things))
        elif command.verb == "TOUCH":
            self._touch(command)
        else:
            self._move(command)

    def _touch(self, command: Command) -> None:
        if command.places:
            raise NotUnderstood("I can touch a thing, but not at a certain place.")
        subjects = self._subjects(command.things, _TOUCHABLE)
        if any(self._talk.kind(e) not in _TOUCHABLE for e in subjects):
            raise NotUnderstood("I can touch cubes and plates only.")
        self._m.claims += [Claim("touched", (e,)) for e in subjects]

    def _move(self, command: Command) -> None:
        """Everything that is done with a gripper."""
        verb = command.verb
        sources = [p for p in command.places if p.kind == "source"]
        places = [p for p in command.places if p.kind != "source"]
        _refuse_vague_places(command)
        things = _not_there_yet(_coming_from(command.things, sources), places)
        subjects = self._subjects(things, CUBES)
        if verb == "STACK" and (len(subjects) > 1 or any(p.kind == "on_each_other" for p in places)):
            self._stack(subjects, places, command)
        elif places:
            self._talk.cost += 2 if verb in ("LIFT", "PICK") else 0  # "the cube on the table" is likelier
            self._places.place(subjects, places)
        elif verb in ("LIFT", "TAKE"):
            self._hold(subjects)
        elif verb == "PICK":
            self._picked += subjects
        elif verb == "DISCARD":
            self._m.claim("discarded", subjects)
        elif verb != "CHOOSE" and sources:
            self._check_source(subjects, sources[0])
            if sources[0].things[0].kind == "table":
                self._m.claim("discarded", subjects)
            else:
                self._m.claim("on", subjects, _TABLE)
        elif verb == "UNSTACK":
            self._m.claim("on", subjects, _TABLE)
        elif verb in ("PUT", "THROW"):
            self._m.placeless += subjects
        elif verb in ("REMOVE", "STACK"):
            raise NotUnderstood(
                f"I do not know where to; say what to {verb.lower()} from where, or onto what."
            )

    def _check_source(self, subjects: Sequence[Entity], source: Place) -> None:
        """What is moved away from another thing must be on it: "away from" may mean so many other places."""
        for thing in self._talk.all(source.things, ANYTHING):
            for subject in subjects:
                if not isinstance(subject, Known) or not isinstance(thing, Known) or thing == _TABLE:
                    continue
                if subject.symbol not in self._talk.standing_on(thing.symbol):
                    what, where = words_of(subject.symbol), words_of(thing.symbol)
                    raise NotUnderstood(f"The {what} does not lie on the {where}; say where to put it.")

    def _subjects(self, things: Sequence[Thing], kinds: Sequence[str] = CUBES) -> list[Entity]:
        """The things a clause is about."""
        subjects = self._talk.all(things, kinds)
        if kinds == CUBES and not all(map(self._talk.is_solid, subjects)):
            raise NotUnderstood("I can only move cubes.")
        self._new_subjects = subjects
        return subjects

    def _hold(self, subjects: Sequence[Entity]) -> None:
        for entity in subjects:
            if any(entity in c.args[:1] for c in self._m.claims if c.predicate != "touched"):
                raise NotUnderstood("I can aim at one arrangement only, not at one after the other.")
        self._m.held += [e for e in subjects if e not in self._m.held]

    def _clear(self, supports: Sequence[Entity]) -> None:
        cubes: list[Entity] = []
        for support in supports:
            if not isinstance(support, Known) or self._talk.kind(support) not in _TOUCHABLE:
                raise NotUnderstood("I can clear certain plates or cubes only.")
            cubes += [Known(s) for s in self._talk.standing_on(support.symbol)]
        if not cubes:
            raise Impossible("Nothing lies on it; it is clear already.")
        self._m.claim("on", cubes, _TABLE)

    def _swap(self, things: Sequence[Entity]) -> None:
        """Each of two goes where the other one is."""
        if len(things) != 2 or not all(isinstance(e, Known) for e in things):
            raise NotUnderstood("I can swap two certain things only; name them.")
        places = [self._talk.support_of(e.symbol) for e in things if isinstance(e, Known)]
        if "" in places or places[0] == places[1]:
            raise NotUnderstood("I can swap things that lie on, or in, different things only.")
        for thing, place in zip(things, reversed(places), strict=True):
            self._m.claim("on", [thing], Known(place))

    def _sort(self, command: Command, matching: str) -> None:
        """Put each cube on the plate of its colour, or of another one, if no other places were named."""
        things = command.things or (Thing("all cubes", "thing", plural=True, quantifier="all"),)
        cubes = self._subjects([replace(t, matching="") for t in things])
        plate = Thing("its plate", matching=matching)
        self._places.place(cubes, command.places or (Place("on", (plate,)),))

    def _build(self, build: Build) -> None:
        members = self._subjects(build.things) if build.things else []
        if build.what == "bridge":
            self._places.bridge(members, build.places)
        elif build.what == "pyramid":
            self._places.pyramid(members if build.upwards is not False else members[::-1], build.size)
        else:
            self._m.tower.size = build.size or self._m.tower.size
            self._stack(members, build.places, build)

    def _stack(self, members: Sequence[Entity], places: Sequence[Place], said: Command | Build) -> None:
        """A tower; an order applies to the cubes that were named one by one, else to those that will be."""
        self._places.stack(members, places)
        if said.upwards is None:
            return
        if members and not any(t.plural or t.pronoun for t in said.things):
            self._places.order(members, said.upwards)
        else:
            self._places.expect(said.upwards)

    # --- states

    def _state(self, state: State) -> None:
        if state.things:
            subjects = self._subjects(state.things)
        elif self._talk.mentioned:
            subjects = [self._talk.mentioned[-1]]
        else:
            raise NotUnderstood("I do not know what 'which' refers to.")
        before = len(self._m.claims)
        self._places.place(subjects, state.places)
        if not state.wanted:
            self._m.descriptions += self._m.claims[before:]
            del self._m.claims[before:]

    def _contact(self, contact: Contact) -> None:
        subjects = self._talk.all(contact.things, _TOUCHABLE)
        if contact.others:
            others = self._talk.all(contact.others, ANYTHING)
            self._m.contacts += [(a, b) for a in subjects for b in others]
            self._new_subjects = subjects
            return
        if len(subjects) == 1:
            raise NotUnderstood("I do not know what it should touch.")
        known = {frozenset(pair) for pair in self._m.pairs}
        self._m.mutual += [(a, b) for a, b in pairwise(subjects) if frozenset((a, b)) not in known]

    def _never(self, negative: Negative) -> list[tuple[Entity, Entity]]:
        """What must never be put on what: "never a larger block on a smaller one", "no cube on the table"."""
        if any(p.kind != "on" for p in negative.places) or negative.avoided not in ("PUT", "STACK"):
            raise NotUnderstood("I can mind only what must not be put on what; say it like that.")
        lower = [t for p in negative.places for t in p.things]
        if {t.extent for t in negative.objects} == {"larger"} and {t.extent for t in lower} == {"smaller"}:
            return [(Known(a), Known(b)) for a, b in self._talk.larger_smaller()]
        every = [
            t if t.quantifier != "any" else replace(t, quantifier="all", number=None)
            for t in negative.objects
        ]
        return [
            (a, b) for a in self._talk.all(every, CUBES) for b in self._talk.all(lower, ANYTHING) if a != b
        ]

    def _negative(self, negative: Negative) -> None:
        if negative.subjects and negative.avoided in ("LIFT", "PUT", "TAKE", "THROW"):
            raise NotUnderstood("Only the robot moves things; say what it must leave alone.")
        if negative.subjects:
            subjects = self._talk.all(negative.subjects, _TOUCHABLE)
            others = self._talk.all(negative.objects, ANYTHING) or subjects
            self._m.apart += [(a, b) for a in subjects for b in others if a != b]
        elif negative.places:
            self._m.rules += [Claim("unfit", pair) for pair in self._never(negative)]
        elif negative.avoided in ("TOUCH", "BESIDE", "LIFT", "PUT", "TAKE"):
            # "Never put a cube on the table" is likelier about the place than about the cubes that are there.
            self._talk.cost += negative.avoided == "PUT" and any(t.where for t in negative.objects)
            named = [t for t in negative.objects if t.pronoun not in ("it", "them")]
            untouched = self._talk.all(named, ANYTHING)
            self._m.untouched += untouched
            if self._talk.subject is None:  # "without moving the blue cube, stack the red one on it"
                self._new_subjects = untouched
        elif negative.avoided not in ("HIT", "THROW"):  # which go without saying
            raise NotUnderstood("I can mind what must be left alone, or must not be put on what; say it so.")


def _refuse_vague_places(command: Command) -> None:
    """Where a place is meant that cannot be aimed at, or what seems to describe a thing is a place."""
    if command.verb == "LIFT" and any(p.hovering for p in command.places):
        raise NotUnderstood("I can hold a thing, but not over a certain place.")
    wheres = [where for thing in command.things for where in thing.where]
    directed = len(wheres) == 1 and wheres[0].relation in DIRECTIONS and not wheres[0].thing.where
    if command.verb == "PUT" and not command.places and directed:
        raise NotUnderstood(NO_DIRECTION)


def _not_there_yet(things: Sequence[Thing], places: Sequence[Place]) -> list[Thing]:
    """As in "put another cube on the plate": one that is not on it."""
    there = [Where("on", p.things[0], negated=True) for p in places if p.kind == "on" and len(p.things) == 1]
    return [replace(t, where=(*t.where, *there)) if t.other else t for t in things]


def _coming_from(things: Sequence[Thing], sources: Sequence[Place]) -> list[Thing]:
    """As in "a cube from the table": where it comes from says which one, unless that is clear already."""
    found = []
    for thing in things:
        vague = not (thing.pronoun or thing.colour or thing.side or thing.where)
        wheres = tuple(Where("on", t) for p in sources for t in p.things) if vague else ()
        found.append(replace(thing, where=thing.where + wheres))
    return found
