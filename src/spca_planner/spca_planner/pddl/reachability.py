"""Why a problem has no plan, as far as it can be told when effects that make atoms false are ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spca_planner.pddl.formula import Atom, atoms, bindings, evaluate, ground
from spca_planner.pddl.lint import quantified
from spca_planner.pddl.sexpr import Group
from spca_planner.pddl.syntax import Domain, Problem

_MOST_ACTIONS = 20_000
"""Ground actions beyond which no explanation is tried; it would take longer than it is worth."""


def why_unsolvable(domain: Domain, problem: Problem) -> str:
    """A sentence about the first goal atom that no action can ever bring about; empty if there is none.

    Method: the usual relaxation in which true atoms stay true (and negations are taken to hold), so what is found
    unreachable really is; what is found reachable may still be impossible.
    """
    reached = _reachable(domain, problem)
    if reached is None:
        return ""

    def possible(atom: Atom) -> bool:
        return atom in reached

    for part in _conjuncts(problem.goal):
        if part.head == "not" or evaluate(part, possible, domain, problem) is not False:
            continue
        blamed = next((a for a in atoms(part) if not any("?" in t for t in ground(a, {}))), part)
        return f"nothing can make {part} true: {_why_not(blamed, domain, problem, reached)}"
    return ""


def _why_not(goal: Group, domain: Domain, problem: Problem, reached: set[Atom]) -> str:
    achievers = [
        a.name for a in domain.actions.values() if any(e.head == goal.head for _, _, e in _added(a.effect))
    ]
    if not achievers:
        return f"no action has '{goal.head}' among its effects and it is not in (:init …)"
    missing: set[str] = set()
    for name in achievers:
        action = domain.actions[name]
        for atom in atoms(action.precondition):
            if not any(a[0] == atom.head for a in reached):
                missing.add(f"'{atom.head}', a precondition of {name}, never becomes true")
    if missing:
        return "; ".join(sorted(missing))
    return f"the preconditions of {', '.join(achievers)} are never met together for these objects"


def _reachable(domain: Domain, problem: Problem) -> set[Atom] | None:
    instances: list[tuple[Mapping[str, str], str]] = []
    for action in domain.actions.values():
        for binding in bindings({p.name: p.type for p in action.parameters}, domain, problem, {}):
            instances.append((binding, action.name))
            if len(instances) > _MOST_ACTIONS:
                return None
    reached = {ground(f, {}) for f in problem.init if f.head not in ("=", "not")}

    def possible(atom: Atom) -> bool:
        return atom in reached

    size = -1
    while size != len(reached):
        size = len(reached)
        for bound, name in instances:
            action = domain.actions[name]
            if _possible(action.precondition, domain, problem, bound, reached):
                for inner, condition, effect in _added(action.effect):
                    for full in bindings(inner, domain, problem, bound):
                        if _possible(condition, domain, problem, full, reached):
                            reached.add(ground(effect, full))
    return reached


def _possible(
    condition: Group | None, domain: Domain, problem: Problem, binding: Mapping[str, str], reached: set[Atom]
) -> bool:
    """Whether a condition may hold in the relaxation: every negated part is taken to be possible."""
    if condition is None or not condition.items:
        return True
    if condition.head == "and":
        parts = [p for p in condition.rest if isinstance(p, Group)]
        return all(_possible(p, domain, problem, binding, reached) for p in parts)
    if any(True for _ in atoms(condition, positive=False)):
        return True
    return evaluate(condition, lambda atom: atom in reached, domain, problem, binding) is True


def _added(
    effect: Group | None, scope: Mapping[str, str] | None = None, condition: Group | None = None
) -> Iterator[tuple[Mapping[str, str], Group | None, Group]]:
    """The atoms an effect makes true: variables of enclosing `forall`s, `when` condition, atom."""
    scope = scope or {}
    if effect is None or not effect.items or effect.head in ("not", "increase"):
        return
    if effect.head == "and":
        for part in effect.rest:
            if isinstance(part, Group):
                yield from _added(part, scope, condition)
    elif effect.head == "forall":
        variables, body = effect.items[1], effect.items[2]
        assert isinstance(variables, Group) and isinstance(body, Group)
        yield from _added(body, {**scope, **quantified(variables)}, condition)
    elif effect.head == "when":
        inner, body = effect.items[1], effect.items[2]
        assert isinstance(inner, Group) and isinstance(body, Group)
        yield from _added(body, scope, inner)
    else:
        yield scope, condition, effect


def _conjuncts(goal: Group) -> list[Group]:
    parts = [p for p in goal.rest if isinstance(p, Group)] if goal.head == "and" else [goal]
    return [c for part in parts for c in (_conjuncts(part) if part.head == "and" else [part])]
