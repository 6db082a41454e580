"""The builtin proposer: a mission, read by its grammar, as a planning problem. Needs no model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.proposer import ModelError, PlanProposer
from spca_core.ports.vocabulary import Extension, ObservableWord, Vocabulary
from spca_core.scene import Observation
from spca_minigrid.mission import Mission, parse_mission

_WORDS = (
    ObservableWord(name="located", args=("?thing",), meaning="it has been seen, and is not carried"),
    ObservableWord(name="held", args=("?thing",), meaning="the agent carries it"),
    ObservableWord(name="hand_free", args=(), meaning="the agent carries nothing"),
    ObservableWord(
        name="may_be", args=("?word", "?thing"), aside=True, meaning="a word of the mission may mean this"
    ),
    ObservableWord(name="locked", args=("?door",), meaning="the door is locked"),
    ObservableWord(name="opens", args=("?key", "?door"), meaning="the key has the colour of the locked door"),
    ObservableWord(name="report_wanted", args=(), meaning="the agent has to report when it has arrived"),
)


class MissionVocabulary(Vocabulary):
    """Vocabulary that names a mission's words and the things that they may mean by different symbols.

    A goal may use either.
    """

    certain: Mapping[str, int] = {"located": 1, "held": 1, "locked": 1, "hand_free": 0}
    """Number of arguments of each predicate of which the map shows whether it holds."""

    def words(self) -> tuple[ObservableWord, ...]:
        """Return the words for what has been seen of the things, and for what the agent carries."""
        return _WORDS

    def shown(self, observation: Observation) -> Observation:
        """See `Vocabulary`: without words of the mission that plainly name what has been found."""
        meant = [f.args for f in observation.facts if f.predicate == "may_be"]
        plain = {word for word, thing in meant if {*word.split("_")} <= {*thing.split("_")}}
        plain -= {word for word, thing in meant if not {*word.split("_")} <= {*thing.split("_")}}
        objects = {name: kind for name, kind in observation.objects.items() if name not in plain}
        facts = tuple(f for f in observation.facts if plain.isdisjoint(f.args))
        return observation.model_copy(update={"objects": objects, "facts": facts})

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`: whether a door that nobody has seen is locked is left open."""
        kinds, found = frozenset(observation.objects.values()), dict[str, Extension]()
        for name, arity in self.certain.items():
            atoms = frozenset(f.args for f in observation.facts if f.predicate == name)
            found[name] = Extension((kinds,) * arity, atoms)
        placed = found["located"].atoms | found["held"].atoms
        unseen = frozenset((name,) for name in observation.objects) - placed
        return found | {"locked": replace(found["locked"], unsaid=unseen)}


_WISH = {"go": "to_visit", "reach": "to_enter", "open": "to_open", "pick": "to_take"}
DOMAIN = (Path(__file__).parent / "domain.pddl").read_text(encoding="utf-8")


class MissionProposer(PlanProposer):
    """A `PlanProposer`.

    Its drafts are certain, so there is nothing to repair: a rejection is a fault of its own.
    """

    name = "builtin"

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """Return the one draft for a mission. Raises NotUnderstood; ModelError after a rejection."""
        if rejection is not None:
            raise ModelError(
                f"the builtin proposer has no other draft; {rejection.critic}: {rejection.message}"
            )
        mission = parse_mission(request.task.description)
        return Draft(domain=DOMAIN, problem=problem(mission, request.observation))


def problem(mission: Mission, observation: Observation) -> str:
    """Return the PDDL problem: the mission's words as objects, what is known of them, and what is wanted."""
    symbols = dict.fromkeys(noun.symbol for noun in mission.nouns)
    keys = _needed_keys(symbols, observation)
    symbols |= dict.fromkeys(keys)
    held = [f.args[0] for f in observation.facts if f.predicate == "held"]
    if held and not any(symbol in symbols for symbol in held):
        symbols[held[0]] = None  # it has to be put down before anything can be picked up
    objects = "\n    ".join(f"{symbol} - {observation.objects[symbol]}" for symbol in symbols)
    known = [
        f"({' '.join((fact.predicate, *fact.args))})"
        for fact in observation.facts
        if fact.predicate in ("located", "held", "locked", "opens", "hand_free")
        and set(fact.args) <= set(symbols)
    ]
    ways = [(c.noun.symbol, c.beside.symbol if c.beside else "") for c in mission.clauses]
    goals = [f"(beside {what} {where})" if where else f"(settled {what})" for what, where in ways]
    goals += [f"(reported {ways[-1][0]})"] * observation.holds("report_wanted")
    return f"""(define (problem mission)
  (:domain minigrid)
  (:objects
    {objects})
  (:init
    {_lines([*known, *_wishes(mission), *(f"(to_take {key})" for key in keys), *_order(mission)])})
  (:goal (and
    {_lines(goals)})))
"""


def _needed_keys(symbols: Iterable[str], observation: Observation) -> list[str]:
    """Return the general word for the key of each locked door that no key among the symbols opens."""
    keys: dict[str, list[str]] = {}
    for fact in observation.facts:
        if fact.predicate == "opens" and fact.args[1] in symbols:
            keys.setdefault(fact.args[1], []).append(fact.args[0])
    return [names[-1] for names in keys.values() if not set(names) & set(symbols)]


def _wishes(mission: Mission) -> Iterator[str]:
    """Yield what each clause wants of the things it names."""
    for clause in mission.clauses:
        if clause.beside is None:
            yield f"({_WISH[clause.verb]} {clause.noun.symbol})"
            if clause.like is not None:
                yield f"(to_match {clause.noun.symbol} {clause.like.symbol})"
        else:
            yield f"(to_take {clause.noun.symbol})"
            yield f"(to_bring {clause.noun.symbol} {clause.beside.symbol})"


def _order(mission: Mission) -> Iterator[str]:
    """Yield facts that every noun of a part comes after what settles the parts before it."""
    for earlier, later in zip(mission.parts, mission.parts[1:], strict=False):
        for first in earlier:
            for second in later:
                for noun in (second.noun, second.beside):
                    if noun is not None:
                        yield f"(before {first.key.symbol} {noun.symbol})"


def _lines(facts: list[str] | Iterator[str]) -> str:
    return "\n    ".join(dict.fromkeys(facts))
