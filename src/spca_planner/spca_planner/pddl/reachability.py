"""Explains why a problem has no plan, by delete relaxation: effects that make atoms false are ignored."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from spca_planner.pddl.formula import Atom, Change, atoms, bindings, changes, evaluate, ground
from spca_planner.pddl.sexpr import Group, brief
from spca_planner.pddl.syntax import Action, Domain, Problem

_MOST_ACTIONS = 20_000
"""Number of ground actions beyond which no explanation is tried, as it would take longer than it is worth."""
_MOST_PRODUCERS = 500
"""Maximum number of ground actions that are looked at for one atom."""
_LONGEST_CHAIN = 6


class TooLarge(Exception):
    """The problem cannot be examined within the limits."""


def why_unsolvable(domain: Domain, problem: Problem, seconds: float) -> str:
    """Return a sentence about the first goal that no action can ever bring about; empty if there is none.

    It follows the missing preconditions down to the cause: an effect that no action has, or a fact that
    nothing makes true. Method: the usual relaxation in which true atoms stay true (and negations are taken to
    hold), so what is found unreachable really is; what is found reachable may still be impossible.
    """
    try:
        return _Relaxation(domain, problem, time.process_time() + seconds).explanation()
    except TooLarge:
        return ""


def conjuncts(goal: Group) -> list[Group]:
    """Return the conditions that a goal joins by `and`."""
    parts = [p for p in goal.rest if isinstance(p, Group)] if goal.head == "and" else [goal]
    return [c for part in parts for c in (conjuncts(part) if part.head == "and" else [part])]


class _Relaxation:
    """All atoms that can become true when nothing ever becomes false."""

    def __init__(self, domain: Domain, problem: Problem, deadline: float) -> None:
        self._domain, self._problem, self._deadline = domain, problem, deadline
        self._types = {o.name: o.type for o in (*domain.constants, *problem.objects)}
        self._reached = {ground(f, {}) for f in problem.init if f.head not in ("=", "not")}
        self._reach()

    def explanation(self) -> str:
        for part in conjuncts(self._problem.goal):
            if part.head == "not" or self._holds(part, {}) is not False:
                continue
            missing = [a for a in (ground(atom, {}) for atom in atoms(part)) if a not in self._reached]
            blamed = next((a for a in missing if not any(t.startswith("?") for t in a)), None)
            why = f": {self._why_not(blamed, ())}" if blamed else ""
            return f"nothing can make {brief(part)} true{why}"
        return ""

    def _why_not(self, atom: Atom, chain: tuple[Atom, ...]) -> str:
        """Explain why an atom never becomes true; `chain` are those that are missing because of it."""
        makers = [
            a for a in self._domain.actions.values() if any(e.atom.head == atom[0] for e in _added(a.effect))
        ]
        if not makers:
            return f"no action has '{atom[0]}' among its effects, and (:init …) does not state {_shown(atom)}"
        producers = list(self._producers(makers, atom))
        if not producers:
            names = " and ".join(a.name for a in makers)
            return f"no action can produce {_shown(atom)}: {names} cannot have these arguments"
        name, unmet = min(
            producers, key=lambda p: (len(p[1]), any(a in chain for a in p[1] if isinstance(a, tuple)))
        )
        if not unmet:
            return ""
        first = unmet[0]
        if not isinstance(first, tuple):
            return f"{name} would, but its precondition {brief(first)} never holds"
        needs = f"{name} needs {_shown(first)}"
        if first in (*chain, atom):
            return f"{needs}, which needs {_shown(atom)} itself"
        if len(chain) == _LONGEST_CHAIN:
            return f"{needs}, which nothing can make true"
        return f"{needs}; {self._why_not(first, (*chain, atom))}"

    def _producers(self, makers: list[Action], atom: Atom) -> Iterator[tuple[str, list[Atom | Group]]]:
        """Yield every ground action with that effect, and which of its preconditions never hold."""
        count = 0
        for action in makers:
            types = {p.name: p.type for p in action.parameters}
            for effect in _added(action.effect):
                bound = self._unified(effect.atom, atom, {**types, **effect.scope})
                if bound is None:
                    continue
                free = {name: kind for name, kind in types.items() if name not in bound}
                for binding in bindings(free, self._domain, self._problem, bound):
                    if (count := count + 1) > _MOST_PRODUCERS:
                        return
                    self._check_time()
                    arguments = " ".join(binding[name] for name in types)
                    conditions = (action.precondition, *effect.conditions)
                    unmet = [part for condition in conditions for part in self._unmet(condition, binding)]
                    yield f"({action.name}{' ' if arguments else ''}{arguments})", unmet

    def _unified(self, effect: Group, atom: Atom, types: Mapping[str, str]) -> dict[str, str] | None:
        """Return the binding of an effect's variables that makes it that atom; None if there is none."""
        pattern = ground(effect, {})
        if pattern[0] != atom[0] or len(pattern) != len(atom):
            return None
        bound: dict[str, str] = {}
        for term, name in zip(pattern[1:], atom[1:], strict=True):
            if term.startswith("?"):
                fits = self._domain.is_a(self._types.get(name, ""), types[term])
                if not fits or bound.setdefault(term, name) != name:
                    return None
            elif term != name:
                return None
        return bound

    def _unmet(self, condition: Group | None, binding: Mapping[str, str]) -> list[Atom | Group]:
        if condition is None or not condition.items:
            return []
        unmet = [part for part in conjuncts(condition) if not self._possible(part, binding)]
        plain = [p.head in self._domain.predicates for p in unmet]
        return [ground(p, binding) if is_atom else p for p, is_atom in zip(unmet, plain, strict=True)]

    def _reach(self) -> None:
        instances: list[tuple[Mapping[str, str], Action]] = []
        for action in self._domain.actions.values():
            types = {p.name: p.type for p in action.parameters}
            for binding in bindings(types, self._domain, self._problem, {}):
                instances.append((binding, action))
                if len(instances) > _MOST_ACTIONS:
                    raise TooLarge
        size = -1
        while size != len(self._reached):
            size = len(self._reached)
            for bound, action in instances:
                self._check_time()
                if self._possible(action.precondition, bound):
                    for effect in _added(action.effect):
                        for full in bindings(effect.scope, self._domain, self._problem, bound):
                            if all(self._possible(condition, full) for condition in effect.conditions):
                                self._reached.add(ground(effect.atom, full))

    def _possible(self, condition: Group | None, binding: Mapping[str, str]) -> bool:
        """Return whether a condition may hold in the relaxation; negated parts are taken to be possible."""
        if condition is None or not condition.items:
            return True
        if condition.head == "and":
            return all(self._possible(p, binding) for p in condition.rest if isinstance(p, Group))
        return any(atoms(condition, positive=False)) or self._holds(condition, binding) is True

    def _holds(self, condition: Group, binding: Mapping[str, str]) -> bool | None:
        return evaluate(condition, lambda atom: atom in self._reached, self._domain, self._problem, binding)

    def _check_time(self) -> None:
        if time.process_time() > self._deadline:
            raise TooLarge


def _added(effect: Group | None) -> list[Change]:
    return [change for change in changes(effect) if change.added]


def _shown(atom: Atom) -> str:
    return f"({' '.join(atom)})"
