"""Reads what the PDDL of a plan says: its goal in words, its predictions, and what was seen of them."""

from __future__ import annotations

from collections.abc import Sequence

from spca_core.evidence import Evidence
from spca_core.names import words_of
from spca_core.observation import Observation
from spca_core.plan import Draft, Plan
from spca_core.ports.vocabulary import SaysGoals, Vocabulary
from spca_planner.pddl.formula import Atom
from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import Group, PddlError, Word
from spca_planner.prediction import ObservedAtoms, predict, weigh


class PddlReader:
    """A `PlanReader` for the environment of that vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def goal(self, draft: Draft) -> str:
        """See `PlanReader`: what will count as done, whoever drafted it."""
        try:
            goal = parse(draft.domain, draft.problem)[1].goal
        except PddlError:
            return ""
        ways = _ways(goal)
        return str(goal) if ways is None else self.say(ways)

    def met(self, draft: Draft, seen: Observation) -> str:
        """See `PlanReader`."""
        domain, problem = parse(draft.domain, draft.problem)
        look = ObservedAtoms(seen, domain, self._vocabulary)
        ways = _ways(problem.goal) or []
        return self.say([way for way in ways if all(look.truth(atom) for atom in way)][:1])

    def say(self, ways: Sequence[frozenset[Atom]]) -> str:
        """See `PlanReader`: in the words of the environment, or spelt out where it has none."""
        if isinstance(self._vocabulary, SaysGoals):
            return self._vocabulary.say(ways)
        told = [", ".join(f"{a[0]}({', '.join(map(words_of, a[1:]))})" for a in sorted(way)) for way in ways]
        return "; or ".join(told)

    def predicted(self, plan: Plan) -> tuple[str, ...]:
        """See `PlanReader`."""
        try:
            prediction = predict(plan)
        except (PddlError, KeyError, ValueError):  # a plan that no validator has seen
            return ()
        changes = (sorted(effects.items()) for effects in prediction.effects)
        return (*map(str, changes), str(prediction.problem.goal))

    def weigh(
        self,
        plan: Plan,
        seen: Sequence[Observation | None],
        afterwards: Observation | None,
        before: Observation | None = None,
    ) -> Evidence:
        """See `PlanReader`."""
        return weigh(plan, seen, afterwards, self._vocabulary, before)


def _ways(condition: Group) -> list[frozenset[Atom]] | None:
    """The conjunctions of atoms any of which fulfils a condition; None for what is more complicated.

    That an atom must not hold is left out beside another one about the same things.
    """
    if condition.head == "or":
        parts = [_ways(part) for part in condition.rest if isinstance(part, Group)]
        return None if None in parts else [way for part in parts if part for way in part]
    conjuncts = condition.rest if condition.head == "and" else ((condition,) if condition.items else ())
    found: list[Atom] = []
    denied: list[Atom] = []
    for part in conjuncts:
        negative = isinstance(part, Group) and part.head == "not"
        group = part.rest[0] if isinstance(part, Group) and negative else part
        if not isinstance(group, Group) or not all(isinstance(item, Word) for item in group.items):
            return None
        atom = tuple(item.text for item in group.items if isinstance(item, Word))
        (denied if negative else found).append(atom)
    about = {atom[1:] for atom in found}
    found += [(f"not {atom[0]}", *atom[1:]) for atom in denied if atom[1:] not in about]
    return [frozenset(found)]
