"""Resolves noun phrases in a scene: known things, free choices, and things that depend on others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_sense.observation import colours_of, sizes_of
from spca_tabletop.language.ledger import UsedWords
from spca_tabletop.language.phrases import NounPhrase
from spca_tabletop.language.selection import CLEARLY_LARGER, Selection

Assignment = Sequence[str]
"""A symbol for every `AnyOf`, by its index."""


@dataclass(frozen=True)
class Known:
    """A certain thing."""

    symbol: str


@dataclass(frozen=True)
class AnyOf:
    """Any one of some things; which one is left to the planner."""

    index: int
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class Matching:
    """The thing of a kind (a plate, a bowl, …) that has the colour of another thing.

    `partners` has it for everything that has one.
    """

    kind: str
    of: Entity
    partners: tuple[tuple[str, str], ...]


class NoSuchThing(Impossible):
    """A thing is spoken of as if it were there, and it is not: "the cube that is on the blue plate"."""


Entity = Known | AnyOf | Matching
Constraint = Callable[[Assignment], bool]


def value(entity: Entity, assignment: Assignment) -> str:
    """The symbol an entity stands for; empty if there is no such thing."""
    if isinstance(entity, Known):
        return entity.symbol
    if isinstance(entity, AnyOf):
        return assignment[entity.index]
    return dict(entity.partners).get(value(entity.of, assignment), "")


class Discourse:
    """Finds what noun phrases mean, with what was said before. `cost` counts what was said without need."""

    def __init__(self, observation: Observation, ledger: UsedWords | None = None) -> None:
        self._scene = observation
        self._colours = colours_of(observation)
        self.ledger = ledger or UsedWords()
        self.choices: list[AnyOf] = []
        self.constraints: list[Constraint] = []
        self.cost = 0
        self.subject: Entity | None = None
        self.group: list[Entity] = []
        self.mentioned: list[Entity] = []
        self._last: NounPhrase | None = None
        """The solid that was described last: "the other one" is like it."""

    def all(
        self, things: Sequence[NounPhrase], kinds: Sequence[str], subject: Entity | None = None
    ) -> list[Entity]:
        """The meanings of several noun phrases in order; `kinds` are the allowed kinds, likeliest first."""
        return [entity for thing in things for entity in self.resolve(thing, kinds, subject)]

    def one(
        self, things: Sequence[NounPhrase], kinds: Sequence[str], subject: Entity | None = None
    ) -> Entity:
        """The single thing that noun phrases mean."""
        found = self.all(things, kinds, subject)
        if len(found) != 1:
            raise NotUnderstood(f"'{_text(things)}' are several things where only one can be meant.")
        return found[0]

    def resolve(self, thing: NounPhrase, kinds: Sequence[str], subject: Entity | None = None) -> list[Entity]:
        """Resolve one noun phrase. `subject` is what "of its colour" and "another plate" refer to."""
        use = self.ledger.use
        if thing.either:
            if not all(option.is_enumerated for option in thing.either):
                raise NotUnderstood(f"I do not know how many '{thing.text}' are; say it for one thing.")
            symbols = [s for option in thing.either for s in self.symbols_of(option, kinds)]
            found = [self.choose(list(dict.fromkeys(symbols)))]
        elif thing.pronoun:
            found = self._pronoun(thing)
        elif thing.kind in ("table", "ground"):
            use(thing, "noun")
            found = [Known(TABLE_SYMBOL if thing.kind == "table" else GROUND_SYMBOL)]
        elif thing.matching:
            found = self._matching(thing, subject)
        else:
            found = self._described(thing, kinds, subject)
        self.mentioned += found
        return found

    def choose(self, candidates: Sequence[str], apart_from: Sequence[Entity] = ()) -> Entity:
        """A new free choice that differs from other entities."""
        if len(candidates) == 1 and not apart_from:
            return Known(candidates[0])
        choice = AnyOf(len(self.choices), tuple(candidates))
        self.choices.append(choice)
        for other in apart_from:
            self.constraints.append(_differ(choice, other))
        return choice

    def several_of(
        self, candidates: Sequence[str], number: int, apart_from: Sequence[Entity] = ()
    ) -> list[Entity]:
        """So many new free choices that differ from each other and from other entities."""
        chosen: list[Entity] = []
        for _ in range(number):
            chosen.append(self.choose(candidates, [*apart_from, *chosen]))
        return chosen

    def kind(self, entity: Entity) -> str:
        """The kind of a thing, table or ground."""
        if isinstance(entity, Matching):
            return entity.kind
        symbol = entity.symbol if isinstance(entity, Known) else entity.candidates[0]
        return "ground" if symbol == GROUND_SYMBOL else self._scene.objects.get(symbol, "")

    def is_solid(self, entity: Entity) -> bool:
        """Return whether it can be moved."""
        if isinstance(entity, AnyOf):
            return all(self._scene.objects.get(symbol) in SOLIDS for symbol in entity.candidates)
        return self.kind(entity) in SOLIDS

    def symbols(self, *kinds: str) -> list[str]:
        """Every observed thing of these kinds."""
        return [symbol for symbol, k in self._scene.objects.items() if k in kinds]

    def standing_on(self, support: str) -> list[str]:
        """The solids on something."""
        return [solid for solid in self.symbols(*SOLIDS) if self._scene.holds("on", solid, support)]

    def support_of(self, solid: str) -> str:
        """Return what a solid rests on; empty where that is not seen."""
        return next((f.args[1] for f in self._scene.facts if f.predicate == "on" and f.args[0] == solid), "")

    def above(self, supports: Sequence[str]) -> list[str]:
        """The solids on any of these, directly or on each other."""
        found: list[str] = []
        for support in supports:
            for solid in self.standing_on(support):
                found += [solid, *self.above([solid])]
        return found

    def demand(self, entity: Entity, symbols: Sequence[str]) -> None:
        """Demand that it is one of these."""
        self.constraints.append(lambda assignment: value(entity, assignment) in symbols)

    def larger_smaller(self) -> list[tuple[str, str]]:
        """All pairs of solids the first of which covers clearly more than the second."""
        sizes = {s: a * b for s, (a, b, _) in sizes_of(self._scene).items() if s in self.symbols(*SOLIDS)}
        if not sizes:
            raise NotUnderstood("I do not know here which is larger; say what must not be put on what.")
        return [(a, b) for a in sizes for b in sizes if sizes[a] > CLEARLY_LARGER * sizes[b]]

    def all_different(self, entities: Sequence[Entity]) -> None:
        """Demand that no two of them are the same."""
        self.constraints += [_differ(a, b) for i, a in enumerate(entities) for b in entities[i + 1 :]]

    # --- pronouns

    def _pronoun(self, thing: NounPhrase) -> list[Entity]:
        self.ledger.use(thing)
        if thing.pronoun == "it":
            if self.subject is None:
                raise NotUnderstood(f"I do not know what '{thing.text}' refers to; name the thing.")
            return [self.subject]
        if thing.pronoun == "others":
            return [Known(s) for s in self._unmentioned(self.symbols(*SOLIDS), thing)]
        group = self.group or [Known(s) for s in self.symbols(*SOLIDS)]
        if thing.quantifier == "any":
            symbols = [e.symbol for e in group if isinstance(e, Known)]
            if len(symbols) < (thing.number or 1) or len(symbols) < len(group):
                raise NotUnderstood(f"I do not know which '{thing.text}' are; name them.")
            return self.several_of(symbols, thing.number or 1)
        if thing.number is not None and thing.number != len(group):
            raise NotUnderstood(
                f"I do not know which {thing.number} things '{thing.text}' refers to; name them."
            )
        return list(group)

    # --- colours that depend on the subject

    def _matching(self, thing: NounPhrase, subject: Entity | None) -> list[Entity]:
        present = [kind for kind in SUPPORTS if self.symbols(kind)]
        kind = thing.kind or (present[0] if len(present) == 1 else "plate")
        if subject is None or not self.is_solid(subject) or kind not in SUPPORTS:
            raise NotUnderstood(f"I do not know whose colour '{thing.text}' refers to; name the plate.")
        self.ledger.use(thing, "noun", "matching")
        if thing.quantifier not in ("all", "each") and thing.number in (None, 1):
            self.ledger.use(thing, "quantifier")
        plates = self.symbols(kind)
        if thing.matching == "own":
            by_colour = {self._colours.get(plate, ""): plate for plate in plates}
            if len(by_colour) < len(plates):
                raise NotUnderstood(f"Some {kind}s are of one colour; say which is meant.")
            partners = [(s, by_colour[c]) for s, c in self._colours.items() if c in by_colour]
            if isinstance(subject, Known) and subject.symbol not in dict(partners):
                colour, cube = self._colours.get(subject.symbol, ""), words_of(subject.symbol)
                raise Impossible(f"There is no {colour} {kind} for the {cube}. {self._seen()}")
            return [Matching(kind, subject, tuple(partners))]
        plate, colours = self.choose(plates), self._colours
        self.constraints.append(
            lambda chosen: colours.get(value(plate, chosen)) != colours.get(value(subject, chosen))
        )
        return [plate]

    # --- descriptions

    def _described(
        self, thing: NounPhrase, kinds: Sequence[str], subject: Entity | None = None
    ) -> list[Entity]:
        thing = self._like_the_last(thing)
        candidates = self._candidates(thing, kinds)
        self.ledger.use(thing, "noun", "quantifier", "number", "colour", "other")
        if thing.out_of not in (None, len(candidates)):
            raise Impossible(
                f"'{thing.text}': there are not {thing.out_of}, but {len(candidates)}. {self._seen()}"
            )
        if thing.other:
            candidates = self._unmentioned(candidates, thing, subject)
            if other := self._left_over(thing, candidates):
                return other
        if thing.quantifier == "any":
            if thing.number is None:
                raise NotUnderstood(f"I do not know how many '{thing.text}' are; say a number.")
            number = thing.number
            if len(candidates) < number:
                raise Impossible(f"'{thing.text}': there are not that many. {self._seen()}")
            if len(candidates) == number:
                return [Known(s) for s in candidates]
            apart = [e for e in self.mentioned if isinstance(e, AnyOf)] if thing.other else []
            return self.several_of(candidates, number, apart)
        if thing.quantifier in ("all", "each") or thing.plural or thing.number not in (None, 1):
            return self._several(thing, candidates)
        if len(candidates) == 1:
            return [Known(candidates[0])]
        for entity in reversed(self.mentioned):
            named = thing.side or thing.is_described
            if thing.quantifier and not named and self.kind(entity) in _wanted(thing, kinds):
                return [entity]
        listed = ", ".join(words_of(c) for c in candidates)
        raise NotUnderstood(
            f"I do not know which one '{thing.text}' is; there are: {listed}. Say which, or say 'any'."
        )

    def _like_the_last(self, thing: NounPhrase) -> NounPhrase:
        """As in "the other one": it is of the kind and colour that was named last."""
        supplied = thing.is_supplied or not thing.kind
        last = self._last
        like = thing.other and supplied and not thing.colour
        if like and last is not None and thing.kind in ("", last.kind):
            return replace(thing, kind=last.kind, colour=last.colour)
        if not thing.other and thing.kind not in SUPPORTS:
            self._last = thing
        return thing

    def _left_over(self, thing: NounPhrase, candidates: Sequence[str]) -> list[Entity]:
        """Those of the candidates that are left when others were chosen before; empty if that is unclear."""
        before = [e for e in self.mentioned if isinstance(e, AnyOf) and set(e.candidates) & set(candidates)]
        left = len(candidates) - len(before)
        if not before or thing.quantifier == "any" or left != (thing.number or (left if thing.plural else 1)):
            return []
        return self.several_of(candidates, left, before)

    def _several(self, thing: NounPhrase, candidates: list[str]) -> list[Entity]:
        if thing.number is not None and thing.number != len(candidates):
            if thing.number == len(self.group):
                return list(self.group)
            there = f"are {len(candidates)}" if len(candidates) != 1 else "is only one"
            raise Impossible(f"'{thing.text}': there {there}, not {thing.number}. {self._seen()}")
        return [Known(s) for s in candidates]

    def _candidates(self, thing: NounPhrase, kinds: Sequence[str]) -> list[str]:
        if thing.kind == "tray" and not self.symbols("tray"):
            thing = replace(thing, kind="plate")  # some call a plate that
        wanted = _wanted(thing, kinds)
        found = [
            s for kind in wanted for s in self.symbols(kind) if thing.colour in ("", self._colours.get(s))
        ]
        if not found:
            raise Impossible(f"There is no {_bare(thing, wanted[0])}. {self._seen()}")
        if not thing.is_restricted:
            return found
        unrestricted = found
        found = Selection(self._scene, self.symbols_of, self.ledger).narrowed(found, thing)
        if len(unrestricted) == 1:
            self.cost += 1
        if not found:
            refusal = Impossible if thing.quantifier == "any" else NoSuchThing
            missing = f"There is no {_bare(thing, wanted[0])}{_restrictions(thing)}."
            raise refusal(f"{missing} {self._seen()}{self._standing(unrestricted)}")
        return found

    def symbols_of(self, thing: NounPhrase, kinds: Sequence[str] = (*SOLIDS, *SUPPORTS)) -> list[str]:
        """All things that a phrase may mean; they do not count as mentioned by that."""
        nested = Discourse(self._scene, self.ledger)
        nested.mentioned, nested.subject, nested.group = list(self.mentioned), self.subject, list(self.group)
        every = thing if thing.pronoun else replace(thing, quantifier="all", number=None)
        found = nested.resolve(every, kinds)
        if thing.number not in (None, 1) and (thing.quantifier == "any" or thing.number != len(found)):
            raise NotUnderstood(f"I do not know which ones '{thing.text}' are.")
        return [
            symbol
            for e in found
            if not isinstance(e, Matching)
            for symbol in ((e.symbol,) if isinstance(e, Known) else e.candidates)
        ]

    def _unmentioned(
        self, candidates: Sequence[str], thing: NounPhrase, subject: Entity | None = None
    ) -> list[str]:
        if not self.mentioned and (thing.plural or thing.quantifier != "any"):
            raise NotUnderstood(f"I do not know which things '{thing.text}' means; name them.")
        named = {e.symbol for e in self.mentioned if isinstance(e, Known)}
        if isinstance(subject, Known):  # "another plate" is not the one on which it stands
            named.add(self.support_of(subject.symbol))
        found = [s for s in candidates if s not in named]
        if not found:
            raise Impossible(f"'{thing.text}': there is no other one. {self._seen()}")
        chosen = any(isinstance(e, AnyOf) and set(e.candidates) & set(found) for e in self.mentioned)
        if thing.kind and len(found) == len(candidates) and thing.quantifier != "any" and not chosen:
            raise NotUnderstood(f"I do not know what '{thing.text}' is set against; leave out 'other'.")
        return found

    def _standing(self, things: Sequence[str]) -> str:
        """Describe what things rest on that do not stand on the table; empty if there are none."""
        found = [(t, s) for t in things if (s := self.support_of(t)) not in ("", TABLE_SYMBOL)]
        listed = [f"the {words_of(t)} is on the {words_of(s)}" for t, s in found]
        return f" {', '.join(listed).capitalize()}." if listed else ""

    def _seen(self) -> str:
        things = [words_of(s) for s, kind in self._scene.objects.items() if kind in (*SOLIDS, *SUPPORTS)]
        return f"I see: {', '.join(things) or 'nothing on the table'}."


def _wanted(thing: NounPhrase, kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds that a noun may mean where things of `kinds` are expected, likeliest first."""
    if thing.kind == "block":
        return ("cube", "cuboid")
    if thing.kind not in ("", "thing"):
        return (thing.kind,)
    return SOLIDS if not thing.kind and kinds[0] in SOLIDS else tuple(kinds)


def _differ(a: Entity, b: Entity) -> Constraint:
    return lambda assignment: value(a, assignment) != value(b, assignment)


def _bare(thing: NounPhrase, kind: str) -> str:
    return f"{thing.colour} {thing.kind or kind}".strip()


def _restrictions(thing: NounPhrase) -> str:
    side = f" that is {thing.side}" if thing.side else ""
    return side + "".join(
        f" that is {'not ' if w.negated else ''}"
        f"{'next to' if w.relation == 'beside' else w.relation.replace('_', ' ')} {w.thing.text}"
        for w in thing.where
    )


def _text(things: Sequence[NounPhrase]) -> str:
    return " and ".join(t.text for t in things)
