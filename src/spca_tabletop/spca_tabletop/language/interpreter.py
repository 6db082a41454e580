"""Turns one reading of a task text into claims about the final state of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.entities import Discourse, Entity, Known
from spca_tabletop.language.meaning import Claim, Meaning
from spca_tabletop.language.order import OrderedClaims
from spca_tabletop.language.phrases import (
    Arrangement,
    Asked,
    Build,
    Contact,
    Element,
    Instruction,
    Interpretation,
    Mark,
    Mention,
    Negative,
    NounPhrase,
    Ordered,
    Passive,
    Place,
    Presupposition,
    State,
    Where,
)
from spca_tabletop.language.places import ANYTHING, CUBES, NO_DIRECTION, Places
from spca_tabletop.language.prohibitions import prohibit
from spca_tabletop.language.selection import DIRECTIONS

_TOUCHABLE = (*SOLIDS, *SUPPORTS)
_VERB_OF = {"TOUCHED": "TOUCH", "LIFTED": "LIFT", "DISCARDED": "DISCARD"}
_PARTICLES = {
    "up": ("LIFT", "PICK", "TAKE"),
    "in_the_air": ("LIFT", "PICK", "TAKE"),
    "down": ("PUT", "STACK"),
    "there": ("RELEASE",),
}
"""Words that add nothing to certain verbs, and much to others."""
_TABLE = Known(TABLE_SYMBOL)


def interpret(reading: Interpretation, observation: Observation) -> Meaning:
    """Return the meaning of a reading on this table. Raises NotUnderstood and Impossible."""
    interpreter = _Interpreter(observation)
    for element in reading.elements:
        interpreter.add(element)
    meaning = interpreter.finish(len(reading.elements))
    meaning.discourse.ledger.check(reading.words)
    return meaning


class _Interpreter:
    def __init__(self, observation: Observation) -> None:
        self._talk = Discourse(observation)
        self._m = Meaning(self._talk)
        self._places = Places(self._talk, self._m)
        self._use = self._talk.ledger.use
        self._order = OrderedClaims(self._m)
        self._released = False
        self._verb = ""
        self._forbidding = False
        self._picked: list[Entity] = []
        self._spoken_of: list[tuple[Entity, NounPhrase]] = []
        """What the clauses are about: something has to be done with each."""
        self._new_subjects: list[Entity] = []

    def add(self, element: Element) -> None:
        """Take in the next element. Only afterwards do "it" and "they" mean what this one is about."""
        if isinstance(element, Mark):
            self._order.mark(element)
            return
        if self._forbidding and isinstance(element, Arrangement | Mention):
            raise NotUnderstood("I do not know whether that must not be, either; say it in its own sentence.")
        self._forbidding = isinstance(element, Negative)
        self._new_subjects = []
        before, held = len(self._m.claims), list(self._m.held)
        self._take_in(element)
        self._order.add(
            self._m.claims[before:], [e for e in self._m.held if e not in held], _is_release(element)
        )
        if self._new_subjects:
            self._talk.subject = self._new_subjects[-1]
        if len(self._new_subjects) > 1:
            self._talk.group = self._new_subjects

    def _take_in(self, element: Element) -> None:
        """By its class: an Instruction is taken in by `_instruction`."""
        verb = getattr(element, "verb", "") or getattr(element, "avoided", "")
        self._use(
            element,
            later=["first", "each_other", *(p for p, verbs in _PARTICLES.items() if verb not in verbs)],
        )
        getattr(self, f"_{type(element).__name__.lower()}")(element)

    def _arrangement(self, arrangement: Arrangement) -> None:
        self._verb = ""
        things = _not_there_yet(arrangement.things, arrangement.places)
        self._places.place(self._subjects(things), arrangement.places, things)

    def _passive(self, passive: Passive) -> None:
        self._instruction(Instruction(_VERB_OF[passive.done], passive.things, passive.places))

    def _negative(self, negative: Negative) -> None:
        untouched = prohibit(negative, self._talk, self._m)
        if self._talk.subject is None:  # "without moving the blue cube, stack the red one on it"
            self._new_subjects = untouched

    def _asked(self, asked: Asked) -> None:
        subjects = [self._subjects((thing,))[0] for thing in asked.things]
        self._m.claims.append(Claim(asked.predicate, tuple(subjects)))

    def finish(self, elements: int) -> Meaning:
        """Put together what belongs together, and complain about what is missing."""
        meaning = self._m
        self._places.finish_bridge()
        self._places.finish_tower()
        for entity in self._picked:  # "pick a cube and touch it" only chooses it
            if not any(entity in c.args for c in meaning.claims):
                self._hold([entity])
        touching = {e for pair in (*meaning.contacts, *meaning.mutual) for e in pair}
        for entity, before, building in meaning.placeless:
            since = [c for c in (*meaning.claims, *meaning.descriptions) if c not in before]
            built = meaning.tower.active and not building and entity in meaning.tower.members
            if not (built or entity in touching or any(entity == c.args[0] for c in since)):
                raise NotUnderstood("I do not know where to put it; name a plate, a cube or the table.")
        if len(set(meaning.held)) > 1:
            raise Impossible("There is one gripper; it cannot hold several cubes at once.")
        if meaning.held and self._released:
            raise NotUnderstood("I do not know where to put down what was picked up; name a place.")
        meaning.claims += [Claim("holding", (e,)) for e in meaning.held[:1]]
        asked = (meaning.claims, meaning.contacts, meaning.mutual, meaning.descriptions)
        if not (any(asked) or meaning.tower.active):
            raise NotUnderstood(
                "I do not see what to do: name something to touch, pick up, put, stack or discard."
            )
        concerned = meaning.concerned()
        for entity, thing in self._spoken_of:
            if entity not in concerned:
                raise NotUnderstood(
                    f"I do not know what to do with '{thing.text}'; say it in its own sentence."
                )
        self._order.finish()
        meaning.cost += 10 * self._talk.cost + elements
        return meaning

    def _mention(self, mention: Mention) -> None:
        """Go on with what was said last: "touch the red cube, then the blue one"."""
        self._m.cost += 3
        if self._verb == "TOUCH" and not mention.along:
            self._touch(mention.things)
        elif not self._places.go_on(self._subjects(mention.things), mention.along):
            raise NotUnderstood(
                f"I do not know what to do with {' and '.join(t.text for t in mention.things)}."
            )

    def _ordered(self, ordered: Ordered) -> None:
        if ordered.listed is not None:
            self._places.order(self._subjects(ordered.things), ordered.listed)
        elif self._m.tower.active or self._verb == "STACK":
            raise NotUnderstood("Say whether that order is from bottom to top or from top to bottom.")
        elif not all(thing.is_enumerated for thing in ordered.things):
            raise NotUnderstood("I do not know in which order; name the things one by one.")
        else:
            self._order.put_in(self._talk.all(ordered.things, _TOUCHABLE))

    def _presupposition(self, context: Presupposition) -> None:
        """Check that what is said to be there is there."""
        for place in context.places:
            self._use(place)
            if place.kind != "on":
                raise NotUnderstood("I can check only what things are on or in; leave out where they are.")
        there = tuple(Where("on", t) for place in context.places for t in place.things)
        for thing in context.things:
            self._talk.symbols_of(replace(thing, where=(*thing.where, *there)), _TOUCHABLE)

    # --- commands

    def _instruction(self, command: Instruction) -> None:
        self._verb = command.verb
        if first := tuple(word for word in command.said if word[0] == "first"):
            self._order.mark(Mark("first", said=first))
        if command.verb == "RELEASE":
            self._subjects(command.things)
            self._released = True
        elif command.verb in ("SHUFFLE", "SORT"):
            self._sort(command, "own" if command.verb == "SORT" else "other")
        elif command.verb == "UNSTACK" and not command.things:
            self._m.claim("on", [Known(s) for s in self._talk.symbols(*SOLIDS)], _TABLE)
        elif not command.things:
            raise NotUnderstood(f"I do not know what to {command.verb.lower()}; name a thing.")
        elif command.verb == "CLEAR":
            self._clear(self._talk.all(command.things, (*SUPPORTS, *SOLIDS, "table")), command.places)
        elif command.verb == "SWAP":
            self._swap(self._subjects(command.things))
        elif command.verb == "TOUCH":
            if command.places:
                raise NotUnderstood("I can touch a thing, but not at a certain place.")
            self._touch(command.things)
        else:
            self._move(command)

    def _touch(self, things: Sequence[NounPhrase]) -> None:
        subjects = self._subjects(things, _TOUCHABLE)
        if any(self._talk.kind(e) not in _TOUCHABLE for e in subjects):
            raise NotUnderstood("I can touch cubes and plates only.")
        self._m.claims += [Claim("touched", (e,)) for e in subjects]

    def _move(self, command: Instruction) -> None:
        """Everything that is done with a gripper."""
        verb = command.verb
        sources = [p for p in command.places if p.kind == "source"]
        places = [p for p in command.places if p.kind != "source"]
        _refuse_vague_places(command)
        things = _not_there_yet(_coming_from(command.things, sources), places)
        subjects = self._subjects(things, CUBES)
        for source in sources:
            self._places.come_from(subjects, source)
        if verb == "STACK" and (len(subjects) > 1 or any(p.kind == "on_each_other" for p in places)):
            self._stack(subjects, places, command)
        elif places:
            self._talk.cost += 2 if verb in ("LIFT", "PICK") else 0  # "the cube on the table" is likelier
            self._places.place(subjects, places, things)
        else:
            several = any(t.plural or t.quantifier in ("all", "each") for t in things)
            self._talk.cost += verb == "PUT" and any(t.says_where for t in things)  # likelier the place to go
            self._move_somewhere(verb, subjects, [t for p in sources for t in p.things], several)

    def _move_somewhere(
        self, verb: str, subjects: list[Entity], sources: Sequence[NounPhrase], several: bool
    ) -> None:
        """Interpret a verb where no place is said, but perhaps what to take things from."""
        off_table = any(thing.kind == "table" for thing in sources)
        if verb == "TAKE" and several and sources and not off_table:
            self._m.claim("on", subjects, _TABLE)
        elif verb in ("LIFT", "TAKE"):
            self._hold(subjects)
        elif verb == "PICK":
            self._picked += subjects
        elif verb == "DISCARD":
            self._m.claim("discarded", subjects)
        elif verb != "CHOOSE" and sources:
            self._m.claim(*(("discarded", subjects) if off_table else ("on", subjects, _TABLE)))
        elif verb == "UNSTACK":
            self._m.claim("on", subjects, _TABLE)
        elif verb in ("PUT", "THROW"):
            self._m.move(subjects)
        elif verb in ("REMOVE", "STACK"):
            raise NotUnderstood(
                f"I do not know where to; say what to {verb.lower()} from where, or onto what."
            )

    def _subjects(self, things: Sequence[NounPhrase], kinds: Sequence[str] = CUBES) -> list[Entity]:
        """The things a clause is about."""
        subjects: list[Entity] = []
        for thing in things:
            found = self._talk.resolve(thing, kinds)
            if any(isinstance(e, Known) and e in subjects for e in found):
                raise NotUnderstood(f"'{thing.text}' was named already.")
            subjects += found
            self._spoken_of += [(entity, thing) for entity in found]
        if kinds == CUBES and not all(map(self._talk.is_solid, subjects)):
            raise NotUnderstood("I can only move cubes.")
        self._new_subjects = subjects
        return subjects

    def _hold(self, subjects: Sequence[Entity]) -> None:
        for entity in subjects:
            if any(entity in c.args[:1] for c in self._m.claims if c.predicate != "touched"):
                raise NotUnderstood("I can aim at one arrangement only, not at one after the other.")
        self._m.held += [e for e in subjects if e not in self._m.held]

    def _clear(self, supports: Sequence[Entity], places: Sequence[Place]) -> None:
        cubes: list[Entity] = []
        for support in supports:
            if not isinstance(support, Known) or self._talk.kind(support) not in _TOUCHABLE:
                raise NotUnderstood("I can clear certain plates or cubes only.")
            cubes += [Known(s) for s in self._talk.standing_on(support.symbol)]
        if not cubes:
            raise Impossible("Nothing lies on it; it is clear already.")
        self._places.place(cubes, places or (Place("on", (NounPhrase("table", "table"),)),))

    def _swap(self, things: Sequence[Entity]) -> None:
        """Each of two goes where the other one is."""
        if len(things) != 2 or not all(isinstance(e, Known) for e in things):
            raise NotUnderstood("I can swap two certain things only; name them.")
        places = [self._talk.support_of(e.symbol) for e in things if isinstance(e, Known)]
        if "" in places or places[0] == places[1]:
            raise NotUnderstood("I can swap things that lie on, or in, different things only.")
        for thing, place in zip(things, reversed(places), strict=True):
            self._m.claim("on", [thing], Known(place))

    def _sort(self, command: Instruction, matching: str) -> None:
        """Put each cube on the plate of its colour, or of another one, if no other places were named."""
        things = command.things or (NounPhrase("all cubes", "thing", plural=True, quantifier="all"),)
        for thing in things:
            self._use(thing, "matching")
        cubes = self._subjects([replace(t, matching="") for t in things])
        if not command.places:
            self._places.place(cubes, (Place("on", (NounPhrase("its plate", matching=matching),)),))
        if not all(place.things for place in command.places):
            raise NotUnderstood(
                "I do not know by which colours to sort there; name plates, or what to put where."
            )
        for place in command.places:  # "into the trays" are the trays of their colours
            said = tuple(replace(t, matching=t.matching or matching) for t in place.things)
            self._places.place(cubes, (replace(place, things=said),))

    def _build(self, build: Build) -> None:
        self._verb = "BUILD"
        members = self._subjects(build.things) if build.things else []
        if build.what == "bridge":
            self._places.bridge(members, build.places)
        elif build.what == "pyramid":
            for place in build.places:
                if place.kind != "on" or [t.kind for t in place.things] != ["table"]:
                    raise NotUnderstood("I can build a pyramid on the table only.")
                self._use(place)
                self._talk.all(place.things, ("table",))
            down = build.listed is not None and not build.listed.upwards
            if build.listed and all(thing.is_enumerated for thing in build.things):
                self._use(build.listed)
            self._places.pyramid(members[::-1] if down else members, build.size)
        else:
            self._m.tower.size = build.size or self._m.tower.size
            self._stack(members, build.places, build)

    def _stack(self, members: Sequence[Entity], places: Sequence[Place], said: Instruction | Build) -> None:
        """A tower; an order applies to the cubes that were named one by one, else to those that will be."""
        self._places.stack(members, places)
        if said.listed is None:
            return
        if members and not any(t.plural or t.pronoun for t in said.things):
            self._places.order(members, said.listed)
        else:
            self._places.expect(said.listed)

    # --- states

    def _state(self, state: State) -> None:
        self._verb = ""
        if state.things:
            subjects = self._subjects(state.things)
        elif self._talk.mentioned:
            subjects = [self._talk.mentioned[-1]]
        else:
            raise NotUnderstood("I do not know what 'which' refers to.")
        before = len(self._m.claims)
        self._places.place(subjects, state.places, state.things)
        if not state.wanted:
            self._m.descriptions += self._m.claims[before:]
            del self._m.claims[before:]

    def _contact(self, contact: Contact) -> None:
        self._use(contact, "each_other")
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


def _is_release(element: Element) -> bool:
    return isinstance(element, Instruction) and element.verb == "RELEASE"


def _refuse_vague_places(command: Instruction) -> None:
    """Raise NotUnderstood for a place that cannot be aimed at, or one that seems to describe a thing."""
    if command.verb == "LIFT" and any(p.hovering for p in command.places):
        raise NotUnderstood("I can hold a thing, but not over a certain place.")
    wheres = [where for thing in command.things for where in thing.where]
    directed = len(wheres) == 1 and wheres[0].relation in DIRECTIONS and not wheres[0].thing.where
    if command.verb == "PUT" and not command.places and directed:
        raise NotUnderstood(NO_DIRECTION)


def _not_there_yet(things: Sequence[NounPhrase], places: Sequence[Place]) -> list[NounPhrase]:
    """As in "put another cube on the plate": one that is not on it."""
    there = [Where("on", p.things[0], negated=True) for p in places if p.kind == "on" and len(p.things) == 1]
    return [replace(t, where=(*t.where, *there)) if t.other else t for t in things]


def _coming_from(things: Sequence[NounPhrase], sources: Sequence[Place]) -> list[NounPhrase]:
    """As in "a cube from the table": where it comes from says which one, unless that is clear already."""
    found = []
    for thing in things:
        vague = not (thing.pronoun or thing.colour or thing.side or thing.where)
        wheres = tuple(Where("on", t) for p in sources for t in p.things) if vague else ()
        found.append(replace(thing, where=thing.where + wheres))
    return found
