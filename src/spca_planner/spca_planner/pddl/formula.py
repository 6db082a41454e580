"""Conditions as text, evaluated on facts that may be unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from spca_core.ports.reading import Literal
from spca_planner.pddl.lint import quantified
from spca_planner.pddl.sexpr import Group, Word
from spca_planner.pddl.syntax import Domain, Problem

Atom = tuple[str, ...]
"""Ground atom: a predicate and its arguments."""

Truth = bool | None
"""Truth value: True, False, or None where it is unknown."""


def ground(group: Group, binding: Mapping[str, str]) -> Atom:
    """Return an atom with its variables replaced."""
    terms = [t.text for t in group.rest if isinstance(t, Word)]
    return (group.head, *(binding.get(t, t) for t in terms))


def evaluate(
    condition: Group | None,
    truth: Callable[[Atom], Truth],
    domain: Domain,
    problem: Problem,
    binding: Mapping[str, str] | None = None,
) -> Truth:
    """Return whether a condition holds, by Kleene's three-valued logic over `truth` of the atoms."""
    binding = binding or {}
    if condition is None or not condition.items:
        return True
    if condition.head in ("exists", "forall"):
        variables, body = condition.groups
        values = [
            evaluate(body, truth, domain, problem, inner)
            for inner in bindings(quantified(variables), domain, problem, binding)
        ]
        return _any(values, wanted=condition.head == "exists")
    if condition.head == "=":
        return len({*ground(condition, binding)[1:]}) == 1
    if condition.head not in ("and", "or", "not", "imply"):
        return truth(ground(condition, binding))
    parts = [evaluate(part, truth, domain, problem, binding) for part in condition.groups]
    if condition.head in ("and", "or"):
        return _any(parts, wanted=condition.head == "or")
    return _any([_not(parts[0]), *parts[1:]])  # of `not`, or of `imply`


def bindings(
    scope: Mapping[str, str], domain: Domain, problem: Problem, outer: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield every assignment of objects to the variables in `scope` (variable → type), on top of `outer`."""
    names = list(scope)
    for values in product(*(problem.of_type(domain, scope[name]) for name in names)):
        yield {**outer, **dict(zip(names, values, strict=True))}


def atoms(condition: Group | None, positive: bool = True) -> Iterator[Group]:
    """Yield the atoms of a condition that stand under an even (`positive`) or odd number of negations."""
    if condition is None or not condition.items:
        return
    head = condition.head
    if head in ("exists", "forall"):
        yield from atoms(condition.groups[-1], positive)
    elif head in ("and", "or", "not", "imply"):
        for index, part in enumerate(condition.groups):
            flips = head == "not" or (head == "imply" and index == 0)
            yield from atoms(part, positive != flips)
    elif positive and head != "=":
        yield condition


class Change(NamedTuple):
    """An atom that an effect adds or deletes, on which conditions, and the variables that it is for."""

    atom: Group
    added: bool = True
    conditions: tuple[Group, ...] = ()
    scope: Mapping[str, str] = MappingProxyType({})
    """Types of the variables that a `forall` binds."""


def changes(effect: Group | None, within: Change | None = None) -> Iterator[Change]:
    """Yield what an effect changes, but for numbers."""
    if effect is None or not effect.items or effect.head == "increase":
        return
    inner = (within or Change(effect))._replace(atom=effect)
    parts = effect.groups
    if effect.head == "forall":
        yield from changes(parts[1], inner._replace(scope={**inner.scope, **quantified(parts[0])}))
    elif effect.head == "when":
        yield from changes(parts[1], inner._replace(conditions=(*inner.conditions, parts[0])))
    elif effect.head in ("and", "not"):
        for part in parts:
            yield from changes(part, inner._replace(added=effect.head == "and"))
    else:
        yield inner


def unmet(
    condition: Group | None, truth: Callable[[Atom], Truth], binding: Mapping[str, str] | None = None
) -> tuple[Literal, ...]:
    """Return what a condition wants of ground atoms and is known not to be so."""
    wanted = [(ground(g, binding or {}), w) for w in (True, False) for g in atoms(condition, positive=w)]
    plain = [(atom, w) for atom, w in wanted if not any(arg.startswith("?") for arg in atom[1:])]
    return tuple(Literal(atom=atom, holds=w) for atom, w in plain if truth(atom) not in (w, None))


def _any(values: list[Truth], wanted: bool = True) -> Truth:
    """Return `wanted` if some value is that, its opposite if all are that, else None."""
    return wanted if wanted in values else None if None in values else not wanted


def _not(value: Truth) -> Truth:
    return None if value is None else not value
