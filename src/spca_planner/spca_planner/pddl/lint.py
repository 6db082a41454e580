"""Checks of meaning that a grammar does not make: names, numbers of arguments, and types.

One sentence each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import prod

from spca_core.errors import did_you_mean
from spca_planner.pddl.sexpr import (
    MOST_ACTIONS,
    MOST_INSTANCES,
    MOST_OBJECTS,
    MOST_PARAMETERS,
    MOST_PREDICATES,
    Group,
    PddlError,
    Word,
    brief,
)
from spca_planner.pddl.syntax import Domain, Problem, Signature, Typed, read_domain, read_problem, typed_list

_CONNECTIVES = ("and", "or", "not", "imply")
_QUANTIFIERS = ("exists", "forall")
COST = "total-cost"
_MOST_NOTED = 50
"""Number of faults of one text after which no more are looked for."""
_MOST_COMPARED = 200
"""Maximum number of names among which a similar one is looked for."""

Scope = dict[str, str]
"""Type of every variable, object and constant that may be used at some place."""

_Check = Callable[[Group, Scope], Iterator[str]]


@dataclass(frozen=True)
class Reading:
    """Readable parts of two texts (None: nothing), and everything that is wrong with them."""

    domain: Domain | None
    problem: Problem | None
    faults: tuple[str, ...]


@lru_cache(maxsize=32)
def examine(domain_text: str, problem_text: str) -> Reading:
    """Read both texts once and check their grammar, names, types and sizes."""
    faults: list[str] = []
    domain = examine_domain(domain_text, faults)
    problem = read_problem(problem_text, faults)
    if domain is not None and problem is not None:
        faults += islice(check_problem(domain, problem), _MOST_NOTED)
        if not faults:
            faults += check_expansion(domain, problem)
    return Reading(domain, problem, tuple(faults))


def examine_domain(text: str, faults: list[str]) -> Domain | None:
    """Read as much of a domain as possible; add what is wrong with it to `faults`."""
    domain = read_domain(text, faults)
    if domain is not None:
        faults += islice(check_domain(domain), _MOST_NOTED)
    return domain


def parse(domain_text: str, problem_text: str) -> tuple[Domain, Problem]:
    """Read and check both texts. Raises PddlError with everything that is wrong with them."""
    reading = examine(domain_text, problem_text)
    if reading.domain is None or reading.problem is None or reading.faults:
        raise PddlError(*reading.faults)
    return reading.domain, reading.problem


def check_domain(domain: Domain) -> Iterator[str]:
    """Yield what is wrong with a domain."""
    sizes = {"predicates": len(domain.predicates), "actions": len(domain.actions)}
    for (what, count), most in zip(sizes.items(), (MOST_PREDICATES, MOST_ACTIONS), strict=True):
        if count > most:
            yield f"the domain has {count} {what}; at most {most} are allowed"
    for parts in (domain.predicates, domain.functions, domain.actions):
        for name, part in parts.items():
            if (count := len(part.parameters)) > MOST_PARAMETERS:
                yield (
                    f"domain, line {part.line}: '{name}' has {count} parameters; at most "
                    f"{MOST_PARAMETERS} are allowed"
                )
    circles = (
        f"the types '{name}' and '{above}' are subtypes of each other"
        for name, above in domain.types.items()
        if above is not None and name in domain.ancestry(above)
    )
    yield from islice(circles, 1)
    for name, signature in (*domain.predicates.items(), *domain.functions.items()):
        yield from _check_types(domain, signature.parameters, f"'{name}'")
    yield from _check_types(domain, domain.constants, "(:constants …)")
    constants = {c.name: c.type for c in domain.constants}
    for action in domain.actions.values():
        yield from _check_types(domain, action.parameters, f"action {action.name}")
        for parameter in action.parameters:
            if not parameter.name.startswith("?"):
                yield (
                    f"action {action.name}, line {parameter.line}: "
                    f"write parameter '{parameter.name}' as '?{parameter.name}'"
                )
        scope = constants | {p.name: p.type for p in action.parameters}
        checker = _Checker(domain, f"action {action.name}")
        if action.precondition is not None:
            yield from checker.condition(action.precondition, scope)
        if action.effect is None or not action.effect.items:
            yield f"action {action.name}, line {action.line}: it has no :effect"
        else:
            yield from checker.effect(action.effect, scope)


def check_problem(domain: Domain, problem: Problem) -> Iterator[str]:
    """Yield what is wrong with a problem of that domain."""
    if (count := len(problem.objects) + len(domain.constants)) > MOST_OBJECTS:
        yield f"the problem has {count} objects; at most {MOST_OBJECTS} are allowed"
        return
    yield from _check_types(domain, problem.objects, "(:objects …)")
    scope = {c.name: c.type for c in domain.constants}
    for thing in problem.objects:
        if thing.name in scope:
            yield f"problem, line {thing.line}: '{thing.name}' is already a constant of the domain"
    scope |= {o.name: o.type for o in problem.objects}
    initial = _Checker(domain, "(:init …)")
    for fact in problem.init:
        if fact.head == "=":
            continue  # the initial value of a function
        if fact.head in (*_CONNECTIVES, *_QUANTIFIERS):
            yield f"(:init …), line {fact.line}: '{fact.head}' cannot stand here; list only facts that hold"
        else:
            yield from initial.atom(fact, scope)
    yield from _Checker(domain, "(:goal …)").condition(problem.goal, scope)


def check_expansion(domain: Domain, problem: Problem) -> Iterator[str]:
    """Yield faults of formulas whose quantifiers stand for more conditions than can be judged in time."""
    formulas = [("(:goal …)", problem.goal, problem.line)]
    for action in domain.actions.values():
        for formula in (action.precondition, action.effect):
            if formula is not None:
                formulas.append((f"action {action.name}", formula, action.line))
    for place, formula, line in formulas:
        if (count := instances(formula, domain, problem)) > MOST_INSTANCES:
            yield (
                f"{place}, line {line}: its quantifiers stand for {count:,} conditions over the objects of "
                f"the problem; at most {MOST_INSTANCES:,} can be judged. Use fewer quantified variables, "
                "or types with fewer objects"
            )


def instances(formula: Group, domain: Domain, problem: Problem) -> int:
    """Count the ground atoms that a formula stands for: quantifiers within each other multiply."""
    if formula.head in _QUANTIFIERS and len(formula.groups) == 2:
        variables, body = formula.groups
        counts = (len(problem.of_type(domain, kind)) for kind in quantified(variables).values())
        return instances(body, domain, problem) * prod(counts)
    return sum(instances(part, domain, problem) for part in formula.groups) or 1


class _Checker:
    """Walks conditions and effects; `place` names where for the messages."""

    def __init__(self, domain: Domain, place: str) -> None:
        self._domain, self._place = domain, place

    def condition(self, group: Group, scope: Scope) -> Iterator[str]:
        if not group.items:
            return
        if group.head in _QUANTIFIERS:
            yield from self._quantified(group, scope, self.condition)
        elif group.head in _CONNECTIVES:
            yield from self._parts(group, scope, self.condition)
        elif group.head == "=":
            yield from self._terms(group, scope, 2)
        else:
            yield from self.atom(group, scope)

    def effect(self, group: Group, scope: Scope) -> Iterator[str]:
        if not group.items:
            return
        if group.head == "forall":
            yield from self._quantified(group, scope, self.effect)
        elif group.head == "when":
            if len(group.rest) != 2 or len(group.groups) != 2:
                yield self._at(group, "'when' needs a condition and an effect")
                return
            condition, effect = group.groups
            yield from self.condition(condition, scope)
            yield from self.effect(effect, scope)
        elif group.head in ("and", "not"):
            yield from self._parts(group, scope, self.effect if group.head == "and" else self.atom)
        elif group.head == "increase":
            target = group.items[1] if len(group.items) > 1 else None
            if not (isinstance(target, Group) and target.head == COST):
                yield self._at(group, f"of numeric effects only (increase ({COST}) …) is supported")
            elif COST not in self._domain.functions:
                yield self._at(
                    group, f"'{COST}' is used but not declared: add (:functions ({COST}) - number)"
                )
        elif group.head in ("or", "imply", "exists", "=", "assign", "decrease"):
            yield self._at(group, f"'{group.head}' cannot be an effect")
        else:
            yield from self.atom(group, scope)

    def atom(self, group: Group, scope: Scope) -> Iterator[str]:
        signature = self._domain.predicates.get(group.head)
        if signature is None:
            near = _near(group.head, self._domain.predicates)
            yield self._at(group, f"'{group.head or brief(group)}' is not a declared predicate{near}")
            return
        yield from self._terms(group, scope, len(signature.parameters), signature)

    def _terms(self, group: Group, scope: Scope, arity: int, of: Signature | None = None) -> Iterator[str]:
        if len(group.rest) != arity:
            yield self._at(
                group, f"'{group.head}' takes {arity} argument(s), but {brief(group)} has {len(group.rest)}"
            )
            return
        for position, term in enumerate(group.rest):
            if isinstance(term, Group):
                yield self._at(term, f"'{brief(term)}' cannot be an argument of '{group.head}'")
            elif term.text not in scope:
                kind = "variable" if term.text.startswith("?") else "object"
                yield self._at(
                    term, f"unknown {kind} '{term.text}' in {brief(group)}{_near(term.text, scope)}"
                )
            elif of is not None:
                wanted, given = of.parameters[position].type, scope[term.text]
                if not self._domain.is_a(given, wanted):
                    yield self._at(
                        term,
                        f"{brief(group)} needs a {wanted} as argument {position + 1}; "
                        f"'{term.text}' is a {given}",
                    )

    def _parts(self, group: Group, scope: Scope, check: _Check) -> Iterator[str]:
        if group.head == "not" and len(group.rest) != 1:
            yield self._at(group, "'not' takes exactly one condition")
        for part in group.rest:
            if isinstance(part, Group):
                yield from check(part, scope)
            else:
                yield self._at(part, f"'{part.text}' is not in parentheses")

    def _quantified(self, group: Group, scope: Scope, check: _Check) -> Iterator[str]:
        if len(group.rest) != 2 or len(group.groups) != 2:
            yield self._at(group, f"'{group.head}' needs (variables) and one body")
            return
        variables, body = group.groups
        yield from check(body, scope | quantified(variables))

    def _at(self, node: Group | Word, message: str) -> str:
        return f"{self._place}, line {node.line}: {message}"


def quantified(variables: Group) -> Scope:
    """Return the variables of an `exists` or `forall` with their types."""
    return {typed.name: typed.type for typed in typed_list(variables.items, "", [])}


def _check_types(domain: Domain, names: tuple[Typed, ...], where: str) -> Iterator[str]:
    for typed in names:
        if typed.type not in domain.types:
            yield (
                f"{where}, line {typed.line}: type '{typed.type}' is not "
                f"declared{_near(typed.type, domain.types)}"
            )


def _near(name: str, known: Iterable[str]) -> str:
    question = did_you_mean(name, list(known)[:_MOST_COMPARED])
    return f"; {question}" if question else ""
