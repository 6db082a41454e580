"""Resolves noun phrases in a scene: known things, free choices, and things that depend on others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.phrases import Thing, Where

Assignment = Sequence[str]
"""A symbol for every `Choice`, by its index."""


@dataclass(frozen=True)
class Known:
    """A certain thing."""

    symbol: str


@dataclass(frozen=True)
class Choice:
    """Any one of some things; which one is left to the planner."""

    index: int
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class PlateOf:
    """The plate that has the colour of a cube."""

    cube: Entity


Entity = Known | Choice | PlateOf
Constraint = Callable[[Assignment], bool]


def value(entity: Entity, assignment: Assignment) -> str:
    """The symbol an entity stands for; empty if there is no such thing."""
    if isinstance(entity, Known):
        return entity.symbol
    if isinstance(entity, Choice):
        return assignment[entity.index]
    return f"plate_{colour_of(value(entity.cube, assignment))}"


def colour_of(symbol: str) -> str:
    """The colour in a symbol: `cube_red` or `cube_red_2` are red."""
    return symbol.split("_")[1] if "_" in symbol else ""


class Discourse:
    """Finds what noun phrases mean, with what was said before. `cost` counts what was said without need."""

    def __init__(self, observation: Observation) -> None:
        self._scene = observation
        self.choices: list[Choice] = []
        self.constraints: list[Constraint] = []
        self.cost = 0
        self.subject: Entity | None = None
        self.group: list[Entity] = []
        self.mentioned: list[Entity] = []
        self.to_table: list[Entity] = []
        """Called cubes on the table, where there are none yet: they must be put there first."""

    def all(
        self, things: Sequence[Thing], kinds: Sequence[str], subject: Entity | None = None
    ) -> list[Entity]:
        """The meanings of several noun phrases in order; `kinds` are the allowed kinds, likeliest first."""
        return [entity for thing in things for entity in self.resolve(thing, kinds, subject)]

    def one(self, things: Sequence[Thing], kinds: Sequence[str], subject: Entity | None = None) -> Entity:
        """The single thing that noun phrases mean."""
        found = self.all(things, kinds, subject)
        if len(found) != 1:
            raise NotUnderstood(f"'{_text(things)}' are several things where only one can be meant.")
        return found[0]

    def resolve(self, thing: Thing, kinds: Sequence[str], subject: Entity | None = None) -> list[Entity]:
        """What one noun phrase means. `subject` is what a plate "of its colour" refers to."""
        if thing.pronoun:
            found = self._pronoun(thing)
        elif thing.kind in ("table", "ground"):
            if thing.where:
                raise NotUnderstood(f"'{thing.text}' is not at any place on the table.")
            found = [Known(TABLE_SYMBOL if thing.kind == "table" else GROUND_SYMBOL)]
        elif thing.matching:
            found = self._matching(thing, subject)
        else:
            found = self._described(thing, kinds)
        self.mentioned += found
        return found

    def choose(self, candidates: Sequence[str], apart_from: Sequence[Entity] = ()) -> Entity:
        """A new free choice that differs from other entities."""
        if len(candidates) == 1 and not apart_from:
            return Known(candidates[0])
        choice = Choice(len(self.choices), tuple(candidates))
        self.choices.append(choice)
        for other in apart_from:
            self.constraints.append(_differ(choice, other))
        return choice

    def kind(self, entity: Entity) -> str:
        """cube, plate, table or ground."""
        if isinstance(entity, PlateOf):
            return "plate"
        symbol = entity.symbol if isinstance(entity, Known) else entity.candidates[0]
        return "ground" if symbol == GROUND_SYMBOL else self._scene.objects.get(symbol, "")

    def symbols(self, kind: str) -> list[str]:
        """Every observed thing of a kind."""
        return [symbol for symbol, k in self._scene.objects.items() if k == kind]

    def standing_on(self, support: str) -> list[str]:
        """The cubes on something."""
        return [cube for cube in self.symbols("cube") if self._scene.holds("on", cube, support)]

    def all_different(self, entities: Sequence[Entity]) -> None:
        """Demand that no two of them are the same."""
        self.constraints += [_differ(a, b) for i, a in enumerate(entities) for b in entities[i + 1 :]]

    # --- pronouns

    def _pronoun(self, thing: Thing) -> list[Entity]:
        if thing.pronoun == "it":
            if self.subject is None:
                raise NotUnderstood(f"I do not know what '{thing.text}' refers to; name the thing.")
            return [self.subject]
        if thing.pronoun == "others":
            return [Known(s) for s in self._unmentioned(self.symbols("cube"), thing)]
        group = self.group or [Known(s) for s in self.symbols("cube")]
        if thing.quantifier == "any":
            return [self.choose(tuple(e.symbol for e in group if isinstance(e, Known)))]
        if thing.number is not None and thing.number != len(group):
            raise NotUnderstood(
                f"I do not know which {thing.number} things '{thing.text}' refers to; name them."
            )
        return list(group)

    # --- colours that depend on the subject

    def _matching(self, thing: Thing, subject: Entity | None) -> list[Entity]:
        if subject is None or self.kind(subject) != "cube" or thing.kind not in ("", "plate"):
            raise NotUnderstood(f"I do not know whose colour '{thing.text}' refers to; name the plate.")
        plates = self.symbols("plate")
        if thing.matching == "own":
            for cube in [subject.symbol] if isinstance(subject, Known) else self.symbols("cube"):
                if isinstance(subject, Known) and f"plate_{colour_of(cube)}" not in plates:
                    raise Impossible(
                        f"There is no {colour_of(cube)} plate for the {words_of(cube)}. {self._seen()}"
                    )
            return [PlateOf(subject)]
        plate = self.choose(plates)
        self.constraints.append(_of_other_colour(plate, subject))
        return [plate]

    # --- descriptions

    def _described(self, thing: Thing, kinds: Sequence[str]) -> list[Entity]:
        candidates = self._candidates(thing, kinds)
        if not candidates and _any_on_table(thing):
            found = self._described(replace(thing, where=()), kinds)
            self.to_table += found
            self.cost += 1
            return found
        if thing.other:
            candidates = self._unmentioned(candidates, thing)
        number = thing.number or 1
        if thing.quantifier == "any":
            if len(candidates) < number:
                raise Impossible(f"'{thing.text}': there are not that many. {self._seen()}")
            if len(candidates) == number:
                return [Known(s) for s in candidates]
            apart = [e for e in self.mentioned if isinstance(e, Choice)] if thing.other else []
            chosen: list[Entity] = []
            for _ in range(number):
                chosen.append(self.choose(candidates, [*apart, *chosen]))
            return chosen
        if thing.quantifier == "all" or thing.plural:
            return self._several(thing, candidates)
        if len(candidates) == 1:
            return [Known(candidates[0])]
        for entity in reversed(self.mentioned):
            if not thing.colour and not thing.side and self.kind(entity) == (thing.kind or kinds[0]):
                return [entity]
        listed = ", ".join(words_of(c) for c in candidates)
        raise NotUnderstood(
            f"I do not know which one '{thing.text}' is; there are: {listed}. Say which, or say 'any'."
        )

    def _several(self, thing: Thing, candidates: list[str]) -> list[Entity]:
        if thing.number is not None and thing.number != len(candidates):
            if thing.number == len(self.group):
                return list(self.group)
            raise Impossible(
                f"'{thing.text}': there are {len(candidates)}, not {thing.number}. {self._seen()}"
            )
        return [Known(s) for s in candidates]

    def _candidates(self, thing: Thing, kinds: Sequence[str]) -> list[str]:
        wanted = kinds if thing.kind == "thing" else (thing.kind or kinds[0],)
        found = [s for kind in wanted for s in self.symbols(kind) if thing.colour in ("", colour_of(s))]
        if not found:
            raise Impossible(f"There is no {_bare(thing, wanted[0])}. {self._seen()}")
        if not (thing.side or thing.where):
            return found
        unrestricted = len(found)
        if thing.side:
            found = [s for s in found if self._scene.holds(thing.side, s)]
        for where in thing.where:
            found = [s for s in found if self._is_where(s, where) != where.negated]
        if unrestricted == 1:
            self.cost += 1
        if not found and not _any_on_table(thing):
            raise Impossible(f"There is no {_bare(thing, wanted[0])}{_restrictions(thing)}. {self._seen()}")
        return found

    def _is_where(self, symbol: str, where: Where) -> bool:
        nested = Discourse(self._scene)
        nested.mentioned, nested.subject, nested.group = list(self.mentioned), self.subject, list(self.group)
        thing = where.thing if where.thing.pronoun else replace(where.thing, quantifier="all", number=None)
        try:
            others = nested.resolve(thing, ("cube", "plate"))
        except Impossible:
            return False
        names = [e.symbol for e in others if isinstance(e, Known)]
        if where.relation == "under":
            return any(self._scene.holds("on", n, symbol) for n in names)
        if where.relation == "beside":
            return any(self._scene.holds("next_to", *p) for n in names for p in ((symbol, n), (n, symbol)))
        return any(self._scene.holds("on", symbol, n) for n in names)

    def _unmentioned(self, candidates: Sequence[str], thing: Thing) -> list[str]:
        named = {e.symbol for e in self.mentioned if isinstance(e, Known)}
        found = [s for s in candidates if s not in named]
        if not found:
            raise Impossible(f"'{thing.text}': there is no other one. {self._seen()}")
        return found

    def _seen(self) -> str:
        things = [words_of(s) for s, kind in self._scene.objects.items() if kind in ("cube", "plate")]
        return f"I see: {', '.join(things) or 'nothing on the table'}."


def _differ(a: Entity, b: Entity) -> Constraint:
    return lambda assignment: value(a, assignment) != value(b, assignment)


def _of_other_colour(plate: Entity, cube: Entity) -> Constraint:
    return lambda assignment: colour_of(value(plate, assignment)) != colour_of(value(cube, assignment))


def _bare(thing: Thing, kind: str) -> str:
    return f"{thing.colour} {thing.kind or kind}".strip()


def _any_on_table(thing: Thing) -> bool:
    """As in "any other cube that stands on the table": where there is none, one can be put there."""
    on_table = [w.relation == "on" and w.thing.kind == "table" and not w.negated for w in thing.where]
    return thing.kind == "cube" and thing.quantifier == "any" and not thing.side and on_table == [True]


def _restrictions(thing: Thing) -> str:
    side = f" that is {thing.side}" if thing.side else ""
    return side + "".join(
        f" that is {'not ' if w.negated else ''}"
        f"{'next to' if w.relation == 'beside' else w.relation} {w.thing.text}"
        for w in thing.where
    )


def _text(things: Sequence[Thing]) -> str:
    return " and ".join(t.text for t in things)
