"""Turns places into claims: on, next to, across, at the edge, in a tower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from spca_core.kinds import CONTAINERS, KINDS, SOLIDS, STACKABLE, SUPPORTS
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.entities import AnyOf, Discourse, Entity, Known
from spca_tabletop.language.meaning import Claim, Meaning
from spca_tabletop.language.phrases import Direction, NounPhrase, Phrase, Place, Slot

CUBES = SOLIDS
ANYTHING = (*SOLIDS, *SUPPORTS, "table")
NO_DIRECTION = "I can put things on or next to others, but not in a direction."
_BRIDGE = "A bridge is one cube on top of two others; name the three."


class Places:
    """Adds to a meaning what is said about places."""

    def __init__(self, talk: Discourse, meaning: Meaning) -> None:
        self._talk, self._m = talk, meaning
        self._run: tuple[bool, list[Entity], Sequence[Phrase]] | None = None
        """Cubes of a tower that are being listed, whether upwards, and what says so."""

    def place(
        self, subjects: list[Entity], places: Sequence[Place], things: Sequence[NounPhrase] = ()
    ) -> None:
        """Put subjects at places. "Red on blue on green": a second "on" is about what the first one named.

        `things` are the phrases that named the subjects, where there were any.
        """
        resting, before = subjects, len(self._m.claims)
        on_plate = any(t.kind in SUPPORTS for p in places if p.kind in ("on", "to") for t in p.things)
        for place in places:
            self._talk.ledger.use(place)
            if place.kind in ("on", "to"):
                resting = self._on(resting, place, subjects, things if resting is subjects else ())
            elif place.kind == "slot":
                self._slot(subjects, place.slot)
            elif place.kind == "on_each_other":
                self.stack(subjects, ())
            elif place.kind == "side_by_side":
                self._side_by_side(subjects, on_plate)
            elif place.kind == "source":
                self.come_from(subjects, place)
            else:
                self._relative(subjects, place)
        added = self._m.claims[before:]
        if len(set(added)) < len(added):  # one of the places has left no trace of its own
            raise NotUnderstood("The same place is said twice; say it for each thing.")

    def _relative(self, subjects: list[Entity], place: Place) -> None:
        if place.kind == "beside":
            for target in self._talk.all(place.things, (*SOLIDS, *CONTAINERS)):
                self._beside(subjects, target)
        elif place.kind == "under":
            if len(subjects) != 1:
                raise NotUnderstood("Only one thing can be right under another one; name it.")
            self._m.claim("on", [self._talk.one(place.things, CUBES)], subjects[0])
            self._m.put_down(subjects)
        elif place.kind == "across":
            self.across(subjects, self._talk.all(place.things, CUBES))
        elif place.kind in ("edge", "beyond"):
            support = self._talk.one(place.things, ("plate", "table"), subjects[0])
            if self._talk.kind(support) == "table":
                self._m.claim("discarded", subjects)
            elif self._talk.kind(support) == "plate" and place.kind == "edge":
                self._m.claim("on_edge", subjects, support)
            else:
                raise NotUnderstood("I can put things on the edge of a plate, or beyond that of the table.")

    def come_from(self, subjects: Sequence[Entity], source: Place) -> None:
        """Check that things are where they are to be taken from: "away from" may mean so many other places.

        Everything stands on the table, by way of other things at least.
        """
        self._talk.ledger.use(source)
        for thing in source.things:
            if thing.kind == "table":
                self._talk.resolve(thing, ("table",))
                continue
            below = self._talk.symbols_of(thing, ANYTHING)
            for subject in subjects:
                if not isinstance(subject, Known):
                    self._talk.demand(subject, self._talk.above(below))
                elif subject.symbol not in self._talk.above(below):
                    what = words_of(subject.symbol)
                    raise NotUnderstood(f"The {what} does not lie on {thing.text}; say where to put it.")

    def _on(
        self, resting: list[Entity], place: Place, subjects: list[Entity], said: Sequence[NounPhrase]
    ) -> list[Entity]:
        """Put cubes onto others or plates. Returns what a further "on" would be about."""
        things = place.things
        if any(t.is_direction for t in things):
            raise NotUnderstood(NO_DIRECTION)
        if any(t.matching for t in things):
            return self._on_matching(resting, things)
        if self._is_distributed(resting, said, things):
            return self._each_on_one(resting, things[0])
        targets = self._targets(place, resting[0] if len(resting) == 1 else None)
        kinds = {"cube" if self._talk.is_solid(t) else self._talk.kind(t) for t in targets}
        one_to_one = len(resting) == len(said) == len(things) == len(targets)
        if any(feature == "respectively" for feature, _ in place.said) and not one_to_one:
            raise NotUnderstood("There are not as many places as things to go there; say it for each.")
        if kinds == {"ground"}:
            self._m.claim("discarded", resting)
        elif (
            kinds == {"cube"} and place.kind == "to"
        ):  # on it, or next to it? that is for what follows to say
            self._m.move(resting)
            self._talk.group = [*resting, *targets]
        elif len(targets) > 1 and all(_is_each(t, kinds) for t in things):
            self._some_on_each(resting, targets, said)
        elif len(targets) == 1:
            self._m.claim("on", resting, targets[0])
            return targets if kinds == {"cube"} and len(resting) == 1 else subjects
        elif one_to_one:
            for entity, target in zip(resting, targets, strict=True):
                self._m.claim("on", [entity], target)
        elif kinds == {"cube"} and len(set(targets)) == len(targets):
            self._talk.cost += 0 if self._m.pairs or self._m.bridge else 1
            self.across(resting, targets)
        else:
            raise NotUnderstood("I do not know which of them should go where; say it for each.")
        return resting

    def _targets(self, place: Place, subject: Entity | None) -> list[Entity]:
        into = any(feature == "in" for feature, _ in place.said)
        targets = self._talk.all(place.things, SUPPORTS if into else ANYTHING, subject)
        if into and any(map(self._talk.is_solid, targets)):
            raise NotUnderstood(f"Nothing can be put into '{place.things[0].text}'; say 'on'.")
        return targets

    def _is_distributed(
        self, resting: Sequence[Entity], said: Sequence[NounPhrase], things: Sequence[NounPhrase]
    ) -> bool:
        """Return whether each has its own: "each on a plate", "cubes on the plates", "cubes in a bowl"."""
        if len(things) != 1 or things[0].pronoun or len(resting) < 2:
            return False
        alone = things[0].kind in SUPPORTS and KINDS[things[0].kind].room == "one"
        each = bool(said) and all(t.quantifier == "each" or (alone and t.plural) for t in said)
        plural = things[0].plural and things[0].quantifier in ("", "the") and not things[0].number
        one = (things[0].quantifier == "any" and things[0].number == 1) or things[0].either
        return bool(each and one) or (plural and all(t.plural for t in said) and things[0].kind in SUPPORTS)

    def _each_on_one(self, resting: list[Entity], thing: NounPhrase) -> list[Entity]:
        targets = [
            self._talk.choose(self._talk.symbols_of(replace(thing, other=False), ANYTHING)) for _ in resting
        ]
        if thing.other:  # "a different plate" is another one for each, and not the one on which it stands
            self._talk.ledger.use(thing, "other")
            self._talk.all_different(targets)
            for entity, target in zip(resting, targets, strict=True):
                if isinstance(entity, Known) and isinstance(target, AnyOf):
                    here = self._talk.support_of(entity.symbol)
                    self._talk.demand(target, [s for s in target.candidates if s != here])
        for entity, target in zip(resting, targets, strict=True):
            self._m.claim("on", [entity], target)
        return resting

    def _some_on_each(
        self, resting: Sequence[Entity], targets: Sequence[Entity], said: Sequence[NounPhrase]
    ) -> None:
        """As in "put a cube on each plate", "two cubes in each tray": other ones in each."""
        if (
            not said
            or any(t.quantifier != "any" for t in said)
            or not all(isinstance(one, AnyOf) for one in resting)
        ):
            raise NotUnderstood("I do not know which of them should go where; say it for each.")
        chosen = list(resting)
        for one in resting:
            self._m.claim("on", [one], targets[0])
        for target in targets[1:]:
            for one in resting:
                assert isinstance(one, AnyOf)
                chosen.append(self._talk.choose(one.candidates, chosen))
                self._m.claim("on", chosen[-1:], target)
        self._talk.all_different(list(resting))

    def _on_matching(self, cubes: list[Entity], things: Sequence[NounPhrase]) -> list[Entity]:
        plates = []
        for cube in cubes:
            plates.append(self._talk.one(things, SUPPORTS, cube))
            self._m.claim("on", [cube], plates[-1])
        if things[0].matching == "other":
            self._talk.all_different(plates)
        return cubes

    def _beside(self, subjects: Sequence[Entity], target: Entity) -> None:
        if not self._talk.is_solid(target) and self._talk.kind(target) not in CONTAINERS:
            raise NotUnderstood("I can put a cube next to another cube only.")
        self._m.claim("next_to", subjects, target)
        if self._talk.is_solid(target):
            self._pair(subjects[-1], target)

    def _side_by_side(self, subjects: Sequence[Entity], on_plate: bool) -> None:
        if len(subjects) < 2:
            raise NotUnderstood("I do not know what should stand side by side; name two cubes.")
        if on_plate and len(subjects) > 1:
            return  # it means: each on the plate itself, none on top of another
        for a, b in pairwise(subjects):
            self._m.claims.append(Claim("abreast", (a, b)))
            self._pair(a, b)
        self._m.put_down(subjects)

    def _pair(self, a: Entity, b: Entity) -> None:
        self._m.pairs.append((a, b))
        self._talk.group = [a, b]

    # --- towers

    def stack(self, members: Sequence[Entity], places: Sequence[Place]) -> None:
        """A tower of certain cubes."""
        tower = self._m.tower
        tower.active = True
        if self._any(members):
            tower.size = len(members)
            self._m.counted += members
        else:
            tower.members += [m for m in members if m not in tower.members]
        self._m.put_down(members)
        for place in places:
            self._talk.ledger.use(place)
            if place.kind == "slot":
                self._slot(members, place.slot)
            elif place.kind == "on":
                base = self._talk.one(place.things, (*SUPPORTS, "table"))
                if self._talk.is_solid(base):
                    tower.slots["bottom"] = base
                else:
                    tower.base = base
            elif place.kind != "on_each_other":
                raise NotUnderstood("I can build a tower on the table, on a plate or on a cube only.")

    def _any(self, members: Sequence[Entity]) -> bool:
        """Return whether they are just some cubes, so that only their number counts."""
        everything = set(self._talk.symbols(*STACKABLE))
        return bool(members) and all(
            isinstance(m, AnyOf) and set(m.candidates) == everything for m in members
        )

    def expect(self, listed: Direction) -> None:
        """The cubes of a tower are going to be listed in this order."""
        self._end_run()
        self._run = (listed.upwards, [], (listed,))

    def order(self, cubes: Sequence[Entity], listed: Direction) -> None:
        """Cubes of a tower in their order."""
        self._m.tower.active = True
        self._listed(listed.upwards, list(cubes), (listed,))
        self._m.put_down(cubes)

    def go_on(self, cubes: Sequence[Entity], along: bool) -> bool:
        """As in "green at the bottom, then blue, then red": cubes that only continue a tower.

        False if there is none, or if they are only said to be `along` with a tower that has them already.
        """
        tower = self._m.tower
        there = [*tower.members, *tower.slots.values()]
        if (not tower.active and self._run is None) or (along and any(c in there for c in cubes)):
            return False
        tower.members += [c for c in cubes if c not in tower.members]
        if self._run is not None and not along:
            self._run[1].extend(cubes)
        return True

    def _slot(self, subjects: Sequence[Entity], slot: Slot) -> None:
        slots = self._m.tower.slots
        if len(subjects) != 1 or slots.get(slot, subjects[0]) != subjects[0]:
            raise NotUnderstood(f"Only one cube can be at the {slot}.")
        slots[slot] = subjects[0]
        self._m.put_down(subjects)
        if slot in ("bottom", "top") and self._run is None:
            self._run = (slot == "bottom", [subjects[0]], ())

    def _end_run(self) -> None:
        if self._run is not None:
            self._listed(*self._run)
        self._run = None

    def _listed(self, upwards: bool, cubes: list[Entity], said: Sequence[Phrase]) -> None:
        if len(cubes) > 1:
            self._m.tower.runs.append(cubes if upwards else cubes[::-1])
            for phrase in said:
                self._talk.ledger.use(phrase)

    def finish_tower(self) -> None:
        """Once all is said: cubes "on top" of others that were stacked without calling it a tower."""
        tower = self._m.tower
        self._end_run()
        if (tower.slots or tower.barred) and not tower.active:
            if not self._m.stacked():
                raise NotUnderstood(
                    "I do not know what it should be on top of, or at the bottom of; name the cubes."
                )
            tower.active = True

    # --- bridges

    def across(self, subjects: Sequence[Entity], supports: Sequence[Entity]) -> None:
        """A cube that rests on two others."""
        if len(subjects) != 1 or len(supports) != 2:
            raise NotUnderstood(_BRIDGE)
        self._m.bridge = True
        self._m.pairs.append((supports[0], supports[1]))
        self._m.tower.slots["top"] = subjects[0]
        self._m.put_down(subjects)

    def bridge(self, members: Sequence[Entity], places: Sequence[Place]) -> None:
        """A bridge of certain cubes."""
        self._m.bridge = True
        for place in places:
            self._talk.ledger.use(place)
            if place.kind != "on":
                raise NotUnderstood(_BRIDGE)
        supports = [e for p in places for e in self._talk.all(p.things, ANYTHING)]
        cubes = [e for e in supports if self._talk.is_solid(e)]
        if len(cubes) == 2 and len(members) == 1:
            self.across(members, cubes)
        elif [e for e in supports if e != Known(TABLE_SYMBOL)]:
            raise NotUnderstood(_BRIDGE)
        else:
            self._m.tower.members += members
            self._m.counted += members

    def pyramid(self, members: Sequence[Entity], size: int | None) -> None:
        """A pyramid of three or six, listed from the lowest row up; where only a number was said, of any."""
        cubes = list(members) or [Known(s) for s in self._talk.symbols("cube")]
        if (size or len(cubes)) != len(cubes) or len(cubes) not in (3, 6):
            raise NotUnderstood("A pyramid has three or six cubes; name them, the lowest row first.")
        width = 3 if len(cubes) == 6 else 2
        row, rest = cubes[:width], cubes[width:]
        self._m.claims += [Claim("abreast", pair) for pair in pairwise(row)]
        while rest:
            above, rest = rest[: len(row) - 1], rest[len(row) - 1 :]
            self._m.claims += [
                Claim("across", (c, a, b)) for c, (a, b) in zip(above, pairwise(row), strict=True)
            ]
            row = above
        self._m.put_down(cubes)

    def finish_bridge(self) -> None:
        """As in "blue and green side by side, red on top": the cube on top lies across the pair."""
        meaning, tower = self._m, self._m.tower
        if not meaning.bridge and (tower.active or not meaning.pairs or "top" not in tower.slots):
            return
        stacked = meaning.stacked()
        top = tower.slots.get("top")
        supports = list(meaning.pairs[-1]) if meaning.pairs else []
        if top is None and len(stacked) == 2 and stacked[0].args[0] == stacked[1].args[0]:
            top, supports = stacked[0].args[0], [c.args[1] for c in stacked]
        top, supports = self._complete_bridge(top, supports)
        tower.slots, tower.members, self._run = {}, [], None
        meaning.claims = [c for c in meaning.claims if c not in stacked]
        if not any(set(c.args) == set(supports) for c in meaning.claims if c.predicate == "next_to"):
            meaning.claims.append(Claim("abreast", tuple(supports)))
        meaning.claims.append(Claim("across", (top, *supports)))

    def _complete_bridge(self, top: Entity | None, supports: list[Entity]) -> tuple[Entity, list[Entity]]:
        """Whatever of the three cubes was not said is one of those left, or any."""
        cubes = self._m.tower.members or [Known(s) for s in self._talk.symbols(*STACKABLE)]
        rest = [m for m in cubes if m != top and m not in supports]
        if self._m.tower.members and len(rest) + len(supports) + (top is not None) != 3:
            raise NotUnderstood(_BRIDGE)
        if top is not None and not supports and len(rest) == 2:
            supports = rest
        elif top is None and len(supports) == 2 and len(rest) == 1:
            top = rest[0]
        elif top is None and not supports and len(rest) >= 3:
            symbols = [r.symbol for r in rest if isinstance(r, Known)]
            top, *supports = self._talk.several_of(symbols, 3)
        if top is None or len(supports) != 2:
            raise NotUnderstood(_BRIDGE)
        return top, supports


def _is_each(thing: NounPhrase, kinds: set[str]) -> bool:
    """Return whether something else goes on every one; "on both cubes" is one thing across them."""
    return thing.quantifier == "each" or (thing.quantifier == "all" and kinds != {"cube"})
