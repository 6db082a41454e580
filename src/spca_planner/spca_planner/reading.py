"""Reads what the PDDL of a plan says: its goal in words, its predictions, and what was seen of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice, product

from spca_core.evidence import Evidence
from spca_core.observation import Observation
from spca_core.plan import Draft, Plan
from spca_core.ports.vocabulary import Vocabulary
from spca_planner.pddl.formula import Atom, bindings, ground
from spca_planner.pddl.lint import parse, quantified
from spca_planner.pddl.sexpr import Group, PddlError
from spca_planner.pddl.syntax import Domain, Problem
from spca_planner.prediction import ObservedAtoms, predict, weigh

_MOST_WAYS = 64


class PddlReader:
    """A `PlanReader` for the environment of that vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def goal(self, draft: Draft) -> str:
        """See `PlanReader`: what will count as done, whoever drafted it."""
        try:
            return self.say(_ways(draft))
        except PddlError:
            return ""

    def met(self, draft: Draft, seen: Observation) -> str:
        """See `PlanReader`."""
        look = ObservedAtoms(seen, parse(draft.domain, draft.problem)[0], self._vocabulary)
        return self.say([way for way in _ways(draft) if all(look.truth(atom) for atom in way)][:1])

    def say(self, ways: Sequence[frozenset[Atom]]) -> str:
        """See `PlanReader`: in the words of the environment."""
        return self._vocabulary.say(ways)

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


def _ways(draft: Draft) -> list[frozenset[Atom]]:
    """The conjunctions of atoms any of which fulfils a draft's goal, some of them where there are very many.

    That an atom must not hold is left out beside another one about the same things.
    """
    domain, problem = parse(draft.domain, draft.problem)
    found = []
    for way in _grounded(problem.goal, True, domain, problem, {}):
        about = {atom[1:] for atom, holds in way if holds}
        denied = {(f"not {a[0]}", *a[1:]) for a, holds in way if not holds and a[1:] not in about}
        found.append(frozenset({atom for atom, holds in way if holds} | denied))
    return found


def _grounded(
    condition: Group, wanted: bool, domain: Domain, problem: Problem, binding: Mapping[str, str]
) -> list[frozenset[tuple[Atom, bool]]]:
    """Every way in which a condition is as wanted: the atoms that have to hold, or not to."""
    head, parts = condition.head, [part for part in condition.rest if isinstance(part, Group)]
    if head == "not":
        return _grounded(parts[0], not wanted, domain, problem, binding)
    if head == "=":
        return [frozenset()] if (len({*ground(condition, binding)[1:]}) == 1) == wanted else []
    if condition.items and head not in ("and", "or", "imply", "exists", "forall"):
        return [frozenset({(ground(condition, binding), wanted)})]
    cases = [(part, wanted != (head == "imply" and i == 0), binding) for i, part in enumerate(parts)]
    if head in ("exists", "forall"):
        cases = [
            (parts[1], wanted, inner) for inner in bindings(quantified(parts[0]), domain, problem, binding)
        ]
    ways = [_grounded(part, holds, domain, problem, inner) for part, holds, inner in cases]
    if (head in ("or", "imply", "exists")) == wanted:
        return list(dict.fromkeys(chain(*ways)))[:_MOST_WAYS]
    return [frozenset().union(*way) for way in islice(product(*ways), _MOST_WAYS)]
